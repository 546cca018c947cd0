// Package plan says what a search is asked to do: a range of integers, the
// number k of consecutive intervals, and how the range is written by people.
package plan

import (
	"fmt"
	"strings"
)

const (
	// Limit bounds the primes that can be searched: every p is below 2^31, so
	// that a residue fits 31 bits and twice a residue fits 32.
	Limit = 1 << 31

	// MinK and MaxK bound k. MaxK only keeps counters small: a fiber of 250
	// cuts is not expected for any p below 2^31.
	MinK, MaxK = 1, 250
)

// Range is an inclusive range of integers with 1 <= Lo <= Hi < Limit.
type Range struct{ Lo, Hi uint32 }

func (r Range) String() string { return fmt.Sprintf("%d..%d", r.Lo, r.Hi) }

// Plan is the complete statement of a search: every prime of Range is asked for
// a fiber of at least K+1 cuts.
type Plan struct {
	Range
	K int
}

// Threshold is the number of cuts of a witness: k+1 cuts bound k intervals.
func (p Plan) Threshold() int { return p.K + 1 }

// Validate reports the first bound that the plan breaks.
func (p Plan) Validate() error {
	if err := p.Range.Validate(); err != nil {
		return err
	}
	if p.K < MinK || p.K > MaxK {
		return fmt.Errorf("k = %d: expected %d <= k <= %d", p.K, MinK, MaxK)
	}
	return nil
}

// Validate reports whether 1 <= Lo <= Hi < Limit.
func (r Range) Validate() error { return checkBounds(uint64(r.Lo), uint64(r.Hi)) }

func checkBounds(lo, hi uint64) error {
	switch {
	case lo < 1:
		return fmt.Errorf("the range starts at %d; the start must be at least 1", lo)
	case hi >= Limit:
		return fmt.Errorf("the range ends at %d; the end must be below 2^31 = %d", hi, uint64(Limit))
	case lo > hi:
		return fmt.Errorf("the end lies before the start; write A..B with A <= B, for example %d..%d", hi, lo)
	}
	return nil
}

// Residue returns r mod p in [0, p), so that -1 stands for p-1.
func Residue(r int64, p uint32) uint32 {
	return uint32((r%int64(p) + int64(p)) % int64(p))
}

// RangeForms describes what ParseRange accepts, for usage messages.
const RangeForms = "A..B (both ends included) or A+N (the same as A..A+N), for example 10428401..10428600 or 1e7+200"

// ParseRange reads "A..B" or "A+N", where A, B and N are numbers as ParseNumber
// reads them, and checks the bounds of Range.
func ParseRange(s string) (Range, error) {
	first, second, dots := strings.Cut(s, "..")
	if !dots {
		var plus bool
		if first, second, plus = strings.Cut(s, "+"); !plus {
			return Range{}, fmt.Errorf("%q is not a range; write %s", s, RangeForms)
		}
	}
	lo, err := ParseNumber(first)
	if err != nil {
		return Range{}, err
	}
	hi, err := ParseNumber(second)
	if err != nil {
		return Range{}, err
	}
	if !dots {
		if hi >= Limit {
			return Range{}, fmt.Errorf("the length %d is not below 2^31", hi)
		}
		if lo < Limit {
			hi += lo
		} else {
			hi = lo
		}
	}
	if err := checkBounds(lo, hi); err != nil {
		return Range{}, err
	}
	return Range{Lo: uint32(lo), Hi: uint32(hi)}, nil
}
