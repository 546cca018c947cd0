package fibers

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/erdos1056/erdos1056/kernel/internal/naive"
	"github.com/erdos1056/erdos1056/kernel/residues"
)

var ctx = context.Background()

// scanners returns one Scanner for every implementation that this machine can run and every
// way to count.
func scanners() map[string]*Scanner {
	all := map[string]*Scanner{}
	for _, impl := range residues.All() {
		if !impl.Available() {
			continue
		}
		for _, how := range append(Countings(), AutoCounting) {
			all[impl.Name+"/"+string(how)] = &Scanner{Implementation: impl, Counting: how}
		}
		for i, workers := range []int{2, 3, 2, 5} {
			how := append(Countings(), Nibbles)[i]
			all[fmt.Sprintf("%s/%s/%d workers", impl.Name, how, workers)] = &Scanner{Implementation: impl, Counting: how, Workers: workers}
		}
	}
	return all
}

// compare holds the fibers of at least m cuts and the profile of p against the definition.
func compare(t *testing.T, s *Scanner, p, unit uint32, m int, definition map[uint32][]uint32) {
	t.Helper()
	profile, fs, err := s.Scan(ctx, p, unit, m, m)
	if err != nil {
		t.Fatal(err)
	}
	h, cells, squares := naive.Fingerprint(p)
	if want := (Profile{p, h, cells, squares}); profile != want {
		t.Fatalf("p = %d, unit %d: profile %v, want %v", p, unit, profile, want)
	}
	count := 0
	for _, cuts := range definition {
		if len(cuts) >= m {
			count++
		}
	}
	if len(fs) != count {
		t.Fatalf("p = %d, unit %d: %d fibers of at least %d cuts, want %d", p, unit, len(fs), m, count)
	}
	for i, f := range fs {
		if f.P != p || len(f.Cuts) < m || !slices.Equal(f.Cuts, definition[f.Residue]) || i > 0 && f.Residue <= fs[i-1].Residue {
			t.Fatalf("p = %d, unit %d: fiber %d is %v, want the cuts %v and ascending residues", p, unit, i, f, definition[f.Residue])
		}
	}
}

func TestEveryPrimeBelow3000(t *testing.T) {
	for name, s := range scanners() {
		t.Run("impl="+name, func(t *testing.T) {
			for _, p := range naive.Primes(3, 3000) {
				if s.Counting != AutoCounting && p > 200 && p%32 != 1 {
					continue // these countings are compared cell by cell elsewhere
				}
				definition := naive.Fibers(p)
				for _, m := range []int{1, 2, 3, 4, 7} {
					compare(t, s, p, 1, m, definition)
				}
				compare(t, s, p, 1+rand.Uint32N(p-1), 3, definition)
			}
		})
	}
}

func TestRandomPrimes(t *testing.T) {
	all := scanners()
	rounds := 4
	if testing.Short() {
		rounds = 1
	}
	for range rounds {
		p := naive.NextPrime(3 + rand.Uint32N(1<<19))
		definition := naive.Fibers(p)
		for _, s := range all {
			for _, m := range []int{1, 4, 6, 8} {
				compare(t, s, p, 1+rand.Uint32N(p-1), m, definition)
			}
		}
	}
}

func TestScanDescendsToTheFloor(t *testing.T) {
	var s Scanner
	for first, wantCuts := range map[int]int{20: 11, 11: 11, 12: 11} { // 3011 has a fiber of 11 cuts
		_, fs, err := s.Scan(ctx, 3011, 1, first, 1)
		if err != nil || len(fs) == 0 || len(Largest(fs).Cuts) != wantCuts {
			t.Errorf("first = %d: %v, %v; want %d cuts", first, fs, err, wantCuts)
		}
	}
	if _, fs, err := s.Scan(ctx, 3011, 1, 20, 12); err != nil || len(fs) != 0 {
		t.Errorf("floor above the largest fiber: %v, %v; want none", fs, err)
	}
}

func TestFiberOfOneResidue(t *testing.T) {
	for name, s := range scanners() {
		for _, p := range naive.Primes(3, 400) {
			definition := naive.Fibers(p)
			for _, r := range []uint32{0, 1, 2, p / 2, p - 1} {
				f, err := s.Fiber(ctx, p, r)
				if err != nil || f.P != p || f.Residue != r || !slices.Equal(f.Cuts, definition[r]) {
					t.Fatalf("impl=%s: p = %d, residue %d: %v, %v; want cuts %v", name, p, r, f, err, definition[r])
				}
			}
		}
	}
}

func TestPlantedFaultsAreCaught(t *testing.T) {
	for fault, check := range map[Fault]string{
		WrongLaneStart: residues.LaneChain, DroppedBlock: TableSum, FlippedCell: TableSum,
	} {
		for name, s := range scanners() {
			s.Plant = fault
			_, _, err := s.Scan(ctx, 100_003, 1, 9, 9)
			var failed *residues.CheckError
			if !errors.As(err, &failed) || failed.Check != check || failed.P != 100_003 {
				t.Errorf("impl=%s: fault %d: error %v, want the check %q to fail at 100003", name, fault, err, check)
			}
			if _, _, err := s.Scan(ctx, 100_003, 1, 9, 9); err != nil {
				t.Errorf("impl=%s: after the fault: %v", name, err)
			}
		}
	}
}

// What a nibble loses when it reaches 16 is no error: the prime is counted again in bytes. In
// other counts the same loss is one.
func TestNibblesThatOverflowAreCountedAgain(t *testing.T) {
	const p = 100_003
	for name, s := range scanners() {
		want, wanted, err := s.Scan(ctx, p, 1, 9, 1)
		if err != nil {
			t.Fatal(err)
		}
		s.Plant = Overflow
		profile, fs, err := s.Scan(ctx, p, 1, 9, 1)
		if s.Counting == Nibbles {
			if err != nil || profile != want || !reflect.DeepEqual(fs, wanted) || !slices.Contains(s.Used(), Bytes) {
				t.Errorf("impl=%s: %v, %v, %v, counted in %v; want %v, %v and bytes", name, profile, fs, err, s.Used(), want, wanted)
			}
			continue
		}
		var failed *residues.CheckError
		if !errors.As(err, &failed) || failed.Check != TableSum {
			t.Errorf("impl=%s: error %v, want the check %q to fail", name, err, TableSum)
		}
	}
}

func TestQuotients(t *testing.T) {
	const p = 10_007
	as := []uint32{1, 2, p - 1, 5000, 77, 2}
	for i, q := range quotients(as, 9, p, nil) {
		if mulMod(q, as[i], p) != 9 {
			t.Errorf("9/%d = %d mod %d", as[i], q, p)
		}
	}
	if quotients(nil, 1, p, nil) != nil {
		t.Error("the quotients of nothing are not nothing")
	}
}

func TestExpectedLargest(t *testing.T) {
	for p, want := range map[uint32]int{3: 3, 1009: 6, 1_000_003: 9, 10_428_581: 10, 1<<31 - 1: 12} {
		if got := ExpectedLargest(p); got < want-1 || got > want+1 {
			t.Errorf("ExpectedLargest(%d) = %d, want about %d", p, got, want)
		}
	}
}

func TestBadArgumentsAreRefused(t *testing.T) {
	var s Scanner
	for _, a := range [][2]uint32{{0, 1}, {1, 1}, {2, 1}, {9 + 1, 1}, {1<<31 + 1, 1}, {7, 0}, {7, 7}} {
		if _, _, err := s.Scan(ctx, a[0], a[1], 1, 1); err == nil {
			t.Errorf("p = %d, unit %d was accepted", a[0], a[1])
		}
	}
}

func TestCancelledContextStops(t *testing.T) {
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	var s Scanner
	if _, _, err := s.Scan(cancelled, 10_428_581, 1, 12, 12); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

func FuzzScan(f *testing.F) {
	f.Add(uint32(599), uint32(1), 3)
	f.Add(uint32(3011), uint32(7), 11)
	f.Fuzz(func(t *testing.T, p, unit uint32, m int) {
		p = naive.NextPrime(3 + p%(1<<15))
		m = 1 + (m%8+8)%8
		definition := naive.Fibers(p)
		for _, s := range scanners() {
			compare(t, s, p, 1+unit%(p-1), m, definition)
		}
	})
}

func BenchmarkScan(b *testing.B) {
	for _, impl := range residues.All() {
		if !impl.Available() {
			continue
		}
		for _, p := range []uint32{100_003, 1_000_003, 10_428_581} {
			for _, m := range []int{16, 12} {
				b.Run(fmt.Sprintf("impl=%s/p=%d/atleast=%d", impl.Name, p, m), func(b *testing.B) {
					s := Scanner{Implementation: impl}
					for b.Loop() {
						if _, _, err := s.Scan(ctx, p, 1, m, m); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(p), "ns/cut")
					b.ReportMetric(float64(s.Bytes()), "table-bytes")
				})
			}
		}
	}
}
