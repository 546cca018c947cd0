package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/kernel"
	"github.com/erdos1056/erdos1056/kernel/campaign"
	"github.com/erdos1056/erdos1056/kernel/plan"
	"github.com/erdos1056/erdos1056/kernel/schedule"
)

var planVerb = cli.Verb{
	Name:    "plan",
	Summary: "what a search will cost; job scripts for many machines",
	Details: `Cuts, hours on this machine from a measurement of a few seconds, and how many witnesses are to be
expected. With --slurm or --kubernetes it writes a job instead, which does the campaign in --shards
parts.`,
	Example: `erdos1056 plan --range 2..5e7
erdos1056 plan --range 2..1e8 --residue 1,-1 --shards 8
erdos1056 plan --range 2..5e7 --shards 64 --slurm --checkpoint /shared/k15 > job.sh
erdos1056 plan --range 2..5e7 --shards 64 --kubernetes --image NAME@sha256:HEX --claim results > job.yaml`,
	Declare: declarePlan,
}

func declarePlan(f *pflag.FlagSet) func(context.Context, *cli.Call) error {
	var (
		r                        rangeFlag
		w                        work
		k, shards                = 15, 1
		residues                 []int64
		folder                   string
		slurm, kubernetes        bool
		program                  string
		image, claim, repository string
	)
	f.Var(&r, "range", "the range to search: "+plan.RangeForms)
	f.Var(wholeFlag{&k, plan.MinK, plan.MaxK}, "k", "number of consecutive intervals of a witness")
	f.Int64SliceVar(&residues, "residue", nil, "a campaign of the residues `R,...` only, such as 1,-1")
	f.Var(wholeFlag{&shards, 1, plan.MaxUnits}, "shards", "number of parts")
	f.BoolVar(&slurm, "slurm", false, "write a batch script for Slurm")
	f.BoolVar(&kubernetes, "kubernetes", false, "write a manifest for Kubernetes")
	f.StringVar(&folder, "checkpoint", "", "folder that all workers share; each shard has a folder in it")
	f.StringVar(&program, "program", "erdos1056", "for Slurm: the program as the nodes find it")
	f.StringVar(&image, "image", "", "for Kubernetes: image with erdos1056 as entry point, pinned by digest")
	f.StringVar(&claim, "claim", "", "for Kubernetes: persistent volume claim with the folder")
	f.StringVar(&repository, "push", "", "have each shard push its result to this repository of an OCI registry")
	w.add(f, kernel.Auto)
	return func(ctx context.Context, c *cli.Call) error {
		switch {
		case r.Hi == 0:
			return cli.Usagef("--range is missing; write --range %s", plan.RangeForms)
		case slurm && kubernetes:
			return cli.Usagef("--slurm and --kubernetes exclude each other")
		case slurm && folder == "":
			return cli.Usagef("--checkpoint is missing; name a folder that all nodes share")
		}
		h := campaign.NewHeader(plan.Plan{Range: r.Range, K: k}, residues, plan.Shard{})
		job := schedule.Job{Campaign: h, Shards: shards, Threads: max(w.threads, 1), Folder: folder, Push: repository}
		var text []byte
		var err error
		switch {
		case slurm:
			text, err = job.Slurm(program)
		case kubernetes:
			if job.Folder == "" {
				job.Folder = "/results"
			}
			text, err = job.Kubernetes(image, claim)
		default:
			return printPlan(ctx, c, h, shards, w)
		}
		if err != nil {
			return cli.Usagef("%v", err)
		}
		_, err = c.Stdout.Write(text)
		return err
	}
}

// measurePoints is the number of places of the range where the speed is measured.
const measurePoints = 4

func printPlan(ctx context.Context, c *cli.Call, h campaign.Header, shards int, w work) error {
	o := w.options()
	units := h.Units()
	seconds, err := measure(ctx, h, o)
	if err != nil {
		return err
	}
	cost := h.Plan().Range.Cost()
	witnesses := h.ExpectedIn(h.Plan().Range, h.K+1)
	type part struct {
		Shard string  `json:"shard"`
		Lo    uint32  `json:"range_start"`
		Hi    uint32  `json:"range_end"`
		Units int     `json:"units"`
		Cost  float64 `json:"share"`
	}
	parts := []part{}
	for i := range shards {
		s := plan.Shard{I: i + 1, N: shards}
		if own := s.Of(units); len(own) > 0 {
			r := plan.Range{Lo: own[0].Lo, Hi: own[len(own)-1].Hi}
			parts = append(parts, part{s.String(), r.Lo, r.Hi, len(own), float64(r.Cost()) / float64(max(cost, 1))})
		}
	}
	if c.JSON {
		return c.Line(map[string]any{"type": "plan", "campaign": h, "cuts": cost, "units": len(units), "seconds": seconds,
			"kernel": o.Kernel, "threads": o.Threads, "expected_witnesses": witnesses, "shards": parts})
	}
	c.Print("campaign  %s  (%s)", describe(h), h.Kind)
	c.Print("cost      %scuts in %s units", cli.Metric(float64(cost))+" ", cli.Thousands(len(units)))
	c.Print("time      %s on this machine with kernel %s and %d threads", cli.Duration(seconds), o.Kernel, o.Threads)
	c.Print("expected  %.3g fibers of %d cuts", witnesses, h.K+1)
	if shards > 1 {
		for _, p := range parts {
			c.Print("shard     %-9s %d..%d  %d units, %.2f %% of the work", p.Shard, p.Lo, p.Hi, p.Units, 100*p.Cost)
		}
	}
	return nil
}

// measure estimates the seconds that the campaign takes here, from its pace in the middle of
// parts of equal cost.
func measure(ctx context.Context, h campaign.Header, o kernel.Options) (seconds float64, err error) {
	group := 1 // primes that a worker examines side by side
	if h.Kind == campaign.Residues {
		group = 64
	}
	for _, part := range h.Plan().Range.Cut(measurePoints) {
		r := plan.Range{Lo: part.Lo + (part.Hi-part.Lo)/2, Hi: part.Hi}
		m := pace{group: group, warmUp: o.Threads * group, began: time.Now()}
		if h.Kind == campaign.Residues {
			err = kernel.SurveyResidues(ctx, r, h.Residues, o, m.see)
		} else {
			err = kernel.Survey(ctx, r, o, func(uint32) (int, int) { return h.K, h.K }, m.see)
		}
		if err != nil && !errors.Is(err, errMeasured) {
			return 0, err
		}
		seconds += m.secondsPerCut() * float64(part.Cost())
	}
	return seconds, nil
}

// A pace times a survey behind its first primes: at those every worker takes its memory, which
// costs several times what the prime does.
type pace struct {
	group  int // primes that are examined side by side, hence seen at about the same time
	warmUp int // primes that are not timed, whole groups
	began  time.Time

	primes          int
	warm, end, last mark // when the workers were warm, at the last whole group, at the last prime
}

// A mark is a time and the number of cuts up to then.
type mark struct {
	at   time.Time
	cuts uint64
}

const (
	paceTime  = 300 * time.Millisecond // to be timed, if possible
	paceLimit = 2 * time.Second        // not to be exceeded by more than a group
)

// errMeasured ends a survey that was timed for long enough.
var errMeasured = errors.New("measured")

func (m *pace) see(f kernel.Finding) error {
	m.primes++
	m.last = mark{time.Now(), m.last.cuts + uint64(f.P)}
	if m.primes%m.group != 0 {
		return nil
	}
	m.end = m.last
	if m.primes <= m.warmUp {
		m.warm = m.end
	}
	if m.primes > m.warmUp && m.end.at.Sub(m.warm.at) >= paceTime || m.end.at.Sub(m.began) >= paceLimit {
		return errMeasured
	}
	return nil
}

// secondsPerCut falls back on the first primes where there are no others.
func (m *pace) secondsPerCut() float64 {
	from, to := m.warm, m.end
	if to.cuts == from.cuts {
		from, to = mark{at: m.began}, m.last
	}
	return to.at.Sub(from.at).Seconds() / float64(max(to.cuts-from.cuts, 1))
}
