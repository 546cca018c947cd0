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

// one returns the source of the primes of a range, one at a time.
func one(r plan.Range) func() (uint32, bool) { return primes.New(r.Lo, r.Hi).Next }

// grouped returns the source of the primes of a range in groups of the given size, the last
// of which may be smaller.
func grouped(r plan.Range, size int) func() ([]uint32, bool) {
	next := one(r)
	return func() ([]uint32, bool) {
		var group []uint32
		for len(group) < size {
			p, ok := next()
			if !ok {
				break
			}
			group = append(group, p)
		}
		return group, len(group) > 0
	}
}

// ordered calls work for the tasks that next yields, spread over the workers 0 ...
// threads-1, and emit with the results in the order of the tasks. Tasks are handed
// out in order. Neither work nor emit is called for a task behind one whose work or
// emit failed; results that ran ahead are dropped. Calls of next do not overlap, nor do
// those of emit. Work in progress is cancelled when the walk ends.
func ordered[Task, Result any](ctx context.Context, next func() (Task, bool), threads int,
	work func(ctx context.Context, worker int, t Task) (Result, error), emit func(t Task, r Result) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type outcome struct {
		task   Task
		result Result
		err    error
	}
	var (
		mu      sync.Mutex
		started = 0
		emitted = 0
		waiting = map[int]outcome{}
		ended   bool
		failure error
	)
	take := func() (place int, task Task, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		if ended || ctx.Err() != nil {
			return 0, task, false
		}
		task, ok = next()
		started++
		return started - 1, task, ok
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
				o.err = emit(o.task, o.result)
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
				place, task, ok := take()
				if !ok {
					return
				}
				result, err := work(ctx, w, task)
				give(place, outcome{task, result, err})
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
