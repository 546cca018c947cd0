package primes

import "math/bits"

// shortRange is the length of a range up to which its integers are tested one by one.
const shortRange = 4000

// Count returns the number of primes in [lo, hi], hi < 2^31. It is the coverage check of a
// search and shares no code with Sieve: it tests the integers of a short range one by
// one, and for others takes pi(hi) - pi(lo-1) by Legendre's recurrence.
func Count(lo, hi uint32) uint64 {
	switch {
	case lo > hi:
		return 0
	case hi-lo < shortRange:
		return countOneByOne(lo, hi)
	case lo <= 1:
		return pi(hi)
	}
	return pi(hi) - pi(lo-1)
}

func countOneByOne(lo, hi uint32) (count uint64) {
	for n := uint64(lo); n <= uint64(hi); n++ {
		if isPrime(uint32(n)) {
			count++
		}
	}
	return count
}

// isPrime applies the strong probable prime test to the bases 2, 7 and 61, which no composite
// number below 4 759 123 141 passes (G. Jaeschke, On strong pseudoprimes to several
// bases, Math. Comp. 61, 1993).
func isPrime(n uint32) bool {
	if n%2 == 0 || n < 3 {
		return n == 2
	}
	for _, base := range [...]uint32{2, 7, 61} {
		if n == base {
			return true
		}
		if !passes(n, base) {
			return false
		}
	}
	return true
}

// passes reports whether the odd n > 2 is a strong probable prime to the base: with
// n-1 = 2^s·d, d odd, base^d is 1 or one of base^d, base^2d ... base^(2^(s-1)·d) is -1.
func passes(n, base uint32) bool {
	s := bits.TrailingZeros32(n - 1)
	x := uint64(1)
	for i := 31; i >= s; i-- {
		x = x * x % uint64(n)
		if (n-1)>>i&1 != 0 {
			x = x * uint64(base) % uint64(n)
		}
	}
	if x == 1 {
		return true
	}
	for ; s > 0; s-- {
		if x == uint64(n-1) {
			return true
		}
		x = x * x % uint64(n)
	}
	return false
}

// pi returns the number of primes up to n. It keeps, for every value v of the
// form n/i (rounded down), the number S(v) of integers in [2, v] that survive
// sieving by the primes below q, and applies
//
//	S(v) -= S(v/q) - pi(q-1)    for all v >= q*q
//
// for ascending primes q up to the square root of n (Legendre's identity with
// the values shared as in L. Hedgehog's formulation). Time is O(n^(3/4)),
// memory O(n^(1/2)).
func pi(n uint32) uint64 {
	if n < 2 {
		return 0
	}
	root := uint32(1)
	for uint64(root+1)*uint64(root+1) <= uint64(n) {
		root++
	}
	small := make([]uint32, root+1) // small[v] = S(v)
	large := make([]uint32, root+1) // large[i] = S(n/i)
	for v := uint32(1); v <= root; v++ {
		small[v] = v - 1
		large[v] = n/v - 1
	}
	for q := uint32(2); q <= root; q++ {
		if small[q] == small[q-1] {
			continue // q is composite
		}
		below := small[q-1]
		for i := uint32(1); i <= root && n/i >= q*q; i++ {
			if j := uint64(i) * uint64(q); j <= uint64(root) {
				large[i] -= large[j] - below
			} else {
				large[i] -= small[n/i/q] - below
			}
		}
		for v := root; v >= q*q; v-- {
			small[v] -= small[v/q] - below
		}
	}
	return uint64(large[1])
}
