package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// The attempts below are made in the current folder, the workspace.

// workspaceFill writes as many mebibytes as it is told, to several files, so
// that no limit of one file helps.
func workspaceFill(args []string) string {
	n, _ := strconv.Atoi(args[0])
	block := bytes.Repeat([]byte{'x'}, 1<<20)
	for i := range n {
		f, err := os.Create(fmt.Sprintf("fill-%d", i))
		if err != nil {
			return ""
		}
		_, err = f.Write(block)
		f.Close()
		if err != nil {
			return ""
		}
	}
	return fmt.Sprintf("wrote %d MiB", n)
}

// workspaceInodes makes as many empty files as it is told.
func workspaceInodes(args []string) string {
	n, _ := strconv.Atoi(args[0])
	for i := range n {
		if os.WriteFile(fmt.Sprintf("empty-%d", i), nil, 0o600) != nil {
			return ""
		}
	}
	return fmt.Sprintf("made %d files", n)
}

func workspaceSymlink([]string) string {
	if os.Symlink("/etc/passwd", "link") == nil {
		return "made a symbolic link"
	}
	return ""
}

func workspaceHardLink([]string) string {
	if os.WriteFile("first", []byte("one file"), 0o600) == nil && os.Link("first", "second") == nil {
		return "made a hard link"
	}
	return ""
}

func workspacePipe([]string) string {
	if syscall.Mkfifo("pipe", 0o600) == nil {
		return "made a pipe"
	}
	const zero = 1<<8 | 5
	if syscall.Mknod("device", syscall.S_IFCHR|0o600, zero) == nil {
		return "made a device"
	}
	return ""
}

// workspaceExecute becomes a copy of this program, which then exits with the
// code of success.
func workspaceExecute([]string) string {
	program, err := os.ReadFile(os.Args[0])
	if err != nil || os.WriteFile("copy", program, 0o700) != nil {
		return ""
	}
	if err := syscall.Exec("copy", []string{"copy", "exit", "3"}, nil); err == syscall.ENOENT {
		return "cannot be: the copy is gone"
	}
	return ""
}

// workspaceLitter leaves one of each kind of thing behind, as far as it is let.
func workspaceLitter([]string) string {
	os.WriteFile("result.txt", []byte("a result\n"), 0o600)
	os.MkdirAll("deep/er", 0o700)
	os.WriteFile("deep/er/note.txt", []byte("a note\n"), 0o600)
	os.MkdirAll(strings.Repeat("d/", 20), 0o700)
	os.WriteFile("empty.txt", nil, 0o600)
	os.WriteFile("first", []byte("one file"), 0o600)
	os.Link("first", "second")
	os.Symlink("/etc/passwd", "passwd")
	os.Symlink("deep", "shortcut")
	os.Symlink("/", "root")
	syscall.Mkfifo("pipe", 0o600)
	os.WriteFile("set-user-id", []byte("#!/bin/sh\n"), 0o700)
	syscall.Chmod("set-user-id", 0o4755)
	os.WriteFile("secret", []byte("x"), 0)
	os.WriteFile("bad\xff name", []byte("x"), 0o600)
	os.WriteFile("line\nbreak", []byte("x"), 0o600)
	os.WriteFile("sparse", nil, 0o600)
	os.Truncate("sparse", 1<<30)
	os.Mkdir("locked", 0o700)
	os.WriteFile("locked/inner", []byte("x"), 0o600)
	os.Chmod("locked", 0)
	return ""
}

// folderWrite tries to change the folder that it is told.
func folderWrite(args []string) (got string) {
	filepath.WalkDir(args[0], func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			if f, err := os.OpenFile(path, os.O_WRONLY, 0); err == nil {
				f.Close()
				got = "opened for writing: " + path
			}
			if os.Remove(path) == nil {
				got = "removed " + path
			}
			return nil
		}
		if os.WriteFile(filepath.Join(path, "escape"), nil, 0o600) == nil {
			got = "made a file in " + path
		}
		return nil
	})
	return got
}

// readFolder prints the files of the folder that it is told, and
// printEnvironment the environment: neither is an attempt.
func readFolder(args []string) string {
	filepath.WalkDir(args[0], func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			text, _ := os.ReadFile(path)
			relative, _ := filepath.Rel(args[0], path)
			fmt.Print(relative, " ", string(text))
		}
		return nil
	})
	return ""
}

func printEnvironment([]string) string {
	fmt.Println(strings.Join(os.Environ(), "\n"))
	return ""
}
