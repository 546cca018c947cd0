package campaign

import "github.com/erdos1056/erdos1056/kernel/plan"

// A Summary says how far a campaign, or a shard of one, has come, and whether what it found
// is what was to be expected.
type Summary struct {
	Header   Header
	Asked    plan.Range // what the ledger is to cover; zero for a shard without units
	Covered  plan.Range // the range of the units done, if there are any
	Units    int        // that the ledger is to hold; those done in a merged ledger
	Done     int
	Primes   uint64
	Cuts     uint64  // covered: the sum of the primes
	Fraction float64 // of the work done, by cost
	Best     *Fiber  // nil if no prime was done
	// Records are the primes whose largest fiber has more cuts than those of all primes
	// done before them: in a complete campaign from 2 on, the least primes of each
	// multiplicity.
	Records []Record
	// RecordsUnknown are the multiplicities between them whose first primes the ledger does not tell.
	RecordsUnknown []Unknown
	Witness        *Fiber  // nil if there is none
	NearMisses     []Fiber // of at least k cuts, see Unit
	// ExpectedWitnesses is the number of fibers of k+1 cuts that the model predicts for
	// the primes done.
	ExpectedWitnesses float64
	Counted           Counts     // observed numbers of large fibers
	ExpectedCounts    [4]float64 // and what the model predicts for the same primes
	Seconds           float64    // of the units done
	Rate              float64    // cuts a second of the last units; 0 if unknown
	SecondsLeft       float64    // at that rate; 0 if unknown or complete
	Checks            Checks     // passed
	Positives         Tally      // planted positives searched before and after runs
	Failures          []Failure
	Root              string
}

// A Tally counts planted positives.
type Tally struct{ BeforeFound, Before, AfterFound, After int }

// Complete reports whether there is nothing left to do.
func (s Summary) Complete() bool { return s.Witness != nil || s.Covered.Hi == s.Asked.Hi }

// recentUnits is the number of units that the rate is taken from.
const recentUnits = 20

// Summarize sums up a ledger.
func (l *Ledger) Summarize() Summary {
	s := Summary{Header: l.Header, Done: len(l.Units), Witness: l.Witness(), NearMisses: []Fiber{}, Records: []Record{}, RecordsUnknown: []Unknown{}, Failures: l.Failures, Root: l.Root()}
	s.Covered, _ = l.Covered()
	s.Asked, s.Units = l.Header.Plan().Range, s.Done
	if l.Header.UnitCost > 0 {
		s.Asked, s.Units = plan.Range{}, 0
		if planned := l.Header.Units(); len(planned) > 0 {
			s.Asked, s.Units = plan.Range{Lo: planned[0].Lo, Hi: planned[len(planned)-1].Hi}, len(planned)
		}
	}
	for _, u := range l.Units {
		s.add(u)
	}
	s.ExpectedWitnesses = s.Header.Expected(s.Primes, s.Cuts, s.Header.K+1)
	for i := range s.ExpectedCounts {
		s.ExpectedCounts[i] = s.Header.Expected(s.Counted.Primes, s.Counted.Cuts, FirstCounted+i)
	}
	s.Positives = l.tally()
	s.estimate(l)
	return s
}

func (s *Summary) add(u Unit) {
	s.Primes += u.Primes
	s.Cuts += u.Cuts
	if u.Best != nil && (s.Best == nil || len(u.Best.Cuts) > len(s.Best.Cuts)) {
		s.Best = u.Best
	}
	s.addRecords(u)
	s.NearMisses = append(s.NearMisses, u.NearMisses...)
	s.Counted.Primes += u.Counts.Primes
	s.Counted.Cuts += u.Counts.Cuts
	for i, n := range u.Counts.AtLeast {
		s.Counted.AtLeast[i] += n
	}
	if u.Run == nil {
		return
	}
	s.Seconds += float64(u.Run.Milliseconds) / 1000
	c, d := &s.Checks, u.Run.Checks
	c.LaneChain, c.Wilson, c.TableSum = c.LaneChain+d.LaneChain, c.Wilson+d.Wilson, c.TableSum+d.TableSum
	c.SecondRun, c.Coverage = c.SecondRun+d.SecondRun, c.Coverage+d.Coverage
}

func (l *Ledger) tally() (t Tally) {
	for _, p := range l.Positives {
		all, found := &t.Before, &t.BeforeFound
		if p.When == After {
			all, found = &t.After, &t.AfterFound
		}
		*all++
		if p.ok() {
			*found++
		}
	}
	return t
}

// estimate computes the fraction done, the rate and the time left.
func (s *Summary) estimate(l *Ledger) {
	left := uint64(0)
	if s.Fraction = 1; !s.Complete() {
		whole := s.Asked.Cost()
		left = whole
		if s.Done > 0 {
			left = plan.Range{Lo: s.Covered.Hi + 1, Hi: s.Asked.Hi}.Cost()
		}
		s.Fraction = 1 - float64(left)/float64(whole)
	}
	var cuts uint64
	var milliseconds int64
	for _, u := range l.Units[max(0, s.Done-recentUnits):] {
		if u.Run != nil {
			cuts, milliseconds = cuts+u.Cuts, milliseconds+u.Run.Milliseconds
		}
	}
	if milliseconds > 0 {
		s.Rate = float64(cuts) * 1000 / float64(milliseconds)
		s.SecondsLeft = float64(left) / max(s.Rate, 1)
	}
}
