package disk

import (
	"crypto/rand"
	"encoding/hex"
	"io/fs"
	"os"
)

// draftName returns a name beside path that nothing has, for what is being written.
func draftName(path string) string {
	var token [8]byte
	rand.Read(token[:])
	return path + ".new-" + hex.EncodeToString(token[:])
}

// renameIfAbsent is for systems and file systems that cannot refuse to replace: a name that
// is taken between the look and the renaming is lost.
func renameIfAbsent(from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return fs.ErrExist
	}
	return os.Rename(from, to)
}
