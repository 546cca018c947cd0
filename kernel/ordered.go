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
	return orderedGroups(ctx, r, threads, 1, func(ctx context.Context, worker int, ps []uint32) ([]T, error) {
		result, err := work(ctx, worker, ps[0])
		return []T{result}, err
	}, emit)
}

// orderedGroups is ordered for work on groups of at most size consecutive primes, which gives
// one result for each.
func orderedGroups[T any](ctx context.Context, r plan.Range, threads, size int,
	work func(ctx context.Context, worker int, ps []uint32) ([]T, error), emit func(p uint32, result T) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type outcome struct {
		ps      []uint32
		results []T
		err     error
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
	take := func() (place int, ps []uint32) {
		mu.Lock()
		defer mu.Unlock()
		for !ended && ctx.Err() == nil && len(ps) < size {
			p, ok := sieve.Next()
			if !ok {
				break
			}
			ps = append(ps, p)
		}
		started++
		return started - 1, ps
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
			for i := 0; i < len(o.ps) && o.err == nil; i++ {
				o.err = emit(o.ps[i], o.results[i])
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
				place, ps := take()
				if len(ps) == 0 {
					return
				}
				results, err := work(ctx, w, ps)
				give(place, outcome{ps, results, err})
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
