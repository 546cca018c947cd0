// Package file reads files that somebody else may have made, and writes files
// that are either complete or absent.
package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/erdos1056/erdos1056/kernel/durable"
)

// ReadRegular returns the content of a regular file of at most max bytes. It
// refuses symbolic links, files with several names (hard links), everything
// that is not a regular file, and a file that changes while it is read.
func ReadRegular(path string, max int64) ([]byte, error) {
	f, err := OpenRegular(path, max)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f)
}

func readAll(f *os.File) ([]byte, error) {
	before, err := f.Stat()
	if err != nil {
		return nil, err
	}
	data := make([]byte, before.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, fmt.Errorf("%s: changed while it was read: %w", f.Name(), err)
	}
	if err := Unchanged(f, before); err != nil {
		return nil, err
	}
	return data, nil
}

// ReadBelow is ReadRegular for a path below a root folder. No symbolic link on
// the way may lead out of the root, and the file itself may not be one.
func ReadBelow(root, relative string, max int64) ([]byte, error) {
	name := filepath.Join(root, filepath.FromSlash(relative))
	folder, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	info, err := folder.Lstat(filepath.FromSlash(relative))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return nil, fmt.Errorf("%s: expected a regular file, found a symbolic link", name)
	}
	f, err := folder.OpenFile(filepath.FromSlash(relative), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	defer f.Close()
	if err := checkRegular(f, name, max); err != nil {
		return nil, err
	}
	return readAll(f)
}

// OpenRegular opens a file for reading under the conditions of ReadRegular.
func OpenRegular(path string, max int64) (*os.File, error) {
	// O_NONBLOCK keeps a named pipe from blocking before it is refused.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return nil, fmt.Errorf("%s: expected a regular file, found a symbolic link", path)
	}
	if err != nil {
		return nil, err
	}
	if err := checkRegular(f, path, max); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func checkRegular(f *os.File, path string, max int64) error {
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s: expected a regular file, found %s", path, kind(info.Mode()))
	case links(info) != 1:
		return fmt.Errorf("%s: expected a file with one name, found %d hard links", path, links(info))
	case info.Size() > max:
		return fmt.Errorf("%s: file of %d bytes exceeds the limit of %d bytes", path, info.Size(), max)
	}
	return nil
}

func links(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Nlink)
	}
	return 1
}

func kind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// Unchanged reports an error if the open file is no longer what before says.
func Unchanged(f *os.File, before fs.FileInfo) error {
	after, err := f.Stat()
	if err != nil {
		return err
	}
	if !os.SameFile(before, after) || before.Size() != after.Size() || !before.ModTime().Equal(after.ModTime()) {
		return fmt.Errorf("%s: changed while it was read", f.Name())
	}
	return nil
}

// Create writes a new file, with the permissions given whatever the umask is. It
// fails if the name exists. The name appears only when the content is complete
// and on the disk; until then the content is under the name with ".new" added.
func Create(path string, data []byte, perm fs.FileMode) error {
	if err := absent(path); err != nil {
		return err
	}
	if err := durable.WriteFile(path, data, perm); err != nil {
		return err
	}
	return os.Chmod(path, perm)
}

// CreateFolder makes a new folder. It fails if the name exists. The folder is
// filled under its name with ".new" added, and has its name only when fill has
// returned without an error. What a killed process left there is removed first.
func CreateFolder(path string, fill func(draft string) error) error {
	if err := absent(path); err != nil {
		return err
	}
	draft := path + ".new"
	if err := os.RemoveAll(draft); err != nil {
		return err
	}
	if err := os.MkdirAll(draft, 0o755); err != nil {
		return err
	}
	if err := fill(draft); err != nil {
		return errors.Join(err, os.RemoveAll(draft))
	}
	if err := os.Rename(draft, path); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(path))
}

func absent(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s: %w", path, fs.ErrExist)
	}
	return nil
}

// CreateBelow is Create for a file below a folder, with the folders on the way.
func CreateBelow(folder, relative string, data []byte, perm fs.FileMode) error {
	path := filepath.Join(folder, filepath.FromSlash(relative))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return Create(path, data, perm)
}
