package kernel

import (
	"context"
	"fmt"

	"github.com/erdos1056/erdos1056/kernel/plan"
)

// A Selection says which fibers of every prime are wanted: all of at least AtLeast
// cuts, or, where OneResidue is set, the fiber of Residue if it has AtLeast cuts.
type Selection struct {
	AtLeast    int
	OneResidue bool
	Residue    int64 // taken mod p, so -1 stands for p-1
}

// Fibers calls yield with the selected fibers of every prime of the range, in ascending
// order of the prime, then of the residue. Options.Transcript and Options.Plant
// are not used. An error of yield ends the walk and is returned.
func Fibers(ctx context.Context, r plan.Range, sel Selection, o Options, yield func(p uint32, fs []Fiber) error) error {
	if err := r.Validate(); err != nil {
		return err
	}
	if sel.AtLeast < 1 || sel.AtLeast > plan.MaxK {
		return fmt.Errorf("at least %d cuts: expected 1 to %d", sel.AtLeast, plan.MaxK)
	}
	o.Transcript = nil
	crew, err := newCrew(o)
	if err != nil {
		return err
	}
	p := Progress{Range: r}
	return ordered(ctx, r, len(crew.probers), func(ctx context.Context, worker int, p uint32) ([]Fiber, error) {
		if sel.OneResidue {
			return sel.one(ctx, crew.probers[worker], p)
		}
		_, fs, err := crew.probers[worker].scan(ctx, p, sel.AtLeast, sel.AtLeast)
		return fs, err
	}, func(prime uint32, fs []Fiber) error {
		p.P, p.Primes, p.Cuts = prime, p.Primes+1, p.Cuts+uint64(prime)
		for _, f := range fs {
			if len(f.Cuts) > len(p.Best.Cuts) {
				p.Best = f
			}
		}
		if o.Progress != nil {
			o.Progress(p)
		}
		return yield(prime, fs)
	})
}

func (s Selection) one(ctx context.Context, pr prober, p uint32) ([]Fiber, error) {
	f, err := pr.fiber(ctx, p, plan.Residue(s.Residue, p))
	if err != nil || len(f.Cuts) < s.AtLeast {
		return nil, err
	}
	return []Fiber{f}, nil
}
