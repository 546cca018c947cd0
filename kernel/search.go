package kernel

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/erdos1056/erdos1056/kernel/artifact"
	"github.com/erdos1056/erdos1056/kernel/fibers"
	"github.com/erdos1056/erdos1056/kernel/plan"
	"github.com/erdos1056/erdos1056/kernel/primes"
	"github.com/erdos1056/erdos1056/kernel/transcript"
)

// Options says how a search is done. None of them changes its answer.
type Options struct {
	// Threads is the number of workers; 0 stands for what the process may use
	// (runtime.GOMAXPROCS, which knows the affinity mask and the cgroup limit).
	Threads int
	// Kernel is Auto (also ""), Reference or an implementation of package residues.
	Kernel string
	// Counting overrides how the fast kernel counts; "" chooses by prime and caches.
	Counting fibers.Counting
	// DoubleCheck is the fraction of the primes, 0 to 1, that the fast kernel runs a second
	// time with a random unit; InSample says which.
	DoubleCheck float64
	// Transcript, if not nil, receives the text form of the transcript. The fast
	// kernel computes the digest in any case; the reference kernel needs half as much
	// time again for it and does so only on demand.
	Transcript io.Writer
	// Progress, if not nil, is called after every prime, in order, from one goroutine
	// at a time. It must return quickly.
	Progress func(Progress)
	// Plant makes the first prime of worker 0 suffer one error, for tests that want
	// to see a check fail.
	Plant fibers.Fault
}

// Progress is a snapshot of a search.
type Progress struct {
	plan.Range
	P      uint32 // last prime finished, all before it being finished too
	Primes uint64 // primes finished
	Cuts   uint64 // sum of those primes: the cuts covered
	Best   Fiber  // largest fiber so far
}

// Fraction estimates the part of the work that is done, from 0 to 1. Work grows as the
// sum of the primes, hence nearly as the square of the last one.
func (p Progress) Fraction() float64 {
	lo, hi, at := float64(p.Lo), float64(p.Hi)+1, float64(p.P)+1
	if p.P < p.Lo {
		return 0
	}
	return (at*at - lo*lo) / (hi*hi - lo*lo)
}

// Checks counts the free checks that passed.
type Checks struct {
	LaneChain, Wilson, TableSum uint64 // one for each prime of the fast kernel
	DoubleCheck                 uint64 // second runs
	Coverage                    uint64 // prime counts compared with an independent count
}

// A Result is the answer of a search and how it was had. Only the Artifact is the
// answer; the rest depends on the options.
type Result struct {
	artifact.Artifact
	Kernel      string
	Counting    []fibers.Counting // the ways in which the fast kernel counted
	Threads     int
	Covered     uint64 // number of cuts covered: the sum of the primes tested
	Checks      Checks
	Transcript  string // digest of the transcript, or "" where none was made
	WorkerBytes int    // memory of the largest worker
}

// Search finds the largest fiber over all primes of the plan's range, exactly, as package
// artifact defines it. It returns ctx's error within about a millisecond of work
// after ctx is done, an *InternalError where a check failed, or an error that
// names the plan's or option's fault.
func Search(ctx context.Context, pl plan.Plan, o Options) (Result, error) {
	if err := pl.Validate(); err != nil {
		return Result{}, err
	}
	crew, err := newCrew(o, pl.Range, true)
	if err != nil {
		return Result{}, err
	}
	defer crew.release()
	record, err := transcript.NewWriter(o.Transcript, pl.Range)
	if err != nil {
		return Result{}, err
	}
	s := &search{plan: pl, options: o, crew: crew, record: record}
	if err := walk(ctx, crew, pl.Range, s.examine, s.merge); err != nil {
		return Result{}, err
	}
	return s.finish()
}

// search is the state of one Search. best is written by merge alone.
type search struct {
	plan    plan.Plan
	options Options
	crew    *crew
	record  *transcript.Writer
	best    atomic.Pointer[Fiber]
	cuts    uint64
	primes  uint64
	twice   uint64 // primes that had a second run
}

type finding struct {
	fingerprint transcript.Fingerprint
	best        Fiber
}

// examine scans one prime for fibers that beat the best of the primes merged so far: all
// of those lie before p, so only more cuts win.
func (s *search) examine(ctx context.Context, pr prober, p uint32) (finding, error) {
	first, floor := fibers.ExpectedLargest(p), 1
	if best := s.best.Load(); best != nil {
		first = len(best.Cuts) + 1
		floor = first
	}
	fingerprint, fs, err := pr.scan(ctx, p, first, floor)
	return finding{fingerprint, fibers.Largest(fs)}, err
}

// merge takes the findings in ascending order of the primes.
func (s *search) merge(p uint32, f finding) error {
	s.primes++
	s.cuts += uint64(p)
	if InSample(p, s.options.DoubleCheck) && p > 2 {
		s.twice++
	}
	if s.crew.fingerprints {
		if err := s.record.Add(f.fingerprint); err != nil {
			return fmt.Errorf("writing the transcript: %w", err)
		}
	}
	best := s.best.Load()
	if best == nil || len(f.best.Cuts) > len(best.Cuts) {
		best = &f.best
		s.best.Store(best)
	}
	if s.options.Progress != nil {
		s.options.Progress(Progress{Range: s.plan.Range, P: p, Primes: s.primes, Cuts: s.cuts, Best: *best})
	}
	if len(best.Cuts) >= s.plan.Threshold() {
		return errStop
	}
	return nil
}

func (s *search) finish() (Result, error) {
	r := Result{Artifact: artifact.Artifact{Plan: s.plan, PrimesTested: s.primes}, Kernel: s.crew.kernel, Counting: s.crew.countings(),
		Threads: s.crew.threads, Covered: s.cuts, WorkerBytes: s.crew.bytes()}
	last := s.plan.Hi
	if best := s.best.Load(); best != nil {
		r.BestP, r.BestResidue, r.Artifact.Cuts = best.P, best.Residue, best.Cuts
		if r.Witness() {
			last = best.P
		}
	}
	if n := primes.Count(s.plan.Lo, last); n != s.primes {
		return Result{}, fmt.Errorf("internal error: %d primes were tested in %d..%d, an independent count says %d", s.primes, s.plan.Lo, last, n)
	}
	r.Checks = s.checks()
	if s.crew.fingerprints {
		r.Transcript = s.record.Digest()
		if err := s.record.Close(); err != nil {
			return Result{}, fmt.Errorf("writing the transcript: %w", err)
		}
	}
	return r, nil
}

func (s *search) checks() Checks {
	c := Checks{Coverage: 1}
	if s.crew.kernel == Reference {
		return c
	}
	c.LaneChain, c.Wilson, c.TableSum, c.DoubleCheck = s.primes, s.primes, s.primes, s.twice
	return c
}
