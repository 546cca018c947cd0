package kernel

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/erdos1056/erdos1056/kernel/fibers"
	"github.com/erdos1056/erdos1056/kernel/plan"
	"github.com/erdos1056/erdos1056/kernel/residues"
	"github.com/erdos1056/erdos1056/kernel/special"
	"github.com/erdos1056/erdos1056/kernel/transcript"
)

// surveySpecial is SurveyResidues for the residues 1 and -1, by groups of primes.
func surveySpecial(ctx context.Context, r plan.Range, rs []int64, o Options, crew *crew, yield func(Finding) error) error {
	impl, err := residues.Find(crew.kernel)
	if err != nil {
		return err
	}
	scanners := make([]special.Scanner, len(crew.probers))
	for i := range scanners {
		scanners[i].Implementation = impl
	}
	scanners[0].Plant = o.Plant != fibers.NoFault
	return orderedGroups(ctx, r, len(scanners), scanners[0].Lanes(), func(ctx context.Context, worker int, ps []uint32) ([]Finding, error) {
		return specialFindings(ctx, &scanners[worker], ps, rs, InSample(ps[0], o.DoubleCheck))
	}, func(_ uint32, f Finding) error { return yield(f) })
}

// specialFindings scans one group of primes, twice if asked.
func specialFindings(ctx context.Context, s *special.Scanner, ps []uint32, rs []int64, twice bool) ([]Finding, error) {
	odd := ps
	if ps[0] == 2 { // has no first half
		odd = ps[1:]
	}
	all, err := s.Scan(ctx, odd, 0)
	if err == nil && twice {
		err = specialSecondRun(ctx, s, odd, all)
	}
	if err != nil {
		return nil, explain(ctx, err)
	}
	var findings []Finding
	if len(odd) < len(ps) {
		findings = append(findings, specialFinding(special.Fibers{P: 2, Plus: []uint32{0, 1}, Minus: []uint32{0, 1}}, rs))
	}
	for _, f := range all {
		finding := specialFinding(f, rs)
		finding.SecondRun = twice
		findings = append(findings, finding)
	}
	return findings, nil
}

// specialSecondRun repeats the scan with random units and compares everything.
func specialSecondRun(ctx context.Context, s *special.Scanner, ps []uint32, all []special.Fibers) error {
	again, err := s.Scan(ctx, ps, 1+rand.Uint32N(1<<31))
	if err != nil {
		return err
	}
	for i, f := range all {
		if g := again[i]; !slices.Equal(f.Plus, g.Plus) || !slices.Equal(f.Minus, g.Minus) {
			return &residues.CheckError{P: f.P, Check: DoubleCheck, Detail: fmt.Sprintf("residues 1 and -1 have the cuts %v and %v, before it was %v and %v", g.Plus, g.Minus, f.Plus, f.Minus)}
		}
	}
	return nil
}

func specialFinding(s special.Fibers, rs []int64) Finding {
	f := Finding{P: s.P}
	var sets [][]uint32
	for _, residue := range rs {
		cuts := s.Plus
		if residue == -1 {
			cuts = s.Minus
		}
		sets = append(sets, cuts)
		f.Fibers = append(f.Fibers, Fiber{P: s.P, Residue: plan.Residue(residue, s.P), Cuts: cuts})
	}
	f.Line = transcript.ResidueLine(s.P, sets)
	return f
}
