package oci

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// An Entry is a file or a folder of a [Tree].
type Entry struct {
	Path string      // relative, clean, with slashes
	Mode fs.FileMode // permission bits, and fs.ModeDir for a folder
	Data []byte      // the content of a file
}

// A Tree is the content of an image: every folder is there before what is in
// it, and everything is sorted by path.
type Tree []Entry

// NewTree returns the tree of the files, with their folders added (mode 755).
func NewTree(files ...Entry) (Tree, error) {
	byPath := make(map[string]Entry)
	for _, f := range files {
		if !fs.ValidPath(f.Path) || f.Path == "." || strings.ContainsAny(f.Path, "\x00\n\\") {
			return nil, fmt.Errorf("oci: file path %q: want a relative clean path", f.Path)
		}
		if len(f.Path) > maxName {
			return nil, fmt.Errorf("oci: file path %s: %d bytes, the limit is %d", f.Path, len(f.Path), maxName)
		}
		if f.Mode&^fs.ModePerm != 0 {
			return nil, fmt.Errorf("oci: %s: mode %v has more than permission bits", f.Path, f.Mode)
		}
		if _, ok := byPath[f.Path]; ok {
			return nil, fmt.Errorf("oci: %s is there twice", f.Path)
		}
		byPath[f.Path] = f
	}
	for _, f := range files {
		for dir := path.Dir(f.Path); dir != "."; dir = path.Dir(dir) {
			if other, ok := byPath[dir]; ok && !other.Mode.IsDir() {
				return nil, fmt.Errorf("oci: %s is both a file and a folder of %s", dir, f.Path)
			}
			byPath[dir] = Entry{Path: dir, Mode: fs.ModeDir | 0o755}
		}
	}
	tree := make(Tree, 0, len(byPath))
	for _, e := range byPath {
		tree = append(tree, e)
	}
	slices.SortFunc(tree, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	return tree, nil
}

// Find returns the entry at the path.
func (t Tree) Find(path string) (Entry, bool) {
	i, ok := slices.BinarySearchFunc(t, path, func(e Entry, p string) int { return strings.Compare(e.Path, p) })
	if !ok {
		return Entry{}, false
	}
	return t[i], true
}
