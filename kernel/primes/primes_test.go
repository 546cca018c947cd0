package primes

import "testing"

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

func hasNoDivisor(n uint32) bool {
	for q := uint32(2); uint64(q)*uint64(q) <= uint64(n); q++ {
		if n%q == 0 {
			return false
		}
	}
	return n > 1
}

func TestSieveListsExactlyThePrimes(t *testing.T) {
	const edge = 2 * segmentOdds
	for _, r := range [][2]uint32{
		{1, 1}, {1, 2}, {2, 2}, {2, 3}, {3, 3}, {4, 4}, {14, 16}, {1, 10_000}, {24, 29}, {9, 25},
		{edge - 100, edge + 100}, {edge + 3, 2*edge + 7}, {10_428_401, 10_428_600},
		{46340*46340 - 200, 46340*46340 + 200}, {46337 * 46337, 46337 * 46337}, {1<<31 - 1000, 1<<31 - 1}, {7, 3},
	} {
		var want []uint32
		for n := uint64(r[0]); n <= uint64(r[1]); n++ {
			if hasNoDivisor(uint32(n)) {
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
		if r[0] <= r[1] {
			if short, long := countOneByOne(r[0], r[1]), pi(r[1])-pi(r[0]-1); short != long {
				t.Errorf("%d..%d: %d primes one by one, %d by Legendre's recurrence", r[0], r[1], short, long)
			}
		}
		if c := Count(r[0], r[1]); c != uint64(len(want)) {
			t.Errorf("Count(%d, %d) = %d, want %d", r[0], r[1], c, len(want))
		}
	}
}

// The numbers that one base less would let pass are strong pseudoprimes to the two others:
// 314821 and 2269093 to 2 and 7, 916327 and 2205967 to 2 and 61, 79381 and 178709 to 7 and 61.
func TestOneByOneTurnsPseudoprimesAway(t *testing.T) {
	for _, n := range []uint32{0, 1, 4, 9, 2047, 314_821, 2_269_093, 916_327, 2_205_967, 79_381, 178_709, 46337 * 46337, 46327 * 46337} {
		if isPrime(n) {
			t.Errorf("%d passes for a prime", n)
		}
	}
	for _, n := range []uint32{2, 3, 5, 7, 61, 67, 65537, 1<<31 - 1} {
		if !isPrime(n) {
			t.Errorf("%d does not pass for a prime", n)
		}
	}
	for n := uint32(0); n < 100_000; n++ {
		if isPrime(n) != hasNoDivisor(n) {
			t.Errorf("%d: a prime is %t", n, isPrime(n))
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
