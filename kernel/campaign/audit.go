package campaign

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/erdos1056/erdos1056/kernel"
	"github.com/erdos1056/erdos1056/kernel/plan"
	"github.com/erdos1056/erdos1056/kernel/primes"
	"github.com/erdos1056/erdos1056/kernel/witness"
)

// AuditOptions says how an audit is done.
type AuditOptions struct {
	// Draws is the number of primes drawn, with replacement: 459 of them exclude one
	// per cent of wrong records with a confidence of 99 per cent.
	Draws int
	// Seed is mixed into the draws. Who made the ledger could make it over and over until
	// the draws miss what is wrong; a seed that he could not know takes that away.
	Seed string
	// Fingerprints are the folders where side files are looked for. Where one is missing,
	// the whole unit is computed again with the kernel of Options.
	Fingerprints []string
	// HalfFactorials compares one column of the fingerprints, h! mod p, for every prime whose
	// fingerprint is at hand, not only for those drawn. Residue searches do not have it.
	HalfFactorials bool
	kernel.Options
	// Report, if not nil, is called after every step: the fingerprints of a unit looked up,
	// or computed again, or a prime compared. Calls may overlap.
	Report func(done, total int)
}

// An AuditReport says what a passed audit has looked at.
type AuditReport struct {
	Root       string
	Seed       string
	Primes     uint64 // of the ledger
	Draws      int
	Recomputed int // units whose side file was missing
	NearMisses int // whose cuts were checked one by one
	// HalfFactorials is the number of primes whose h! was compared, 0 unless asked for.
	HalfFactorials uint64
	// Wrong is the fraction of wrong records that is excluded with the given Confidence:
	// were that fraction wrong, as many draws would have met one with that chance.
	Wrong, Confidence float64
}

// An AuditError is something in a ledger that is not as it is when it is computed again.
type AuditError struct {
	Where           string
	Expected, Found string // by the auditor, and in the ledger
}

func (e *AuditError) Error() string {
	return fmt.Sprintf("audit: %s: expected %s, found %s", e.Where, e.Expected, e.Found)
}

// Audit checks a ledger against independent computations: the number of primes of every unit;
// all cuts of every near miss; the fingerprints of primes drawn at random, by the
// reference kernel; and the largest fibers of their units. The error is an
// *AuditError where something is wrong, ctx's, or one of the disk.
func (l *Ledger) Audit(ctx context.Context, o AuditOptions) (AuditReport, error) {
	if o.HalfFactorials && len(l.Header.Residues) > 0 {
		return AuditReport{}, errors.New("audit: the fingerprints of a search of single residues do not hold h! mod p; half factorials can be compared for complete searches only")
	}
	a := &audit{ledger: l, options: o, again: make(map[int]*fingerprints)}
	if err := a.checkCounts(); err != nil {
		return AuditReport{}, err
	}
	picks := a.draw()
	a.total = len(picks)
	for i, x := range picks {
		if i == 0 || picks[i-1].unit != x.unit {
			a.total++
		}
	}
	for _, u := range l.Units {
		if err := a.checkFibers(ctx, u, u.NearMisses); err != nil {
			return AuditReport{}, err
		}
		a.nearMisses += len(u.NearMisses)
	}
	claims, err := a.claims(ctx, picks)
	if err != nil {
		return AuditReport{}, err
	}
	if err := a.compare(ctx, claims); err != nil {
		return AuditReport{}, err
	}
	if o.HalfFactorials {
		if err := a.checkHalfFactorials(ctx); err != nil {
			return AuditReport{}, err
		}
	}
	const confidence = 0.99
	return AuditReport{l.Root(), o.Seed, a.primes, len(claims), a.recomputed, a.nearMisses, a.halfFactorials, Excluded(len(claims), confidence), confidence}, nil
}

// Excluded returns the fraction f of wrong records that the given number of draws without a
// mismatch excludes with the given confidence: (1-f)^draws = 1-confidence.
func Excluded(draws int, confidence float64) float64 {
	if draws == 0 {
		return 1
	}
	return 1 - math.Pow(1-confidence, 1/float64(draws))
}

type audit struct {
	ledger     *Ledger
	options    AuditOptions
	primes     uint64
	recomputed int
	nearMisses int
	done       atomic.Int64
	total      int

	again          map[int]*fingerprints // of units that were computed again, if all are compared
	halfFactorials uint64
}

func (a *audit) step() {
	if n := a.done.Add(1); a.options.Report != nil {
		a.options.Report(int(n), a.total)
	}
}

// checkCounts counts the primes of every unit again.
func (a *audit) checkCounts() error {
	for _, u := range a.ledger.Units {
		if n := primes.Count(u.Lo, u.Hi); n != u.Primes {
			return &AuditError{"unit " + u.Range().String(), fmt.Sprintf("%d primes", n), fmt.Sprint(u.Primes)}
		}
		a.primes += u.Primes
	}
	return nil
}

// checkFibers checks the cuts of some fibers of a unit by the definition.
func (a *audit) checkFibers(ctx context.Context, u Unit, fs []Fiber) error {
	for _, f := range fs {
		if err := witness.CheckFiber(ctx, f.P, f.Residue, f.Cuts); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return &AuditError{"unit " + u.Range().String(), fmt.Sprintf("cuts of residue %d mod %d", f.Residue, f.P), err.Error()}
		}
	}
	return nil
}

// A pick is one draw: a prime by its unit and its place there.
type pick struct {
	unit  int
	place uint64
}

// draw picks primes by SHA-256 over the ledger's root, the seed and the number of the draw,
// and sorts them.
func (a *audit) draw() []pick {
	if a.primes == 0 {
		return nil
	}
	root := a.ledger.Root()
	picks := make([]pick, a.options.Draws)
	for i := range picks {
		h := sha256.New()
		fmt.Fprintf(h, "erdos1056.audit.v1\n%s\n%s\n%d", root, a.options.Seed, i)
		picks[i].place = binary.BigEndian.Uint64(h.Sum(nil)) % a.primes
		for place := &picks[i].place; *place >= a.ledger.Units[picks[i].unit].Primes; picks[i].unit++ {
			*place -= a.ledger.Units[picks[i].unit].Primes
		}
	}
	slices.SortFunc(picks, func(x, y pick) int {
		if x.unit != y.unit {
			return x.unit - y.unit
		}
		return int(int64(x.place) - int64(y.place))
	})
	return picks
}

// A claim is the fingerprint that the ledger stands for at one prime drawn.
type claim struct {
	p    uint32
	line string
}

// claims looks up the fingerprints of the picks, unit by unit.
func (a *audit) claims(ctx context.Context, picks []pick) ([]claim, error) {
	var claims []claim
	var lines *fingerprints
	for i, x := range picks {
		u := a.ledger.Units[x.unit]
		if i == 0 || picks[i-1].unit != x.unit {
			var err error
			if lines, err = a.fingerprints(ctx, x.unit); err != nil {
				return nil, err
			}
			if err := a.checkFibers(ctx, u, []Fiber{*u.Best}); err != nil {
				return nil, err
			}
			a.step()
		}
		c := claim{line: lines.lines[x.place]}
		fmt.Sscan(c.line, &c.p) // fingerprints.check has compared it with the sieve
		claims = append(claims, c)
	}
	return claims, nil
}

// fingerprints reads the side file of a unit or, if there is none, computes the unit again.
func (a *audit) fingerprints(ctx context.Context, unit int) (*fingerprints, error) {
	u := a.ledger.Units[unit]
	lines, err := readFingerprints(a.options.Fingerprints, u, a.ledger.Header.Residues)
	if err == nil || !errors.Is(err, errNoSideFile) {
		return lines, err
	}
	a.recomputed++
	again, lines, err := recompute(ctx, a.ledger.Header, u, a.options.Options)
	if err != nil {
		return nil, err
	}
	if d, differs := u.contradicts(again); differs {
		return nil, &AuditError{claimedIn(u.Range(), d), d.expected, d.found}
	}
	if a.options.HalfFactorials {
		a.again[unit] = lines
	}
	return lines, nil
}

// recompute does one unit without writing anything.
func recompute(ctx context.Context, h Header, u Unit, o kernel.Options) (again Unit, lines *fingerprints, err error) {
	h.Lo, h.Hi, h.UnitCost, h.Shard = u.Lo, u.Hi, completeUnitCost, ""
	r := newRun(&Folder{Ledger: &Ledger{Header: h}}, Options{Options: o})
	r.units = []plan.Range{u.Range()}
	r.keep = func(u Unit, f *fingerprints) error {
		again, lines = u, &fingerprints{f.lines}
		return nil
	}
	err = r.survey(ctx)
	return again, lines, err
}

// compare holds the claims against the reference kernel, several at a time, and returns the
// first difference.
func (a *audit) compare(ctx context.Context, claims []claim) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	failures := make([]error, len(claims))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range max(1, a.options.Threads) {
		workers.Go(func() {
			var judge kernel.Judge
			for i := next.Add(1) - 1; int(i) < len(claims); i = next.Add(1) - 1 {
				c := claims[i]
				line, err := judge.Line(ctx, c.p, a.ledger.Header.Residues)
				if err == nil && line != c.line {
					err = &AuditError{fmt.Sprintf("fingerprint of p = %d", c.p), fmt.Sprintf("%q", line), fmt.Sprintf("%q", c.line)}
				}
				if failures[i] = err; err != nil {
					cancel()
					return
				}
				a.step()
			}
		})
	}
	workers.Wait()
	var wrong *AuditError
	for _, err := range failures {
		if errors.As(err, &wrong) {
			return wrong
		}
	}
	for _, err := range failures {
		if err != nil {
			return err
		}
	}
	return nil
}
