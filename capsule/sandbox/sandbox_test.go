package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestExitCodesAndOutputPassThrough(t *testing.T) {
	for _, r := range present(t) {
		for _, code := range []int{0, 1, 70} {
			command := hostile(t, "exit", strconv.Itoa(code))
			outcome, err := r.Run(context.Background(), command, testLimits())
			if err != nil {
				t.Fatal(err)
			}
			if outcome.Runtime != r.Name() || outcome.End != Exited || outcome.ExitCode != code {
				t.Errorf("%s: got %+v, want exit code %d", r.Name(), outcome, code)
			}
		}
	}
}

func TestCancelledRunIsAnErrorAndLeavesNothing(t *testing.T) {
	before := hostState(t)
	for _, r := range present(t) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		_, err := r.Run(ctx, hostile(t, "sleep", "1h"), testLimits())
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: got %v, want the context's error", r.Name(), err)
		}
	}
	compareHost(t, before)
}

// TestSandboxDiesWithItsCaller kills the calling process and expects the
// verifier to be gone. podman and docker are left out: they keep a program going
// until its time limit. Each runtime gets its own duration to be told apart by.
func TestSandboxDiesWithItsCaller(t *testing.T) {
	if order := strings.Fields(os.Getenv("SANDBOX_TEST_SLEEP")); len(order) > 0 {
		r, err := Choose(context.Background(), order[0])
		if err != nil {
			t.Fatal(err)
		}
		command := Command{
			Files: []File{{Path: "/capsule/verifier", Source: order[1], Executable: true}, {Path: "/hostile-fixture-may-run-here", Source: order[2]}},
			Args:  []string{"/capsule/verifier", "sleep", order[3], order[4]},
		}
		if len(order) > 5 {
			command.Workspace = smallWorkspace
		}
		r.Run(context.Background(), command, DefaultLimits())
		return
	}
	for i, r := range present(t) {
		if _, ok := r.(*engine); ok {
			continue
		}
		diesWithItsCaller(t, r, fmt.Sprintf("%dms", 30000+i))
		diesWithItsCaller(t, r, fmt.Sprintf("%dms", 40000+i), "workspace")
	}
}

func diesWithItsCaller(t *testing.T, r Runtime, duration string, more ...string) {
	t.Helper()
	program, marker := hostileFiles(t)
	running := func() bool {
		return slices.ContainsFunc(hostState(t), func(s string) bool { return strings.HasPrefix(s, "process /capsule/verifier sleep "+duration) })
	}
	caller := exec.Command("/proc/self/exe", "-test.run=^TestSandboxDiesWithItsCaller$")
	caller.Env = append(os.Environ(), "SANDBOX_TEST_SLEEP="+strings.Join([]string{r.Name(), program, marker, duration, callerMark()}, " ")+" "+strings.Join(more, " "))
	caller.Env = append(caller.Env, "TMPDIR="+t.TempDir())
	if err := caller.Start(); err != nil {
		t.Fatal(err)
	}
	if !eventually(running) {
		t.Errorf("%s: the verifier was not started", r.Name())
	}
	caller.Process.Kill()
	caller.Wait()
	if !eventually(func() bool { return !running() }) {
		t.Errorf("%s: the verifier outlived its caller", r.Name())
	}
	removeGroupsOf(t, caller.Process.Pid)
}

// eventually waits up to ten seconds for a condition.
func eventually(condition func() bool) bool {
	for range 200 {
		if condition() {
			return true
		}
		time.Sleep(50 * time.Millisecond)
	}
	return false
}

// removeGroupsOf does what the killed caller could not.
func removeGroupsOf(t *testing.T, pid int) {
	t.Helper()
	group := new(cgroup)
	filepath.WalkDir("/sys/fs/cgroup", func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), fmt.Sprintf("erdos1056-%d-", pid)) {
			filepath.WalkDir(path, func(inner string, d os.DirEntry, err error) error {
				if err == nil && d.IsDir() {
					group.folders = append([]string{inner}, group.folders...)
				}
				return nil
			})
			return filepath.SkipDir
		}
		return nil
	})
	if err := group.remove(); err != nil {
		t.Error(err)
	}
}

// TestUnprivilegedUser runs the built-in runtime as a user without any
// privilege, if this process can become one.
func TestUnprivilegedUser(t *testing.T) {
	if os.Geteuid() != 0 {
		return // all other tests are this one
	}
	program, marker := hostileFiles(t)
	// The files must be readable by the user.
	dir, err := os.MkdirTemp("", "erdos1056-hostile-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{self, program, marker} {
		data, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(name)), data, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	user := exec.Command(filepath.Join(dir, filepath.Base(self)), "-test.run=^TestUnprivilegedAttempts$", "-test.v")
	user.Dir = "/"
	user.Env = []string{"SANDBOX_TEST_FILES=" + dir}
	user.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 4242, Gid: 4242}}
	output, err := user.CombinedOutput()
	if err != nil || !strings.Contains(string(output), "every attempt was made") {
		t.Errorf("%v\n%s", err, output)
	}
}

// TestUnprivilegedAttempts does its work when TestUnprivilegedUser calls it.
func TestUnprivilegedAttempts(t *testing.T) {
	dir := os.Getenv("SANDBOX_TEST_FILES")
	if dir == "" {
		return
	}
	fixture.once.Do(func() { fixture.dir = dir })
	for _, a := range everything {
		a.mustFail(t, &builtin{})
	}
	refusesLitter(t, &builtin{lowered: seccompFilter | landlockRules})
	seesButCannotChange(t, &builtin{}, folderFixture(t), "lib/text text\n")
	fixture.dir = "" // not ours to remove
	t.Log("every attempt was made")
}

func TestCommandsThatAreRefused(t *testing.T) {
	program, marker := hostileFiles(t)
	good := File{Path: "/verifier", Source: program, Executable: true}
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink(program, link); err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		command Command
		want    string
	}{
		{"no files", Command{Args: []string{"/verifier"}}, "1 to 256 files"},
		{"no program", Command{Files: []File{good}}, "needs the program"},
		{"program not among the files", Command{Files: []File{good}, Args: []string{"/other"}}, "not among the executable files"},
		{"program not executable", Command{Files: []File{{Path: "/a", Source: marker}}, Args: []string{"/a"}}, "not among the executable files"},
		{"relative path", Command{Files: []File{{Path: "verifier", Source: program}}, Args: []string{"verifier"}}, "absolute clean path"},
		{"path that climbs", Command{Files: []File{{Path: "/../verifier", Source: program}}, Args: []string{"/x"}}, "absolute clean path"},
		{"path named twice", Command{Files: []File{good, good}, Args: []string{"/verifier"}}, "named twice"},
		{"file below a file", Command{Files: []File{good, {Path: "/verifier/x", Source: marker}}, Args: []string{"/verifier"}}, "lies in /verifier"},
		{"argument with NUL", Command{Files: []File{good}, Args: []string{"/verifier", "a\x00b"}}, "NUL"},
		{"missing source", Command{Files: []File{good, {Path: "/a", Source: dir + "/none"}}, Args: []string{"/verifier"}}, "no such file"},
		{"symlink", Command{Files: []File{good, {Path: "/a", Source: link}}, Args: []string{"/verifier"}}, "too many levels of symbolic links"},
		{"pipe", Command{Files: []File{good, {Path: "/a", Source: pipe}}, Args: []string{"/verifier"}}, "not a regular file"},
		{"folder", Command{Files: []File{good, {Path: "/a", Source: dir}}, Args: []string{"/verifier"}}, "not a regular file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := (&builtin{}).Run(context.Background(), c.command, testLimits())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

func TestLimitsThatAreRefused(t *testing.T) {
	for name, change := range map[string]func(*Limits){
		"memory limit":    func(l *Limits) { l.Memory = 1 << 20 },
		"process limit":   func(l *Limits) { l.Processes = 0 },
		"processor limit": func(l *Limits) { l.CPUs = 0 },
		"time limit":      func(l *Limits) { l.Time = 0 },
		"output limit":    func(l *Limits) { l.Output = 0 },
	} {
		limits := testLimits()
		change(&limits)
		_, err := (&builtin{}).Run(context.Background(), hostile(t, "exit", "0"), limits)
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// A program that cannot be started is an error, not a verdict: a text, a
// program of another machine, and a dynamically linked program.
func TestFailureToStartIsAnError(t *testing.T) {
	_, marker := hostileFiles(t)
	foreign := buildHostile(t, "GOARCH=arm64")
	if Native == "linux/arm64" {
		foreign = buildHostile(t, "GOARCH=amd64")
	}
	for _, r := range present(t) {
		for program, want := range map[string]string{
			marker:    "not an ELF executable",
			foreign:   "an executable for",
			"/bin/sh": "dynamically linked",
		} {
			source, err := filepath.EvalSymlinks(program)
			if err != nil {
				t.Fatal(err)
			}
			command := Command{Files: []File{{Path: "/verifier", Source: source, Executable: true}}, Args: []string{"/verifier"}}
			outcome, err := r.Run(context.Background(), command, testLimits())
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %s: got %+v, %v; want an error with %q", r.Name(), program, outcome, err, want)
			}
		}
	}
}

// TestForeignPlatformRunsUnderEmulation runs attempts of the fixture built for
// the other architecture, with every protection.
func TestForeignPlatformRunsUnderEmulation(t *testing.T) {
	platform, arch := "linux/arm64", "GOARCH=arm64"
	if Native == platform {
		platform, arch = "linux/amd64", "GOARCH=amd64"
	}
	_, err := Emulation(platform)
	if err != nil {
		if !strings.Contains(err.Error(), "install a static qemu") {
			t.Error(err)
		}
		return
	}
	limits := testLimits()
	limits.Memory = 512 << 20
	for _, r := range append(present(t), &builtin{withoutCgroups: true}) {
		for _, name := range []string{"write", "exit"} {
			command := hostile(t, name, "7")
			command.Files[0].Source = buildHostile(t, arch)
			command, err := command.For(platform)
			if err != nil {
				t.Fatal(err)
			}
			outcome, err := r.Run(context.Background(), command, limits)
			if err != nil {
				t.Fatal(err)
			}
			want := 0
			if name == "exit" {
				want = 7
			}
			if outcome.End != Exited || outcome.ExitCode != want {
				t.Errorf("%s: %s: got %s %d %.300q %.300q", r.Name(), name, outcome.End, outcome.ExitCode, outcome.Stdout, outcome.Stderr)
			}
		}
	}
}

func TestRegisteredInterpreter(t *testing.T) {
	const entry = "enabled\ninterpreter /usr/bin/qemu-aarch64-static\nflags: F\noffset 0\nmagic 7f45\n"
	if got := registeredInterpreter(entry); len(got) != 1 || got[0] != "/usr/bin/qemu-aarch64-static" {
		t.Errorf("got %q", got)
	}
	if got := registeredInterpreter(strings.Replace(entry, "enabled", "disabled", 1)); got != nil {
		t.Errorf("a disabled entry gave %q", got)
	}
}

func TestChooseNamesTheReasons(t *testing.T) {
	if _, err := Choose(context.Background(), "jail"); err == nil || !strings.Contains(err.Error(), "choose built-in, runc, podman or docker") {
		t.Errorf("got %v", err)
	}
	r, err := Choose(context.Background(), "")
	if err != nil || r.Name() != "built-in" {
		t.Errorf("got %v, %v; want the built-in runtime", r, err)
	}
}

// TestMemoryLimitIsNamed: a program that was killed for lack of memory is told
// from one that was killed otherwise.
func TestMemoryLimitIsNamed(t *testing.T) {
	for _, r := range present(t) {
		_, story := memory.run(t, r)
		if !strings.HasPrefix(story, string(MemoryLimit)) {
			t.Errorf("%s: %s", r.Name(), story)
		}
	}
}
