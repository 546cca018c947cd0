package main

import (
	"bytes"
	"context"
	"math/big"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/erdos1056/erdos1056/kernel/plan"
)

func TestCutsAreTheSumOfThePrimes(t *testing.T) {
	for _, quick := range []bool{false, true} {
		for _, w := range workloads(quick) {
			var want uint64
			for n := w.Range.Lo; n <= w.Range.Hi; n++ {
				if big.NewInt(int64(n)).ProbablyPrime(0) { // exact below 2^64
					want += uint64(n)
				}
			}
			if w.Cuts != want || want == 0 {
				t.Errorf("%s %s: %d cuts, want %d", w.Name, w.Range, w.Cuts, want)
			}
		}
	}
}

func TestQuickAsksTheSameQuestionsOfFewerPrimes(t *testing.T) {
	full, quick := workloads(false), workloads(true)
	for i, w := range full {
		q := quick[i]
		if q.Name != w.Name || q.Question != w.Question || q.Residue != w.Residue || q.Range.Lo != w.Range.Lo {
			t.Errorf("%v is not a shorter %v", q, w)
		}
		if w.Question == Artifact && q.Range != w.Range {
			t.Errorf("the baseline's range is %v, want %v", q.Range, w.Range)
		}
		if w.Question != Artifact && q.Cuts >= w.Cuts {
			t.Errorf("%s: quick has %d cuts, the full workload %d", w.Name, q.Cuts, w.Cuts)
		}
	}
}

func TestWorkloadsAreNamedOnce(t *testing.T) {
	var names []string
	for _, w := range workloads(false) {
		if slices.Contains(names, w.Name) {
			t.Errorf("the name %q is used twice", w.Name)
		}
		names = append(names, w.Name)
	}
	for _, name := range append([]string{standard}, scaled...) {
		if !slices.Contains(names, name) {
			t.Errorf("there is no workload %q", name)
		}
	}
}

// Every workload, on a range of one prime, is a command line that erdos1056 accepts.
func TestSearcherUnderstandsEveryWorkload(t *testing.T) {
	root, err := moduleRoot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "erdos1056")
	if err := buildSearcher(t.Context(), root, path); err != nil {
		t.Fatal(err)
	}
	for _, w := range workloads(true) {
		w.Range = plan.Range{Lo: 599, Hi: 599}
		for _, kernel := range kernels() {
			argv := searcher(kernel, path, kernel, 1).command(w)
			if out, err := exec.CommandContext(t.Context(), argv[0], argv[1:]...).CombinedOutput(); err != nil {
				t.Errorf("%v: %v\n%s", argv, err, out)
			}
		}
	}
}

func TestMissingToolIsNamed(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	err := buildBaseline(context.Background(), ".", "baseline")
	if err == nil || !bytes.Contains([]byte(err.Error()), []byte("g++ was not found; install it")) {
		t.Errorf("error %v, want one that names g++", err)
	}
}
