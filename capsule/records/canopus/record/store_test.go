package record

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/erdos1056/erdos1056/internal/digest"
)

func workspace(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	put := func(path, text string) {
		t.Helper()
		full := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("a/good.txt", "text\n")
	put("a/empty.txt", "")
	put("a/latin1.txt", "\xe9")
	put("a/large.txt", strings.Repeat("x", 101))
	put("a/two.txt", "two names")
	put("a/key.txt", "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n")
	put("a/login.json", `{"refresh_token": "0123456789abcdef"}`)
	put("a/pat.txt", "ghp_"+strings.Repeat("a", 36))
	os.Link(filepath.Join(root, "a/two.txt"), filepath.Join(root, "a/names.txt"))
	os.Symlink("good.txt", filepath.Join(root, "a/link.txt"))
	os.Symlink("a", filepath.Join(root, "b"))
	syscall.Mkfifo(filepath.Join(root, "a/pipe"), 0o600)
	return root
}

func TestFreezeTakesPlainTextAndNothingElse(t *testing.T) {
	root := workspace(t)
	store, err := OpenStore(filepath.Join(t.TempDir(), "artifacts"), 100)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"a/empty.txt":  "the file is empty",
		"a/latin1.txt": "not UTF-8",
		"a/large.txt":  "file of 101 bytes exceeds the limit of 100 bytes",
		"a/names.txt":  "found 2 hard links",
		"a/link.txt":   "a/link.txt is a symbolic link",
		"b/good.txt":   "b is a symbolic link",
		"a/pipe":       "found a named pipe",
		"a":            "found a directory",
		"a/absent":     "no such file",
		"../x":         "leads out of the workspace",
		"a/key.txt":    "a private key",
		"a/login.json": "a stored login",
		"a/pat.txt":    "an access token",
	} {
		if _, err := store.Freeze(root, path, "text/plain"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", path, err, want)
		}
	}
	a, err := store.Freeze(root, "a/good.txt", "text/plain")
	if err != nil || a.Bytes != 5 || a.Digest != string(digest.Of([]byte("text\n"))) || store.Remaining != 95 {
		t.Fatalf("%+v, %v, %d remain", a, err, store.Remaining)
	}
	if info, err := os.Lstat(store.Path(a.Digest)); err != nil || info.Mode() != 0o444 {
		t.Errorf("%v, %v", info, err)
	}
	if _, err := store.FreezeBytes("m", "k", make([]byte, 96)); !errors.Is(err, ErrBudget) {
		t.Errorf("above the budget: %v", err)
	}
	// The folder is sealed; it is opened again for its removal.
	t.Cleanup(func() { os.Chmod(store.Folder, 0o700) })
	if err := store.Seal([]Artifact{a}); err != nil {
		t.Errorf("seal: %v", err)
	}
}

func TestSealFindsChangedAndForeignFiles(t *testing.T) {
	store, err := OpenStore(filepath.Join(t.TempDir(), "artifacts"), 100)
	if err != nil {
		t.Fatal(err)
	}
	a, err := store.FreezeBytes("a", "k", []byte("one"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(store.Folder, "stray"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := store.Seal([]Artifact{a}); err == nil || !strings.Contains(err.Error(), `"stray", which is no frozen artifact`) {
		t.Errorf("a foreign file: %v", err)
	}
	os.Remove(filepath.Join(store.Folder, "stray"))
	os.Chmod(store.Path(a.Digest), 0o600)
	if err := os.WriteFile(store.Path(a.Digest), []byte("two"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := store.Seal([]Artifact{a}); err == nil || !strings.Contains(err.Error(), "expected "+a.Digest) {
		t.Errorf("a changed file: %v", err)
	}
}
