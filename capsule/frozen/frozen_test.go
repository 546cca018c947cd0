package frozen

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/kernel/artifact"
	"github.com/erdos1056/erdos1056/kernel/plan"
)

const vectors = "../../testdata/erdos-frontier/"

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(vectors + name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestClaimIsReadBack(t *testing.T) {
	for _, p := range []plan.Plan{
		{Range: plan.Range{Lo: 1, Hi: 1}, K: 1},
		{Range: plan.Range{Lo: 10428401, Hi: 10428600}, K: 15},
		{Range: plan.Range{Lo: 1, Hi: plan.Limit - 1}, K: plan.MaxK},
	} {
		b, err := EncodeClaim(p)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := DecodeClaim(b); err != nil || got != p {
			t.Errorf("got %v, %v; want %v", got, err, p)
		}
	}
	if _, err := EncodeClaim(plan.Plan{Range: plan.Range{Lo: 5, Hi: 4}, K: 15}); err == nil {
		t.Error("a range that ends before it starts was encoded")
	}
}

func TestDamagedClaimsAreRefused(t *testing.T) {
	good, err := EncodeClaim(plan.Plan{Range: plan.Range{Lo: 2, Hi: 100}, K: 15})
	if err != nil {
		t.Fatal(err)
	}
	for i := range good {
		b := append([]byte(nil), good...)
		b[i] ^= 1
		if _, err := DecodeClaim(b); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Fatalf("byte %d changed: got %v", i, err)
		}
	}
	if _, err := DecodeClaim(make([]byte, len(good))); !errors.Is(err, ErrUnfrozen) {
		t.Errorf("an empty slot gave %v", err)
	}
	if _, err := DecodeClaim(good[1:]); err == nil {
		t.Error("a short slot was read")
	}
	if _, err := Claim(); !errors.Is(err, ErrUnfrozen) {
		t.Errorf("this test program has a claim: %v", err)
	}
}

func TestPublishedArtifactsAreVerified(t *testing.T) {
	names, err := filepath.Glob(vectors + "derived/edge-ranges/*.txt")
	if err != nil || len(names) == 0 {
		t.Fatal(err, names)
	}
	generalised, err := filepath.Glob(vectors + "derived/witness-generalised/*.txt")
	if err != nil || len(generalised) == 0 {
		t.Fatal(err, generalised)
	}
	published := vectors + "artifacts/erdos1056-k15-range-10428401-10428600.txt"
	for _, name := range append(append(names, generalised...), published) {
		text := read(t, strings.TrimPrefix(name, vectors))
		parsed, err := artifact.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		a, err := Judge(context.Background(), parsed.Plan, text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if name == published && Success(a) != "verified erdos:1056 k=15 bounded-negative primes=15 max_multiplicity=12" {
			t.Errorf("got %q", Success(a))
		}
	}
}

// TestVariantsAreRejected takes the variants that the published verifier
// rejects with exit code 1.
func TestVariantsAreRejected(t *testing.T) {
	claim := plan.Plan{Range: plan.Range{Lo: 2, Hi: 100}, K: 15}
	for _, name := range []string{"extra-final-newline", "crlf", "bom", "leading-space", "leading-zero", "cuts-missing-one", "cuts-space", "status-upper", "nul-tail"} {
		_, err := Judge(context.Background(), claim, read(t, "derived/artifact-variants/"+name+".txt"))
		var mismatch *Mismatch
		if !errors.As(err, &mismatch) {
			t.Errorf("%s: got %v, want a mismatch", name, err)
		}
	}
}

// TestMismatchNamesTheLine changes one value of a good artifact at a time, in
// ways that the grammar cannot see.
func TestMismatchNamesTheLine(t *testing.T) {
	good := string(read(t, "derived/artifact-variants/good.txt"))
	claim := plan.Plan{Range: plan.Range{Lo: 2, Hi: 100}, K: 15}
	for _, c := range []struct{ old, new, want string }{
		{"primes_tested=25", "primes_tested=24", "line 7 (primes_tested): expected 25, found 24"},
		{"best_residue=70\n", "best_residue=2\n", "line 11 (cuts): the cuts of p = "},
		{"range_end=100", "range_end=101", "frozen to range 2..100"},
		{"k=15\nrange", "k=14\nrange", "frozen to range 2..100, k = 15"},
	} {
		changed := strings.Replace(good, c.old, c.new, 1)
		if changed == good {
			t.Fatalf("%q is not in the artifact", c.old)
		}
		if _, err := Judge(context.Background(), claim, []byte(changed)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.new, err, c.want)
		}
	}
	// A fiber of another prime that is as large, but not the first.
	lesser := plan.Plan{Range: plan.Range{Lo: 2, Hi: 20}, K: 15}
	text := artifact.Artifact{Plan: lesser, PrimesTested: 8, BestP: 17, BestResidue: 16, Cuts: nil}
	if _, err := Judge(context.Background(), lesser, text.Encode()); err == nil {
		t.Error("an artifact with no cuts was verified")
	}
	composite := strings.Replace(good, "best_p=71", "best_p=72", 1)
	if _, err := Judge(context.Background(), claim, []byte(composite)); err == nil || !strings.Contains(err.Error(), "72 is not prime") {
		t.Errorf("a composite modulus gave %v", err)
	}
}

func TestCancelledJudgementIsNoVerdict(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	text := read(t, "artifacts/erdos1056-k15-range-10428401-10428600.txt")
	_, err := Judge(ctx, plan.Plan{Range: plan.Range{Lo: 10428401, Hi: 10428600}, K: 15}, text)
	var mismatch *Mismatch
	if !errors.Is(err, context.Canceled) || errors.As(err, &mismatch) {
		t.Errorf("got %v, want the context's error", err)
	}
}

func FuzzDecodeClaim(f *testing.F) {
	good, err := EncodeClaim(plan.Plan{Range: plan.Range{Lo: 2, Hi: 100}, K: 15})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := DecodeClaim(b)
		if err != nil {
			return
		}
		if again, err := EncodeClaim(p); err != nil || string(again) != string(b) {
			t.Errorf("%v is written otherwise than it was read: %v", p, err)
		}
	})
}
