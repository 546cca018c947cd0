// Package primes lists the primes of a range in ascending order, and counts them
// a second way that shares no code with the list, so that a search can prove
// that it left no prime out.
package primes

import "math/bits"

// segmentOdds is the number of odd integers sieved at a time: 2^18 bits fill
// 32 KiB, the usual first-level data cache.
const segmentOdds = 1 << 18

// Sieve yields the primes of [lo, hi] in ascending order, one segment at a
// time, by the segmented sieve of Eratosthenes over odd integers. The zero value
// yields nothing; it is not safe for concurrent use.
type Sieve struct {
	hi      uint64
	base    []uint32 // odd primes up to the square root of hi
	next    []uint64 // for each base prime, its next odd multiple to cross out
	words   []uint64 // bit i of the segment stands for the odd integer first + 2i
	first   uint64
	word    int    // index of the word being read
	pending uint64 // bits of that word not yet yielded
	two     bool   // 2 is still to be yielded
}

// New returns a Sieve over the inclusive range [lo, hi], hi < 2^31. Its memory is
// about 40 KiB plus 12 bytes for each prime below the square root of hi.
func New(lo, hi uint32) *Sieve {
	s := &Sieve{hi: uint64(hi), two: lo <= 2 && 2 <= hi}
	if hi < 3 || lo > hi {
		s.first = uint64(hi) + 1
		return s
	}
	s.first = uint64(max(lo, 3)) | 1
	s.base = oddPrimesBelowRoot(hi)
	s.next = make([]uint64, len(s.base))
	for i, q := range s.base {
		q := uint64(q)
		m := max(q*q, (s.first+q-1)/q*q)
		if m%2 == 0 {
			m += q
		}
		s.next[i] = m
	}
	s.words = make([]uint64, min(segmentOdds/64, (s.hi-min(s.first, s.hi))/128+1))
	s.fill()
	return s
}

// Next returns the next prime, or ok = false at the end of the range.
func (s *Sieve) Next() (p uint32, ok bool) {
	if s.two {
		s.two = false
		return 2, true
	}
	for s.first <= s.hi {
		for s.pending == 0 {
			if s.word++; s.word == len(s.words) {
				s.first += s.span()
				if s.first > s.hi {
					return 0, false
				}
				s.fill()
				continue
			}
			s.pending = s.words[s.word]
		}
		i := s.word*64 + bits.TrailingZeros64(s.pending)
		s.pending &= s.pending - 1
		if n := s.first + 2*uint64(i); n <= s.hi {
			return uint32(n), true
		}
		s.first = s.hi + 1
	}
	return 0, false
}

// span is the number of integers that a segment covers.
func (s *Sieve) span() uint64 { return 128 * uint64(len(s.words)) }

// fill sieves the segment that begins at s.first.
func (s *Sieve) fill() {
	for i := range s.words {
		s.words[i] = ^uint64(0)
	}
	last := s.first + s.span() - 2
	for i, q := range s.base {
		m := s.next[i]
		for ; m <= last; m += 2 * uint64(q) {
			j := (m - s.first) / 2
			s.words[j/64] &^= 1 << (j % 64)
		}
		s.next[i] = m
	}
	s.word, s.pending = 0, s.words[0]
}

// oddPrimesBelowRoot returns the odd primes q with q*q <= n.
func oddPrimesBelowRoot(n uint32) []uint32 {
	root := uint32(1)
	for (root+1)*(root+1) <= n && root < 46340 {
		root++
	}
	composite := make([]bool, root+1)
	var found []uint32
	for q := uint32(3); q <= root; q += 2 {
		if composite[q] {
			continue
		}
		found = append(found, q)
		for m := q * q; m <= root; m += 2 * q {
			composite[m] = true
		}
	}
	return found
}
