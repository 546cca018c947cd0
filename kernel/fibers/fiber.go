package fibers

import "slices"

// A Fiber is the set of all cuts t, 0 <= t < P, with t! = Residue mod P. Cuts
// ascend; their number is the multiplicity.
type Fiber struct {
	P, Residue uint32
	Cuts       []uint32
}

// Larger reports whether f has more cuts than g or, among equals, the earlier prime
// or then the smaller residue: the order in which a search prefers fibers.
func (f Fiber) Larger(g Fiber) bool {
	if len(f.Cuts) != len(g.Cuts) {
		return len(f.Cuts) > len(g.Cuts)
	}
	if f.P != g.P {
		return f.P < g.P
	}
	return f.Residue < g.Residue
}

// Largest returns the preferred one of some fibers of one prime, or the zero Fiber.
func Largest(fs []Fiber) Fiber {
	var best Fiber
	for _, f := range fs {
		if len(best.Cuts) == 0 || f.Larger(best) {
			best = f
		}
	}
	return best
}

func sortByResidue(fs []Fiber) {
	slices.SortFunc(fs, func(a, b Fiber) int { return int(int64(a.Residue) - int64(b.Residue)) })
}
