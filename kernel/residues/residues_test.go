package residues

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/erdos1056/erdos1056/kernel/internal/naive"
)

// testAll runs f once for every implementation that this machine can run, and says
// which these are.
func testAll(t *testing.T, f func(*testing.T, *Implementation)) {
	for _, impl := range All() {
		if impl.Available() {
			t.Run("impl="+impl.Name, func(t *testing.T) { f(t, impl) })
		} else {
			t.Logf("impl=%s not run: this machine lacks %s", impl.Name, impl.Needs)
		}
	}
}

// follow walks the whole chain of p and compares every residue and cut with the
// definition. It returns the number of residues seen.
func follow(t *testing.T, impl *Implementation, p, unit uint32, folded bool) int {
	t.Helper()
	h := (p - 1) / 2
	want := make([]int32, h)
	residue := uint64(unit)
	for i := range want {
		if i > 0 {
			residue = residue * uint64(i) % uint64(p)
		}
		want[i] = balanced(uint32(residue), p)
	}
	seen := make([]bool, h)
	var c Chain
	c.Start(impl, p, unit)
	var b Block
	keys := make([]int32, BlockSize)
	n := 0
	for {
		more, err := c.Next(&b, keys, folded)
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			break
		}
		for i, k := range b.Keys {
			cut := b.Cut(i)
			if cut >= h || seen[cut] {
				t.Fatalf("p = %d: cut %d is out of range or comes twice", p, cut)
			}
			w := want[cut]
			if folded {
				w = max(w, -w)
			}
			if k != w {
				t.Fatalf("p = %d, unit %d: residue of cut %d is %d, want %d", p, unit, cut, k, w)
			}
			seen[cut] = true
			n++
		}
	}
	if n != int(h) {
		t.Fatalf("p = %d: %d residues, want %d", p, n, h)
	}
	if m := residue * uint64(max(h, 1)) % uint64(p); uint64(c.Middle()) != m {
		t.Fatalf("p = %d: middle %d, want %d", p, c.Middle(), m)
	}
	return n
}

func TestResiduesAreThoseOfTheDefinition(t *testing.T) {
	testAll(t, func(t *testing.T, impl *Implementation) {
		compared := 0
		for _, p := range naive.Primes(3, 2000) {
			for _, unit := range []uint32{1, 2, p / 2, p - 1} {
				compared += follow(t, impl, p, min(unit, p-1), true)
				compared += follow(t, impl, p, min(unit, p-1), false)
			}
		}
		// Chains whose lanes just fill, or miss by one, a step or a block.
		for _, h := range []uint32{64, 128, BlockSize, BlockSize * 4, BlockSize * 64} {
			for _, p := range naive.Primes(2*h-60, 2*h+200) {
				compared += follow(t, impl, p, 1+rand.Uint32N(p-1), rand.IntN(2) == 0)
			}
		}
		for range 10 {
			p := naive.NextPrime(rand.Uint32N(1 << 22))
			compared += follow(t, impl, max(p, 3), 1, true)
		}
		if compared < 1_000_000 {
			t.Fatalf("only %d residues were compared", compared)
		}
	})
}

// edgePrimes are primes at the limits of the arithmetics: around 2^26 and 2^27, and the
// largest below 2^31.
var edgePrimes = []uint32{67_108_859, 67_108_879, 134_217_689, 134_217_757, 1_073_741_789, 2_147_483_647}

// The whole chain of a large prime is compared by its sums, which do not depend on the
// order of the residues.
func TestLargePrimesAgreeWithGeneric(t *testing.T) {
	primes := []uint32{134_217_689, 134_217_757, 2_147_483_647}
	if testing.Short() {
		primes = []uint32{67_108_859}
	}
	for _, p := range primes {
		t.Run(fmt.Sprintf("p=%d", p), func(t *testing.T) {
			var want Chain
			want.Start(Generic, p, 1)
			sums := drain(t, &want)
			for _, impl := range All() {
				if !impl.Available() || impl == Generic {
					continue
				}
				var c Chain
				c.Start(impl, p, 1)
				if got := drain(t, &c); got != sums {
					t.Errorf("impl=%s: %+v, generic has %+v", impl.Name, got, sums)
				}
			}
		})
	}
}

type trace struct {
	sum, squares uint64
	middle       uint32
}

// drain generates the whole chain and sums it up.
func drain(t *testing.T, c *Chain) trace {
	t.Helper()
	var s trace
	var b Block
	keys := make([]int32, BlockSize)
	for {
		more, err := c.Next(&b, keys, true)
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			s.middle = c.Middle()
			return s
		}
		for _, k := range b.Keys {
			if uint32(k) > c.h {
				t.Fatalf("p = %d: folded residue %d above h", c.p, k)
			}
			s.sum += uint64(k)
			s.squares += uint64(k) * uint64(k)
		}
	}
}

func TestWrongLaneStartIsCaughtByTheLaneChain(t *testing.T) {
	testAll(t, func(t *testing.T, impl *Implementation) {
		c := Chain{WrongLaneStart: true}
		c.Start(impl, 100_003, 1)
		err := exhaust(&c)
		var check *CheckError
		if !errors.As(err, &check) || check.Check != LaneChain || check.P != 100_003 {
			t.Errorf("error %v, want a failed lane chain at 100003", err)
		}
	})
}

// A wrong factor that the lane starts share with the lanes' ends is left to Wilson.
func TestWrongTailIsCaughtByWilson(t *testing.T) {
	c := Chain{}
	c.Start(Generic, 1009, 1)
	c.start[scalarWidth] = mulMod(c.start[scalarWidth], 2, 1009)
	c.steps = 0 // the lanes are not run: their ends are not compared
	c.start[0] = c.start[scalarWidth]
	err := exhaust(&c)
	var check *CheckError
	if !errors.As(err, &check) || check.Check != Wilson {
		t.Errorf("error %v, want a failed Wilson check", err)
	}
}

func exhaust(c *Chain) error {
	var b Block
	keys := make([]int32, BlockSize)
	for {
		if more, err := c.Next(&b, keys, true); err != nil || !more {
			return err
		}
	}
}

func TestRewindRepeatsTheChain(t *testing.T) {
	testAll(t, func(t *testing.T, impl *Implementation) {
		var c Chain
		c.Start(impl, 1_000_003, 5)
		first := drain(t, &c)
		c.Rewind()
		if again := drain(t, &c); again != first {
			t.Errorf("%v, then %v", first, again)
		}
	})
}

func FuzzResidues(f *testing.F) {
	f.Add(uint32(10007), uint32(1))
	f.Add(uint32(3), uint32(2))
	f.Fuzz(func(t *testing.T, p, unit uint32) {
		p = naive.NextPrime(3 + p%(1<<17))
		for _, impl := range All() {
			if impl.Available() {
				follow(t, impl, p, 1+unit%(p-1), unit%2 == 0)
			}
		}
	})
}

func BenchmarkResidues(b *testing.B) {
	const p = 10_428_581
	for _, impl := range All() {
		if !impl.Available() {
			continue
		}
		perCut := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(p/2), "ns/residue")
		}
		var c Chain
		b.Run(fmt.Sprintf("pass=products/impl=%s/p=%d", impl.Name, p), func(b *testing.B) {
			for b.Loop() {
				c.Start(impl, p, 1)
			}
			perCut(b)
		})
		b.Run(fmt.Sprintf("pass=generate/impl=%s/p=%d", impl.Name, p), func(b *testing.B) {
			c.Start(impl, p, 1)
			for b.Loop() {
				c.Rewind()
				if err := exhaust(&c); err != nil {
					b.Fatal(err)
				}
			}
			perCut(b)
		})
	}
}
