package special

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"unsafe"

	"github.com/erdos1056/erdos1056/kernel/internal/naive"
	"github.com/erdos1056/erdos1056/kernel/residues"
)

var ctx = context.Background()

func walkers() map[string]*Walker {
	all := map[string]*Walker{}
	for _, impl := range residues.All() {
		if impl.Available() {
			all[impl.Name] = &Walker{Implementation: impl}
		}
	}
	return all
}

func TestEveryPrimeBelow5000(t *testing.T) {
	primes := naive.Primes(3, 5000)
	for name, w := range walkers() {
		all, err := w.Scan(ctx, primes)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range primes {
			definition := naive.Fibers(p)
			if f := all[i]; f.P != p || !slices.Equal(f.Plus, definition[1]) || !slices.Equal(f.Minus, definition[p-1]) {
				t.Fatalf("impl=%s: p = %d: %v, expected %v and %v", name, p, f, definition[1], definition[p-1])
			}
		}
	}
}

// The known answers are of the published searches for n! = 1 and n! = -1.
func TestKnownAnswers(t *testing.T) {
	for name, w := range walkers() {
		for _, c := range []struct {
			p           uint32
			plus, minus int
		}{{52_163, 13, 0}, {540_307, 13, 0}, {2_374_649, 0, 14}, {3_408_707, 15, 0}} {
			fs, err := w.Scan(ctx, []uint32{c.p})
			if err != nil {
				t.Fatal(err)
			}
			if f := fs[0]; c.plus > 0 && len(f.Plus) != c.plus || c.minus > 0 && len(f.Minus) != c.minus {
				t.Errorf("impl=%s: p = %d: %d cuts of residue 1, %d of -1; expected %+v", name, c.p, len(f.Plus), len(f.Minus), c)
			}
		}
	}
}

// Primes on both sides of the narrow arithmetic's limit, and the largest: every implementation
// agrees with plain arithmetic. Only the first cuts are walked.
func TestArithmeticAtItsLimits(t *testing.T) {
	for _, p := range []uint32{134_217_689, 134_217_757, 2_147_483_647} {
		const to = 50_000
		definition := uint64(1)
		for t := uint64(2); t <= to; t++ {
			definition = definition * t % uint64(p)
		}
		for name, w := range walkers() {
			chains := []Chain{Start(p)}
			if err := w.Walk(ctx, chains, to, func(int, uint32, int) {}); err != nil {
				t.Fatal(err)
			}
			if chains[0] != (Chain{p, to, uint32(definition)}) {
				t.Errorf("impl=%s: %v, expected %d! = %d mod %d", name, chains[0], to, definition, p)
			}
		}
	}
}

// The survivors of a stop are packed anew, and walk on beside others than before: the hits are
// the same as in one go.
func TestChainsStopAndGoOnInOtherCompany(t *testing.T) {
	primes := naive.Primes(50_000, 53_000)
	for name, w := range walkers() {
		var chains []Chain
		for _, p := range primes {
			chains = append(chains, Start(p))
		}
		found := map[uint32][]hit{}
		for _, to := range []uint32{1, 2, 1000, 1001, 20_000, 1 << 30} {
			if err := w.Walk(ctx, chains, to, func(i int, t uint32, sign int) {
				found[chains[i].P] = append(found[chains[i].P], hit{t, sign})
			}); err != nil {
				t.Fatal(err)
			}
			for _, c := range chains {
				if c.T != min(to, c.Middle()) {
					t.Fatalf("impl=%s: %v is not at the cut %d", name, c, to)
				}
			}
			slices.Reverse(chains)
		}
		for _, c := range chains {
			var expected []hit
			x := uint64(1)
			for t := uint64(1); t <= uint64(c.Middle()); t++ {
				if x = x * t % uint64(c.P); x == 1 {
					expected = append(expected, hit{uint32(t), 1})
				} else if x == uint64(c.P)-1 {
					expected = append(expected, hit{uint32(t), -1})
				}
			}
			if !slices.Equal(found[c.P], expected) || uint64(c.X) != x || !c.Done() {
				t.Errorf("impl=%s: %v with hits %v, expected %v", name, c, found[c.P], expected)
			}
		}
	}
}

func TestSign(t *testing.T) {
	for c, expected := range map[Chain]int{{7, 1, 1}: 1, {7, 3, 6}: -1, {7, 2, 2}: 0} {
		if s := c.Sign(); s != expected {
			t.Errorf("%v: sign %d, expected %d", c, s, expected)
		}
	}
}

func TestBadChainsAreRefused(t *testing.T) {
	var w Walker
	for what, chains := range map[string][]Chain{
		"even":              {{8, 0, 1}},
		"too small":         {{1, 0, 1}},
		"too large":         {{1<<31 + 1, 0, 1}},
		"behind its middle": {{7, 4, 3}},
		"zero":              {{7, 1, 0}},
		"not reduced":       {{7, 1, 8}},
		"at another cut":    {{7, 1, 1}, {11, 2, 2}},
	} {
		if err := w.Walk(ctx, chains, 3, nil); err == nil {
			t.Errorf("%s: %v was accepted", what, chains)
		}
	}
	if err := w.Walk(ctx, []Chain{{7, 3, 6}, {101, 1, 1}, {103, 1, 1}}, 1, nil); err != nil {
		t.Errorf("a chain that is done may be at another cut: %v", err)
	}
}

func TestPlantedFaultIsCaughtByWilson(t *testing.T) {
	for name, w := range walkers() {
		w.Plant = true
		_, err := w.Scan(ctx, []uint32{10_007, 10_009})
		var check *residues.CheckError
		if !errors.As(err, &check) || check.Check != residues.Wilson || check.P != 10_007 {
			t.Errorf("impl=%s: error %v, expected a failed Wilson check at 10007", name, err)
		}
	}
}

func TestBadGroupsAreRefused(t *testing.T) {
	var w Walker
	for _, primes := range [][]uint32{{2}, {1}, {7, 5}, {7, 7}, {10}, {1<<31 + 1}} {
		if _, err := w.Scan(ctx, primes); err == nil {
			t.Errorf("%v was accepted", primes)
		}
	}
	if fs, err := w.Scan(ctx, nil); len(fs) != 0 || err != nil {
		t.Errorf("no primes: %v, %v", fs, err)
	}
}

func TestCancelledContextStops(t *testing.T) {
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	var w Walker
	if _, err := w.Scan(cancelled, []uint32{10_428_581}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, expected %v", err, context.Canceled)
	}
}

func TestLayoutIsThatOfTheGenerator(t *testing.T) {
	var c chains
	for what, got := range map[string][2]uintptr{
		"p": {unsafe.Offsetof(c.p), 512}, "inverse": {unsafe.Offsetof(c.inverse), 1024}, "target": {unsafe.Offsetof(c.target), 1536},
		"cut": {unsafe.Offsetof(c.cut), 2048}, "hits": {unsafe.Offsetof(c.hits), 2056},
	} {
		if got[0] != got[1] {
			t.Errorf("%s lies at %d, the generator has %d", what, got[0], got[1])
		}
	}
}

func BenchmarkScan(b *testing.B) {
	primes := naive.Primes(1_000_000, 1_001_000)
	for _, impl := range residues.All() {
		if !impl.Available() {
			continue
		}
		b.Run(fmt.Sprintf("impl=%s/p=%d", impl.Name, primes[0]), func(b *testing.B) {
			w := Walker{Implementation: impl}
			group := primes[:w.Lanes()]
			cuts := 0.0
			for _, p := range group {
				cuts += float64(p)
			}
			for b.Loop() {
				if _, err := w.Scan(ctx, group); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/cuts, "ns/cut")
		})
	}
}
