//go:build unix

package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

const (
	nonblocking = syscall.O_NONBLOCK | syscall.O_NOCTTY
	noFollow    = syscall.O_NOFOLLOW

	lockIsInside = false
)

// names returns the number of names (hard links) of a file.
func names(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Nlink)
	}
	return 1
}

func syncFolder(folder *os.File) error { return folder.Sync() }

var temporaries = []error{
	syscall.EAGAIN, syscall.EBUSY, syscall.EDQUOT, syscall.EIO, syscall.EMFILE, syscall.ENFILE, syscall.ENOLCK,
	syscall.ENOMEM, syscall.ENOSPC, syscall.EROFS, syscall.ESTALE, syscall.ETXTBSY,
}

func temporary(err error) bool {
	for _, t := range temporaries {
		if errors.Is(err, t) {
			return true
		}
	}
	return false
}

// LockFolder takes the lock of a folder that is no symbolic link. The error is [ErrHeld]
// if another process has it.
func LockFolder(path string) (*Lock, error) {
	folder, err := os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	return lock(folder)
}

// lockForUpdate locks the folder of a file, which leaves nothing behind.
func lockForUpdate(path string) (*Lock, error) {
	folder, err := os.OpenFile(filepath.Dir(path), os.O_RDONLY|syscall.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	return lock(folder)
}

func lock(folder *os.File) (*Lock, error) {
	err := syscall.Flock(int(folder.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return &Lock{folder, folder.Name()}, nil
	}
	folder.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = ErrHeld
	}
	return nil, fmt.Errorf("%s: %w", folder.Name(), err)
}

// owns reports whether a held folder belongs to this user and still has its name.
func (l *Lock) owns() (bool, error) {
	held, err := l.Closer.(*os.File).Stat()
	if err != nil {
		return false, err
	}
	if stat, ok := held.Sys().(*syscall.Stat_t); !ok || int(stat.Uid) != os.Geteuid() {
		return false, nil
	}
	named, err := os.Lstat(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(held, named), err
}
