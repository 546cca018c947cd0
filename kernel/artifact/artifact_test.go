package artifact

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/kernel/plan"
)

const testdata = "../../testdata/erdos-frontier"

// golden returns all valid artifacts of testdata.
func golden(t testing.TB) []string {
	var all []string
	for _, pattern := range []string{"artifacts/*.txt", "derived/ranges/*.txt", "derived/edge-ranges/*.txt", "derived/witness-generalised/*.txt"} {
		files, err := filepath.Glob(filepath.Join(testdata, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		all = append(all, files...)
	}
	return all
}

func read(t testing.TB, file string) []byte {
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestGoldenArtifactsReadAndWriteBackUnchanged(t *testing.T) {
	for _, file := range golden(t) {
		b := read(t, file)
		a, err := Parse(b)
		if err != nil {
			t.Errorf("%s: %v", file, err)
		} else if !bytes.Equal(a.Encode(), b) {
			t.Errorf("%s: written back as\n%s", file, a.Encode())
		}
	}
}

// Every row of the original's verdicts is either good.txt or refused by the grammar
// or, where the grammar alone cannot know, by comparison with the good text.
func TestVariantsAreRefused(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(testdata, "derived/artifact-variants/*.txt"))
	good := read(t, filepath.Join(testdata, "derived/artifact-variants/good.txt"))
	if len(files) < 10 {
		t.Fatalf("only %d variants", len(files))
	}
	for _, file := range files {
		b := read(t, file)
		_, err := Parse(b)
		if isGood := filepath.Base(file) == "good.txt"; isGood != (err == nil) {
			t.Errorf("%s: %v", file, err)
		} else if diff := Diff(good, b); isGood != (diff == nil) {
			t.Errorf("%s: difference %v", file, diff)
		}
	}
}

const negative = `schema=canopus.erdos1056-k15-search.v1
status=negative
problem=1056
k=15
range_start=2
range_end=100
primes_tested=25
max_multiplicity=7
best_p=71
best_residue=1
cuts=0,1,7,9,19,51,69
`

func TestParseNamesLineAndField(t *testing.T) {
	for _, c := range []struct {
		old, new string
		line     int
		field    string
	}{
		{"k15-search", "k14-search", 1, "schema"},
		{"status=negative", "status=witness", 2, "status"},
		{"status=negative", "Status=negative", 2, "status"},
		{"problem=1056", "problem=1055", 3, "problem"},
		{"k=15\n", "k=015\n", 4, "k"},
		{"k=15\n", "k=0\n", 4, "k"},
		{"range_start=2", "range_start=0", 5, "range_start"},
		{"range_end=100", "range_end=1", 6, "range_end"},
		{"range_end=100", "range_end=2147483648", 6, "range_end"},
		{"primes_tested=25", "primes_tested=100", 7, "primes_tested"},
		{"primes_tested=25", "primes_tested=+5", 7, "primes_tested"},
		{"max_multiplicity=7", "max_multiplicity=0", 8, "max_multiplicity"},
		{"max_multiplicity=7", "max_multiplicity=8", 11, "cuts"},
		{"best_p=71", "best_p=101", 9, "best_p"},
		{"best_residue=1\n", "best_residue=71\n", 10, "best_residue"},
		{"cuts=0,1", "cuts=1,0", 11, "cuts"},
		{"cuts=0,1", "cuts=0, 1", 11, "cuts"},
		{"51,69", "51,71", 11, "cuts"},
		{"51,69", "51,", 11, "cuts"},
		{"cuts=0,1,7,9,19,51,69\n", "cuts=0,1,7,9,19,51,69", 11, "cuts"},
		{"cuts=0,1,7,9,19,51,69\n", "cuts=0,1,7,9,19,51,69\nx", 12, "end"},
		{"cuts=0,1,7,9,19,51,69\n", "", 11, "cuts"},
	} {
		_, err := Parse([]byte(strings.Replace(negative, c.old, c.new, 1)))
		var e *ParseError
		if !errors.As(err, &e) || e.Line != c.line || e.Field != c.field {
			t.Errorf("%q for %q: error %v, want one at line %d, field %s", c.new, c.old, err, c.line, c.field)
		}
	}
	if _, err := Parse([]byte(negative)); err != nil {
		t.Errorf("unaltered: %v", err)
	}
	if _, err := Parse(make([]byte, MaxSize+1)); err == nil {
		t.Error("an oversized text was accepted")
	}
}

func TestDiffExplainsTheFirstDifference(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"primes_tested=25", "primes_tested=24", "artifact differs at line 7 (primes_tested): expected 25, found 24"},
		{"best_p=71", "bestp=71", `artifact differs at line 9 (best_p): expected "best_p=71\n", found "bestp=71\n"`},
		{"51,69\n", "51,69\n\n", `artifact differs at line 12 (end): expected "", found "\n"`},
		{"51,69\n", "51,69", `artifact differs at line 11 (cuts): expected "cuts=0,1,7,9,19,51,69\n", found "cuts=0,1,7,9,19,51,69"`},
	} {
		d := Diff([]byte(negative), []byte(strings.Replace(negative, c.old, c.new, 1)))
		if d == nil || d.Error() != c.want {
			t.Errorf("%q for %q: %v, want %s", c.new, c.old, d, c.want)
		}
	}
	if d := Diff([]byte(negative), []byte(negative)); d != nil {
		t.Errorf("equal texts: %v", d)
	}
}

func TestStatusFollowsTheCuts(t *testing.T) {
	a := Artifact{Plan: plan.Plan{K: 2}, Cuts: []uint32{0, 1, 3}}
	if a.Status() != "witness" {
		t.Errorf("3 cuts for k = 2: %s", a.Status())
	}
	a.K = 3
	if a.Status() != "negative" {
		t.Errorf("3 cuts for k = 3: %s", a.Status())
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(negative))
	f.Add([]byte(strings.Replace(negative, "k=15", "k=250", 1)))
	for _, file := range golden(f) {
		f.Add(read(f, file))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := Parse(b)
		if err == nil && !bytes.Equal(a.Encode(), b) {
			t.Fatalf("%q was accepted, written again it is %q", b, a.Encode())
		}
	})
}
