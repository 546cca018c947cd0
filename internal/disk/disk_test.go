//go:build unix

package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o644))
}

func expectContent(t *testing.T, path, expected string) {
	t.Helper()
	if found, err := os.ReadFile(path); err != nil || string(found) != expected {
		t.Errorf("%s: expected %q, found %q, %v", path, expected, found, err)
	}
}

// expectOnly checks that nothing else lies in a folder.
func expectOnly(t *testing.T, folder string, expected ...string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	must(t, err)
	var found []string
	for _, e := range entries {
		found = append(found, e.Name())
	}
	if strings.Join(found, " ") != strings.Join(expected, " ") {
		t.Errorf("%s: expected %q, found %q", folder, expected, found)
	}
}

// everyKind makes one of each kind of file in a folder.
func everyKind(t *testing.T) (folder string) {
	folder = t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	write(t, in("plain"), "12345")
	write(t, in("two"), "")
	must(t, os.Link(in("two"), in("names")))
	must(t, os.Symlink("plain", in("link")))
	must(t, os.Symlink("pipe", in("pipe-link")))
	must(t, syscall.Mkfifo(in("pipe"), 0o600))
	must(t, os.Mkdir(in("folder"), 0o755))
	return folder
}

func TestOnlyBoundedRegularFilesAreRead(t *testing.T) {
	folder := everyKind(t)
	for _, c := range []struct {
		name     string
		max      int64
		links    Links
		class    error
		expected string
	}{
		{"plain", 5, RefuseLinks, nil, ""},
		{"link", 5, FollowLinks, nil, ""},
		{"names", 5, FollowLinks, nil, ""},
		{"plain", 4, RefuseLinks, ErrTooLarge, "file of 5 bytes exceeds the limit of 4 bytes"},
		{"link", 4, FollowLinks, ErrTooLarge, "file of 5 bytes exceeds the limit of 4 bytes"},
		{"link", 5, RefuseLinks, ErrKind, "found a symbolic link"},
		{"names", 5, RefuseLinks, ErrKind, "found 2 hard links"},
		{"pipe", 5, RefuseLinks, ErrKind, "found a named pipe"},
		{"pipe", 5, FollowLinks, ErrKind, "found a named pipe"},
		{"pipe-link", 5, FollowLinks, ErrKind, "found a named pipe"},
		{"folder", 5, FollowLinks, ErrKind, "found a directory"},
		{"../../../../../../../../dev/null", 5, FollowLinks, ErrKind, "found a device"},
		{"absent", 5, FollowLinks, fs.ErrNotExist, "no such file"},
		{"plain/below", 5, FollowLinks, syscall.ENOTDIR, "not a directory"},
	} {
		data, err := Read(filepath.Join(folder, c.name), c.max, c.links)
		switch {
		case !errors.Is(err, c.class):
			t.Errorf("%s, follow links %t: expected %v, found %v", c.name, c.links, c.class, err)
		case err != nil && !strings.Contains(err.Error(), c.expected):
			t.Errorf("%s: expected an error with %q, found %v", c.name, c.expected, err)
		case err == nil && c.name != "names" && string(data) != "12345":
			t.Errorf("%s: %q", c.name, data)
		}
	}
}

func TestReadBelowStaysBelow(t *testing.T) {
	outer := t.TempDir()
	root := filepath.Join(outer, "root")
	must(t, os.MkdirAll(filepath.Join(root, "a"), 0o700))
	write(t, filepath.Join(root, "a", "f"), "x")
	write(t, filepath.Join(outer, "secret"), "s")
	must(t, os.Symlink("a", filepath.Join(root, "inside")))
	must(t, os.Symlink("..", filepath.Join(root, "outside")))
	must(t, os.Symlink("a/f", filepath.Join(root, "link")))
	for _, path := range []string{"a/f", "inside/f"} {
		if data, err := ReadBelow(root, path, 10); err != nil || string(data) != "x" {
			t.Errorf("%s: %q, %v", path, data, err)
		}
	}
	for path, expected := range map[string]string{
		"outside/secret": "escapes", "../secret": "escapes", "link": "found a symbolic link", "a": "found a directory", "a/g": "no such file",
	} {
		if _, err := ReadBelow(root, path, 10); err == nil || !strings.Contains(err.Error(), expected) {
			t.Errorf("%s: expected an error with %q, found %v", path, expected, err)
		}
	}
	if _, err := ReadBelow(root, "a/f", 0); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a file above the limit: %v", err)
	}
}

func TestChangesDuringReadingAreSeen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "ab")
	f, err := Open(path, 10, RefuseLinks)
	must(t, err)
	defer f.Close()
	before, err := f.Stat()
	must(t, err)
	must(t, Unchanged(f, before))
	write(t, path, "abc")
	if err := Unchanged(f, before); !errors.Is(err, ErrChanged) || !Temporary(err) {
		t.Errorf("a longer file: %v", err)
	}
	other := filepath.Join(t.TempDir(), "g")
	write(t, other, "ab")
	replaced, err := os.Stat(other)
	must(t, err)
	if err := checkOpened(f, replaced, path, 10, RefuseLinks); !errors.Is(err, ErrChanged) {
		t.Errorf("another file than was looked at: %v", err)
	}
}

func TestReplaceWritesTheWholeFileOrNothing(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "f")
	for _, text := range []string{"a long first text", "short"} {
		must(t, Replace(path, []byte(text), 0o600))
		expectContent(t, path, text)
	}
	expectOnly(t, folder, "f")
	for name, class := range map[string]error{folder: ErrKind, filepath.Join(folder, "absent", "f"): fs.ErrNotExist, os.DevNull: ErrKind} {
		var failed *WriteError
		if err := Replace(name, nil, 0o644); !errors.Is(err, class) || !errors.As(err, &failed) || failed.Path != name {
			t.Errorf("%s: expected a WriteError with %v, found %v", name, class, err)
		}
		if err := CheckReplaceable(name); !errors.Is(err, class) {
			t.Errorf("%s passes for replaceable: %v", name, err)
		}
	}
	must(t, CheckReplaceable(path))
	expectOnly(t, folder, "f")
}

// What lies beside a file belongs to the user, whatever it is called.
func TestNeighboursAreLeftAlone(t *testing.T) {
	folder, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "target")
	path := filepath.Join(folder, "f")
	write(t, elsewhere, "precious")
	must(t, os.Symlink(elsewhere, path+".new"))
	must(t, os.Mkdir(filepath.Join(folder, "out.new"), 0o755))
	write(t, filepath.Join(folder, "out.new", "mine"), "mine")

	must(t, Replace(path, []byte("one"), 0o644))
	must(t, CreateFolder(filepath.Join(folder, "out"), func(draft string) error { return CreateBelow(draft, "a", nil, 0o644) }))
	expectContent(t, path, "one")
	expectContent(t, elsewhere, "precious")
	expectContent(t, filepath.Join(folder, "out.new", "mine"), "mine")
	expectOnly(t, folder, "f", "f.new", "out", "out.new")
}

// A symbolic link at the name itself is replaced, and what it points to is kept.
func TestALinkIsReplacedNotFollowed(t *testing.T) {
	folder := t.TempDir()
	path, target := filepath.Join(folder, "f"), filepath.Join(folder, "target")
	write(t, target, "old")
	must(t, os.Symlink("target", path))
	must(t, Replace(path, []byte("new"), 0o644))
	expectContent(t, path, "new")
	expectContent(t, target, "old")
}

func TestCreateNeverReplaces(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o077))
	folder := t.TempDir()
	path := filepath.Join(folder, "f")
	must(t, Create(path, []byte("one"), 0o444))
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o444 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	var failed *WriteError
	if err := Create(path, []byte("two"), 0o444); !errors.Is(err, fs.ErrExist) || !errors.As(err, &failed) {
		t.Errorf("a second time: %v", err)
	}
	// Also where the name was taken after the look.
	d, err := NewDraft(path, 0o600)
	must(t, err)
	if err := d.Create(); !errors.Is(err, fs.ErrExist) {
		t.Errorf("taken meanwhile: %v", err)
	}
	must(t, d.Discard())
	if err := renameIfAbsent(path, path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("where the system cannot refuse: %v", err)
	}
	must(t, os.Symlink("nowhere", filepath.Join(folder, "dangling")))
	if err := Create(filepath.Join(folder, "dangling"), nil, 0o600); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a dangling link: %v", err)
	}
	expectContent(t, path, "one")
	expectOnly(t, folder, "dangling", "f")
}

func TestCreateFolderIsCompleteOrAbsent(t *testing.T) {
	parent := t.TempDir()
	path := filepath.Join(parent, "folder")
	fails := errors.New("fails")
	err := CreateFolder(path, func(draft string) error {
		must(t, CreateBelow(draft, "a/b", []byte("x"), 0o600))
		return fails
	})
	if !errors.Is(err, fails) {
		t.Errorf("expected the error of fill, found %v", err)
	}
	expectOnly(t, parent)
	fill := func(draft string) error { return CreateBelow(draft, "a/b", []byte("x"), 0o600) }
	must(t, CreateFolder(path+"/", fill))
	expectContent(t, filepath.Join(path, "a/b"), "x")
	if err := CreateFolder(path, fill); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second time: %v", err)
	}
	late := filepath.Join(parent, "late")
	if err := CreateFolder(late, func(string) error { return os.Mkdir(late, 0o755) }); !errors.Is(err, fs.ErrExist) {
		t.Errorf("taken meanwhile: %v", err)
	}
	expectOnly(t, parent, "folder", "late")
}

func TestADraftIsSeenOnlyWhenComplete(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "f")
	write(t, path, "old")
	for _, commit := range []bool{false, true} {
		d, err := NewDraft(path, 0o644)
		must(t, err)
		for _, part := range []string{"ne", "w"} {
			_, err := d.Write([]byte(part))
			must(t, err)
			expectContent(t, path, "old")
		}
		if commit {
			must(t, d.Replace())
		}
		must(t, d.Discard())
		expectOnly(t, folder, "f")
	}
	expectContent(t, path, "new")
}

func TestFailuresOfWritingHaveAClass(t *testing.T) {
	full := writeError("f", &fs.PathError{Op: "write", Path: "f.new-0123456789abcdef", Err: syscall.ENOSPC})
	if full.Error() != "f cannot be written: no space left on device" || !Temporary(full) {
		t.Errorf("%v, temporary %t", full, Temporary(full))
	}
	renamed := writeError("f", &os.LinkError{Op: "rename", Old: "f.new-0", New: "f", Err: syscall.EACCES})
	if renamed.Error() != "f cannot be written: permission denied" || Temporary(renamed) || !errors.Is(renamed, fs.ErrPermission) {
		t.Errorf("%v, temporary %t", renamed, Temporary(renamed))
	}
	for _, err := range []error{syscall.EROFS, syscall.ENOLCK, syscall.ESTALE, syscall.EDQUOT, ErrHeld, fmt.Errorf("x: %w", ErrHeld)} {
		if !Temporary(err) {
			t.Errorf("%v is not temporary", err)
		}
	}
	for _, err := range []error{nil, fs.ErrNotExist, fs.ErrExist, ErrKind, ErrTooLarge, syscall.ENOENT} {
		if Temporary(err) {
			t.Errorf("%v is temporary", err)
		}
	}
}
