package campaign

import (
	"math"

	"github.com/erdos1056/erdos1056/kernel/plan"
)

// Fibers behave like draws of a Poisson variable of mean 1: a prime p has about
// p·P(X >= m) fibers of at least m cuts. Two residues mirror into themselves
// (package residues): with E the number of even t < h with t! = 1 or -1, and O(r) that
// of odd t < h with t! = r,
//
//	count(1) = E + 2·O(1) + [h! = 1]     count(-1) = E + 2·O(-1) + [h! = -1]
//
// where E has mean 1/2 beside t = 0, and O(r) mean 1/4, beside t = 1 for r = 1; and h! is 1 for
// a quarter of all primes, -1 for another.

// Expected is the number of fibers of at least m cuts that the model predicts among primes
// whose sum is cuts, for a campaign of the given kind.
func (h Header) Expected(primes, cuts uint64, m int) float64 {
	if h.Kind == Complete {
		return float64(cuts)*poissonTail(1, m) + float64(primes)*(residueTail(1, m)+residueTail(-1, m))
	}
	n := 0.0
	for _, r := range h.Residues {
		n += float64(primes) * residueTail(r, m)
	}
	return n
}

// residueTail is the chance that the fiber of residue r has at least m cuts.
func residueTail(r int64, m int) float64 {
	free := 0 // cuts that are always there: 0, 1 and p-2 for residue 1, p-1 for -1
	switch r {
	case 1:
		free = 3
	case -1:
		free = 1
	default:
		return poissonTail(1, m)
	}
	return 0.75*mirroredTail(m-free) + 0.25*mirroredTail(m-free-1)
}

// mirroredTail is P(2·A + B >= n) for Poisson variables A of mean 1/4 and B of mean 1/2.
func mirroredTail(n int) float64 {
	sum, a := 0.0, math.Exp(-0.25) // a = P(A = i)
	for i := range 60 {
		sum += a * poissonTail(0.5, n-2*i)
		a *= 0.25 / float64(i+1)
	}
	return sum
}

// poissonTail is P(X >= m) for a Poisson variable X, summed from its small end.
func poissonTail(mean float64, m int) float64 {
	if m <= 0 {
		return 1
	}
	const terms = 60
	last := m + terms
	logarithm, _ := math.Lgamma(float64(last + 1))
	term := math.Exp(float64(last)*math.Log(mean) - mean - logarithm)
	sum := 0.0
	for j := last; j >= m; j-- {
		sum += term
		term *= float64(j) / mean
	}
	return sum
}

// ExpectedIn is Expected for all primes of a range, whose number and sum are estimated.
func (h Header) ExpectedIn(r plan.Range, m int) float64 {
	cost := r.Cost()
	middle := (float64(r.Lo) + float64(r.Hi)) / 2
	return h.Expected(uint64(float64(cost)/middle), cost, m)
}
