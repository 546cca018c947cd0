// Package transcript records what a search saw at every prime, in so few bytes
// that two searches - by another kernel, on another machine, by another party -
// can be held against each other prime by prime, and in one digest.
package transcript

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"strings"

	"github.com/erdos1056/erdos1056/kernel/plan"
)

// A Fingerprint sums up one prime P. With h = (P-1)/2 and D[a] the number of cuts
// t in [0, h) with t! = a or -a mod P, 1 <= a <= h, it holds quantities that
// cannot be had without counting:
type Fingerprint struct {
	P             uint32
	HalfFactorial uint32 // h! mod P
	Cells         uint64 // number of a with D[a] > 0
	Squares       uint64 // sum of D[a]^2
}

// Line is the canonical line of a fingerprint, with its newline.
func (f Fingerprint) Line() string {
	return fmt.Sprintf("%d %d %d %d\n", f.P, f.HalfFactorial, f.Cells, f.Squares)
}

// Schema names the text form of a transcript in its first line.
const Schema = "erdos1056.transcript.v1"

// A Writer accumulates the fingerprints of a range in ascending order of p. Its
// digest is the SHA-256 of their lines; the optional output gets the text form:
// a line "erdos1056.transcript.v1 A..B", the lines, and "sha256:<digest>".
type Writer struct {
	out   io.Writer
	hash  hash.Hash
	last  uint32
	count uint64
}

// NewWriter returns a Writer whose text goes to out; nil keeps the digest only.
func NewWriter(out io.Writer, r plan.Range) (*Writer, error) {
	w := &Writer{out: out, hash: sha256.New()}
	return w, w.print(Header(r, nil))
}

func (w *Writer) print(s string) error {
	if w.out == nil {
		return nil
	}
	_, err := io.WriteString(w.out, s)
	return err
}

// Add appends one fingerprint; primes must ascend.
func (w *Writer) Add(f Fingerprint) error {
	if f.P <= w.last {
		return fmt.Errorf("transcript: prime %d after %d: primes must ascend", f.P, w.last)
	}
	w.last = f.P
	w.count++
	line := f.Line()
	io.WriteString(w.hash, line) // a hash takes every write
	return w.print(line)
}

// Count is the number of fingerprints added.
func (w *Writer) Count() uint64 { return w.count }

// Digest is "sha256:" and the hexadecimal SHA-256 of all lines so far.
func (w *Writer) Digest() string { return "sha256:" + hex.EncodeToString(w.hash.Sum(nil)) }

// Close writes the digest line of the text form.
func (w *Writer) Close() error { return w.print(w.Digest() + "\n") }

// Read reads the text form, checks its order and digest, and returns the range and
// the fingerprints. It reads one line at a time; a line is at most 256 bytes.
func Read(in io.Reader) (r plan.Range, all []Fingerprint, err error) {
	s := bufio.NewScanner(in)
	s.Buffer(make([]byte, 256), 256)
	s.Split(wholeLines)
	n := 0
	bad := func(expected string) (plan.Range, []Fingerprint, error) {
		if s.Err() != nil {
			return plan.Range{}, nil, fmt.Errorf("transcript line %d: expected %s: %w", n+1, expected, s.Err())
		}
		return plan.Range{}, nil, fmt.Errorf("transcript line %d: expected %s, found %q", n, expected, s.Text())
	}
	next := func() bool { n++; return s.Scan() }
	if !next() {
		return bad(Schema + " and a range")
	}
	text, ok := strings.CutPrefix(s.Text(), Schema+" ")
	if r, err = plan.ParseRange(strings.TrimSuffix(text, "\n")); !ok || err != nil || r.String()+"\n" != text {
		return bad(Schema + " and a range")
	}
	w, err := NewWriter(nil, r)
	if err != nil {
		return plan.Range{}, nil, err
	}
	for next() {
		if strings.HasPrefix(s.Text(), "sha256:") {
			if s.Text() != w.Digest()+"\n" {
				return bad(w.Digest())
			}
			if next() {
				return bad("the end")
			}
			return r, all, s.Err()
		}
		f, err := ParseLine(s.Text())
		if err != nil || f.P < r.Lo || f.P > r.Hi || w.Add(f) != nil {
			return bad("ascending primes of the range, each with h!, cells and squares")
		}
		all = append(all, f)
	}
	return bad("a last line with the digest")
}

// ParseLine reads one canonical line, newline included.
func ParseLine(line string) (Fingerprint, error) {
	var f Fingerprint
	if _, err := fmt.Sscanf(line, "%d %d %d %d\n", &f.P, &f.HalfFactorial, &f.Cells, &f.Squares); err != nil || f.Line() != line {
		return Fingerprint{}, fmt.Errorf("transcript: %q is not a fingerprint line", line)
	}
	return f, nil
}

// wholeLines keeps the newline and refuses a last line without one.
func wholeLines(data []byte, atEOF bool) (int, []byte, error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i+1], nil
	}
	if atEOF && len(data) > 0 {
		return 0, nil, io.ErrUnexpectedEOF
	}
	return 0, nil, nil
}
