//go:build !linux

package disk

// renameNew renames a file or a folder unless the new name is taken.
func renameNew(from, to string) error { return renameIfAbsent(from, to) }
