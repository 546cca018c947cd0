package disk

import (
	"errors"

	"golang.org/x/sys/unix"
)

// renameNew renames a file or a folder unless the new name is taken.
func renameNew(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return renameIfAbsent(from, to)
	}
	return err
}
