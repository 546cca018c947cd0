// Package toolchain finds a Lean toolchain on this machine and runs its programs
// in the sandbox. Elaboration runs code that a proof brings along, so nothing of
// Lean runs outside.
//
// What a program sees: the toolchain and the folders of compiled modules, in
// place and read-only; the libraries of this machine that it is linked with; its
// input; and an empty workspace, from which at most the one file comes back that
// was asked for.
package toolchain

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"github.com/erdos1056/erdos1056/capsule/sandbox"
	"github.com/erdos1056/erdos1056/internal/disk"
)

// The programs of a toolchain.
const (
	Lean     = "lean"
	Exporter = "lean4export"
)

// A Toolchain is where the programs lie on this machine.
type Toolchain struct {
	Folder   string // with bin/lean and lib/lean
	Exporter string // the program lean4export
}

// Find looks for a toolchain in a folder, or on the search path if that is "",
// and for its exporter in the toolchain and on the search path, or at the path
// given. It returns what it did not find, with the reason.
func Find(folder, exporter string) (t Toolchain, missing []string) {
	var err error
	if t.Folder, err = findFolder(folder); err != nil {
		missing = append(missing, fmt.Sprintf("%s: %v", Lean, err))
	}
	if t.Exporter, err = findExporter(t.Folder, exporter); err != nil {
		missing = append(missing, fmt.Sprintf("%s: %v", Exporter, err))
	}
	return t, missing
}

func findFolder(folder string) (string, error) {
	if folder == "" {
		program, err := exec.LookPath(Lean)
		if err != nil {
			return "", errors.New("not on PATH, and no toolchain is named")
		}
		if program, err = filepath.EvalSymlinks(program); err != nil {
			return "", err
		}
		folder = filepath.Dir(filepath.Dir(program))
	}
	folder, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return "", err
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return "", err
	}
	for _, part := range []string{"bin/lean", "lib/lean"} {
		if _, err := os.Stat(filepath.Join(folder, part)); err != nil {
			return "", fmt.Errorf("%s is no toolchain: there is no %s in it (a lean that only chooses a toolchain does not count; lean --print-prefix names the folder)", folder, part)
		}
	}
	return folder, nil
}

func findExporter(folder, exporter string) (string, error) {
	if exporter != "" {
		return realPath(exporter)
	}
	if folder != "" {
		if found, err := realPath(filepath.Join(folder, "bin", Exporter)); err == nil {
			return found, nil
		}
	}
	found, err := exec.LookPath(Exporter)
	if err != nil {
		return "", errors.New("neither in the toolchain nor on PATH, and none is named")
	}
	return realPath(found)
}

func realPath(name string) (string, error) {
	found, err := filepath.EvalSymlinks(name)
	if err != nil {
		return "", err
	}
	return filepath.Abs(found)
}

// Where the programs see their files.
const (
	toolchainInside = "/toolchain"
	exporterInside  = "/exporter/" + Exporter
	inputInside     = "/input"
	packagesInside  = "/packages"
	workspaceInside = "/workspace"
)

// What the workspace holds.
const (
	workspaceSize    = 256 << 20
	workspaceEntries = 1024
)

// A Task is one run of a program.
type Task struct {
	Program   string   // Lean or Exporter
	Args      []string // {input} at the start of one stands for the folder of the input
	InputName string   // of a file, which also lies where Lean looks for modules
	InputData []byte
	Keep      string // name of a file that the program leaves where it starts, or ""
}

// Output is what a program wrote and how it ended.
type Output struct {
	Stdout, Stderr []byte
	Exit           int
	Stopped        string // the limit or signal that ended it; "" if it ended by itself
	Kept           []byte // the file that was to be kept; nil if there is none
}

// A Runner runs the programs of a toolchain.
type Runner struct {
	Toolchain Toolchain
	Packages  []string // folders of compiled modules, as in LEAN_PATH
	Runtime   sandbox.Runtime
	Limits    sandbox.Limits
}

// Run runs one program.
func (r *Runner) Run(ctx context.Context, task Task) (out Output, err error) {
	folder, err := disk.NewScratch(disk.Elaborate)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, folder.Remove()) }()
	input := filepath.Join(folder.Path, task.InputName)
	if err := os.WriteFile(input, task.InputData, 0o600); err != nil {
		return out, err
	}
	command, err := r.command(task, input)
	if err != nil {
		return out, err
	}
	outcome, err := r.Runtime.Run(ctx, command, r.Limits)
	if err != nil {
		return out, err
	}
	out = Output{Stdout: outcome.Stdout, Stderr: outcome.Stderr, Exit: outcome.ExitCode}
	if outcome.End != sandbox.Exited {
		out.Stopped = string(outcome.End)
	}
	for _, f := range outcome.Files {
		out.Kept = f.Data // the one that was wanted
	}
	return out, nil
}

func (r *Runner) command(task Task, input string) (sandbox.Command, error) {
	program, source := path.Join(toolchainInside, "bin", Lean), filepath.Join(r.Toolchain.Folder, "bin", Lean)
	c := sandbox.Command{
		Files:   []sandbox.File{{Path: path.Join(inputInside, task.InputName), Source: input}},
		Folders: []sandbox.Folder{{Path: toolchainInside, Source: r.Toolchain.Folder}},
		Workspace: &sandbox.Workspace{Path: workspaceInside, Size: workspaceSize, Entries: workspaceEntries,
			Wanted: func(path string) bool { return task.Keep != "" && path == task.Keep }},
	}
	if task.Program == Exporter {
		program, source = exporterInside, r.Toolchain.Exporter
		c.Files = append(c.Files, sandbox.File{Path: program, Source: source, Executable: true})
	}
	libraries, err := sandbox.Libraries(source, filepath.Join(r.Toolchain.Folder, "lib/lean"), filepath.Join(r.Toolchain.Folder, "lib"))
	if err != nil {
		return c, err
	}
	c.Files = append(c.Files, libraries...)
	modules := []string{inputInside}
	for i, folder := range r.Packages {
		if folder, err = realPath(folder); err != nil {
			return c, err
		}
		inside := fmt.Sprintf("%s/%d", packagesInside, i)
		c.Folders = append(c.Folders, sandbox.Folder{Path: inside, Source: folder})
		modules = append(modules, inside)
	}
	c.Env = []string{
		"LEAN_SYSROOT=" + toolchainInside,
		"LEAN_PATH=" + strings.Join(modules, ":"),
		"LD_LIBRARY_PATH=" + toolchainInside + "/lib/lean:" + toolchainInside + "/lib",
	}
	c.Args = []string{program}
	for _, argument := range task.Args {
		if rest, ok := strings.CutPrefix(argument, "{input}/"); ok {
			argument = path.Join(inputInside, rest)
		}
		c.Args = append(c.Args, argument)
	}
	return c, nil
}
