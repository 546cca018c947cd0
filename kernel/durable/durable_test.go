package durable

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWriteFileReplacesTheWholeFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	for _, s := range []string{"a long first text", "short"} {
		if err := WriteFile(name, []byte(s), 0o644); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(name); err != nil || string(b) != s {
			t.Errorf("read %q, %v; want %q", b, err, s)
		}
	}
	if _, err := os.Stat(name + ".new"); !os.IsNotExist(err) {
		t.Errorf("the temporary file is left behind: %v", err)
	}
}

func TestFailureKeepsTheOldFile(t *testing.T) {
	dir := t.TempDir()
	if err := WriteFile(dir, nil, 0o644); err == nil {
		t.Error("a folder was overwritten")
	}
	if err := CheckWritable(dir); err == nil {
		t.Error("a folder passes for writable")
	}
	if err := CheckWritable(filepath.Join(dir, "absent", "f")); err == nil {
		t.Error("a file in an absent folder passes for writable")
	}
	if err := CheckWritable(filepath.Join(dir, "g")); err != nil {
		t.Error(err)
	}
	if err := WriteFile(filepath.Join(dir, "absent", "f"), nil, 0o644); err == nil {
		t.Error("a file in an absent folder was written")
	}
	name := filepath.Join(dir, "f")
	if err := os.WriteFile(name, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/full", name+".new"); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(name, []byte("new"), 0o644); err == nil {
		t.Error("a full disk was not noticed")
	}
	if b, _ := os.ReadFile(name); string(b) != "old" {
		t.Errorf("the old file is now %q", b)
	}
}
