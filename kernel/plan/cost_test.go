package plan

import (
	"math"
	"math/rand/v2"
	"testing"
)

// sumOfPrimes is the exact cost, by a plain sieve.
func sumOfPrimes(r Range) (sum uint64) {
	composite := make([]bool, r.Hi+1)
	for q := uint64(2); q <= uint64(r.Hi); q++ {
		if composite[q] {
			continue
		}
		if q >= uint64(r.Lo) {
			sum += q
		}
		for m := q * q; m <= uint64(r.Hi); m += q {
			composite[m] = true
		}
	}
	return sum
}

func TestCostEstimatesTheSumOfThePrimes(t *testing.T) {
	for _, r := range []Range{{2, 1_000_000}, {1_000_000, 2_000_000}, {2, 3_000_000}} {
		exact := float64(sumOfPrimes(r))
		if got := float64(r.Cost()); math.Abs(got/exact-1) > 0.01 {
			t.Errorf("cost of %v is %g, the primes sum to %g", r, got, exact)
		}
	}
}

func TestLogarithm(t *testing.T) {
	for x := uint64(2); x < 1<<31; x += 1 + x/50 {
		if got := float64(logarithm(x)) / (1 << 16); math.Abs(got-math.Log(float64(x))) > 1.0/128 {
			t.Errorf("ln %d = %f, want %f", x, got, math.Log(float64(x)))
		}
	}
}

func TestCutTilesTheRangeEvenly(t *testing.T) {
	ranges := []Range{{1, 1}, {2, 3}, {1, 100}, {2, 100_000_000}, {1, Limit - 1}, {10_428_001, 10_430_800}, {Limit - 2, Limit - 1}}
	for range 10 {
		lo := 1 + rand.Uint32N(Limit/2)
		ranges = append(ranges, Range{lo, lo + rand.Uint32N(Limit-lo)})
	}
	for _, r := range ranges {
		for _, n := range []int{1, 3, 240, MaxUnits} {
			parts := r.Cut(n)
			if want := min(uint64(n), uint64(r.Hi)-uint64(r.Lo)+1); uint64(len(parts)) != want {
				t.Fatalf("%v in %d: %d parts, want %d", r, n, len(parts), want)
			}
			next := r.Lo
			for _, part := range parts {
				if part.Lo != next || part.Hi < part.Lo {
					t.Fatalf("%v in %d: part %v, want one from %d on", r, n, part, next)
				}
				next = part.Hi + 1
			}
			if next != r.Hi+1 {
				t.Fatalf("%v in %d: the parts end at %d", r, n, next-1)
			}
		}
	}
	r := Range{2, 100_000_000}
	for _, part := range r.Cut(8) {
		if share := 8 * float64(part.Cost()) / float64(r.Cost()); math.Abs(share-1) > 0.01 {
			t.Errorf("part %v of 8 has %.3f of its share", part, share)
		}
	}
}

// The cuts must never change: shards of one campaign may run on machines of different
// kinds, and resumed campaigns on newer programs.
func TestCutsAreFixedForEver(t *testing.T) {
	want := []Range{{2, 56_818_451}, {56_818_452, 81_174_226}, {81_174_227, 100_000_000}}
	for i, part := range (Range{2, 100_000_000}).Cut(3) {
		if part != want[i] {
			t.Errorf("part %d of 2..1e8 is %v, want %v", i+1, part, want[i])
		}
	}
}

func TestShardsShareOutTheUnits(t *testing.T) {
	units := Units(Range{2, 30_000_000}, 1<<36)
	if len(units) < MinUnits {
		t.Fatalf("%d units", len(units))
	}
	for _, n := range []int{1, 2, 3, 8, 240, 5000} {
		taken, least, most := 0, len(units), 0
		for i := range n {
			share := Shard{i + 1, n}.Of(units)
			if len(share) > 0 && share[0] != units[taken] {
				t.Errorf("shard %d/%d begins at %v, want %v", i+1, n, share[0], units[taken])
			}
			taken += len(share)
			least, most = min(least, len(share)), max(most, len(share))
		}
		if taken != len(units) || most-least > 1 {
			t.Errorf("%d shards take %d of %d units, between %d and %d each", n, taken, len(units), least, most)
		}
	}
	if got := (Shard{}).Of(units); len(got) != len(units) {
		t.Errorf("the zero shard takes %d of %d units", len(got), len(units))
	}
}

func TestUnitsAreOfBoundedCost(t *testing.T) {
	for _, unit := range Units(Range{2, 50_000_000}, 1<<36) {
		if c := unit.Cost(); c > 1<<36+1<<32 {
			t.Errorf("unit %v costs %d", unit, c)
		}
	}
}

func TestParseShard(t *testing.T) {
	if s, err := ParseShard("3/8"); err != nil || s != (Shard{3, 8}) || s.String() != "3/8" {
		t.Errorf("%v, %v", s, err)
	}
	for _, s := range []string{"", "3", "0/8", "9/8", "3/", "/8", "3/8/9", "-1/8", "1/100000"} {
		if _, err := ParseShard(s); err == nil {
			t.Errorf("%q was accepted", s)
		}
	}
}

func FuzzParseShard(f *testing.F) {
	for _, s := range []string{"1/1", "3/8", "0/8", "1e1/2^5"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		shard, err := ParseShard(s)
		if err != nil {
			return
		}
		if again, err := ParseShard(shard.String()); err != nil || again != shard {
			t.Fatalf("%q reads as %v, which reads as %v, %v", s, shard, again, err)
		}
	})
}
