package sandbox

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// loaderOf returns the path of the loader that a program names, or "" for a
// static one.
func loaderOf(program *elf.File) string {
	for _, segment := range program.Progs {
		if segment.Type != elf.PT_INTERP || segment.Filesz > 4096 {
			continue
		}
		name := make([]byte, segment.Filesz)
		if _, err := segment.ReadAt(name, 0); err != nil {
			return "an unreadable one"
		}
		return string(bytes.TrimRight(name, "\x00"))
	}
	return ""
}

// Libraries returns the loader and the libraries of this machine that a
// dynamically linked program needs, as files at the places where the loader
// looks for them. Libraries that the program brings along, at places relative to
// its own or in one of the own folders, are left out. A static program needs
// none.
func Libraries(program string, own ...string) ([]File, error) {
	f, err := elf.Open(program)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", program, err)
	}
	loader := loaderOf(f)
	f.Close()
	if loader == "" {
		return nil, nil
	}
	l := &linker{folders: systemFolders(loader), seen: map[string]bool{}}
	if err := l.add(loader, true); err != nil {
		return nil, err
	}
	return l.files, l.follow(program, own)
}

// systemFolders are where a loader looks for libraries by itself.
func systemFolders(loader string) []string {
	triplet := "x86_64-linux-gnu"
	if Native == "linux/arm64" {
		triplet = "aarch64-linux-gnu"
	}
	return []string{filepath.Dir(loader), "/lib/" + triplet, "/usr/lib/" + triplet, "/lib64", "/usr/lib64", "/lib", "/usr/lib"}
}

// A linker follows what programs and libraries need.
type linker struct {
	folders []string
	seen    map[string]bool
	files   []File
}

// add makes a file of this machine, which may be a symbolic link, one that the
// program sees under the same name.
func (l *linker) add(path string, executable bool) error {
	source, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(l.files, func(f File) bool { return f.Path == path }) {
		l.files = append(l.files, File{Path: path, Source: source, Executable: executable})
	}
	return nil
}

// follow adds what the file at path needs, and what that needs in turn. inherited
// are the folders that the files which need it name.
func (l *linker) follow(path string, inherited []string) error {
	if l.seen[path] {
		return nil
	}
	l.seen[path] = true
	if len(l.seen) > MaxFiles {
		return fmt.Errorf("%s: more than %d libraries are needed", path, MaxFiles)
	}
	f, err := elf.Open(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer f.Close()
	needed, err := f.ImportedLibraries()
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	own := append(runPaths(f, filepath.Dir(path)), inherited...)
	for _, name := range needed {
		if err := l.find(name, own); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

func (l *linker) find(name string, own []string) error {
	for _, folder := range own {
		if path := filepath.Join(folder, name); exists(path) {
			return l.follow(path, own)
		}
	}
	for _, folder := range l.folders {
		path := filepath.Join(folder, name)
		if !exists(path) {
			continue
		}
		if err := l.add(path, false); err != nil {
			return err
		}
		return l.follow(path, own)
	}
	return fmt.Errorf("the library %s is not found", name)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// runPaths returns the folders, relative to that of the file, in which it looks
// for libraries first.
func runPaths(f *elf.File, folder string) (paths []string) {
	for _, tag := range []elf.DynTag{elf.DT_RPATH, elf.DT_RUNPATH} {
		values, err := f.DynString(tag)
		if err != nil {
			continue
		}
		for _, p := range strings.Split(strings.Join(values, ":"), ":") {
			for _, origin := range []string{"$ORIGIN", "${ORIGIN}"} {
				if rest, ok := strings.CutPrefix(p, origin); ok {
					paths = append(paths, filepath.Join(folder, rest))
				}
			}
		}
	}
	return paths
}
