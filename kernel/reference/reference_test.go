package reference

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/erdos1056/erdos1056/kernel/internal/naive"
)

var ctx = context.Background()

// compare holds one prime against the definition.
func compare(t *testing.T, c *Counter, p uint32) {
	t.Helper()
	want := naive.Fibers(p)
	var residue uint32
	for r, cuts := range want {
		if n := len(want[residue]); len(cuts) > n || len(cuts) == n && r < residue {
			residue = r
		}
	}
	f, n, err := c.Largest(ctx, p, 1)
	if err != nil || n != len(want[residue]) || f.P != p || f.Residue != residue || !slices.Equal(f.Cuts, want[residue]) {
		t.Fatalf("p = %d: largest fiber %v, %d cuts, %v; want residue %d with cuts %v", p, f, n, err, residue, want[residue])
	}
	for _, m := range []int{1, 2, n, n + 1} {
		fs, err := c.Fibers(ctx, p, m)
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		for _, cuts := range want {
			if len(cuts) >= m {
				count++
			}
		}
		if len(fs) != count || !slices.IsSortedFunc(fs, func(a, b Fiber) int { return int(a.Residue) - int(b.Residue) }) {
			t.Fatalf("p = %d: %d fibers of at least %d cuts, want %d, by ascending residue", p, len(fs), m, count)
		}
		for _, f := range fs {
			if len(f.Cuts) < m || !slices.Equal(f.Cuts, want[f.Residue]) {
				t.Fatalf("p = %d: residue %d has cuts %v, want %v", p, f.Residue, f.Cuts, want[f.Residue])
			}
		}
	}
	if p > 2 {
		h, cells, squares := naive.Fingerprint(p)
		if got, err := c.Fingerprint(ctx, p); err != nil || got != (Fingerprint{p, h, cells, squares}) {
			t.Fatalf("p = %d: fingerprint %v, %v; want {%d %d %d %d}", p, got, err, p, h, cells, squares)
		}
	}
}

func TestEveryPrimeBelow3000(t *testing.T) {
	var c Counter
	for _, p := range naive.Primes(2, 3000) {
		compare(t, &c, p)
	}
}

func TestRandomPrimes(t *testing.T) {
	var c Counter
	for range 20 {
		compare(t, &c, naive.NextPrime(rand.Uint32N(1<<19)))
	}
}

// A prime above roundSize takes the residues in several rounds.
func TestLargePrimeTakesSeveralRounds(t *testing.T) {
	const p = 16_785_407 // just above 2^24
	var c Counter
	f, n, err := c.Largest(ctx, p, 1)
	if err != nil {
		t.Fatal(err)
	}
	counts := make([]uint8, p)
	var cuts []uint32
	for t, residue := uint64(0), uint64(1); t < p; {
		counts[residue]++
		if residue == uint64(f.Residue) {
			cuts = append(cuts, uint32(t))
		}
		t++
		residue = residue * t % p
	}
	for r, count := range counts {
		if int(count) > n || int(count) == n && r < int(f.Residue) {
			t.Fatalf("residue %d has %d cuts; the Counter found residue %d with %d", r, count, f.Residue, n)
		}
	}
	if !slices.Equal(f.Cuts, cuts) {
		t.Fatalf("cuts %v, want %v", f.Cuts, cuts)
	}
}

func TestCutsAreLeftOutBelowTheThreshold(t *testing.T) {
	var c Counter
	if f, n, err := c.Largest(ctx, 3011, 12); err != nil || n != 11 || f.Cuts != nil {
		t.Errorf("p = 3011: %v, %d cuts, %v; want 11 cuts, not listed", f, n, err)
	}
}

func TestFiberOfOneResidue(t *testing.T) {
	var c Counter
	if f, err := c.Fiber(ctx, 17, 1); err != nil || !slices.Equal(f.Cuts, []uint32{0, 1, 5, 11, 15}) {
		t.Errorf("p = 17, residue 1: %v, %v", f, err)
	}
	if f, err := c.Fiber(ctx, 7, 4); err != nil || len(f.Cuts) != 0 {
		t.Errorf("p = 7, residue 4 is never taken: %v, %v", f, err)
	}
}

func TestModulusOutOfRangeIsRefused(t *testing.T) {
	var c Counter
	for _, p := range []uint32{0, 1, 4, 1 << 31, 1<<32 - 1} {
		if _, _, err := c.Largest(ctx, p, 1); err == nil {
			t.Errorf("modulus %d was accepted", p)
		}
	}
}

func TestCancelledContextStops(t *testing.T) {
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	var c Counter
	if _, _, err := c.Largest(cancelled, 10_428_581, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

func BenchmarkLargest(b *testing.B) {
	const p = 10_428_581
	var c Counter
	for b.Loop() {
		if _, n, err := c.Largest(ctx, p, 13); err != nil || n != 12 {
			b.Fatal(n, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/p, "ns/cut")
}
