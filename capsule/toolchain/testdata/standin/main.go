// Standin takes the place of lean and of lean4export, by the name it is called
// with. It proves nothing and elaborates nothing.
//
// As lean it records how it was called and what it could do, in the file that -o
// names, and prints the report of a theorem without axioms. A line
// "-- stand-in: WORD" in the source makes it misbehave.
//
// As lean4export it writes the toolchain's lib/lean/export.ndjson to standard
// output, and to standard error what lean recorded and its own record.
package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A Record is what a program saw and could do.
type Record struct {
	Args        []string
	Folder      string // in which it started
	Environment []string
	Itself      string   // what it takes its own path to be
	Source      string   // of lean: the text that it was given
	Written     []string // what it could write to besides its own folder
}

func main() {
	record := Record{Args: os.Args, Environment: os.Environ(), Written: written()}
	record.Folder, _ = os.Getwd()
	record.Itself, _ = os.Readlink("/proc/self/exe")
	switch filepath.Base(os.Args[0]) {
	case "lean":
		lean(record)
	case "lean4export":
		export(record)
	default:
		os.Exit(64)
	}
}

func lean(record Record) {
	if len(os.Args) != 4 || os.Args[1] != "-o" {
		fmt.Println("expected -o OUTPUT SOURCE")
		os.Exit(64)
	}
	text, err := os.ReadFile(os.Args[3])
	check(err)
	record.Source = string(text)
	if _, word, ok := strings.Cut(record.Source, "-- stand-in: "); ok {
		switch word, _, _ = strings.Cut(word, "\n"); word {
		case "error":
			fmt.Println("Candidate.lean:4:2: error: unsolved goals")
			os.Exit(1)
		case "sleep":
			time.Sleep(time.Hour)
		case "nothing":
			fmt.Println("'candidate' does not depend on any axioms")
			return
		}
	}
	encoded, err := json.Marshal(record)
	check(err)
	check(os.WriteFile(os.Args[2], encoded, 0o600))
	check(os.WriteFile("scratch", encoded, 0o600))
	fmt.Println("'candidate' does not depend on any axioms")
}

func export(record Record) {
	var compiled Record
	for _, folder := range strings.Split(os.Getenv("LEAN_PATH"), ":") {
		if data, err := os.ReadFile(filepath.Join(folder, os.Args[1]+".olean")); err == nil {
			check(json.Unmarshal(data, &compiled))
		}
	}
	check(json.NewEncoder(os.Stderr).Encode([]Record{compiled, record}))
	text, err := os.ReadFile(filepath.Join(os.Getenv("LEAN_SYSROOT"), "lib/lean/export.ndjson"))
	check(err)
	_, err = os.Stdout.Write(text)
	check(err)
}

// written tries to make a file in every folder outside its own.
func written() (paths []string) {
	own, _ := os.Getwd()
	filepath.WalkDir("/", func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == own || path == "/proc" || path == "/sys" {
			return filepath.SkipDir
		}
		if d.IsDir() && os.WriteFile(filepath.Join(path, "escape"), nil, 0o600) == nil {
			paths = append(paths, path)
		}
		return nil
	})
	return paths
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(70)
	}
}
