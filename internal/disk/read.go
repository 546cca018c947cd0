package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Links says what becomes of a file that is reached through a link.
type Links bool

const (
	// FollowLinks is for files that the user names.
	FollowLinks Links = true
	// RefuseLinks is for files that somebody else laid out: the name must not be a symbolic
	// link, nor one of several names (hard links) of the file.
	RefuseLinks Links = false
)

// Read returns the content of a regular file of at most max bytes. It refuses a file that
// changes while it is read.
func Read(path string, max int64, links Links) ([]byte, error) {
	f, err := Open(path, max, links)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, path)
}

// Open opens a regular file of at most max bytes for reading. Whatever else has the name is
// refused before it is opened, since opening a device can act on it and opening a named pipe
// can block.
func Open(path string, max int64, links Links) (*os.File, error) {
	look, flags := os.Stat, os.O_RDONLY|nonblocking
	if links == RefuseLinks {
		look, flags = os.Lstat, flags|noFollow
	}
	named, err := look(path)
	if err != nil {
		return nil, err
	}
	if err := checkKind(named, path); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, flags, 0)
	if err != nil {
		return nil, err
	}
	if err := checkOpened(f, named, path, max, links); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// ReadBelow is [Read] with [RefuseLinks] for a path, with slashes, below a root folder. No
// symbolic link on the way may lead out of the root.
func ReadBelow(root, relative string, max int64) ([]byte, error) {
	folder, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	f, err := OpenBelow(folder, relative, max, RefuseLinks)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, filepath.Join(root, filepath.FromSlash(relative)))
}

// OpenBelow is [Open] for a path, with slashes, below an open folder. No symbolic link, where
// links are followed, may lead out of it.
func OpenBelow(folder *os.Root, relative string, max int64, links Links) (*os.File, error) {
	path, name := filepath.FromSlash(relative), filepath.Join(folder.Name(), filepath.FromSlash(relative))
	look := folder.Stat
	if links == RefuseLinks {
		look = folder.Lstat
	}
	named, err := look(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := checkKind(named, name); err != nil {
		return nil, err
	}
	f, err := folder.OpenFile(path, os.O_RDONLY|nonblocking, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := checkOpened(f, named, name, max, links); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// checkOpened makes sure that what was opened is what had the name, and within its bounds.
func checkOpened(f *os.File, named fs.FileInfo, path string, max int64, links Links) error {
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case !os.SameFile(named, info):
		return refuse(ErrChanged, "%s: changed while it was opened", path)
	case links == RefuseLinks && names(info) != 1:
		return refuse(ErrKind, "%s: expected a file with one name, found %d hard links", path, names(info))
	case info.Size() > max:
		return refuse(ErrTooLarge, "%s: file of %d bytes exceeds the limit of %d bytes", path, info.Size(), max)
	}
	return nil
}

func checkKind(info fs.FileInfo, path string) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return refuse(ErrKind, "%s: expected a regular file, found %s", path, kind(info.Mode()))
}

func kind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

func readAll(f *os.File, path string) ([]byte, error) {
	before, err := f.Stat()
	if err != nil {
		return nil, err
	}
	data := make([]byte, before.Size())
	_, err = io.ReadFull(f, data)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, refuse(ErrChanged, "%s: changed while it was read: it became shorter", path)
	}
	if err != nil {
		return nil, err
	}
	return data, Unchanged(f, before)
}

// Unchanged reports an error if the open file is no longer what before says.
func Unchanged(f *os.File, before fs.FileInfo) error {
	after, err := f.Stat()
	if err != nil {
		return err
	}
	if !os.SameFile(before, after) || before.Size() != after.Size() || !before.ModTime().Equal(after.ModTime()) {
		return refuse(ErrChanged, "%s: changed while it was read", f.Name())
	}
	return nil
}
