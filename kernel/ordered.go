package kernel

import (
	"context"
	"errors"
	"sync"

	"github.com/erdos1056/erdos1056/kernel/plan"
	"github.com/erdos1056/erdos1056/kernel/primes"
)

// errStop is returned by emit to end the walk early without an error.
var errStop = errors.New("stop")

// ordered calls work(worker, p) for the primes of r, spread over the workers 0 ...
// threads-1, and emit with the results in ascending order of p. Primes are handed
// out in order. Neither work nor emit is called for a prime behind one whose work or
// emit failed; results that ran ahead are dropped. emit calls do not overlap.
// Work in progress is cancelled when the walk ends.
func ordered[T any](ctx context.Context, r plan.Range, threads int,
	work func(ctx context.Context, worker int, p uint32) (T, error), emit func(p uint32, result T) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type outcome struct {
		p      uint32
		result T
		err    error
	}
	var (
		mu      sync.Mutex
		sieve   = primes.New(r.Lo, r.Hi)
		started = 0
		emitted = 0
		waiting = map[int]outcome{}
		ended   bool
		failure error
	)
	take := func() (place int, p uint32, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		if ended || ctx.Err() != nil {
			return 0, 0, false
		}
		p, ok = sieve.Next()
		started++
		return started - 1, p, ok
	}
	give := func(place int, o outcome) {
		mu.Lock()
		defer mu.Unlock()
		waiting[place] = o
		for !ended {
			o, ok := waiting[emitted]
			if !ok {
				return
			}
			delete(waiting, emitted)
			emitted++
			if o.err == nil {
				o.err = emit(o.p, o.result)
			}
			if o.err != nil {
				ended, failure = true, o.err
				cancel()
			}
		}
	}
	var workers sync.WaitGroup
	for w := range threads {
		workers.Go(func() {
			for {
				place, p, ok := take()
				if !ok {
					return
				}
				result, err := work(ctx, w, p)
				give(place, outcome{p, result, err})
			}
		})
	}
	workers.Wait()
	if errors.Is(failure, errStop) {
		return nil
	}
	if failure != nil {
		return failure
	}
	return ctx.Err()
}
