package primes

import (
	"math/big"
	"testing"
)

func list(lo, hi uint32) []uint32 {
	var ps []uint32
	for s := New(lo, hi); ; {
		p, ok := s.Next()
		if !ok {
			return ps
		}
		ps = append(ps, p)
	}
}

func isPrime(n uint32) bool { return big.NewInt(int64(n)).ProbablyPrime(0) } // exact below 2^64

func TestSieveListsExactlyThePrimes(t *testing.T) {
	const edge = 2 * segmentOdds
	for _, r := range [][2]uint32{
		{1, 1}, {1, 2}, {2, 2}, {2, 3}, {3, 3}, {4, 4}, {14, 16}, {1, 10_000}, {24, 29}, {9, 25},
		{edge - 100, edge + 100}, {edge + 3, 2*edge + 7}, {10_428_401, 10_428_600},
		{46340*46340 - 200, 46340*46340 + 200}, {46337 * 46337, 46337 * 46337}, {1<<31 - 1000, 1<<31 - 1}, {7, 3},
	} {
		var want []uint32
		for n := uint64(r[0]); n <= uint64(r[1]); n++ {
			if isPrime(uint32(n)) {
				want = append(want, uint32(n))
			}
		}
		got := list(r[0], r[1])
		if len(got) != len(want) {
			t.Errorf("%d..%d: %d primes, want %d", r[0], r[1], len(got), len(want))
			continue
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%d..%d: prime %d is %d, want %d", r[0], r[1], i, got[i], want[i])
				break
			}
		}
		if c := Count(r[0], r[1]); c != uint64(len(want)) {
			t.Errorf("Count(%d, %d) = %d, want %d", r[0], r[1], c, len(want))
		}
	}
}

// The values of pi are those of OEIS A006880 and A007053.
func TestCountKnowsPi(t *testing.T) {
	for n, want := range map[uint32]uint64{
		10: 4, 100: 25, 1000: 168, 10_000: 1229, 1_000_000: 78_498, 100_000_000: 5_761_455,
		1 << 20: 82_025, 1<<31 - 1: 105_097_565,
	} {
		if got := Count(1, n); got != want {
			t.Errorf("Count(1, %d) = %d, want %d", n, got, want)
		}
	}
}

func TestSieveAndCountAgreeOnALongRange(t *testing.T) {
	if got, want := uint64(len(list(1_000_000, 9_000_000))), Count(1_000_000, 9_000_000); got != want {
		t.Errorf("the sieve lists %d primes, the count says %d", got, want)
	}
}

func FuzzSieveAgainstCount(f *testing.F) {
	f.Add(uint32(1), uint16(100))
	f.Add(uint32(1<<31-5), uint16(4))
	f.Fuzz(func(t *testing.T, lo uint32, n uint16) {
		lo = max(1, lo%(1<<31-1<<17))
		hi := lo + uint32(n)
		if got, want := uint64(len(list(lo, hi))), Count(lo, hi); got != want {
			t.Fatalf("%d..%d: the sieve lists %d primes, the count says %d", lo, hi, got, want)
		}
	})
}
