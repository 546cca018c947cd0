package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A Task says what a scratch folder is for; it is a part of the folder's name.
type Task string

// The tasks of this project.
const (
	Replay    Task = "replay"    // what a verifier judges again
	Freeze    Task = "freeze"    // verifiers that are being built
	Conform   Task = "conform"   // the cases of a declaration
	Elaborate Task = "elaborate" // what Lean is given
)

var tasks = []Task{Replay, Freeze, Conform, Elaborate}

func scratchPrefix(t Task) string { return "erdos1056-scratch-" + string(t) + "-" }

// A Scratch is a folder for the time of one task, in the machine's folder of temporary
// files, private to this process until it is removed.
//
// Its maker holds a lock on it, which the system drops when the process ends, however it
// ends. So a folder that nobody holds is stale, no matter whose process number its maker
// had, and whether that has been given to another process since.
type Scratch struct {
	Path string
	lock *Lock
}

// NewScratch makes a folder for a task. Stale folders of this user are removed first.
func NewScratch(t Task) (*Scratch, error) {
	if _, err := SweepScratch(); err != nil {
		return nil, err
	}
	for range 100 {
		path, err := os.MkdirTemp("", scratchPrefix(t))
		if err != nil {
			return nil, writeError(os.TempDir(), err)
		}
		lock, err := LockFolder(path)
		if err != nil && !errors.Is(err, ErrHeld) && !errors.Is(err, fs.ErrNotExist) {
			return nil, errors.Join(err, os.RemoveAll(path))
		}
		// Another process may have taken the new folder for a stale one before it was locked.
		if err == nil && exists(path) {
			return &Scratch{path, lock}, nil
		}
	}
	return nil, fmt.Errorf("%s: every new folder is removed by another process", os.TempDir())
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Remove removes the folder with all that is in it.
func (s *Scratch) Remove() error {
	if lockIsInside {
		return errors.Join(s.lock.Close(), os.RemoveAll(s.Path))
	}
	return errors.Join(os.RemoveAll(s.Path), s.lock.Close())
}

// SweepScratch removes the stale folders of this user, and returns how many it removed. A
// folder that cannot be removed is left for the next time.
func SweepScratch() (removed int, err error) {
	for _, t := range tasks {
		found, err := filepath.Glob(filepath.Join(os.TempDir(), scratchPrefix(t)+"*"))
		if err != nil {
			return removed, err
		}
		for _, path := range found {
			if sweep(path) {
				removed++
			}
		}
	}
	return removed, nil
}

// sweep removes a folder unless it is in use, another user's, or gone.
func sweep(path string) bool {
	lock, err := LockFolder(path)
	if err != nil {
		return false
	}
	defer lock.Close()
	mine, err := lock.owns()
	return err == nil && mine && os.RemoveAll(path) == nil
}
