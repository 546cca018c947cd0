package halffactorial

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/kernel/primes"
)

// list returns the odd primes from lo to hi.
func list(lo, hi uint32) (ps []uint32) {
	sieve := primes.New(max(lo, 3), hi)
	for p, ok := sieve.Next(); ok; p, ok = sieve.Next() {
		ps = append(ps, p)
	}
	return ps
}

// walked is h! mod p by the definition.
func walked(p uint32) uint32 {
	x := uint64(1)
	for t := uint64(2); t <= uint64(p-1)/2; t++ {
		x = x * t % uint64(p)
	}
	return uint32(x)
}

func TestHalfFactorialsAreThoseOfTheDefinition(t *testing.T) {
	for _, r := range [][2]uint32{{3, 3}, {3, 60}, {3, 20_000}, {9_000, 12_000}, {1_000_000, 1_000_400}, {10_428_401, 10_428_600}} {
		for _, threads := range []int{1, 3} {
			ps := list(r[0], r[1])
			all, err := All(context.Background(), ps, threads)
			if err != nil {
				t.Fatal(err)
			}
			for i, p := range ps {
				if expected := walked(p); all[i] != expected {
					t.Errorf("%d threads: h! mod %d: expected %d, found %d", threads, p, expected, all[i])
				}
			}
		}
	}
}

// The square of h! is 1 or -1 mod p (Wilson), for primes of any size.
func TestHalfFactorialsOfManyPrimesObeyWilson(t *testing.T) {
	ps := list(3, 400_000)
	all, err := All(context.Background(), ps, 2)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range ps {
		sign := uint64(1)
		if p%4 == 1 {
			sign = uint64(p - 1)
		}
		if x := uint64(all[i]); x*x%uint64(p) != sign {
			t.Fatalf("h! mod %d: %d squared is %d", p, x, x*x%uint64(p))
		}
	}
}

func TestListsThatAreNotOddAndAscendingAreRefused(t *testing.T) {
	for _, ps := range [][]uint32{{2, 3}, {5, 3}, {7, 7}, {3, 8}} {
		if _, err := All(context.Background(), ps, 1); err == nil || !strings.Contains(err.Error(), "ascending order, found") {
			t.Errorf("%v: %v", ps, err)
		}
	}
	if all, err := All(context.Background(), nil, 1); all != nil || err != nil {
		t.Errorf("no primes: %v, %v", all, err)
	}
}

func TestACancelledComputationSaysSo(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := All(ctx, list(3, 100_000), 2); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func BenchmarkAllUpTo(b *testing.B) {
	for _, hi := range []uint32{200_000, 2_000_000} {
		ps := list(3, hi)
		b.Run(map[uint32]string{200_000: "2e5", 2_000_000: "2e6"}[hi], func(b *testing.B) {
			for b.Loop() {
				if _, err := All(context.Background(), ps, 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
