// Package scratch makes folders for the time of one task, in the machine's
// temporary folder, and removes those of processes that were killed before they
// could.
//
// Whoever made a folder holds a lock on it (flock), which the kernel drops when
// the process ends, however it ends. So a folder that nobody holds is stale, no
// matter whose process number its maker had, and whether it has been given to
// another process since.
package scratch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// A Task says what a folder is for; it is a part of the folder's name.
type Task string

// The tasks of this project.
const (
	Replay    Task = "replay"    // what a verifier judges again
	Freeze    Task = "freeze"    // verifiers that are being built
	Conform   Task = "conform"   // the cases of a declaration
	Elaborate Task = "elaborate" // what Lean is given
)

var tasks = []Task{Replay, Freeze, Conform, Elaborate}

func prefix(t Task) string { return "erdos1056-scratch-" + string(t) + "-" }

// A Folder is private to this process until it is removed.
type Folder struct {
	Path string
	lock *os.File
}

// New makes a folder for a task. Stale folders of this user are removed first.
func New(t Task) (*Folder, error) {
	if _, err := Sweep(); err != nil {
		return nil, err
	}
	for range 100 {
		path, err := os.MkdirTemp("", prefix(t))
		if err != nil {
			return nil, err
		}
		lock, err := hold(path)
		if err == nil {
			return &Folder{path, lock}, nil
		}
		// Another process took the new folder for a stale one before it was locked.
		if !errors.Is(err, errHeld) && !errors.Is(err, fs.ErrNotExist) {
			return nil, errors.Join(err, os.RemoveAll(path))
		}
	}
	return nil, fmt.Errorf("%s: every new folder is removed by another process", os.TempDir())
}

// Remove removes the folder with all that is in it.
func (f *Folder) Remove() error {
	return errors.Join(os.RemoveAll(f.Path), f.lock.Close())
}

// Sweep removes the stale folders of this user, and returns how many it removed.
// A folder that cannot be removed is left for the next time.
func Sweep() (removed int, err error) {
	for _, t := range tasks {
		found, err := filepath.Glob(filepath.Join(os.TempDir(), prefix(t)+"*"))
		if err != nil {
			return removed, err
		}
		for _, path := range found {
			lock, err := hold(path)
			if err != nil {
				continue // in use, another user's, or gone
			}
			if os.RemoveAll(path) == nil {
				removed++
			}
			lock.Close()
		}
	}
	return removed, nil
}

var (
	errHeld    = errors.New("held by another process")
	errForeign = errors.New("not a folder of this user")
)

// hold locks a folder of this user that still has its name.
func hold(path string) (*os.File, error) {
	folder, err := os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	if err := takeLock(folder); err != nil {
		folder.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return folder, nil
}

func takeLock(folder *os.File) error {
	opened, err := folder.Stat()
	if err != nil {
		return err
	}
	if stat, ok := opened.Sys().(*syscall.Stat_t); !ok || int(stat.Uid) != os.Geteuid() {
		return errForeign
	}
	if err := syscall.Flock(int(folder.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return errHeld
	}
	named, err := os.Lstat(folder.Name())
	if err != nil {
		return err
	}
	if !os.SameFile(opened, named) {
		return fs.ErrNotExist
	}
	return nil
}
