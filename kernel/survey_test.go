package kernel

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/erdos1056/erdos1056/kernel/fibers"
	"github.com/erdos1056/erdos1056/kernel/internal/naive"
	"github.com/erdos1056/erdos1056/kernel/plan"
	"github.com/erdos1056/erdos1056/kernel/residues"
	"github.com/erdos1056/erdos1056/kernel/transcript"
)

// Every kernel gives every prime the fingerprint of the definition and all fibers that
// were asked for.
func TestSurveyFindsEveryPrimeAndFiber(t *testing.T) {
	r := plan.Range{Lo: 2, Hi: 800}
	want := func(uint32) (int, int) { return 6, 6 }
	for _, name := range kernels() {
		ps := naive.Primes(r.Lo, r.Hi)
		err := Survey(context.Background(), r, Options{Kernel: name, Threads: 3, DoubleCheck: 0.5}, want, func(f Finding) error {
			p := ps[0]
			ps = ps[1:]
			h, cells, squares := naive.Fingerprint(p)
			if line := (transcript.Fingerprint{P: p, HalfFactorial: h, Cells: cells, Squares: squares}).Line(); f.P != p || f.Line != line {
				t.Errorf("kernel %s: %d %q, want %d %q", name, f.P, f.Line, p, line)
			}
			n := 0
			for _, cuts := range naive.Fibers(p) {
				if len(cuts) >= 6 {
					n++
				}
			}
			if len(f.Fibers) != n {
				t.Errorf("kernel %s: p = %d: %d fibers of 6 cuts, want %d", name, p, len(f.Fibers), n)
			}
			return nil
		})
		if err != nil || len(ps) > 0 {
			t.Errorf("kernel %s: %v, %d primes are missing", name, err, len(ps))
		}
	}
}

func TestSurveyOfResiduesFindsTheirFibers(t *testing.T) {
	for _, rs := range [][]int64{{1, -1, 7}, {1, -1}, {-1}} {
		checkResidues(t, plan.Range{Lo: 2, Hi: 500}, rs)
	}
	if SurveyResidues(context.Background(), plan.Range{Lo: 2, Hi: 500}, nil, Options{}, nil) == nil {
		t.Error("a survey of no residues was accepted")
	}
	if SurveyResidues(context.Background(), plan.Range{Lo: 500, Hi: 2}, []int64{1}, Options{}, nil) == nil {
		t.Error("an empty range was accepted")
	}
}

// checkResidues holds the survey of some residues against the definition, for all kernels.
func checkResidues(t *testing.T, r plan.Range, rs []int64) {
	t.Helper()
	for _, name := range kernels() {
		n, twice := 0, 0
		err := SurveyResidues(context.Background(), r, rs, Options{Kernel: name, Threads: 2, DoubleCheck: 0.9}, func(f Finding) error {
			n++
			if f.SecondRun {
				twice++
			}
			definition := naive.Fibers(f.P)
			var sets [][]uint32
			for i, residue := range rs {
				cuts := definition[plan.Residue(residue, f.P)]
				sets = append(sets, cuts)
				if fmt.Sprint(f.Fibers[i].Cuts) != fmt.Sprint(cuts) {
					t.Errorf("kernel %s: p = %d, residue %d: %v, want %v", name, f.P, residue, f.Fibers[i], cuts)
				}
			}
			if line := transcript.ResidueLine(f.P, sets); f.Line != line {
				t.Errorf("kernel %s: line %q, want %q", name, f.Line, line)
			}
			return nil
		})
		if want := len(naive.Primes(r.Lo, r.Hi)); err != nil || n != want || twice == 0 {
			t.Errorf("kernel %s: %d primes, want %d; %d second runs; %v", name, n, want, twice, err)
		}
	}
}

func TestPlantedFaultStopsTheSurveyOfResidues(t *testing.T) {
	err := SurveyResidues(context.Background(), plan.Range{Lo: 100_000, Hi: 101_000}, []int64{1, -1}, Options{Threads: 1, Plant: fibers.WrongLaneStart}, func(Finding) error { return nil })
	var internal *InternalError
	if !errors.As(err, &internal) || internal.Check != residues.Wilson || internal.P != 100_003 {
		t.Errorf("%v, want an internal error of the Wilson check at 100003", err)
	}
}

func TestSurveyEndsWithTheErrorOfYield(t *testing.T) {
	full := errors.New("full")
	err := Survey(context.Background(), plan.Range{Lo: 2, Hi: 1000}, Options{}, func(uint32) (int, int) { return 3, 1 },
		func(f Finding) error {
			if f.P > 97 {
				t.Errorf("yield was called for %d after its error", f.P)
			}
			if f.P == 97 {
				return full
			}
			return nil
		})
	if err != full {
		t.Errorf("%v, want %v", err, full)
	}
}

func TestJudgeGivesTheLinesOfTheDefinition(t *testing.T) {
	var judge Judge
	for _, p := range []uint32{3011, 2, 3, 5, 599} {
		h, cells, squares := naive.Fingerprint(p)
		want := transcript.Fingerprint{P: p, HalfFactorial: h, Cells: cells, Squares: squares}.Line()
		if got, err := judge.Line(context.Background(), p, nil); err != nil || got != want {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
	if got, err := judge.Line(context.Background(), 23, []int64{1}); err != nil || got != "23 6 45\n" {
		t.Errorf("%q, %v", got, err)
	}
}

// A sample of primes holds about the fraction asked for, of small primes and of large ones.
func TestSampleHoldsItsFraction(t *testing.T) {
	for _, lo := range []uint32{2, 1_000_000, 2_000_000_000} {
		n, all := 0, naive.Primes(lo, lo+30_000)
		for _, p := range all {
			if InSample(p, 1.0/16) {
				n++
			}
			if InSample(p, 0) || !InSample(p, 1) {
				t.Fatalf("p = %d: the empty or the full sample is wrong", p)
			}
		}
		if share := float64(n) / float64(len(all)); share < 0.05 || share > 0.075 {
			t.Errorf("primes from %d: the sample holds %.4f of them, want 1/16", lo, share)
		}
	}
}
