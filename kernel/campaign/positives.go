package campaign

import (
	"context"
	"fmt"
	"time"

	"github.com/erdos1056/erdos1056/kernel"
	"github.com/erdos1056/erdos1056/kernel/fibers"
	"github.com/erdos1056/erdos1056/kernel/plan"
)

// A positive is a prime with a large fiber that is known: planted, a search that fails to
// find it is broken.
type positive struct {
	p       uint32
	residue int64
	cuts    int
}

// positivesOf are the planted positives of each kind. n! = -1 for 14 values of n at 2374649;
// the other two are the least primes known with 15 cuts.
var positivesOf = map[string][]positive{
	Complete: {{3_408_707, 1, 15}, {10_428_007, 8_978_998, 15}},
	Residues: {{3_408_707, 1, 15}, {2_374_649, -1, 14}},
}

// neighbours is how far around a positive a campaign of residues searches, so that there are
// enough primes for the code that runs many of them side by side.
const neighbours = 500

// search looks for the positive in the way of the campaign's kind and returns the number of
// cuts found.
func (x positive) search(ctx context.Context, kind string, o kernel.Options) (found int, err error) {
	r := plan.Range{Lo: x.p, Hi: x.p}
	if kind == Residues {
		r = plan.Range{Lo: x.p - min(x.p-1, neighbours), Hi: x.p + neighbours}
	}
	look := func(f kernel.Finding) error {
		for _, fiber := range f.Fibers {
			if f.P == x.p && fiber.Residue == plan.Residue(x.residue, x.p) {
				found = len(fiber.Cuts)
			}
		}
		return nil
	}
	if kind == Residues {
		err = kernel.SurveyResidues(ctx, r, []int64{x.residue}, o, look)
	} else {
		err = kernel.Survey(ctx, r, o, func(uint32) (int, int) { return x.cuts, x.cuts }, look)
	}
	return found, err
}

// searchPositives searches all positives and returns their outcomes; err tells of the first
// that was not found, or is ctx's.
func (r *run) searchPositives(ctx context.Context, when string) (outcomes []Positive, err error) {
	o := r.options.Options
	o.Threads, o.Plant = 1, fibers.NoFault
	for _, x := range r.positives {
		found, failure := x.search(ctx, r.header.Kind, o)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		outcome := Positive{Type: typePositive, When: when, P: x.p, Residue: x.residue, Expected: x.cuts, Found: found,
			Kernel: o.Kernel, Ended: now(), Program: r.options.Program}
		if failure != nil {
			outcome.Error = failure.Error()
		}
		outcomes = append(outcomes, outcome)
		if err == nil && !outcome.ok() {
			err = fmt.Errorf("planted positive, %s the run: p = %d has %d cuts of residue %d, found %d %s; this machine or this program is not to be trusted: run `erdos1056 selftest`",
				when, x.p, x.cuts, x.residue, found, outcome.Error)
		}
	}
	return outcomes, err
}

func (p Positive) ok() bool { return p.Found == p.Expected && p.Error == "" }

func now() string { return time.Now().UTC().Format(time.RFC3339) }
