package fibers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"

	"github.com/erdos1056/erdos1056/kernel/residues"
)

// A Profile sums up one prime P. With h = (P-1)/2:
type Profile struct {
	P             uint32
	HalfFactorial uint32 // h! mod P
	Cells         uint64 // number of a with D[a] > 0
	Squares       uint64 // sum of D[a]^2
}

// A Scanner finds fibers and keeps its memory from one prime to the next: for the largest
// prime p it has seen about p/2 bytes, p/4 where it counts in nibbles, 1.1 p
// where it counts in buckets, and p/16 more where many survive. It is not safe for concurrent use.
type Scanner struct {
	// Implementation generates the residues; nil stands for the fastest one that
	// this machine can run.
	Implementation *residues.Implementation

	// Counting overrides the choice of how to count.
	Counting Counting

	// Workers is the number of goroutines that work on one prime together, each on a part
	// of its cuts and then on a part of its classes; 0 stands for one. It must not
	// change after the first Scan.
	Workers int

	// Plant makes the next Scan commit one error that a named check must catch.
	Plant Fault

	members  []*Scanner // whose tables the parts use
	parts    []*part
	tables   map[Counting]counts
	found    []cell
	partners []cell
}

// Join returns a Scanner that works on one prime with as many goroutines as there are members,
// in their tables: it must not scan while they do.
func Join(members []*Scanner) *Scanner {
	return &Scanner{Implementation: members[0].Implementation, Counting: members[0].Counting, Workers: len(members), members: members}
}

// A Fault is an error committed on purpose, to see a check fail.
type Fault uint8

const (
	NoFault        Fault = iota
	WrongLaneStart       // caught by the lane chain check
	DroppedBlock         // a block of residues is not counted: caught by the table sum
	FlippedCell          // a cell counts one too many: caught by the table sum
	Overflow             // sixteen counts are lost, as by a nibble that wraps: counted again in bytes
)

// Scan counts the prime p, 3 <= p <= residues.MaxPrime, and returns its Profile
// and its fibers of at least `first` cuts, by ascending residue, with exact cuts. Where there
// is none it tries first-1 and so on down to `floor`; first = floor asks for just
// one threshold. The unit, 1 <= unit < p, multiplies all residues on the way and changes
// nothing in the result. The error is ctx's or a *residues.CheckError. Primality
// is the caller's promise.
func (s *Scanner) Scan(ctx context.Context, p, unit uint32, first, floor int) (Profile, []Fiber, error) {
	defer runtime.KeepAlive(s)
	profile, fs, err := s.scan(ctx, p, unit, first, floor, AutoCounting)
	if errors.Is(err, errNibble) {
		return s.scan(ctx, p, unit, first, floor, Bytes)
	}
	return profile, fs, err
}

func (s *Scanner) scan(ctx context.Context, p, unit uint32, first, floor int, how Counting) (Profile, []Fiber, error) {
	if err := s.start(p, unit); err != nil {
		return Profile{}, nil, err
	}
	if how == AutoCounting {
		how = s.choose(p)
	}
	d := s.counts(p, how)
	if err := s.count(ctx); err != nil {
		return Profile{}, nil, err
	}
	if s.take(FlippedCell) {
		d.add([]int32{1})
	}
	var profile Profile
	for m := max(first, 1); ; m-- {
		totals, err := s.scanCells(d, how, m)
		if err != nil {
			return Profile{}, nil, err
		}
		profile = s.profile(totals)
		fs, err := s.survivors(ctx, d, m)
		if err != nil || len(fs) > 0 || m <= max(floor, 1) {
			return profile, fs, err
		}
	}
}

// scanCells sums up d, checks the sums, and keeps in s.found the cells that a fiber of m
// cuts without the middle needs.
func (s *Scanner) scanCells(d counts, how Counting, m int) (sums, error) {
	threshold := min(max(1, (m+1)/2), maxThreshold)
	totals, found, err := d.scan(threshold, s.found[:0])
	s.found = found
	p := s.prime()
	if err != nil {
		return sums{}, &residues.CheckError{P: p, Check: CounterOverflow, Detail: err.Error()}
	}
	lost := uint64(p-1)/2 - totals.total
	if how == Nibbles && (lost == 15 || lost == 16) {
		return totals, errNibble
	}
	return totals, totals.check(p)
}

// errNibble says that the counts lack what one nibble loses when it reaches 16: all of it,
// or all but the carry into its neighbour. A class of so many cuts is rare, but no error.
var errNibble = errors.New("fibers: a nibble may have overflowed")

func (s *Scanner) profile(totals sums) Profile {
	p := s.prime()
	return Profile{P: p, Cells: totals.cells, Squares: totals.squares,
		HalfFactorial: mulMod(s.middle(), inverse(s.unit(), p), p)}
}

// ExpectedLargest returns the multiplicity that the largest fiber of a prime near p is
// likely to have: the greatest m with p·P(m) >= 1/2, where P(m) is the chance that a
// Poisson variable of mean 1 is at least m.
func ExpectedLargest(p uint32) int {
	term, tail := math.Exp(-1), 1.0 // P(X = m), P(X >= m)
	for m := 0; ; m++ {
		if tail -= term; float64(p)*tail < 0.5 {
			return max(m, 1)
		}
		term /= float64(m + 1)
	}
}

// Fiber returns the fiber of one residue, 1 <= residue < p, without a table. Its Cuts
// are empty where t! never takes that value.
func (s *Scanner) Fiber(ctx context.Context, p, residue uint32) (Fiber, error) {
	if err := s.start(p, 1); err != nil {
		return Fiber{}, err
	}
	f := Fiber{P: p, Residue: residue}
	if residue == 0 || residue >= p {
		return f, nil
	}
	inv := inverse(residue, p)
	fs, err := s.collect(ctx, []uint32{fold(residue, p), fold(inv, p)}, 1)
	for _, g := range fs {
		if g.Residue == residue {
			f = g
		}
	}
	return f, err
}

// start makes the first pass over all parts and puts them at their beginnings.
func (s *Scanner) start(p, unit uint32) error {
	if p < 3 || p > residues.MaxPrime || p%2 == 0 || unit < 1 || unit >= p {
		return fmt.Errorf("fibers: p = %d, unit = %d: expected an odd prime from 3 to %d and a unit from 1 to p-1", p, unit, residues.MaxPrime)
	}
	if s.Implementation == nil {
		s.Implementation = residues.Best()
	}
	for len(s.parts) < max(s.Workers, 1) {
		s.parts = append(s.parts, &part{keys: make([]int32, residues.BlockSize)})
	}
	products := make([]uint32, len(s.parts))
	err := s.each(func(i int, part *part) error {
		products[i] = part.chain.StartPart(s.Implementation, p, i, len(s.parts))
		return nil
	})
	s.parts[0].chain.WrongLaneStart = s.take(WrongLaneStart)
	residue := unit
	for i, part := range s.parts {
		part.chain.Place(unit, residue)
		residue = mulMod(residue, products[i], p)
	}
	return err
}

// take reports whether the fault is planted, and removes it.
func (s *Scanner) take(f Fault) bool {
	if s.Plant != f || f == NoFault {
		return false
	}
	s.Plant = NoFault
	return true
}

// count generates all first-half residues and counts their classes.
func (s *Scanner) count(ctx context.Context) error {
	tamper := s.tampering()
	err := s.each(func(i int, part *part) error {
		if i > 0 {
			return part.count(ctx, nil)
		}
		return part.count(ctx, tamper)
	})
	if err != nil {
		return err
	}
	return s.checkSeams()
}

// tampering returns what a planted fault does to the blocks of the first part, or nil.
func (s *Scanner) tampering() func(keys []int32) []int32 {
	lose := 0 // keys
	switch {
	case s.take(DroppedBlock):
		lose = residues.BlockSize
	case s.take(Overflow):
		lose = 16
	default:
		return nil
	}
	return func(keys []int32) []int32 {
		if lose < residues.BlockSize && len(keys) < lose {
			return keys
		}
		lost := min(lose, len(keys))
		lose = 0
		return keys[lost:]
	}
}

// Release gives the memory of the tables back to the system. The Scanner may be used again.
func (s *Scanner) Release() {
	for _, t := range s.tables {
		t.release()
	}
}

// Bytes is the memory that the Scanner holds.
func (s *Scanner) Bytes() int {
	n := 8 * (cap(s.found) + cap(s.partners))
	for _, part := range s.parts {
		n += part.wanted.bytes() + 4*(cap(part.keys)+cap(part.classes)+cap(part.scratch))
	}
	for _, t := range s.tables {
		n += t.bytes()
	}
	return n
}
