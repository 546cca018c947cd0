package special

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/erdos1056/erdos1056/kernel/internal/naive"
	"github.com/erdos1056/erdos1056/kernel/residues"
)

var ctx = context.Background()

func scanners() map[string]*Scanner {
	all := map[string]*Scanner{}
	for _, impl := range residues.All() {
		if impl.Available() {
			all[impl.Name] = &Scanner{Implementation: impl}
		}
	}
	return all
}

// scan runs all primes in groups of the scanner's size.
func scan(t *testing.T, s *Scanner, primes []uint32, seed uint32) []Fibers {
	t.Helper()
	var all []Fibers
	for group := range slices.Chunk(primes, s.Lanes()) {
		fs, err := s.Scan(ctx, group, seed)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fs...)
	}
	return all
}

func TestEveryPrimeBelow5000(t *testing.T) {
	primes := naive.Primes(3, 5000)
	for name, s := range scanners() {
		for _, seed := range []uint32{0, 1, rand.Uint32()} {
			got := scan(t, s, primes, seed)
			for i, p := range primes {
				definition := naive.Fibers(p)
				if f := got[i]; f.P != p || !slices.Equal(f.Plus, definition[1]) || !slices.Equal(f.Minus, definition[p-1]) {
					t.Fatalf("impl=%s: p = %d, seed %d: %v; want %v and %v", name, p, seed, f, definition[1], definition[p-1])
				}
			}
		}
	}
}

// The known answers are of the published searches for n! = 1 and n! = -1.
func TestKnownAnswers(t *testing.T) {
	for name, s := range scanners() {
		for _, c := range []struct {
			p           uint32
			plus, minus int
		}{{52_163, 13, 0}, {540_307, 13, 0}, {2_374_649, 0, 14}, {3_408_707, 15, 0}} {
			fs, err := s.Scan(ctx, []uint32{c.p}, 0)
			if err != nil {
				t.Fatal(err)
			}
			if f := fs[0]; c.plus > 0 && len(f.Plus) != c.plus || c.minus > 0 && len(f.Minus) != c.minus {
				t.Errorf("impl=%s: p = %d: %d cuts of residue 1, %d of -1; want %+v", name, c.p, len(f.Plus), len(f.Minus), c)
			}
		}
	}
}

// Primes on both sides of the narrow arithmetic's limit: every implementation agrees with
// the portable one, which knows no such limit. Only the first cuts are walked.
func TestArithmeticAtItsLimits(t *testing.T) {
	for _, p := range []uint32{134_217_689, 134_217_757, 2_147_483_647} {
		var want chains
		want.start([]uint32{p}, genericLanes, 7)
		for want.cut < 50_000 {
			advanceGeneric(&want, 50_000-int(want.cut))
		}
		for name, s := range scanners() {
			m := s.machine()
			var c chains
			c.start([]uint32{p}, m.lanes, 7)
			for c.cut < 50_000 {
				m.advance(&c, min(maxSteps, 50_000-int(c.cut)))
			}
			if c.x[0] != want.x[0] {
				t.Errorf("impl=%s: p = %d: 50000! is %v times the unit, want %v", name, p, c.x[0], want.x[0])
			}
		}
	}
}

func TestPlantedFaultIsCaughtByWilson(t *testing.T) {
	for name, s := range scanners() {
		s.Plant = true
		_, err := s.Scan(ctx, []uint32{10_007, 10_009}, 0)
		var check *residues.CheckError
		if !errors.As(err, &check) || check.Check != residues.Wilson || check.P != 10_007 {
			t.Errorf("impl=%s: error %v, want a failed Wilson check at 10007", name, err)
		}
	}
}

func TestBadGroupsAreRefused(t *testing.T) {
	var s Scanner
	for _, primes := range [][]uint32{{2}, {1}, {7, 5}, {7, 7}, {10}, {1<<31 + 1}, make([]uint32, maxLanes+1)} {
		if _, err := s.Scan(ctx, primes, 0); err == nil {
			t.Errorf("%v was accepted", primes)
		}
	}
	if fs, err := s.Scan(ctx, nil, 0); fs != nil || err != nil {
		t.Errorf("no primes: %v, %v", fs, err)
	}
}

func TestCancelledContextStops(t *testing.T) {
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	var s Scanner
	if _, err := s.Scan(cancelled, []uint32{10_428_581}, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
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
			s := Scanner{Implementation: impl}
			group := primes[:s.Lanes()]
			cuts := 0.0
			for _, p := range group {
				cuts += float64(p)
			}
			for b.Loop() {
				if _, err := s.Scan(ctx, group, 0); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/cuts, "ns/cut")
		})
	}
}
