package file

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestReadRegularRefusesEverythingElse(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	must(t, os.WriteFile(plain, []byte("12345"), 0o600))
	must(t, os.Symlink("plain", filepath.Join(dir, "link")))
	must(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "two"), nil, 0o600))
	must(t, os.Link(filepath.Join(dir, "two"), filepath.Join(dir, "names")))

	if data, err := ReadRegular(plain, 5); err != nil || string(data) != "12345" {
		t.Errorf("ReadRegular = %q, %v", data, err)
	}
	cases := []struct {
		name string
		max  int64
		want string
	}{
		{"plain", 4, "file of 5 bytes exceeds the limit of 4 bytes"},
		{"link", 5, "found a symbolic link"},
		{"pipe", 5, "found a named pipe"},
		{".", 5, "found a directory"},
		{"names", 5, "found 2 hard links"},
		{"absent", 5, "no such file"},
	}
	for _, c := range cases {
		if _, err := ReadRegular(filepath.Join(dir, c.name), c.max); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("ReadRegular(%s) = %v; want %q", c.name, err, c.want)
		}
	}
}

func TestReadBelowStaysBelow(t *testing.T) {
	dir := t.TempDir()
	root := filepath.Join(dir, "root")
	must(t, os.MkdirAll(filepath.Join(root, "a"), 0o700))
	must(t, os.WriteFile(filepath.Join(root, "a", "f"), []byte("x"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "secret"), []byte("s"), 0o600))
	must(t, os.Symlink("a", filepath.Join(root, "inside")))
	must(t, os.Symlink("..", filepath.Join(root, "outside")))
	must(t, os.Symlink("a/f", filepath.Join(root, "link")))
	for _, path := range []string{"a/f", "inside/f"} {
		if data, err := ReadBelow(root, path, 10); err != nil || string(data) != "x" {
			t.Errorf("ReadBelow(%s) = %q, %v", path, data, err)
		}
	}
	for path, want := range map[string]string{
		"outside/secret": "escapes", "../secret": "escapes", "link": "found a symbolic link", "a": "found a directory", "a/g": "no such file",
	} {
		if _, err := ReadBelow(root, path, 10); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ReadBelow(%s) = %v; want %q", path, err, want)
		}
	}
	if _, err := ReadBelow(root, "a/f", 0); err == nil {
		t.Error("a file above the limit passed")
	}
}

func TestUnchangedSeesAChange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	must(t, os.WriteFile(path, []byte("a"), 0o600))
	f, err := OpenRegular(path, 10)
	must(t, err)
	defer f.Close()
	before, err := f.Stat()
	must(t, err)
	must(t, Unchanged(f, before))
	must(t, os.WriteFile(path, []byte("ab"), 0o600))
	if err := Unchanged(f, before); err == nil {
		t.Error("a longer file counts as unchanged")
	}
}

func TestCreateIsCompleteOrAbsentAndNeverReplaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	must(t, os.WriteFile(path+".new", []byte("left by a killed writer"), 0o600))
	must(t, Create(path, []byte("one"), 0o444))
	if err := Create(path, []byte("two"), 0o444); !errors.Is(err, fs.ErrExist) {
		t.Errorf("second Create: %v", err)
	}
	if data, _ := os.ReadFile(path); !bytes.Equal(data, []byte("one")) {
		t.Errorf("content %q", data)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o444 {
		t.Errorf("mode %v", info.Mode())
	}
	if _, err := os.Lstat(path + ".new"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf(".new remains: %v", err)
	}
}

func TestCreateFolderIsCompleteOrAbsent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "folder")
	must(t, os.MkdirAll(path+".new/left", 0o700))
	fails := errors.New("fails")
	err := CreateFolder(path, func(draft string) error {
		must(t, CreateBelow(draft, "a/b", []byte("x"), 0o600))
		return fails
	})
	if !errors.Is(err, fails) {
		t.Errorf("CreateFolder: %v", err)
	}
	for _, name := range []string{path, path + ".new"} {
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s remains: %v", name, err)
		}
	}
	fill := func(draft string) error { return CreateBelow(draft, "a/b", []byte("x"), 0o600) }
	must(t, CreateFolder(path, fill))
	if data, err := os.ReadFile(filepath.Join(path, "a/b")); err != nil || string(data) != "x" {
		t.Errorf("%q, %v", data, err)
	}
	if err := CreateFolder(path, fill); !errors.Is(err, fs.ErrExist) {
		t.Errorf("second CreateFolder: %v", err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
