package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
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
	Files []File
	Args  []string // Args[0] is the path of one of the executable Files
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
	if len(c.Files) == 0 || len(c.Files) > MaxFiles {
		return fmt.Errorf("sandbox: a command has 1 to %d files, this one has %d", MaxFiles, len(c.Files))
	}
	if len(c.Args) == 0 {
		return errors.New("sandbox: a command needs the program as its first argument")
	}
	seen := make(map[string]bool)
	runnable := false
	for _, f := range c.Files {
		if !path.IsAbs(f.Path) || path.Clean(f.Path) != f.Path || f.Path == "/" || strings.ContainsAny(f.Path, "\x00\n,:") {
			return fmt.Errorf("sandbox: file path %q: want an absolute clean path without NUL, newline, comma or colon", f.Path)
		}
		if seen[f.Path] {
			return fmt.Errorf("sandbox: file path %s is named twice", f.Path)
		}
		seen[f.Path] = true
		runnable = runnable || f.Executable && f.Path == c.Args[0]
	}
	for p := range seen {
		for dir := path.Dir(p); dir != "/"; dir = path.Dir(dir) {
			if seen[dir] {
				return fmt.Errorf("sandbox: %s is both a file and a folder of %s", dir, p)
			}
		}
	}
	for _, arg := range c.Args {
		if strings.ContainsRune(arg, 0) {
			return fmt.Errorf("sandbox: argument %q holds a NUL", arg)
		}
	}
	if !runnable {
		return fmt.Errorf("sandbox: the program %s is not among the executable files", c.Args[0])
	}
	return nil
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
			if err := checkExecutable(fd); err != nil {
				return files, fmt.Errorf("sandbox: %s: %s is %w", f.Path, f.Source, err)
			}
		}
	}
	return files, nil
}

// plant copies the opened files to their paths below root, readable by all and
// writable by none.
func (c Command) plant(root string, sources []*os.File) error {
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
