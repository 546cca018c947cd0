package primes

// Count returns the number of primes in [lo, hi], hi < 2^31, without listing
// them: pi(hi) - pi(lo-1) by Legendre's recurrence. It is the coverage check of a
// search and shares no code with Sieve.
func Count(lo, hi uint32) uint64 {
	if lo > hi {
		return 0
	}
	if lo <= 1 {
		return pi(hi)
	}
	return pi(hi) - pi(lo-1)
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
