package kernel

import (
	"context"
	"fmt"
	"slices"

	"github.com/erdos1056/erdos1056/kernel/plan"
)

// A Selection says which fibers of every prime are wanted: all of at least AtLeast
// cuts, or, where there are Residues, those of their fibers that have AtLeast cuts.
type Selection struct {
	AtLeast  int
	Residues []int64 // taken mod p, so -1 stands for p-1
}

// Fibers calls yield with the selected fibers of every prime of the range, in ascending
// order of the prime, then of the residue, or in the order of the selected residues.
// Options.Transcript is not used. An error of yield ends the walk and is returned.
func Fibers(ctx context.Context, r plan.Range, sel Selection, o Options, yield func(p uint32, fs []Fiber) error) error {
	if err := r.Validate(); err != nil {
		return err
	}
	if sel.AtLeast < 1 || sel.AtLeast > plan.MaxK {
		return fmt.Errorf("at least %d cuts: expected 1 to %d", sel.AtLeast, plan.MaxK)
	}
	o.Transcript = nil
	crew, err := newCrew(o, r, len(sel.Residues) == 0)
	if err != nil {
		return err
	}
	defer crew.release()
	progress := Progress{Range: r}
	emit := func(p uint32, fs []Fiber) error {
		progress.P, progress.Primes, progress.Cuts = p, progress.Primes+1, progress.Cuts+uint64(p)
		for _, f := range fs {
			if len(f.Cuts) > len(progress.Best.Cuts) {
				progress.Best = f
			}
		}
		if o.Progress != nil {
			o.Progress(progress)
		}
		return yield(p, fs)
	}
	if len(sel.Residues) > 0 {
		return crew.ofResidues(ctx, r, sel.Residues, func(p uint32, fs []Fiber) error {
			return emit(p, slices.DeleteFunc(fs, func(f Fiber) bool { return len(f.Cuts) < sel.AtLeast }))
		})
	}
	return walk(ctx, crew, r, func(ctx context.Context, pr prober, p uint32) ([]Fiber, error) {
		_, fs, err := pr.scan(ctx, p, sel.AtLeast, sel.AtLeast)
		return fs, err
	}, emit)
}

// ofResidues calls emit with the fibers of the residues, in their order, of every prime.
func (c *crew) ofResidues(ctx context.Context, r plan.Range, residues []int64, emit func(p uint32, fs []Fiber) error) error {
	return ordered(ctx, grouped(r, c.probers[0].group(residues)), len(c.probers), func(ctx context.Context, worker int, primes []uint32) ([][]Fiber, error) {
		return c.probers[worker].ofResidues(ctx, primes, residues)
	}, func(primes []uint32, all [][]Fiber) error {
		for i, p := range primes {
			if err := emit(p, all[i]); err != nil {
				return err
			}
		}
		return nil
	})
}
