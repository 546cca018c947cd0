package naive

import "math/big"

// Primes returns the primes of [lo, hi] by math/big's test, which is exact below 2^64.
func Primes(lo, hi uint32) []uint32 {
	var ps []uint32
	for n := uint64(lo); n <= uint64(hi); n++ {
		if new(big.Int).SetUint64(n).ProbablyPrime(0) {
			ps = append(ps, uint32(n))
		}
	}
	return ps
}

// NextPrime returns the least prime that is at least n.
func NextPrime(n uint32) uint32 {
	for !new(big.Int).SetUint64(uint64(n)).ProbablyPrime(0) {
		n++
	}
	return n
}
