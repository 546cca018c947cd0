// Package disk reads files that anybody may have made, writes files that are complete or
// absent, and holds folders against other processes.
//
// A file is read through a descriptor that is known to be a regular file, and never beyond
// a bound. A file is written under a name that no other process can have, synced, and
// renamed; then its folder is synced. So a reader, also one after a power cut, sees the old
// file or the whole new one, and nothing that lay beside it is touched.
//
// Errors tell what to do about them: [fs.ErrNotExist], [fs.ErrExist] and [fs.ErrPermission]
// as everywhere, [ErrKind] and [ErrTooLarge] for a file that is not what was expected, a
// [*WriteError] for an output that cannot be made, and whatever [Temporary] reports may go
// away by itself.
package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

var (
	// ErrKind: the name is not that of the kind of file expected, but of a folder, a named
	// pipe, a device, a socket, a symbolic link, or one of several names of a file.
	ErrKind = errors.New("not the kind of file expected")
	// ErrTooLarge: the file exceeds the bound.
	ErrTooLarge = errors.New("larger than allowed")
	// ErrChanged: the file changed while it was read.
	ErrChanged = errors.New("changed while it was read")
	// ErrHeld: another process holds the lock.
	ErrHeld = errors.New("held by another process")
)

// A refusal is an error of this package with the class that [errors.Is] finds in it.
type refusal struct {
	text  string
	class error
}

func (r *refusal) Error() string { return r.text }
func (r *refusal) Unwrap() error { return r.class }

func refuse(class error, format string, args ...any) error {
	return &refusal{fmt.Sprintf(format, args...), class}
}

// A WriteError says that an output could not be made.
type WriteError struct {
	Path string
	Err  error
}

func (e *WriteError) Error() string { return fmt.Sprintf("%s cannot be written: %v", e.Path, e.Err) }
func (e *WriteError) Unwrap() error { return e.Err }

// writeError names the output instead of the temporary file that the system complains of.
func writeError(path string, err error) error {
	var already *WriteError
	if err == nil || errors.As(err, &already) {
		return err
	}
	var named *fs.PathError
	var renamed *os.LinkError
	switch {
	case errors.As(err, &named):
		err = named.Err
	case errors.As(err, &renamed):
		err = renamed.Err
	}
	if errors.Is(err, fs.ErrExist) {
		err = refuse(fs.ErrExist, "it exists already; name another")
	}
	return &WriteError{path, err}
}

// Temporary reports whether what failed may succeed later without a change of the command:
// the file is in use, the disk is full or read-only, the file system has no locks to give or
// has lost a handle, the process has too many files open.
func Temporary(err error) bool {
	return errors.Is(err, ErrHeld) || errors.Is(err, ErrChanged) || temporary(err)
}
