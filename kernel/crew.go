package kernel

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/erdos1056/erdos1056/kernel/fibers"
	"github.com/erdos1056/erdos1056/kernel/plan"
)

// A crew is the probers of all workers.
type crew struct {
	kernel       string
	threads      int
	fingerprints bool
	probers      []prober // one for each thread, or a single one that uses all threads

	// Where primes are few, those that the threads cannot share evenly would leave threads
	// idle: a team of all probers takes them together. They are the first ones, since the
	// very first costs most: nothing is known yet that it must beat.
	team     prober
	together uint64 // number of primes that the team takes
}

const (
	// Below togetherFrom a prime is done before several threads have agreed on it.
	togetherFrom = 1_000_000
	// From alwaysTogether on, a table for each thread would crowd the shared cache and
	// the memory.
	alwaysTogether = 1 << 27
	// fewRounds is the number of primes for each thread below which idle threads count.
	fewRounds = 32
)

// newCrew returns the workers for a range; tables says that they will need tables.
func newCrew(o Options, r plan.Range, tables bool) (*crew, error) {
	threads := o.Threads
	if threads == 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	if threads < 1 || threads > 1024 {
		return nil, fmt.Errorf("threads = %d: expected 1 to 1024", threads)
	}
	if !(o.DoubleCheck >= 0 && o.DoubleCheck <= 1) {
		return nil, fmt.Errorf("double check %v: expected a fraction from 0 to 1", o.DoubleCheck)
	}
	c := &crew{threads: threads, fingerprints: o.Kernel != Reference || o.Transcript != nil}
	alone, team := threads, false
	if threads > 1 && o.Kernel != Reference && r.Lo >= togetherFrom && r.Validate() == nil {
		alone, team = c.share(r, tables)
	}
	if alone == 0 {
		return c, c.add(o, threads)
	}
	for range alone {
		if err := c.add(o, 1); err != nil {
			return nil, err
		}
		o.Plant = fibers.NoFault // the first prober has it
	}
	if team {
		c.team = join(c.probers)
	}
	return c, nil
}

// add adds a prober that uses so many threads.
func (c *crew) add(o Options, threads int) error {
	p, name, err := newProber(o, threads, c.fingerprints, o.Plant)
	c.kernel, c.probers = name, append(c.probers, p)
	return err
}

// share says, for a range of large primes and more than one thread, how many probers work on
// primes of their own - none where all primes are done together - and whether a team
// takes the first ones; it sets how many.
func (c *crew) share(r plan.Range, tables bool) (alone int, team bool) {
	threads := uint64(c.threads)
	n, next := uint64(0), one(r)
	for n < fewRounds*threads {
		if _, ok := next(); !ok {
			break
		}
		n++
	}
	switch {
	case tables && r.Lo >= alwaysTogether, n < threads, !tables && n < 2*threads:
		return 0, false
	case tables && n < fewRounds*threads && n%threads != 0:
		c.together = n % threads
		return c.threads, true
	}
	return c.threads, false
}

// walk calls work for the primes of r, spread over the crew, and emit with the results, as
// ordered does.
func walk[Result any](ctx context.Context, c *crew, r plan.Range, work func(context.Context, prober, uint32) (Result, error), emit func(uint32, Result) error) error {
	stopped := false
	next := one(r)
	part := func(next func() (uint32, bool), probers []prober) error {
		return ordered(ctx, next, len(probers), func(ctx context.Context, worker int, p uint32) (Result, error) {
			return work(ctx, probers[worker], p)
		}, func(p uint32, r Result) error {
			err := emit(p, r)
			stopped = errors.Is(err, errStop)
			return err
		})
	}
	if c.team == nil {
		return part(next, c.probers)
	}
	if err := part(atMost(c.together, next), []prober{c.team}); err != nil || stopped {
		return err
	}
	return part(next, c.probers)
}

// atMost returns the source of the first n tasks of next.
func atMost(n uint64, next func() (uint32, bool)) func() (uint32, bool) {
	return func() (uint32, bool) {
		if n == 0 {
			return 0, false
		}
		n--
		return next()
	}
}

// all is the probers, the team's included.
func (c *crew) all() []prober {
	if c.team == nil {
		return c.probers
	}
	return append(slices.Clone(c.probers), c.team)
}

// release gives the memory of all workers back.
func (c *crew) release() {
	for _, p := range c.all() {
		p.release()
	}
}

// countings lists the ways in which the workers have counted.
func (c *crew) countings() []fibers.Counting {
	var used []fibers.Counting
	for _, p := range c.all() {
		used = append(used, p.countings()...)
	}
	slices.Sort(used)
	return slices.Compact(used)
}

// bytes is the memory of the largest worker.
func (c *crew) bytes() int {
	most := 0
	for _, p := range c.all() {
		most = max(most, p.bytes())
	}
	return most
}
