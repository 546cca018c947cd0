package campaign

import (
	"math"
	"testing"

	"github.com/erdos1056/erdos1056/kernel/internal/naive"
)

func TestPoissonTails(t *testing.T) {
	for m, want := range map[int]float64{-3: 1, 0: 1, 1: 1 - math.Exp(-1), 15: 3.0e-13, 16: 1.87e-14} {
		if got := poissonTail(1, m); math.Abs(got/want-1) > 0.02 {
			t.Errorf("P(X >= %d) = %g, want %g", m, got, want)
		}
	}
}

// The tails of the fiber of residue 1, by hand from the model.
func TestTailsOfResidueOne(t *testing.T) {
	for m, want := range map[int]float64{3: 1, 14: 9.2e-6, 15: 2.1e-6, 16: 4.5e-7} {
		if got := residueTail(1, m); math.Abs(got/want-1) > 0.03 {
			t.Errorf("P(count(1) >= %d) = %g, want %g", m, got, want)
		}
	}
}

// The model against all fibers of the primes from 1000 to 4000, by the definition.
func TestModelAgainstTheDefinition(t *testing.T) {
	h := small(15)
	one := smallOfResidues(15)
	one.Residues = []int64{1}
	var primes, cuts uint64
	var large, ofOne [10]float64
	for _, p := range naive.Primes(1000, 4000) {
		primes, cuts = primes+1, cuts+uint64(p)
		for r, f := range naive.Fibers(p) {
			for m := range min(len(f)+1, 10) {
				large[m]++
				if r == 1 {
					ofOne[m]++
				}
			}
		}
	}
	for m := 4; m <= 6; m++ {
		for _, c := range []struct {
			what               string
			observed, expected float64
		}{{"all residues", large[m], h.Expected(primes, cuts, m)}, {"residue 1", ofOne[m], one.Expected(primes, cuts, m)}} {
			if math.Abs(c.observed-c.expected) > 4*math.Sqrt(c.expected)+0.02*c.expected {
				t.Errorf("%s: %.0f fibers of %d cuts, the model says %.1f", c.what, c.observed, m, c.expected)
			}
		}
	}
}
