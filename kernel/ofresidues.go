package kernel

import (
	"context"

	"github.com/erdos1056/erdos1056/kernel/plan"
	"github.com/erdos1056/erdos1056/kernel/special"
)

func (r *referenceProber) group([]int64) int { return 1 }

func (r *referenceProber) ofResidues(ctx context.Context, primes []uint32, residues []int64) ([][]Fiber, error) {
	return eachFiber(primes, residues, func(p, residue uint32) (Fiber, error) {
		f, err := r.counter.Fiber(ctx, p, residue)
		return Fiber(f), err
	})
}

// eachFiber asks for one fiber after the other.
func eachFiber(primes []uint32, residues []int64, fiber func(p, residue uint32) (Fiber, error)) ([][]Fiber, error) {
	all := make([][]Fiber, len(primes))
	for i, p := range primes {
		for _, r := range residues {
			f, err := fiber(p, plan.Residue(r, p))
			if err != nil {
				return nil, err
			}
			all[i] = append(all[i], f)
		}
	}
	return all, nil
}

// onlyUnits reports whether all residues are 1 or -1, which package special searches.
func onlyUnits(residues []int64) bool {
	for _, r := range residues {
		if r != 1 && r != -1 {
			return false
		}
	}
	return true
}

func (f *fastProber) group(residues []int64) int {
	if onlyUnits(residues) {
		return f.special.Lanes()
	}
	return 1
}

// ofResidues runs the chains of many primes side by side where it can: for the residues 1 and
// -1, and enough primes to fill a good part of the lanes.
func (f *fastProber) ofResidues(ctx context.Context, primes []uint32, residues []int64) ([][]Fiber, error) {
	if onlyUnits(residues) && 4*len(primes) >= f.special.Lanes() {
		return f.units(ctx, primes, residues)
	}
	return eachFiber(primes, residues, func(p, residue uint32) (Fiber, error) {
		if p == 2 {
			return fiberOfTwo(residue), nil
		}
		fiber, err := f.scanner.Fiber(ctx, p, residue)
		if err != nil {
			err = f.explain(ctx, err)
		}
		return fiber, err
	})
}

func (f *fastProber) units(ctx context.Context, primes []uint32, residues []int64) ([][]Fiber, error) {
	all := make([][]Fiber, 0, len(primes))
	if primes[0] == 2 {
		primes = primes[1:]
		var fs []Fiber
		for _, r := range residues {
			fs = append(fs, fiberOfTwo(plan.Residue(r, 2)))
		}
		all = append(all, fs)
	}
	found, err := f.special.Scan(ctx, primes)
	if err != nil {
		return nil, f.explain(ctx, err)
	}
	for _, found := range found {
		all = append(all, pick(found, residues))
	}
	return all, nil
}

// pick takes the fibers of the residues, each 1 or -1, in their order.
func pick(found special.Fibers, residues []int64) []Fiber {
	var fs []Fiber
	for _, r := range residues {
		f := Fiber{P: found.P, Residue: plan.Residue(r, found.P), Cuts: found.Plus}
		if r == -1 {
			f.Cuts = found.Minus
		}
		fs = append(fs, f)
	}
	return fs
}
