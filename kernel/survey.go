package kernel

import (
	"context"
	"fmt"
	"slices"

	"github.com/erdos1056/erdos1056/kernel/plan"
	"github.com/erdos1056/erdos1056/kernel/residues"
	"github.com/erdos1056/erdos1056/kernel/transcript"
)

// A Finding is what a survey saw at the prime P.
type Finding struct {
	P uint32
	// Line is the canonical line of P's fingerprint, see package transcript.
	Line string
	// Fibers are the fibers that were asked for, by ascending residue or, in a
	// survey of residues, one for each residue in the order given.
	Fibers []Fiber
	// SecondRun says that P was examined twice, with equal results.
	SecondRun bool
}

// Survey calls yield with a Finding of every prime of r, in ascending order and never two
// at a time. It looks for fibers of at least first cuts or, where p has none, for its
// largest ones of at least floor cuts; want names both for each prime and is called
// by several workers at once. An error of yield ends the survey and is returned;
// work that ran ahead is dropped. Options.Transcript and Options.Progress are not used.
func Survey(ctx context.Context, r plan.Range, o Options, want func(p uint32) (first, floor int), yield func(Finding) error) error {
	o.Transcript = nil
	crew, err := newCrew(o, r, true)
	if err != nil {
		return err
	}
	defer crew.release()
	for _, p := range crew.all() {
		if p, ok := p.(*referenceProber); ok {
			p.fingerprints = true
		}
	}
	if err := r.Validate(); err != nil {
		return err
	}
	return walk(ctx, crew, r, func(ctx context.Context, pr prober, p uint32) (Finding, error) {
		first, floor := want(p)
		fingerprint, fs, err := pr.scan(ctx, p, first, floor)
		return Finding{p, fingerprint.Line(), fs, crew.kernel != Reference && p > 2 && InSample(p, o.DoubleCheck)}, err
	}, func(_ uint32, f Finding) error { return yield(f) })
}

// SurveyResidues is Survey for the fibers of single residues, taken mod p. Options.DoubleCheck
// has primes examined again by the reference kernel.
func SurveyResidues(ctx context.Context, r plan.Range, rs []int64, o Options, yield func(Finding) error) error {
	if len(rs) == 0 {
		return fmt.Errorf("no residues: expected at least one")
	}
	o.Transcript = nil
	crew, err := newCrew(o, r, false)
	if err != nil {
		return err
	}
	judges := make([]referenceProber, len(crew.probers))
	size := crew.probers[0].group(rs)
	if err := r.Validate(); err != nil {
		return err
	}
	return ordered(ctx, grouped(r, size), len(crew.probers), func(ctx context.Context, worker int, primes []uint32) ([]Finding, error) {
		findings, err := residueFindings(ctx, crew.probers[worker], primes, rs)
		for i := range findings {
			if f := &findings[i]; err == nil && InSample(f.P, o.DoubleCheck) {
				f.SecondRun, err = true, secondOpinion(ctx, &judges[worker], *f, rs)
			}
		}
		return findings, err
	}, func(_ []uint32, findings []Finding) error {
		for _, f := range findings {
			if err := yield(f); err != nil {
				return err
			}
		}
		return nil
	})
}

func residueFindings(ctx context.Context, pr prober, primes []uint32, rs []int64) ([]Finding, error) {
	all, err := pr.ofResidues(ctx, primes, rs)
	if err != nil {
		return nil, err
	}
	findings := make([]Finding, len(primes))
	for i, p := range primes {
		sets := make([][]uint32, len(rs))
		for j, f := range all[i] {
			sets[j] = f.Cuts
		}
		findings[i] = Finding{P: p, Line: transcript.ResidueLine(p, sets), Fibers: all[i]}
	}
	return findings, nil
}

func residueFinding(ctx context.Context, pr prober, p uint32, rs []int64) (Finding, error) {
	fs, err := residueFindings(ctx, pr, []uint32{p}, rs)
	if err != nil {
		return Finding{}, err
	}
	return fs[0], nil
}

// secondOpinion has the reference kernel examine the prime of f again.
func secondOpinion(ctx context.Context, judge *referenceProber, f Finding, rs []int64) error {
	g, err := residueFinding(ctx, judge, f.P, rs)
	if err == nil && !slices.EqualFunc(f.Fibers, g.Fibers, equalFibers) {
		detail := fmt.Sprintf("%q, the reference kernel says %q", f.Line, g.Line)
		return &InternalError{CheckError: residues.CheckError{P: f.P, Check: DoubleCheck, Detail: detail}, Reference: g.Line}
	}
	return err
}

// InSample reports whether the prime belongs to a sample of about the given fraction of all
// primes, 0 to 1: a fixed hash of p, the same everywhere.
func InSample(p uint32, fraction float64) bool {
	const golden = 2654435769 // 2^32 divided by the golden ratio
	return float64(p*golden) < fraction*(1<<32)
}

// A Judge computes fingerprints with the reference kernel. It keeps its memory from one prime
// to the next; the zero value is ready. It is not safe for concurrent use.
type Judge struct{ prober referenceProber }

// Line returns the fingerprint line of one prime: that of a complete survey or, where residues
// are given, of a survey of residues.
func (j *Judge) Line(ctx context.Context, p uint32, rs []int64) (string, error) {
	if len(rs) > 0 {
		f, err := residueFinding(ctx, &j.prober, p, rs)
		return f.Line, err
	}
	f, err := j.prober.counter.Fingerprint(ctx, p)
	return transcript.Fingerprint(f).Line(), err
}
