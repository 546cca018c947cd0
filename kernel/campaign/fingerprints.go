package campaign

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/erdos1056/erdos1056/internal/disk"
	"github.com/erdos1056/erdos1056/kernel/plan"
	"github.com/erdos1056/erdos1056/kernel/primes"
	"github.com/erdos1056/erdos1056/kernel/transcript"
)

// fingerprints are the lines of a unit's primes, in ascending order, with their digest and
// Merkle root.
type fingerprints struct {
	lines []string
}

func (f *fingerprints) add(line string) { f.lines = append(f.lines, line) }

func (f *fingerprints) digest() string {
	h := sha256.New()
	for _, line := range f.lines {
		io.WriteString(h, line)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

func (f *fingerprints) root() string {
	var tree transcript.Merkle
	for _, line := range f.lines {
		tree.Add(line)
	}
	return tree.Root()
}

// text is the text form of package transcript.
func (f *fingerprints) text(r plan.Range, residues []int64) []byte {
	return []byte(transcript.Header(r, residues) + strings.Join(f.lines, "") + f.digest() + "\n")
}

// save writes the lines of a unit into the folder's fingerprints/, named by their digest. A
// unit without primes has no file.
func (f *fingerprints) save(dir string, u Unit, residues []int64) error {
	if u.Primes == 0 {
		return nil
	}
	return disk.Replace(sideFile(filepath.Join(dir, fingerprintsName), u), f.text(u.Range(), residues), 0o644)
}

// sideFile is the name of the file that holds the fingerprints of a unit.
func sideFile(dir string, u Unit) string {
	return filepath.Join(dir, strings.TrimPrefix(u.Transcript, "sha256:"))
}

// errNoSideFile says that no folder has the fingerprints of a unit.
var errNoSideFile = errors.New("no side file")

// maxSideFile bounds a file of fingerprints: more than 2^24 lines.
const maxSideFile = 1 << 30

// readFingerprints finds the side file of a unit in one of the folders and checks it against
// the unit: its form, its primes, its digest and its root.
func readFingerprints(dirs []string, u Unit, residues []int64) (*fingerprints, error) {
	if u.Primes == 0 {
		return &fingerprints{}, (&fingerprints{}).check(u)
	}
	for _, dir := range dirs {
		name := sideFile(dir, u)
		info, err := os.Stat(name)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil && (!info.Mode().IsRegular() || info.Size() > maxSideFile) {
			err = fmt.Errorf("%s: expected a file of at most %d bytes", name, maxSideFile)
		}
		if err != nil {
			return nil, err
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		f, err := parseFingerprints(b, u, residues)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return f, nil
	}
	return nil, errNoSideFile
}

func parseFingerprints(b []byte, u Unit, residues []int64) (*fingerprints, error) {
	text, ok := bytes.CutPrefix(b, []byte(transcript.Header(u.Range(), residues)))
	if !ok {
		return nil, fmt.Errorf("line 1: expected %q", transcript.Header(u.Range(), residues))
	}
	text, ok = bytes.CutSuffix(text, []byte(u.Transcript+"\n"))
	if !ok {
		return nil, fmt.Errorf("expected the last line %s", u.Transcript)
	}
	var f fingerprints
	for line := range strings.Lines(string(text)) {
		f.add(line)
	}
	return &f, f.check(u)
}

// check holds the lines against the unit: one line for each prime, in order, and the digest
// and root that the ledger states.
func (f *fingerprints) check(u Unit) error {
	sieve := primes.New(u.Lo, u.Hi)
	for i, line := range f.lines {
		p, ok := sieve.Next()
		if !ok || !strings.HasPrefix(line, fmt.Sprint(p)+" ") {
			return fmt.Errorf("line %d: expected the fingerprint of prime %d, found %q", i+2, p, line)
		}
	}
	if p, more := sieve.Next(); more {
		return fmt.Errorf("line %d: expected the fingerprint of prime %d, found the end", len(f.lines)+2, p)
	}
	if d := f.digest(); d != u.Transcript {
		return fmt.Errorf("the fingerprints of unit %s have digest %s, the ledger says %s", u.Range(), d, u.Transcript)
	}
	if root := f.root(); root != u.Root {
		return fmt.Errorf("the fingerprints of unit %s have root %s, the ledger says %s", u.Range(), root, u.Root)
	}
	return nil
}

// ResultFiles names the files of a campaign's folder that make up its result, relative to it
// and with slashes: the ledger and the side files that are there.
func ResultFiles(dir string, l *Ledger) []string {
	names := []string{LedgerName}
	for _, u := range l.Units {
		name := sideFile(fingerprintsName, u)
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil && u.Primes > 0 {
			names = append(names, filepath.ToSlash(name))
		}
	}
	return names
}

// SideFileName reports whether a name is one that ResultFiles gives to a side file, and returns
// its last part.
func SideFileName(name string) (base string, ok bool) {
	base, ok = strings.CutPrefix(name, fingerprintsName+"/")
	if digest, err := hex.DecodeString(base); !ok || err != nil || len(digest) != sha256.Size || strings.ToLower(base) != base {
		return "", false
	}
	return base, true
}
