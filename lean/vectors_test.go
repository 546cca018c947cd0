package lean

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/lean/export"
	"github.com/erdos1056/erdos1056/lean/term"
)

const vectors = "../testdata/lean"

// expectedVerdict returns what testdata/lean/README.md says about a file, or ""
// for files that are no exports.
func expectedVerdict(path string) string {
	dir, base := filepath.Dir(path), filepath.Base(path)
	in := func(folder string) bool { return strings.HasPrefix(path, folder+"/") }
	switch filepath.Ext(path) {
	case ".md", ".tsv", ".yaml", ".json":
		return ""
	}
	switch {
	case in("ansatz"), in("inductive-models/inductive-models"), in("vow-tutorial/tests/good"), in("vow-tutorial/repro"),
		in("lean4export/ndjson-v3.0.0"), in("lean4export/text-v2"):
		return "accept"
	case in("inductive-models/rejected"), in("vow-tutorial/tests/bad"):
		return "reject"
	case in("lean4export/ndjson-v3.0.0-pre"):
		if strings.Contains(base, "cffc77d") {
			return "accept"
		}
		return "decline"
	case in("lean4export/text-v1"), in("lean4export/text-v0"), in("lean4idris-redteam"):
		return "decline" // versions that are not read
	case in("nanoda-test-resources"):
		switch name := filepath.Base(dir); {
		case name == "BadSemver":
			return "decline"
		case strings.HasPrefix(name, "Cycle"), strings.HasPrefix(name, "Nonpositive"), name == "ProjFromProp":
			return "reject"
		}
		return "accept" // for AxiomNotAllowed see TestVectorsWithForbiddenAxioms
	}
	return "?"
}

func eachVector(t *testing.T, f func(t *testing.T, path string, data []byte)) {
	t.Helper()
	count := 0
	err := filepath.WalkDir(vectors, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(vectors, path)
		rel = filepath.ToSlash(rel)
		if expectedVerdict(rel) == "" {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		count++
		f(t, rel, data)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if count < 250 {
		t.Errorf("only %d vectors were found", count)
	}
}

func judge(t testing.TB, data []byte, opts Options) *Report {
	t.Helper()
	r, err := Judge(context.Background(), bytes.NewReader(data), opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestVectorsGetTheirVerdicts(t *testing.T) {
	eachVector(t, func(t *testing.T, path string, data []byte) {
		if r := judge(t, data, Options{}); r.Verdict != expectedVerdict(path) {
			t.Errorf("%s: %s, expected %s: %s", path, r.Verdict, expectedVerdict(path), r.Reason)
		}
	})
}

func TestReportsDoNotDependOnThreads(t *testing.T) {
	eachVector(t, func(t *testing.T, path string, data []byte) {
		want, err := json.Marshal(judge(t, data, Options{Threads: 1}))
		if err != nil {
			t.Fatal(err)
		}
		for _, threads := range []int{2, 7} {
			got, err := json.Marshal(judge(t, data, Options{Threads: threads}))
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: with %d threads the report is %s, with one %s (%v)", path, threads, got, want, err)
			}
		}
	})
}

// Wherever the memory runs out, there is a verdict, and none but decline.
func TestMemoryThatRunsOutIsALimitEverywhere(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(vectors, "vow-tutorial/tests/good/tutorial/117_quotSoundType.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	budget := term.NewBudget(0)
	store := term.NewStore(budget)
	for range 2 { // the challenge and the file
		if _, err := export.Read(bytes.NewReader(data), store, export.Limits{}); err != nil {
			t.Fatal(err)
		}
	}
	verdicts := map[string]int{}
	for spare := int64(0); spare < 1<<20; spare += max(512, spare/4) {
		r := judge(t, data, Options{Target: "Quot.sound", Permit: []string{"Quot.sound"}, Challenge: bytes.NewReader(data), Memory: 2 * (budget.Used() + spare), Threads: 1})
		verdicts[r.Verdict]++
		if r.Verdict == "decline" && (r.Failure.Rule != "limit" || !strings.HasPrefix(r.Text(0), "declined: ")) {
			t.Fatalf("with %d bytes to spare: %s", spare, r.Reason)
		}
	}
	if len(verdicts) != 2 {
		t.Errorf("the verdicts are %v", verdicts)
	}
}

func TestCancellationDoesNotWaitForTheInput(t *testing.T) {
	in, out := io.Pipe()
	defer out.Close()
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		io.WriteString(out, `{"meta":{"format":{"version":"3.1.0"}}}`+"\n")
		cancel()
	}()
	if r, err := Judge(ctx, in, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("report %v, error %v; expected the context's error", r, err)
	}
}

// The version line of the attack files names a version that never was. Read as
// text 2.0.0, a few of them turn out to hold; all others are rejected.
func TestAttacksAreRejectedWhateverTheirVersionLine(t *testing.T) {
	harmless := []string{
		"29-app-defequal-not-structural", "30-whnf-deep-beta", "45-imax-param-unsimplified",
		"57-placeholder-name-collision", // four definitions that are well-typed
		"malformed-deeply_nested",       // terms without declarations
		"random-063",                    // an axiom of type Sort (max u 0)
		"file1", "file2", "simple",      // no declarations
	}
	eachVector(t, func(t *testing.T, path string, data []byte) {
		rest, ok := bytes.CutPrefix(data, []byte("0.0.0"))
		if !ok || !strings.HasPrefix(path, "lean4idris-redteam") {
			return
		}
		r := judge(t, append([]byte("2.0.0"), rest...), Options{Steps: 1 << 24})
		name := strings.TrimSuffix(filepath.Base(path), ".export")
		if got := r.Verdict == "accept"; got != slices.Contains(harmless, name) {
			t.Errorf("%s: %s (%s)", path, r.Verdict, r.Reason)
		}
	})
}

func TestVectorsWithForbiddenAxioms(t *testing.T) {
	for name, axiom := range map[string]string{"AxiomNotAllowed0": "Foo", "AxiomNotAllowed1": "Foo", "AxiomNotAllowed2": "HaveFalse"} {
		data, err := os.ReadFile(filepath.Join(vectors, "nanoda-test-resources/debug", name, "export"))
		if err != nil {
			t.Fatal(err)
		}
		r := judge(t, data, Options{})
		if len(r.Axioms) != 1 || r.Axioms[0].Name != axiom {
			t.Errorf("%s: axioms %v, expected %s", name, r.Axioms, axiom)
		}
		if name != "AxiomNotAllowed2" {
			continue
		}
		r = judge(t, data, Options{Target: "ofFalse", Permit: []string{"propext", "Classical.choice", "Quot.sound"}})
		if r.Verdict != "reject" || !strings.Contains(r.Reason, "HaveFalse") {
			t.Errorf("%s: a proof of False by an axiom: %s: %s", name, r.Verdict, r.Reason)
		}
	}
}
