package kernel

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/erdos1056/erdos1056/kernel/fibers"
	"github.com/erdos1056/erdos1056/kernel/reference"
	"github.com/erdos1056/erdos1056/kernel/residues"
	"github.com/erdos1056/erdos1056/kernel/special"
	"github.com/erdos1056/erdos1056/kernel/transcript"
)

// A Fiber is the set of all cuts with one residue of one prime; see package fibers.
type Fiber = fibers.Fiber

// Names of the kernels that Options.Kernel takes beside the implementations of package
// residues.
const (
	Auto      = "auto"      // the fastest implementation that this machine can run
	Reference = "reference" // package reference
)

// DoubleCheck names the check of a second run with a random unit.
const DoubleCheck = "second run"

// An InternalError reports that a check failed at one prime, and what the reference
// kernel found there.
type InternalError struct {
	residues.CheckError
	Reference string // outcome of the retry on the reference kernel
}

func (e *InternalError) Error() string {
	return fmt.Sprintf("internal error at %s; retried on the reference kernel: %s. The result of this run cannot be trusted; test the machine's memory and run `erdos1056 selftest`",
		e.CheckError.Error(), e.Reference)
}

// Unwrap gives the failed check.
func (e *InternalError) Unwrap() error { return &e.CheckError }

// A prober examines primes one at a time; one worker owns it.
type prober interface {
	// scan returns the fibers of p of at least first cuts or, where there are none,
	// the largest ones of at least floor cuts; and the fingerprint of p, which may
	// be zero where it costs extra and was not asked for.
	scan(ctx context.Context, p uint32, first, floor int) (transcript.Fingerprint, []Fiber, error)
	// ofResidues returns, for each of some ascending primes, the fiber of each of the
	// residues, which are taken mod p, in their order.
	ofResidues(ctx context.Context, primes []uint32, residues []int64) ([][]Fiber, error)
	// group is the number of primes that ofResidues likes to get at a time.
	group(residues []int64) int
	// bytes is the memory the prober holds.
	bytes() int
	// release gives the memory back.
	release()
	// countings lists the ways in which it has counted.
	countings() []fibers.Counting
}

// newProber returns a prober of the kernel that the options name, for so many threads, and
// the kernel's name.
func newProber(o Options, threads int, fingerprints bool, plant fibers.Fault) (prober, string, error) {
	name := o.Kernel
	if name == Reference {
		return &referenceProber{fingerprints: fingerprints}, name, nil
	}
	impl := residues.Best()
	if name != Auto && name != "" {
		var err error
		if impl, err = residues.Find(name); err != nil {
			return nil, "", fmt.Errorf("%w; also auto and reference", err)
		}
	}
	if o.Counting != fibers.AutoCounting && !slices.Contains(fibers.Countings(), o.Counting) {
		return nil, "", fmt.Errorf("no counting %q; there are %v", o.Counting, fibers.Countings())
	}
	f := &fastProber{doubleCheck: o.DoubleCheck}
	f.scanner = &fibers.Scanner{Implementation: impl, Counting: o.Counting, Workers: threads, Plant: plant}
	f.special = special.Walker{Implementation: impl, Plant: plant != fibers.NoFault}
	return f, impl.Name, nil
}

// join returns a prober that works on one prime with the memory of all the given ones; they
// rest meanwhile.
func join(members []prober) prober {
	first := members[0].(*fastProber)
	var scanners []*fibers.Scanner
	for _, m := range members {
		scanners = append(scanners, m.(*fastProber).scanner)
	}
	return &fastProber{scanner: fibers.Join(scanners), special: special.Walker{Implementation: first.special.Implementation}, doubleCheck: first.doubleCheck}
}

// fiberOfTwo is the fiber of a residue of p = 2, where 0! = 1! = 1.
func fiberOfTwo(residue uint32) Fiber {
	f := Fiber{P: 2, Residue: residue}
	if residue == 1 {
		f.Cuts = []uint32{0, 1}
	}
	return f
}

type fastProber struct {
	scanner     *fibers.Scanner
	special     special.Walker
	doubleCheck float64 // the fraction of the primes that get a second run
}

func (f *fastProber) bytes() int { return f.scanner.Bytes() }

func (f *fastProber) release() { f.scanner.Release() }

func (f *fastProber) countings() []fibers.Counting { return f.scanner.Used() }

func (f *fastProber) scan(ctx context.Context, p uint32, first, floor int) (transcript.Fingerprint, []Fiber, error) {
	if p == 2 { // has no first half
		var fs []Fiber
		if floor <= 2 {
			fs = []Fiber{fiberOfTwo(1)}
		}
		return transcript.Fingerprint{P: 2, HalfFactorial: 1}, fs, nil
	}
	profile, fs, err := f.scanner.Scan(ctx, p, 1, first, floor)
	if err == nil && InSample(p, f.doubleCheck) {
		err = f.secondRun(ctx, profile, fs, first, floor)
	}
	if err != nil {
		return transcript.Fingerprint{}, nil, f.explain(ctx, err)
	}
	return transcript.Fingerprint(profile), fs, nil
}

// secondRun repeats the scan with a random unit and compares everything.
func (f *fastProber) secondRun(ctx context.Context, profile fibers.Profile, fs []Fiber, first, floor int) error {
	unit := 1 + rand.Uint32N(profile.P-1)
	again, gs, err := f.scanner.Scan(ctx, profile.P, unit, first, floor)
	if err != nil {
		return err
	}
	if again != profile || !slices.EqualFunc(fs, gs, equalFibers) {
		return &residues.CheckError{P: profile.P, Check: DoubleCheck, Detail: fmt.Sprintf("with unit %d: %v and %d fibers, expected %v and %d fibers", unit, again, len(gs), profile, len(fs))}
	}
	return nil
}

func equalFibers(a, b Fiber) bool {
	return a.P == b.P && a.Residue == b.Residue && slices.Equal(a.Cuts, b.Cuts)
}

// explain adds to a failed check what the reference kernel finds at that prime.
func (f *fastProber) explain(ctx context.Context, err error) error {
	var check *residues.CheckError
	if !errors.As(err, &check) {
		return err
	}
	var counter reference.Counter
	outcome := ""
	if best, n, err := counter.Largest(ctx, check.P, 1); err != nil {
		outcome = err.Error()
	} else {
		outcome = fmt.Sprintf("largest fiber %d cuts at residue %d", n, best.Residue)
	}
	return &InternalError{CheckError: *check, Reference: outcome}
}

type referenceProber struct {
	counter      reference.Counter
	fingerprints bool
}

func (r *referenceProber) bytes() int { return r.counter.Bytes() }

func (r *referenceProber) release() {}

func (r *referenceProber) countings() []fibers.Counting { return nil }

func (r *referenceProber) scan(ctx context.Context, p uint32, first, floor int) (transcript.Fingerprint, []Fiber, error) {
	var fingerprint transcript.Fingerprint
	if r.fingerprints {
		f, err := r.counter.Fingerprint(ctx, p)
		if err != nil {
			return fingerprint, nil, err
		}
		fingerprint = transcript.Fingerprint(f)
	}
	if first == floor {
		fs, err := r.counter.Fibers(ctx, p, floor)
		all := make([]Fiber, len(fs))
		for i, f := range fs {
			all[i] = Fiber(f)
		}
		return fingerprint, all, err
	}
	f, n, err := r.counter.Largest(ctx, p, floor)
	if err != nil || n < floor {
		return fingerprint, nil, err
	}
	return fingerprint, []Fiber{Fiber(f)}, nil
}
