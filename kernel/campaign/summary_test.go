package campaign

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/erdos1056/erdos1056/kernel/plan"
)

func TestSummaryOfAHalfDoneCampaign(t *testing.T) {
	f := mustOpen(t, t.TempDir(), from2(15))
	r := newRun(f, Options{})
	r.positives = []positive{{23, 1, 6}}
	stop := errors.New("stop")
	r.keep = func(u Unit, lines *fingerprints) error {
		if u.Lo >= 2000 {
			return stop
		}
		return r.save(u, lines)
	}
	if err := r.do(context.Background()); !errors.Is(err, stop) {
		t.Fatal(err)
	}
	for i := range f.Ledger.Units {
		f.Ledger.Units[i].Run.Milliseconds = 2
	}
	s := f.Ledger.Summarize()
	last := f.Ledger.Units[s.Done-1]
	if s.Complete() || s.Units != plan.MinUnits || s.Covered != (plan.Range{Lo: 2, Hi: last.Hi}) || s.Primes < 303 || s.Primes > 305 {
		t.Errorf("%+v", s)
	}
	if math.Abs(s.Fraction-0.45) > 0.03 { // (2000/3000)^2
		t.Errorf("fraction %.3f", s.Fraction)
	}
	if s.Rate < 1e6 || s.Rate > 1.5e6 || s.SecondsLeft < 0.2 || s.SecondsLeft > 1.2 {
		t.Errorf("rate %g, %g s left", s.Rate, s.SecondsLeft)
	}
	if s.Best.P != 599 || len(s.Best.Cuts) != 9 || s.Witness != nil {
		t.Errorf("best %+v", s.Best)
	}
	if s.Positives != (Tally{1, 1, 1, 1}) || s.Checks.Coverage != uint64(s.Done) || s.Checks.Wilson != s.Primes {
		t.Errorf("%+v, %+v", s.Positives, s.Checks)
	}
	if s.ExpectedWitnesses <= 0 || s.ExpectedWitnesses > 1e-3 {
		t.Errorf("expected %g witnesses", s.ExpectedWitnesses)
	}
	if s.Counted.Primes == 0 || s.ExpectedCounts[0] <= s.ExpectedCounts[1] {
		t.Errorf("counted %+v, expected %v", s.Counted, s.ExpectedCounts)
	}
}

// Missing is not none: a multiplicity whose first prime the ledger does not tell is unknown, and those that a
// largest fiber gives away are still exact.
func TestRecordsThatALedgerDoesNotTellAreUnknown(t *testing.T) {
	l := done(t, t.TempDir(), from2(15))
	all := l.Summarize()
	if len(all.RecordsUnknown) != 0 {
		t.Fatalf("%v", all.RecordsUnknown)
	}
	s := withoutRecords(l, func(int) bool { return true }).Summarize()
	known, unknown := map[int]uint32{}, map[int]uint32{}
	for _, r := range s.Records {
		known[r.Multiplicity] = r.P
	}
	for _, u := range s.RecordsUnknown {
		for m := u.From; m <= u.To; m++ {
			unknown[m] = u.AtMost
		}
	}
	if len(unknown) == 0 {
		t.Error("nothing is unknown")
	}
	for _, r := range all.Records {
		atMost, missing := unknown[r.Multiplicity]
		if missing && r.P > atMost || !missing && known[r.Multiplicity] != r.P {
			t.Errorf("%d cuts first at %d: known %v, unknown %v", r.Multiplicity, r.P, s.Records, s.RecordsUnknown)
		}
	}
}
