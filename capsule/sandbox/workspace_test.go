package sandbox

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	specs "github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"
)

// withWorkspace are the runtimes of this machine that can have a workspace.
func withWorkspace(t *testing.T) []Runtime {
	return slices.DeleteFunc(append(present(t), &builtin{withoutCgroups: true}), func(r Runtime) bool { return r.Name() == "docker" })
}

// unrestrained are the same runtimes, but let a program make links and pipes.
func unrestrained(t *testing.T) (runtimes []Runtime) {
	for _, r := range withWorkspace(t) {
		switch r := r.(type) {
		case *builtin:
			r.lowered = seccompFilter | landlockRules
		case *runc:
			r.weaken = func(s *specs.Spec) { unfiltered(s) }
		case *engine:
			r.replace = map[string][]string{"--security-opt": {"--security-opt=seccomp=unconfined", "--security-opt=no-new-privileges"}}
		}
		runtimes = append(runtimes, r)
	}
	return runtimes
}

func TestLitterIsRefusedAndNeverFollowed(t *testing.T) {
	for _, r := range unrestrained(t) {
		refusesLitter(t, r)
	}
}

func refusesLitter(t *testing.T, r Runtime) {
	t.Helper()
	command := hostile(t, "workspace-litter")
	command.Workspace = &Workspace{Path: "/workspace", Size: 4 << 20, Entries: 100}
	outcome, err := r.Run(context.Background(), command, testLimits())
	if err != nil || outcome.ExitCode != 0 {
		t.Fatalf("%s: %+v, %v", r.Name(), outcome, err)
	}
	var files, refused []string
	for _, f := range outcome.Files {
		files = append(files, f.Path+": "+string(f.Data))
	}
	for _, e := range outcome.Refused {
		refused = append(refused, e.Path+": "+e.Reason)
	}
	wantFiles := []string{"deep/er/note.txt: a note\n", "empty.txt: ", "result.txt: a result\n"}
	wantRefused := []string{
		"bad\xff name: its name is not plain text",
		strings.Repeat("d/", 15) + "d: folders lie more than 16 deep",
		"first: it has 2 names (hard links)",
		"line\nbreak: its name is not plain text",
		"locked: its owner may not read it",
		"passwd: it is a symbolic link, not a regular file",
		"pipe: it is a pipe, not a regular file",
		"root: it is a symbolic link, not a regular file",
		"second: it has 2 names (hard links)",
		"secret: its owner may not read it",
		"set-user-id: it would run with another user's rights (mode 4755)",
		"shortcut: it is a symbolic link, not a regular file",
	}
	sparse := slices.IndexFunc(refused, func(s string) bool { return strings.HasPrefix(s, "sparse: it has 1073741824 bytes") })
	if sparse >= 0 { // a runtime that limits the size of files makes it an empty one
		refused = slices.Delete(refused, sparse, sparse+1)
	} else {
		wantFiles = append(wantFiles, "sparse: ")
	}
	if !slices.Equal(files, wantFiles) {
		t.Errorf("%s: files %q, want %q", r.Name(), files, wantFiles)
	}
	if !slices.Equal(refused, wantRefused) {
		t.Errorf("%s: refused\n%q, want\n%q", r.Name(), refused, wantRefused)
	}
}

func TestWorkspaceIsGivenOnlyOnDemandAndComesBackInPart(t *testing.T) {
	before := hostState(t)
	for _, r := range withWorkspace(t) {
		command := hostile(t, "workspace-fill", "2")
		outcome, err := r.Run(context.Background(), command, testLimits())
		if err != nil || outcome.ExitCode != 0 || outcome.Files != nil {
			t.Errorf("%s without a workspace: %+v, %v", r.Name(), outcome, err)
		}
		command.Workspace = &Workspace{Path: "/some/place", Size: 4 << 20, Entries: 100, Wanted: func(path string) bool { return path == "fill-1" }}
		outcome, err = r.Run(context.Background(), command, testLimits())
		if err != nil || outcome.ExitCode != 3 || len(outcome.Files) != 1 || outcome.Files[0].Path != "fill-1" || len(outcome.Files[0].Data) != 1<<20 {
			t.Errorf("%s: exit code %d, %d files, %v", r.Name(), outcome.ExitCode, len(outcome.Files), err)
		}
	}
	compareHost(t, before)
}

func TestWorkspaceOfAStoppedProgramIsNotCollected(t *testing.T) {
	for _, r := range withWorkspace(t) {
		command := hostile(t, "workspace-litter,endless-output", "4000000")
		command.Workspace = smallWorkspace
		outcome, err := r.Run(context.Background(), command, testLimits())
		if err != nil || outcome.End != OutputLimit || outcome.Files != nil || outcome.Refused != nil {
			t.Errorf("%s: %s, %d files, %v", r.Name(), outcome.End, len(outcome.Files), err)
		}
	}
}

func TestWorkspaceMayBeExecutable(t *testing.T) {
	workspace := *smallWorkspace
	workspace.Executable = true
	for _, r := range withWorkspace(t) {
		attempt{name: "workspace-execute", workspace: &workspace}.mustSucceed(t, r)
	}
}

// folderFixture is a folder that everybody may write to, with one file.
func folderFixture(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "folder")
	if err := os.MkdirAll(filepath.Join(folder, "lib/mounted"), 0o777); err != nil {
		t.Fatal(err)
	}
	os.Chmod(folder, 0o777)
	if err := os.WriteFile(filepath.Join(folder, "lib/text"), []byte("text\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	os.Chmod(filepath.Join(folder, "lib/text"), 0o666)
	return folder
}

func TestFolderIsSeenAndCannotBeChanged(t *testing.T) {
	folder := folderFixture(t)
	if os.Geteuid() == 0 {
		below := filepath.Join(folder, "lib/mounted")
		if err := unix.Mount("below", below, "tmpfs", 0, "mode=777,size=64k"); err != nil {
			t.Fatal(err)
		}
		defer unix.Unmount(below, unix.MNT_DETACH)
		if err := os.WriteFile(filepath.Join(below, "more"), []byte("more\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		null := int(unix.Mkdev(1, 3))
		if err := unix.Mknod(filepath.Join(folder, "device"), unix.S_IFCHR, null); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(folder, "device"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	// The attempt is a real one: it succeeds in the workspace.
	attempt{name: "folder-write", args: []string{smallWorkspace.Path}, workspace: smallWorkspace}.mustSucceed(t, &builtin{})
	want := "lib/text text\n"
	if os.Geteuid() == 0 {
		want = "lib/mounted/more more\n" + want
	}
	for _, r := range append(present(t), &builtin{withoutCgroups: true}) {
		seesButCannotChange(t, r, folder, want)
	}
}

// seesButCannotChange shows a folder to the hostile program, which tries to
// write to it and then prints what it can read.
func seesButCannotChange(t *testing.T, r Runtime, folder, want string) {
	t.Helper()
	for _, workspace := range []*Workspace{nil, smallWorkspace} {
		if workspace != nil && r.Name() == "docker" {
			continue
		}
		command := hostile(t, "folder-write,read-folder", "/opt/folder")
		command.Folders, command.Workspace = []Folder{{Path: "/opt/folder", Source: folder}}, workspace
		outcome, err := r.Run(context.Background(), command, testLimits())
		if err != nil || outcome.ExitCode != 0 || string(outcome.Stdout) != want {
			t.Errorf("%s: exit code %d, %q %q, %v; want %q", r.Name(), outcome.ExitCode, outcome.Stdout, outcome.Stderr, err, want)
		}
	}
}

// TestDynamicProgramRunsWithItsLibraries runs a program of this machine that is
// linked dynamically, from a folder, with the libraries that it needs.
func TestDynamicProgramRunsWithItsLibraries(t *testing.T) {
	program, err := filepath.EvalSymlinks("/bin/cat")
	if err != nil {
		t.Fatal(err)
	}
	libraries, err := Libraries(program)
	if err != nil || len(libraries) < 2 {
		t.Fatalf("%+v, %v", libraries, err)
	}
	_, marker := hostileFiles(t)
	for _, r := range present(t) {
		command := Command{
			Files:   append([]File{{Path: "/text", Source: marker}}, libraries...),
			Folders: []Folder{{Path: "/tools/bin", Source: filepath.Dir(program)}},
			Args:    []string{"/tools/bin/cat", "/text"},
		}
		outcome, err := r.Run(context.Background(), command, testLimits())
		if err != nil || string(outcome.Stdout) != "marker\n" {
			t.Errorf("%s: %+v, %v", r.Name(), outcome, err)
		}
		command.Files = command.Files[:1]
		if _, err := r.Run(context.Background(), command, testLimits()); err == nil || !strings.Contains(err.Error(), "its loader") {
			t.Errorf("%s without libraries: %v", r.Name(), err)
		}
	}
}

func TestLibrariesOfWhatHasNone(t *testing.T) {
	program, marker := hostileFiles(t)
	if libraries, err := Libraries(program); err != nil || libraries != nil {
		t.Errorf("a static program: %+v, %v", libraries, err)
	}
	if _, err := Libraries(marker); err == nil {
		t.Error("a text has libraries")
	}
	if err := (&linker{folders: []string{t.TempDir()}, seen: map[string]bool{}}).find("libnone.so", nil); err == nil || !strings.Contains(err.Error(), "libnone.so is not found") {
		t.Errorf("a missing library: %v", err)
	}
}

func TestEnvironmentIsWhatTheCommandNames(t *testing.T) {
	for _, r := range present(t) {
		command := hostile(t, "print-environment")
		command.Env = []string{"LEAN_PATH=/a:/b"}
		outcome, err := r.Run(context.Background(), command, testLimits())
		if lines := strings.Split(string(outcome.Stdout), "\n"); err != nil || !slices.Contains(lines, "LEAN_PATH=/a:/b") || !slices.Contains(lines, "HOME=/nonexistent") {
			t.Errorf("%s: %q, %v", r.Name(), outcome.Stdout, err)
		}
	}
}

func TestFoldersAndWorkspacesThatAreRefused(t *testing.T) {
	program, _ := hostileFiles(t)
	good := File{Path: "/verifier", Source: program, Executable: true}
	folder := folderFixture(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(folder, link); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(*Command)
		want   string
	}{
		{"folder that is a file", func(c *Command) { c.Folders = []Folder{{"/f", program}} }, "is not a folder"},
		{"folder that is a symlink", func(c *Command) { c.Folders = []Folder{{"/f", link}} }, "is not a folder"},
		{"folder that is missing", func(c *Command) { c.Folders = []Folder{{"/f", folder + "/none"}} }, "no such file"},
		{"folder with a relative source", func(c *Command) { c.Folders = []Folder{{"/f", "testdata"}} }, "not an absolute path"},
		{"folder over a file", func(c *Command) { c.Folders = []Folder{{"/verifier", folder}} }, "named twice"},
		{"folder with a file in it", func(c *Command) {
			c.Folders = []Folder{{"/f", folder}}
			c.Files = append(c.Files, File{Path: "/f/x", Source: program})
		}, "lies in /f"},
		{"too many folders", func(c *Command) { c.Folders = make([]Folder, 33) }, "at most 32 folders"},
		{"workspace as the root", func(c *Command) { c.Workspace = &Workspace{Path: "/", Size: 1 << 20, Entries: 1} }, "absolute clean path"},
		{"workspace over the program", func(c *Command) { c.Workspace = &Workspace{Path: "/verifier/x", Size: 1 << 20, Entries: 1} }, "lies in /verifier"},
		{"workspace without size", func(c *Command) { c.Workspace = &Workspace{Path: "/w", Entries: 1} }, "workspace of 0 bytes"},
		{"workspace without entries", func(c *Command) { c.Workspace = &Workspace{Path: "/w", Size: 1 << 20} }, "workspace of 0 entries"},
		{"environment without a value", func(c *Command) { c.Env = []string{"X"} }, "want NAME=value"},
		{"environment with HOME", func(c *Command) { c.Env = []string{"HOME=/"} }, "another name than HOME"},
	} {
		t.Run(c.name, func(t *testing.T) {
			command := Command{Files: []File{good}, Args: []string{"/verifier"}}
			c.change(&command)
			for _, r := range present(t) {
				if _, err := r.Run(context.Background(), command, testLimits()); err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s: got %v, want an error with %q", r.Name(), err, c.want)
				}
			}
		})
	}
}

// TestDockerIsToldWhatToMount looks at the arguments only: no engine is needed.
func TestDockerIsToldWhatToMount(t *testing.T) {
	e := &engine{program: "docker"}
	command := hostile(t, "exit", "0")
	command.Folders = []Folder{{Path: "/opt/tools", Source: "/somewhere"}}
	options := e.options(&container{name: "n", folder: "/c"}, command, testLimits())
	if want := "--mount=type=bind,source=/somewhere,destination=/opt/tools,readonly,bind-recursive=readonly,bind-propagation=rprivate"; !slices.Contains(options, want) {
		t.Errorf("%q lacks %s", options, want)
	}
	command.Workspace = smallWorkspace
	if _, err := e.Run(context.Background(), command, testLimits()); err == nil || !strings.Contains(err.Error(), "choose built-in, runc or podman") {
		t.Errorf("a workspace: %v", err)
	}
}
