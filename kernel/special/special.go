package special

import (
	"context"
	"fmt"
	"math/bits"
	"slices"

	"github.com/erdos1056/erdos1056/kernel/residues"
)

// Fibers are the cuts of one prime P with residue 1 and with residue -1, ascending.
type Fibers struct {
	P           uint32
	Plus, Minus []uint32
}

// A Scanner runs groups of primes. The zero value is ready; it takes about 3 KiB and is
// not safe for concurrent use.
type Scanner struct {
	// Implementation selects the arithmetic by the name it has in package residues; nil
	// stands for the fastest one that this machine can run.
	Implementation *residues.Implementation

	// Plant makes the next Scan commit an error in one chain, which the Wilson check
	// must catch.
	Plant bool

	chains chains
}

// maxLanes is the greatest number of primes in a group.
const maxLanes = 64

// Lanes is the number of primes that run side by side: the best size of a group.
func (s *Scanner) Lanes() int { return s.machine().lanes }

func (s *Scanner) machine() machine {
	if s.Implementation == nil {
		s.Implementation = residues.Best()
	}
	return machineOf(s.Implementation.Name)
}

// Scan returns the fibers of 1 and -1 for at most Lanes() odd primes p, ascending, with
// 3 <= p <= residues.MaxPrime. The seed multiplies every chain by another unit on the way
// and changes nothing in the result; 0 stands for the unit 1. The error is ctx's or a
// *residues.CheckError. Primality is the caller's promise.
func (s *Scanner) Scan(ctx context.Context, primes []uint32, seed uint32) ([]Fibers, error) {
	m := s.machine()
	if err := check(primes, m.lanes); err != nil || len(primes) == 0 {
		return nil, err
	}
	s.chains.start(primes, m.lanes, seed)
	if s.Plant {
		s.Plant = false
		s.chains.x[0] = -2 * s.chains.x[0]
	}
	hits := make([][]hit, len(primes))
	all := make([]Fibers, len(primes))
	for j, p := range primes {
		h := (p - 1) / 2
		if err := s.run(ctx, m, h, hits); err != nil {
			return nil, err
		}
		middle, err := s.chains.wilson(j, p)
		if err != nil {
			return nil, err
		}
		all[j] = assemble(p, middle, hits[j])
	}
	return all, nil
}

func check(primes []uint32, lanes int) error {
	if len(primes) > lanes {
		return fmt.Errorf("special: %d primes, expected at most %d", len(primes), lanes)
	}
	for i, p := range primes {
		if p < 3 || p > residues.MaxPrime || p%2 == 0 || i > 0 && p <= primes[i-1] {
			return fmt.Errorf("special: prime %d at place %d: expected ascending odd primes from 3 to %d", p, i+1, residues.MaxPrime)
		}
	}
	return nil
}

// A hit is a cut t with t! = 1 mod p, or -1 where negative.
type hit struct {
	t        uint32
	negative bool
}

// run advances all chains to the cut h and notes the hits on the way, that at h included.
func (s *Scanner) run(ctx context.Context, m machine, h uint32, hits [][]hit) error {
	for uint32(s.chains.cut) < h {
		m.advance(&s.chains, int(min(h-uint32(s.chains.cut), maxSteps)))
		for lanes := s.chains.hits; lanes != 0; lanes &= lanes - 1 {
			if j := bits.TrailingZeros64(lanes); j < len(hits) {
				hits[j] = append(hits[j], hit{uint32(s.chains.cut), s.chains.x[j] != s.chains.unit[j]})
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// assemble puts the fibers of p together from its hits, which may reach beyond the middle's
// cut h, where other lanes went on.
func assemble(p uint32, middle int, hits []hit) Fibers {
	h := (p - 1) / 2
	f := Fibers{P: p}
	add := func(t uint32, negative bool) {
		own, mirrored := &f.Plus, &f.Minus
		if negative {
			own, mirrored = mirrored, own
		}
		*own = append(*own, t)
		if t%2 == 1 {
			mirrored = own
		}
		*mirrored = append(*mirrored, p-1-t)
	}
	add(0, false)
	for _, hit := range hits {
		if hit.t < h {
			add(hit.t, hit.negative)
		}
	}
	switch middle {
	case 1:
		f.Plus = append(f.Plus, h)
	case -1:
		f.Minus = append(f.Minus, h)
	}
	slices.Sort(f.Plus)
	slices.Sort(f.Minus)
	return f
}
