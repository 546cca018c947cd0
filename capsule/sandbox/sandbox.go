package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// UserID is the user and group id that the program sees as its own.
const UserID = 65532

// MaxFiles bounds the number of files of one command; MaxFileSize bounds each
// file, in bytes.
const (
	MaxFiles    = 256
	MaxFileSize = 256 << 20
)

// A File is a regular file that the program may read, and execute if
// Executable.
type File struct {
	Path       string // where the program sees it: absolute and clean
	Source     string // where it lies on this machine; a symlink is refused
	Executable bool
}

// A Command is one program to run and everything that it can see.
type Command struct {
	Files     []File
	Folders   []Folder
	Workspace *Workspace // nil: the program can write nowhere
	Env       []string   // NAME=value, besides the HOME that every program gets
	Args      []string   // Args[0] is the path of one of the executable Files, or lies in one of the Folders
}

// Limits bound a run. Every limit is positive.
type Limits struct {
	Memory    int64         // bytes, all processes together
	Processes int           // processes and threads
	CPUs      int           // processors' worth of time
	Time      time.Duration // wall time
	Output    int64         // bytes, stdout and stderr together
}

// DefaultLimits are ample for a verifier of a range of a few hundred numbers
// near 1e7.
func DefaultLimits() Limits {
	return Limits{Memory: 1 << 30, Processes: 64, CPUs: 1, Time: 300 * time.Second, Output: 1 << 20}
}

// An End says what ended a run.
type End string

// Only a run that Exited says something about the artifact.
const (
	Exited      End = "exited"
	Signaled    End = "killed by a signal"
	TimeLimit   End = "time limit"
	MemoryLimit End = "memory limit"
	OutputLimit End = "output limit"
)

// An Outcome is how one run ended.
type Outcome struct {
	Runtime  string
	End      End
	ExitCode int // the program's exit code if End is Exited, else -1
	Stdout   []byte
	Stderr   []byte
	Elapsed  time.Duration
	// PeakMemory is the greatest memory of all processes together, in bytes,
	// with the files that the program sees where those lie in memory. It is 0
	// where the runtime cannot tell.
	PeakMemory int64
	// Files are what a program that Exited left in its workspace, sorted by path,
	// and Refused is what it left there besides.
	Files   []WorkspaceFile
	Refused []RefusedEntry
}

// A Runtime runs commands shut in.
type Runtime interface {
	// Name is the runtime's name in options and messages.
	Name() string

	// Probe returns what the runtime offers on this machine, or why it cannot
	// be used here.
	Probe(ctx context.Context) (offer string, err error)

	// Run runs the command under the limits. The error is non-nil if the
	// program could not be started with every protection in place, or if ctx
	// was cancelled; it says nothing about the artifact.
	Run(ctx context.Context, command Command, limits Limits) (Outcome, error)
}

// Runtimes returns all runtimes, the preferred one first.
func Runtimes() []Runtime {
	return []Runtime{&builtin{}, &runc{}, &engine{program: "podman"}, &engine{program: "docker"}}
}

// Choose returns the runtime called name, or for the empty name the first one
// that this machine offers.
func Choose(ctx context.Context, name string) (Runtime, error) {
	var reasons []error
	for _, r := range Runtimes() {
		if name != "" && r.Name() != name {
			continue
		}
		if _, err := r.Probe(ctx); err != nil {
			reasons = append(reasons, fmt.Errorf("%s: %w", r.Name(), err))
			continue
		}
		return r, nil
	}
	if len(reasons) == 0 {
		return nil, fmt.Errorf("sandbox: there is no runtime %q; choose built-in, runc, podman or docker", name)
	}
	return nil, fmt.Errorf("sandbox: no runtime can be used here: %w", errors.Join(reasons...))
}

// validate checks everything that can be checked without the kernel.
func (c Command) validate() error {
	if len(c.Files) > MaxFiles || len(c.Files)+len(c.Folders) == 0 {
		return fmt.Errorf("sandbox: a command has 1 to %d files, this one has %d", MaxFiles, len(c.Files))
	}
	if len(c.Folders) > MaxFolders {
		return fmt.Errorf("sandbox: a command has at most %d folders, this one has %d", MaxFolders, len(c.Folders))
	}
	if len(c.Args) == 0 {
		return errors.New("sandbox: a command needs the program as its first argument")
	}
	if err := c.validatePaths(); err != nil {
		return err
	}
	for _, arg := range c.Args {
		if strings.ContainsRune(arg, 0) {
			return fmt.Errorf("sandbox: argument %q holds a NUL", arg)
		}
	}
	for _, entry := range c.Env {
		if name, _, ok := strings.Cut(entry, "="); !ok || name == "" || name == "HOME" || strings.ContainsAny(entry, "\x00\n") {
			return fmt.Errorf("sandbox: environment %q: want NAME=value in one line, and another name than HOME", entry)
		}
	}
	if _, ok := c.program(); !ok {
		return fmt.Errorf("sandbox: the program %s is not among the executable files", c.Args[0])
	}
	if c.Workspace != nil {
		return c.Workspace.validate()
	}
	return nil
}

// validatePaths checks the paths that the program sees. None lies in another:
// what is mounted later would hide what was there.
func (c Command) validatePaths() error {
	var seen []string
	for _, f := range c.Files {
		seen = append(seen, f.Path)
	}
	for _, f := range c.Folders {
		seen = append(seen, f.Path)
		if !filepath.IsAbs(f.Source) {
			return fmt.Errorf("sandbox: folder %s: %q is not an absolute path of this machine", f.Path, f.Source)
		}
		if strings.ContainsAny(f.Source, "\x00\n,:") {
			return fmt.Errorf("sandbox: folder %s: %q holds a NUL, newline, comma or colon", f.Path, f.Source)
		}
	}
	if c.Workspace != nil {
		seen = append(seen, c.Workspace.Path)
	}
	slices.Sort(seen)
	for i, p := range seen {
		if !path.IsAbs(p) || path.Clean(p) != p || p == "/" || strings.ContainsAny(p, "\x00\n,:") {
			return fmt.Errorf("sandbox: path %q: want an absolute clean path without NUL, newline, comma or colon", p)
		}
		if i > 0 && seen[i-1] == p {
			return fmt.Errorf("sandbox: path %s is named twice", p)
		}
		for dir := path.Dir(p); dir != "/"; dir = path.Dir(dir) {
			if _, inside := slices.BinarySearch(seen, dir); inside {
				return fmt.Errorf("sandbox: %s lies in %s, which is named as well", p, dir)
			}
		}
	}
	return nil
}

// program returns where the program lies on this machine.
func (c Command) program() (source string, ok bool) {
	i := slices.IndexFunc(c.Files, func(f File) bool { return f.Path == c.Args[0] })
	if i >= 0 && !c.Files[i].Executable {
		return "", false
	}
	return c.source(c.Args[0])
}

// source returns where a path that the program sees lies on this machine, if it
// is one of the files or lies in one of the folders.
func (c Command) source(seen string) (string, bool) {
	for _, f := range c.Files {
		if f.Path == seen {
			return f.Source, true
		}
	}
	for _, f := range c.Folders {
		if rest, ok := strings.CutPrefix(seen, f.Path+"/"); ok {
			return filepath.Join(f.Source, filepath.FromSlash(path.Clean("/"+rest))), true
		}
	}
	return "", false
}

func (l Limits) validate() error {
	switch {
	case l.Memory < 16<<20:
		return fmt.Errorf("sandbox: memory limit %d bytes: want at least 16 MiB", l.Memory)
	case l.Processes < 1:
		return fmt.Errorf("sandbox: process limit %d: want at least 1", l.Processes)
	case l.CPUs < 1:
		return fmt.Errorf("sandbox: processor limit %d: want at least 1", l.CPUs)
	case l.Time <= 0:
		return fmt.Errorf("sandbox: time limit %v: want a positive one", l.Time)
	case l.Output < 1:
		return fmt.Errorf("sandbox: output limit %d bytes: want at least 1", l.Output)
	}
	return nil
}

// open opens the sources of the files, in order. The caller closes them.
func (c Command) open() (files []*os.File, err error) {
	defer func() {
		if err != nil {
			closeAll(files)
			files = nil
		}
	}()
	for _, f := range c.Files {
		fd, err := os.OpenFile(f.Source, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err != nil {
			return files, fmt.Errorf("sandbox: %s: %w", f.Path, err)
		}
		files = append(files, fd)
		info, err := fd.Stat()
		if err != nil {
			return files, fmt.Errorf("sandbox: %s: %w", f.Path, err)
		}
		if !info.Mode().IsRegular() {
			return files, fmt.Errorf("sandbox: %s: %s is not a regular file (%v)", f.Path, f.Source, info.Mode().Type())
		}
		if info.Size() > MaxFileSize {
			return files, fmt.Errorf("sandbox: %s: %s has %d bytes, the limit is %d", f.Path, f.Source, info.Size(), MaxFileSize)
		}
		if f.Path == c.Args[0] {
			if err := c.checkProgram(fd, f.Source); err != nil {
				return files, err
			}
		}
	}
	return files, c.checkProgramInFolder()
}

// checkProgramInFolder checks the program if it is none of the files.
func (c Command) checkProgramInFolder() error {
	if slices.ContainsFunc(c.Files, func(f File) bool { return f.Path == c.Args[0] }) {
		return nil
	}
	source, _ := c.program()
	program, err := os.Open(source)
	if err != nil {
		return fmt.Errorf("sandbox: %s: %w", c.Args[0], err)
	}
	defer program.Close()
	return c.checkProgram(program, source)
}

// checkProgram checks that the program can be started with what it sees.
func (c Command) checkProgram(program io.ReaderAt, source string) error {
	sees := func(path string) bool { _, ok := c.source(path); return ok }
	if err := checkExecutable(program, sees); err != nil {
		return fmt.Errorf("sandbox: %s: %s is %w", c.Args[0], source, err)
	}
	return nil
}

// plant copies the opened files to their paths below root, readable by all and
// writable by none, and makes the folders to mount on.
func (c Command) plant(root string, sources []*os.File) error {
	for _, f := range c.Folders {
		if err := os.MkdirAll(path.Join(root, f.Path), 0o755); err != nil {
			return err
		}
	}
	if c.Workspace != nil {
		if err := os.MkdirAll(path.Join(root, c.Workspace.Path), 0o755); err != nil {
			return err
		}
	}
	for i, f := range c.Files {
		target := path.Join(root, f.Path)
		if err := os.MkdirAll(path.Dir(target), 0o755); err != nil {
			return err
		}
		mode := os.FileMode(0o444)
		if f.Executable {
			mode = 0o555
		}
		if err := copyFile(target, sources[i], mode); err != nil {
			return fmt.Errorf("copying %s: %w", f.Path, err)
		}
	}
	return nil
}

func copyFile(target string, source io.Reader, mode os.FileMode) error {
	out, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, io.LimitReader(source, MaxFileSize+1))
	if err == nil && n > MaxFileSize {
		err = fmt.Errorf("more than %d bytes", MaxFileSize)
	}
	return errors.Join(err, out.Chmod(mode), out.Close())
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}
