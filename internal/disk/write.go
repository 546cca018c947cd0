package disk

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Replace writes a file, whole or not at all, in place of the one that may have its name.
// perm is subject to the umask.
func Replace(path string, data []byte, perm fs.FileMode) error {
	d, err := NewDraft(path, perm)
	if err != nil {
		return err
	}
	defer d.Discard()
	if _, err := d.Write(data); err != nil {
		return err
	}
	return d.Replace()
}

// Create writes a new file, whole or not at all, with the permissions given whatever the
// umask is. The error is fs.ErrExist if the name is taken.
func Create(path string, data []byte, perm fs.FileMode) error {
	if err := CheckAbsent(path); err != nil {
		return err
	}
	d, err := NewDraft(path, perm)
	if err != nil {
		return err
	}
	defer d.Discard()
	if err := d.file.Chmod(perm); err != nil {
		return writeError(path, err)
	}
	if _, err := d.Write(data); err != nil {
		return err
	}
	return d.Create()
}

// CreateBelow is [Create] for a path, with slashes, below a folder, with the folders on the
// way.
func CreateBelow(folder, relative string, data []byte, perm fs.FileMode) error {
	path := filepath.Join(folder, filepath.FromSlash(relative))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return writeError(path, err)
	}
	return Create(path, data, perm)
}

// CreateFolder makes a new folder, complete or not at all. fill is given the folder under
// another name; the folder takes its own when fill has returned without an error. The error
// is fs.ErrExist if the name is taken.
func CreateFolder(path string, fill func(draft string) error) error {
	path = filepath.Clean(path)
	if err := CheckAbsent(path); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return writeError(path, err)
	}
	draft := draftName(path)
	if err := os.Mkdir(draft, 0o755); err != nil {
		return writeError(path, err)
	}
	if err := fill(draft); err != nil {
		return errors.Join(err, os.RemoveAll(draft))
	}
	if err := renameNew(draft, path); err != nil {
		return errors.Join(writeError(path, err), os.RemoveAll(draft))
	}
	return writeError(path, SyncFolder(filepath.Dir(path)))
}

// CheckAbsent reports fs.ErrExist, as a [*WriteError], if the name is taken.
func CheckAbsent(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return writeError(path, fs.ErrExist)
	}
	return nil
}

// CheckReplaceable reports whether [Replace] can be expected to write the file, so that long
// work need not fail at its end.
func CheckReplaceable(path string) error {
	d, err := NewDraft(path, 0o600)
	if err != nil {
		return err
	}
	return d.Discard()
}

// Update replaces a file by what change makes of its content, which is nil if there is no
// file. Of several processes that update files of one folder each waits for the one before.
func Update(ctx context.Context, path string, max int64, perm fs.FileMode, change func(old []byte) ([]byte, error)) error {
	lock, err := wait(ctx, path)
	if err != nil {
		return writeError(path, err)
	}
	defer lock.Close()
	old, err := Read(path, max, FollowLinks)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	data, err := change(old)
	if err != nil {
		return err
	}
	return Replace(path, data, perm)
}

// patience is how long an update waits for others to end theirs.
const patience = time.Minute

// wait takes the lock of the updates in a file's folder.
func wait(ctx context.Context, path string) (*Lock, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		lock, err := lockForUpdate(path)
		if err == nil || !errors.Is(err, ErrHeld) {
			return lock, err
		}
		select {
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.Canceled) {
				return nil, ctx.Err()
			}
			return nil, err
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// A Draft is a file that is being written under a temporary name beside its own.
type Draft struct {
	path string
	file *os.File
	done bool
}

// NewDraft begins a file. What has the name at present must be a regular file, if it is
// there at all.
func NewDraft(path string, perm fs.FileMode) (*Draft, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, &WriteError{path, refuse(ErrKind, "expected a regular file or none, found %s", kind(info.Mode()))}
	}
	file, err := os.OpenFile(draftName(path), os.O_WRONLY|os.O_CREATE|os.O_EXCL|noFollow, perm)
	if err != nil {
		return nil, writeError(path, err)
	}
	return &Draft{path: path, file: file}, nil
}

// Write appends to the draft.
func (d *Draft) Write(data []byte) (int, error) {
	n, err := d.file.Write(data)
	return n, writeError(d.path, err)
}

// Replace gives the draft its name in place of the file that may have it.
func (d *Draft) Replace() error { return d.commit(os.Rename) }

// Create gives the draft its name unless that is taken.
func (d *Draft) Create() error { return d.commit(renameNew) }

func (d *Draft) commit(rename func(from, to string) error) error {
	err := errors.Join(d.file.Sync(), d.file.Close())
	if err == nil {
		err = rename(d.file.Name(), d.path)
	}
	if err != nil {
		return writeError(d.path, err)
	}
	d.done = true
	return writeError(d.path, SyncFolder(filepath.Dir(d.path)))
}

// Discard removes a draft that has not been given its name; otherwise it does nothing.
func (d *Draft) Discard() error {
	if d.done {
		return nil
	}
	d.done = true
	d.file.Close()
	return os.Remove(d.file.Name())
}

// SyncFolder makes the names in a folder durable, where the system can.
func SyncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(syncFolder(folder), folder.Close())
}
