package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// readInput reads a regular file of at most limit bytes.
func readInput(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, &codedError{exitNoInput, fmt.Errorf("%s: there is no such file", name)}
		}
		return nil, &codedError{exitNoInput, err}
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, &codedError{exitNoInput, err}
	}
	if !info.Mode().IsRegular() {
		return nil, &codedError{exitNoInput, fmt.Errorf("%s: expected a regular file, found %s", name, kindOf(info.Mode()))}
	}
	if info.Size() > limit {
		return nil, &codedError{exitMismatch, fmt.Errorf("%s: expected at most %d bytes, found %d", name, limit, info.Size())}
	}
	b, err := io.ReadAll(io.LimitReader(f, limit))
	if err != nil {
		return nil, &codedError{exitNoInput, err}
	}
	return b, nil
}

func kindOf(mode fs.FileMode) string {
	if mode.IsDir() {
		return "a directory"
	}
	return "a special file (" + mode.Type().String() + ")"
}
