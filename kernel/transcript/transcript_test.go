package transcript

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/kernel/plan"
)

var small = []Fingerprint{{3, 1, 1, 1}, {5, 2, 1, 4}, {7, 6, 2, 5}}

func text(t *testing.T, fs []Fingerprint) string {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWriter(&b, plan.Range{Lo: 2, Hi: 10})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fs {
		if err := w.Add(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestWrittenTranscriptReadsBack(t *testing.T) {
	s := text(t, small)
	want := "erdos1056.transcript.v1 2..10\n3 1 1 1\n5 2 1 4\n7 6 2 5\nsha256:"
	if !strings.HasPrefix(s, want) {
		t.Errorf("text %q, want prefix %q", s, want)
	}
	r, fs, err := Read(strings.NewReader(s))
	if err != nil || r != (plan.Range{Lo: 2, Hi: 10}) || len(fs) != 3 || fs[2] != small[2] {
		t.Errorf("read back %v, %v, %v", r, fs, err)
	}
}

func TestPrimesMustAscend(t *testing.T) {
	w, _ := NewWriter(nil, plan.Range{Lo: 2, Hi: 10})
	if w.Add(small[1]) != nil || w.Add(small[0]) == nil {
		t.Error("a smaller prime was taken after a larger one")
	}
}

// Every single-byte change, and every shortened text, is noticed.
func TestDamageIsNoticed(t *testing.T) {
	s := text(t, small)
	for i := range s {
		for _, flip := range []byte{1, 2, 128} {
			b := []byte(s)
			b[i] ^= flip
			r, fs, err := Read(bytes.NewReader(b))
			if err == nil && r == (plan.Range{Lo: 2, Hi: 10}) {
				t.Errorf("byte %d altered by %d: read as %v, %v", i, flip, r, fs)
			}
		}
		if _, _, err := Read(strings.NewReader(s[:i])); err == nil {
			t.Errorf("cut to %d bytes: no error", i)
		}
	}
	if _, _, err := Read(strings.NewReader(s + "\n")); err == nil {
		t.Error("a line behind the digest was accepted")
	}
}

type fullDisk struct{ left int }

var errFull = errors.New("no space left on device")

func (d *fullDisk) Write(b []byte) (int, error) {
	if d.left -= len(b); d.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestFullDiskIsReported(t *testing.T) {
	w, err := NewWriter(&fullDisk{40}, plan.Range{Lo: 2, Hi: 10})
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(w.Add(small[0]), w.Add(small[1]), w.Close())
	if !errors.Is(err, errFull) {
		t.Errorf("error %v, want %v", err, errFull)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("erdos1056.transcript.v1 2..10\n3 1 1 1\nsha256:00\n")
	f.Fuzz(func(t *testing.T, s string) {
		r, fs, err := Read(strings.NewReader(s))
		if err != nil {
			return
		}
		var b bytes.Buffer
		w, _ := NewWriter(&b, r)
		for _, f := range fs {
			w.Add(f)
		}
		w.Close()
		if b.String() != s {
			t.Fatalf("%q was accepted, written again it is %q", s, b.String())
		}
	})
}
