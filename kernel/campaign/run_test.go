package campaign

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/erdos1056/erdos1056/kernel"
	"github.com/erdos1056/erdos1056/kernel/fibers"
	"github.com/erdos1056/erdos1056/kernel/internal/naive"
	"github.com/erdos1056/erdos1056/kernel/plan"
	"github.com/erdos1056/erdos1056/kernel/transcript"
)

// small is a campaign that is done in a moment: 62 units of one integer each.
func small(k int) Header {
	return NewHeader(plan.Plan{Range: plan.Range{Lo: 540, Hi: 601}, K: k}, nil, plan.Shard{})
}

const smallUnits = 62

// from2 has 240 units of 12 or 13 integers.
func from2(k int, residues ...int64) Header {
	return NewHeader(plan.Plan{Range: plan.Range{Lo: 2, Hi: 3000}, K: k}, residues, plan.Shard{})
}

func smallOfResidues(k int) Header {
	h := small(k)
	return NewHeader(h.Plan(), []int64{1, -1}, plan.Shard{})
}

func mustOpen(t *testing.T, dir string, h Header) *Folder {
	t.Helper()
	f, err := Open(dir, h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// quick is a run without planted positives, which take longer than all units of a small
// campaign.
func quick(f *Folder, o Options) *run {
	r := newRun(f, o)
	r.positives = nil
	return r
}

// done runs a small campaign to its end and gives its ledger back.
func done(t *testing.T, dir string, h Header) *Ledger {
	t.Helper()
	f, err := Open(dir, h)
	if err != nil {
		t.Fatal(err)
	}
	if err := quick(f, Options{}).do(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return f.Ledger
}

// The units hold what the definition says about their primes.
func TestUnitsHoldWhatTheDefinitionSays(t *testing.T) {
	const k = 8
	l := done(t, t.TempDir(), from2(k))
	least := uint32(0)
	for _, u := range l.Units {
		var want Unit
		var lines fingerprints
		best := 0
		for _, p := range naive.Primes(u.Lo, u.Hi) {
			want.Primes++
			want.Cuts += uint64(p)
			h, cells, squares := naive.Fingerprint(p)
			lines.add(transcript.Fingerprint{P: p, HalfFactorial: h, Cells: cells, Squares: squares}.Line())
			for _, cuts := range naive.Fibers(p) {
				if best = max(best, len(cuts)); len(cuts) > k {
					least = p
				}
				if len(cuts) >= k {
					if !slices.ContainsFunc(u.NearMisses, func(f Fiber) bool { return f.P == p && slices.Equal(f.Cuts, cuts) }) {
						t.Errorf("unit %s lacks the near miss %v of %d", u.Range(), cuts, p)
					}
				}
			}
		}
		if u.Primes != want.Primes || u.Cuts != want.Cuts || u.Transcript != lines.digest() || u.Root != lines.root() {
			t.Errorf("unit %s: %+v", u.Range(), u)
		}
		if (u.Best == nil) != (best == 0) || u.Best != nil && len(u.Best.Cuts) != best {
			t.Errorf("unit %s: best %v, want %d cuts", u.Range(), u.Best, best)
		}
	}
	if w := l.Witness(); w == nil || w.P != 599 || least != 599 || len(w.Cuts) != 9 {
		t.Errorf("witness %v, want 9 cuts of 599", w)
	}
	if r, _ := l.Covered(); r != (plan.Range{Lo: 2, Hi: 599}) {
		t.Errorf("covered %v, want what ends with the witness", r)
	}
}

func TestCampaignOfResiduesCountsTheirFibers(t *testing.T) {
	l := done(t, t.TempDir(), from2(6, 1, -1))
	if w := l.Witness(); w == nil || w.P != 71 || w.Residue != 70 || len(w.Cuts) != 7 {
		t.Errorf("witness %v, want 7 cuts of 71", w)
	}
	for _, u := range l.Units {
		ps, best := naive.Primes(u.Lo, u.Hi), 0
		for _, p := range ps {
			fs := naive.Fibers(p)
			best = max(best, len(fs[1%p]), len(fs[p-1]))
		}
		if u.Counts.Primes != uint64(len(ps)) || u.Best != nil && len(u.Best.Cuts) != best {
			t.Errorf("unit %s: %+v, best %v, want %d cuts", u.Range(), u.Counts, u.Best, best)
		}
	}
}

// The records of a campaign from 2 on are the least primes of each multiplicity.
func TestRecordsAreTheLeastPrimesOfEachMultiplicity(t *testing.T) {
	want := []Record{{2, 1, 2}, {5, 1, 3}, {17, 1, 5}, {23, 1, 6}, {71, 70, 7}, {599, 175, 9}}
	m := mustMerge(t, shards(t, from2(15), 3))
	if got := m.Summarize().Records; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A ledger whose units have no records yet is read and gone on with.
func TestLedgerWithoutRecordsIsResumed(t *testing.T) {
	dir := t.TempDir()
	l := done(t, dir, tiny())
	entries := []any{l.Header}
	for _, u := range l.Units[:2] {
		u.Records = nil
		entries = append(entries, u)
	}
	writeFile(t, filepath.Join(dir, LedgerName), forge(entries...))
	if l := done(t, dir, tiny()); len(l.Units) != 4 {
		t.Errorf("%d units", len(l.Units))
	}
}

func TestCountsFollowTheDefinition(t *testing.T) {
	fs := []Fiber{{P: 7, Cuts: make([]uint32, 11)}, {P: 7, Cuts: make([]uint32, 12)}, {P: 7, Cuts: make([]uint32, 14)}, {P: 7, Cuts: make([]uint32, 20)}}
	var c Counts
	c.add(7, fs)
	c.add(11, nil)
	if want := (Counts{2, 18, [4]uint64{3, 2, 2, 1}}); c != want {
		t.Errorf("%+v, want %+v", c, want)
	}
}

// Interrupted at any unit and resumed, a campaign has the same root, and no unit is done
// twice.
func TestResumedCampaignHasTheSameRoot(t *testing.T) {
	for _, h := range []Header{small(15), smallOfResidues(15)} {
		want := done(t, t.TempDir(), h).Root()
		dir, seen := t.TempDir(), map[plan.Range]int{}
		for stop := 7; ; stop += 17 {
			f := mustOpen(t, dir, h)
			ctx, cancel := context.WithCancel(context.Background())
			err := quick(f, Options{Options: kernel.Options{Threads: 3}, Saved: func(u Unit) {
				if seen[u.Range()]++; len(seen) == stop {
					cancel()
				}
			}}).do(ctx)
			cancel()
			if f.Close(); err == nil {
				if f.Ledger.Root() != want {
					t.Errorf("%s: root %s, want %s", h.Kind, f.Ledger.Root(), want)
				}
				break
			}
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		}
		for r, n := range seen {
			if n != 1 {
				t.Errorf("%s: unit %s was done %d times", h.Kind, r, n)
			}
		}
		if len(seen) != smallUnits {
			t.Errorf("%s: %d units, want %d", h.Kind, len(seen), smallUnits)
		}
	}
}

// Threads, kernel, second runs and shards change nothing in what the units say.
func TestUnitsDoNotDependOnHowTheyAreDone(t *testing.T) {
	want := done(t, t.TempDir(), small(15))
	for _, o := range []kernel.Options{{Threads: 1}, {Threads: 7}, {Kernel: kernel.Reference}, {Kernel: "generic", DoubleCheck: 1}} {
		f := mustOpen(t, t.TempDir(), small(15))
		if err := quick(f, Options{Options: o}).do(context.Background()); err != nil {
			t.Fatal(err)
		}
		if f.Ledger.Root() != want.Root() {
			t.Errorf("%+v: another root", o)
		}
		if twice := f.Ledger.Units[59].Run.Checks.SecondRun; (twice > 0) != (o.DoubleCheck > 0) {
			t.Errorf("%+v: %d second runs", o, twice)
		}
	}
}

func TestStopAfterEndsWithAUnit(t *testing.T) {
	f := mustOpen(t, t.TempDir(), small(15))
	if err := quick(f, Options{StopAfter: 1}).do(context.Background()); !errors.Is(err, ErrStopped) {
		t.Errorf("%v, want %v", err, ErrStopped)
	}
	if n := len(f.Ledger.Units); n != 1 {
		t.Errorf("%d units were done, want 1", n)
	}
}

func TestProgressCountsUnits(t *testing.T) {
	dir := t.TempDir()
	f := mustOpen(t, dir, small(15))
	if err := quick(f, Options{StopAfter: 1}).do(context.Background()); !errors.Is(err, ErrStopped) {
		t.Fatal(err)
	}
	var last Progress
	if err := quick(f, Options{Progress: func(p Progress) { last = p }}).do(context.Background()); err != nil {
		t.Fatal(err)
	}
	if last.Units != smallUnits || last.Done != smallUnits-1 || last.Range != (plan.Range{Lo: 540, Hi: 601}) || last.P != 601 || last.Primes == 0 || last.Best.P == 0 {
		t.Errorf("%+v", last)
	}
}

func TestPlantedPositivesFrameEveryRun(t *testing.T) {
	for _, h := range []Header{small(15), smallOfResidues(15)} {
		f := mustOpen(t, t.TempDir(), h)
		if err := f.Run(context.Background(), Options{StopAfter: 1}); !errors.Is(err, ErrStopped) {
			t.Fatal(err)
		}
		if err := f.Run(context.Background(), Options{}); err != nil {
			t.Fatal(err)
		}
		var when []string
		for _, p := range f.Ledger.Positives {
			if when = append(when, p.When); !p.ok() {
				t.Errorf("%s: %+v", h.Kind, p)
			}
		}
		if got := strings.Join(when, " "); got != strings.Repeat("before before after after ", 2)[:len(got)] || len(when) != 8 {
			t.Errorf("%s: %s", h.Kind, got)
		}
		if err := f.Run(context.Background(), Options{}); err != nil || len(f.Ledger.Positives) != 8 {
			t.Errorf("%s: a complete campaign ran again: %v", h.Kind, err)
		}
	}
}

func TestMissedPositiveBeforeTheRunStopsIt(t *testing.T) {
	f := mustOpen(t, t.TempDir(), small(15))
	r := newRun(f, Options{})
	r.positives = []positive{{599, 175, 9}, {3011, 1, 12}}
	err := r.do(context.Background())
	if err == nil || !strings.Contains(err.Error(), "p = 3011 has 12 cuts of residue 1, found 0") {
		t.Errorf("%v", err)
	}
	if len(f.Ledger.Units) != 0 || len(f.Ledger.Positives) != 2 || f.Ledger.Positives[0].Found != 9 {
		t.Errorf("%d units, %+v", len(f.Ledger.Units), f.Ledger.Positives)
	}
}

func TestMissedPositiveAfterTheRunTakesItBack(t *testing.T) {
	dir := t.TempDir()
	f := mustOpen(t, dir, small(15))
	if err := quick(f, Options{StopAfter: 1}).do(context.Background()); !errors.Is(err, ErrStopped) {
		t.Fatal(err)
	}
	good := len(f.Ledger.Units)
	r := newRun(f, Options{})
	r.positives = []positive{{599, 175, 9}}
	r.options.Saved = func(Unit) { r.positives = []positive{{599, 175, 10}} }
	err := r.do(context.Background())
	if err == nil || !strings.Contains(err.Error(), "taken back") {
		t.Errorf("%v", err)
	}
	if f.Close(); len(f.Ledger.Units) != good {
		t.Errorf("%d units are left, want the %d of the run before", len(f.Ledger.Units), good)
	}
	l, err := Load(dir)
	if err != nil || len(l.Units) != good || len(l.Positives) != 1 || l.Positives[0].ok() {
		t.Errorf("%v; %d units, positives %+v", err, len(l.Units), l.Positives)
	}
	if kept, err := Load(filepath.Join(dir, LedgerName+".bad")); err != nil || len(kept.Units) != smallUnits {
		t.Errorf("the ledger with the units taken back is not kept: %v", err)
	}
}

// Also a run that was interrupted is taken back, and that is what its error says.
func TestMissedPositiveAfterAnInterruptIsNotHidden(t *testing.T) {
	f := mustOpen(t, t.TempDir(), small(15))
	r := newRun(f, Options{})
	r.positives = []positive{{599, 175, 9}}
	ctx, cancel := context.WithCancel(context.Background())
	r.options.Saved = func(Unit) {
		r.positives = []positive{{599, 175, 10}}
		cancel()
	}
	if err := r.do(ctx); err == nil || errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "taken back") {
		t.Errorf("%v", err)
	}
	if len(f.Ledger.Units) != 0 {
		t.Errorf("%d units are left", len(f.Ledger.Units))
	}
}

func TestFullDiskAtTheWitnessIsReported(t *testing.T) {
	f := mustOpen(t, t.TempDir(), small(8))
	last := 59 // unit of 599, which has the witness
	f.file = &faultyFile{f.file.(*os.File), last, false}
	var disk *DiskError
	if err := quick(f, Options{}).do(context.Background()); !errors.As(err, &disk) || disk.Done != last {
		t.Errorf("%v, want a disk error after %d units", err, last)
	}
}

func TestFailedCheckIsWrittenDown(t *testing.T) {
	dir := t.TempDir()
	f := mustOpen(t, dir, NewHeader(plan.Plan{Range: plan.Range{Lo: 100_000, Hi: 101_000}, K: 15}, nil, plan.Shard{}))
	err := quick(f, Options{Options: kernel.Options{Threads: 1, Plant: fibers.DroppedBlock}}).do(context.Background())
	var internal *kernel.InternalError
	if !errors.As(err, &internal) {
		t.Fatalf("%v, want an internal error", err)
	}
	f.Close()
	l, err := Load(dir)
	if err != nil || len(l.Failures) != 1 || l.Failures[0].P != 100_003 || !strings.Contains(l.Failures[0].Reference, "cuts at residue") {
		t.Errorf("%v, failures %+v", err, l.Failures)
	}
}

// faultyFile fails after some writes, having written a part, like a full disk.
type faultyFile struct {
	*os.File
	writes int
	sync   bool // fail at Sync instead
}

var errFull = errors.New("no space left on device")

func (f *faultyFile) WriteAt(b []byte, at int64) (int, error) {
	if f.writes--; f.writes < 0 && !f.sync {
		n, _ := f.File.WriteAt(b[:len(b)/2], at)
		return n, errFull
	}
	return f.File.WriteAt(b, at)
}

func (f *faultyFile) Sync() error {
	if f.sync && f.writes < 0 {
		return errFull
	}
	return f.File.Sync()
}

func TestFullDiskLosesNoFinishedUnit(t *testing.T) {
	want := done(t, t.TempDir(), small(15)).Root()
	for _, sync := range []bool{false, true} {
		dir := t.TempDir()
		f := mustOpen(t, dir, small(15))
		f.file = &faultyFile{f.file.(*os.File), 50, sync}
		err := quick(f, Options{}).do(context.Background())
		var disk *DiskError
		if !errors.As(err, &disk) || disk.Done != 50 || !strings.Contains(err.Error(), "the 50 units before are safe") {
			t.Fatalf("%v, want a disk error after 50 units", err)
		}
		f.Close()
		if l, err := Load(dir); err != nil || len(l.Units) != 50 {
			t.Fatalf("%v, %d units", err, len(l.Units))
		}
		if l := done(t, dir, small(15)); l.Root() != want {
			t.Error("another root after the disk had room again")
		}
	}
}

func TestUnwritableFingerprintsStopTheRun(t *testing.T) {
	dir := t.TempDir()
	f := mustOpen(t, dir, small(15))
	if err := os.RemoveAll(filepath.Join(dir, fingerprintsName)); err != nil {
		t.Fatal(err)
	}
	var disk *DiskError
	if err := quick(f, Options{}).do(context.Background()); !errors.As(err, &disk) || disk.Done != 1 {
		t.Errorf("%v, want a disk error", err)
	}
}

// Nothing of the time, the machine or the order of work is in the part of a unit that
// the root covers.
func TestUnitWithoutRunIsTheSameTomorrow(t *testing.T) {
	a := done(t, t.TempDir(), small(15))
	time.Sleep(5 * time.Millisecond)
	b := done(t, t.TempDir(), small(15))
	for i := range a.Units {
		a.Units[i].Run, b.Units[i].Run = nil, nil
		if !bytes.Equal(marshal(a.Units[i]), marshal(b.Units[i])) {
			t.Errorf("unit %d differs", i)
		}
	}
}
