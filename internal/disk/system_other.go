//go:build !unix

package disk

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// These systems have neither flag: what is opened is compared with what had the name.
const (
	nonblocking = 0
	noFollow    = 0

	lockIsInside = true // a folder is locked by a file in it
)

func names(fs.FileInfo) uint64 { return 1 }

// syncFolder does nothing: these systems cannot sync a folder.
func syncFolder(*os.File) error { return nil }

func temporary(error) bool { return false }

// LockFolder takes the lock of a folder. The error is [ErrHeld] if another process has it.
func LockFolder(path string) (*Lock, error) { return lock(filepath.Join(path, ".lock")) }

// lockForUpdate locks a file by another beside it: a folder cannot be locked here.
func lockForUpdate(path string) (*Lock, error) { return lock(path + ".lock") }

func lock(name string) (*Lock, error) {
	l := flock.New(name)
	held, err := l.TryLock()
	if err == nil && !held {
		err = ErrHeld
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &Lock{l, name}, nil
}

// owns is always false: nothing is taken for stale here.
func (l *Lock) owns() (bool, error) { return false, nil }
