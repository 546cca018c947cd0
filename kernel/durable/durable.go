// Package durable writes files so that a reader, also one after a power cut, sees either
// the old file or the whole new one.
package durable

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// WriteFile writes data to name: to name.new first, which is synced and renamed, then the
// folder is synced. A failure leaves the old file as it was and removes name.new.
func WriteFile(name string, data []byte, mode os.FileMode) (err error) {
	if err := checkTarget(name); err != nil {
		return err
	}
	temporary := name + ".new"
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(temporary, name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	return SyncDir(filepath.Dir(name))
}

// CheckWritable reports whether WriteFile can be expected to write name, so that long work
// need not fail at its end.
func CheckWritable(name string) error {
	if err := checkTarget(name); err != nil {
		return err
	}
	f, err := os.OpenFile(name+".new", os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

func checkTarget(name string) error {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file; name a file to be written or replaced", name)
	}
	return nil
}

// SyncDir makes the names in a folder durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(syncDir(d), d.Close())
}
