package campaign

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sort"
	"sync/atomic"
	"time"

	"github.com/erdos1056/erdos1056/kernel"
	"github.com/erdos1056/erdos1056/kernel/fibers"
	"github.com/erdos1056/erdos1056/kernel/plan"
	"github.com/erdos1056/erdos1056/kernel/primes"
	"github.com/erdos1056/erdos1056/kernel/residues"
)

// Options says how a run works. None of them changes what it finds.
type Options struct {
	kernel.Options               // Progress and Transcript are not used
	StopAfter      time.Duration // no unit is begun after this time; 0 stands for no end
	Program        string        // name, version and platform, for the ledger
	// Progress, if not nil, is called after every prime and must return quickly.
	Progress func(Progress)
	// Saved, if not nil, is called after every unit that was saved.
	Saved func(Unit)
}

// Progress is a snapshot of a run.
type Progress struct {
	kernel.Progress     // of this run: Range is what the ledger is to hold, Cuts what this run covered
	Units, Done     int // units of the ledger, and those saved
}

// ErrStopped ends a run whose time (Options.StopAfter) is over.
var ErrStopped = errors.New("the time to stop has come")

// Run works on the campaign until it is complete, which is an error of nil. Other
// errors, all of which leave every finished unit saved: ctx's; ErrStopped; a
// *kernel.InternalError for a check that failed; a planted positive that was not found, of
// which one after the run withdraws the units of the run; or an error of the disk.
func (f *Folder) Run(ctx context.Context, o Options) error {
	return newRun(f, o).do(ctx)
}

func newRun(f *Folder, o Options) *run {
	o.Options.Progress, o.Transcript = nil, nil
	if o.Kernel == "" || o.Kernel == kernel.Auto {
		o.Kernel = residues.Best().Name
	}
	if o.Threads == 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	r := &run{folder: f, header: f.Ledger.Header, options: o, positives: positivesOf[f.Ledger.Header.Kind], all: f.Ledger.Header.Units()}
	if done := len(f.Ledger.Units); f.Ledger.Witness() == nil {
		r.units = r.all[done:]
	}
	r.keep = r.save
	return r
}

// A run is the state of Folder.Run. Its workers read best; all else is the yielding side's.
type run struct {
	folder    *Folder
	header    Header
	options   Options
	positives []positive
	began     time.Time

	all   []plan.Range   // units of the ledger
	units []plan.Range   // units still to do
	best  []atomic.Int32 // greatest multiplicity so far in each of units

	// keep takes every finished unit.
	keep func(Unit, *fingerprints) error

	place    int // of the unit being done, in units
	unit     Unit
	lines    fingerprints
	twice    uint64
	started  time.Time // of the unit
	progress Progress
}

func (r *run) do(ctx context.Context) error {
	if len(r.units) == 0 {
		return nil
	}
	size := r.folder.Ledger.size
	outcomes, err := r.searchPositives(ctx, Before)
	if err := errors.Join(r.append(outcomes), err); err != nil {
		return err
	}
	err = r.recordFailure(r.survey(ctx))
	if disk := new(DiskError); errors.As(err, &disk) {
		return err
	}
	if failure := r.checkAfter(context.WithoutCancel(ctx), size); failure != nil {
		return failure // which matters more than how the run came to its end
	}
	return err
}

// survey does the units, from the first to the last or to the first witness.
func (r *run) survey(ctx context.Context) (err error) {
	work := plan.Range{Lo: r.units[0].Lo, Hi: r.units[len(r.units)-1].Hi}
	r.best = make([]atomic.Int32, len(r.units))
	r.progress = Progress{Progress: kernel.Progress{Range: plan.Range{Lo: r.all[0].Lo, Hi: work.Hi}}, Units: len(r.all), Done: len(r.all) - len(r.units)}
	r.began = time.Now()
	r.begin()
	if r.header.Kind == Residues {
		err = kernel.SurveyResidues(ctx, work, r.header.Residues, r.options.Options, r.take)
	} else {
		err = kernel.Survey(ctx, work, r.options.Options, r.want, r.take)
	}
	if err == nil {
		err = r.closeUnits(work.Hi)
	}
	if errors.Is(err, errWitness) {
		return nil
	}
	return err
}

// errWitness ends the survey behind a witness.
var errWitness = errors.New("witness")

func (r *run) append(outcomes []Positive) error {
	for _, outcome := range outcomes {
		if err := r.folder.Append(outcome); err != nil {
			return r.notSaved("the planted positives", err)
		}
	}
	return nil
}

// recordFailure writes down a failed check.
func (r *run) recordFailure(err error) error {
	var internal *kernel.InternalError
	if !errors.As(err, &internal) {
		return err
	}
	failure := Failure{Type: typeFailure, P: internal.P, Check: internal.Check, Detail: internal.Detail, Reference: internal.Reference,
		Kernel: r.options.Kernel, Ended: now(), Program: r.options.Program}
	return errors.Join(err, r.folder.Append(failure))
}

// checkAfter searches the positives again and takes back the run if it is not to be trusted:
// size is that of the ledger when the run began.
func (r *run) checkAfter(ctx context.Context, size int64) error {
	outcomes, failure := r.searchPositives(ctx, After)
	if failure != nil {
		kept, err := r.folder.withdraw(size)
		if err != nil {
			return errors.Join(failure, err)
		}
		failure = fmt.Errorf("%w. The units of this run were taken back; the ledger with them is kept as %s", failure, kept)
	}
	return errors.Join(failure, r.append(outcomes))
}

// want says from how many cuts on the fibers of p matter: to be the best of its unit, to
// be a near miss, or to be counted in the sample.
func (r *run) want(p uint32) (first, floor int) {
	first, floor = fibers.ExpectedLargest(p), 1
	if best := int(r.best[r.find(p)].Load()); best > 0 {
		first, floor = best+1, best+1
	}
	least := nearMiss(r.header.K, p)
	if kernel.InSample(p, sample) {
		least = min(least, FirstCounted)
	}
	return min(first, least), min(floor, least)
}

// nearMiss is the least number of cuts of a near miss: k, or for small k the number that the
// largest fiber of p is likely to have, as there may be millions of k cuts.
func nearMiss(k int, p uint32) int { return max(k, fibers.ExpectedLargest(p)) }

// find returns the place of the unit of p in r.units.
func (r *run) find(p uint32) int {
	return sort.Search(len(r.units), func(i int) bool { return r.units[i].Hi >= p })
}

// begin starts the unit at r.place.
func (r *run) begin() {
	u := r.units[r.place]
	r.unit = Unit{Type: typeUnit, Lo: u.Lo, Hi: u.Hi, NearMisses: []Fiber{}}
	r.lines, r.twice, r.started = fingerprints{}, 0, time.Now()
}

// take receives the findings in ascending order.
func (r *run) take(f kernel.Finding) error {
	if err := r.closeUnits(f.P - 1); err != nil {
		return err
	}
	u := &r.unit
	u.Primes++
	u.Cuts += uint64(f.P)
	r.lines.add(f.Line)
	if f.SecondRun {
		r.twice++
	}
	if r.header.Kind == Residues || kernel.InSample(f.P, sample) {
		u.Counts.add(f.P, fibersOf(f.Fibers))
	}
	for _, fiber := range f.Fibers {
		if len(fiber.Cuts) >= nearMiss(r.header.K, f.P) {
			u.NearMisses = append(u.NearMisses, Fiber(fiber))
		}
	}
	best := fibers.Largest(f.Fibers)
	if u.Best == nil || len(best.Cuts) > len(u.Best.Cuts) {
		u.Best = &Fiber{P: f.P, Residue: best.Residue, Cuts: append([]uint32{}, best.Cuts...)}
		if len(best.Cuts) > 0 {
			u.Records = append(u.Records, Record{f.P, best.Residue, len(best.Cuts)})
		}
		r.best[r.place].Store(int32(len(best.Cuts)))
	}
	r.report(f.P)
	if u.witness(r.header.K) != nil {
		u.Hi = f.P
		if err := r.finish(); err != nil {
			return err
		}
		return errWitness
	}
	return nil
}

// closeUnits finishes the units that end at or before last.
func (r *run) closeUnits(last uint32) error {
	for r.place < len(r.units) && r.unit.Hi <= last {
		if err := r.finish(); err != nil {
			return err
		}
		if r.place++; r.place < len(r.units) {
			if d := r.options.StopAfter; d > 0 && time.Since(r.began) >= d {
				return ErrStopped
			}
			r.begin()
		}
	}
	return nil
}

// finish completes the record of the unit and has it kept.
func (r *run) finish() error {
	u := r.unit
	if n := primes.Count(u.Lo, u.Hi); n != u.Primes {
		return fmt.Errorf("internal error: %d primes were tested in %s, an independent count says %d", u.Primes, u.Range(), n)
	}
	u.Transcript, u.Root = r.lines.digest(), r.lines.root()
	u.Run = &Run{Kernel: r.options.Kernel, Threads: r.options.Threads, Milliseconds: time.Since(r.started).Milliseconds(),
		Ended: now(), Program: r.options.Program, Checks: r.checks()}
	return r.keep(u, &r.lines)
}

// save puts the fingerprints of a unit into the folder and the unit into the ledger.
func (r *run) save(u Unit, lines *fingerprints) error {
	err := lines.save(r.folder.dir, u, r.header.Residues)
	if err == nil {
		err = r.folder.Append(u)
	}
	if err != nil {
		return r.notSaved("unit "+u.Range().String(), err)
	}
	r.progress.Done++
	if r.options.Saved != nil {
		r.options.Saved(u)
	}
	return nil
}

func (r *run) checks() Checks {
	c := Checks{Coverage: 1, SecondRun: r.twice}
	if r.options.Kernel == kernel.Reference {
		return c
	}
	if c.Wilson = r.unit.Primes; r.header.Kind == Complete {
		c.LaneChain, c.TableSum = r.unit.Primes, r.unit.Primes
	}
	return c
}

// A DiskError says that something could not be saved, and that all before it is.
type DiskError struct {
	What string
	Done int // units that are safe
	Err  error
}

func (e *DiskError) Error() string {
	return fmt.Sprintf("%s could not be saved: %v; the %d units before are safe. Make room or restore access, and repeat the command", e.What, e.Err, e.Done)
}
func (e *DiskError) Unwrap() error { return e.Err }

func (r *run) notSaved(what string, err error) error {
	return &DiskError{what, len(r.folder.Ledger.Units), err}
}

func (r *run) report(p uint32) {
	if r.options.Progress == nil {
		return
	}
	g := &r.progress
	g.P, g.Primes, g.Cuts = p, g.Primes+1, g.Cuts+uint64(p)
	if best := r.unit.Best; len(best.Cuts) > len(g.Best.Cuts) {
		g.Best = kernel.Fiber(*best)
	}
	r.options.Progress(*g)
}
