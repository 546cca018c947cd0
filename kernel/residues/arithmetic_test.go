package residues

import (
	"cmp"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/erdos1056/erdos1056/kernel/internal/naive"
)

// A factor pair is the input of one step of one lane: |x| <= p/2 and 1 <= t <= p/2.
type pair struct{ x, t int64 }

// product returns x·t mod p, balanced, by math/big.
func (a pair) product(p int64) int32 {
	m := new(big.Int).Mul(big.NewInt(a.x), big.NewInt(a.t))
	return balanced(uint32(m.Mod(m, big.NewInt(p)).Int64()), uint32(p))
}

// edgePairs pairs the values at which arithmetic tends to break with each other.
func edgePairs(p int64) []pair {
	h := (p - 1) / 2
	values := []int64{1, 2, 3, h / 2, h - 1, h, 1 << 30 % p, 1 << 31 % p, 1 << 53 % p, 1<<31 - p}
	for range 6 {
		values = append(values, 1+rand.Int64N(h))
	}
	values = slices.DeleteFunc(values, func(v int64) bool { return v < 1 || v > h })
	pairs := []pair{{0, 1}, {0, h}}
	for _, x := range values {
		for _, t := range values {
			pairs = append(pairs, pair{x, t}, pair{-x, t})
		}
	}
	return pairs
}

// hardPairs returns pairs whose product is h or -h mod p, so that the quotient lies as
// close to a half integer as it can, and as large as it can: where a rounding error
// shows first. p is prime.
func hardPairs(p int64) []pair {
	const tried, kept = 4000, 256
	h := (p - 1) / 2
	pairs := make([]pair, 0, tried)
	for t := h; t > max(0, h-tried); t-- {
		inverse := new(big.Int).ModInverse(big.NewInt(t), big.NewInt(p)).Int64()
		x := int64(pair{h, inverse}.product(p))
		pairs = append(pairs, pair{x, t}, pair{-x, t})
	}
	size := func(a pair) int64 { return a.t * max(a.x, -a.x) }
	slices.SortFunc(pairs, func(a, b pair) int { return cmp.Compare(size(b), size(a)) })
	return pairs[:min(kept, len(pairs))]
}

// An arithmetic is one of the two ways in which a vector implementation multiplies.
type arithmetic struct {
	name     string
	lanes    int
	products func(lanes *float64, steps int)
	generate func(keys *int32, lanes *float64, mask uint64, steps int)
}

func narrow(impl *Implementation) arithmetic {
	return arithmetic{"narrow", impl.lanes, impl.float.products, impl.float.generate}
}

func wide(impl *Implementation) arithmetic {
	return arithmetic{"wide", impl.lanes, impl.float.productsWide, impl.float.generateWide}
}

// exact returns the arithmetics that are exact for p.
func exact(impl *Implementation, p int64) []arithmetic {
	if p < narrowLimit {
		return []arithmetic{narrow(impl), wide(impl)}
	}
	return []arithmetic{wide(impl)}
}

// wrong returns how many of the products of the pairs, in random lanes, are not those of
// math/big, and one of them. Lanes left over repeat the first pair.
func (a arithmetic) wrong(p int64, pairs []pair) (count int, example string) {
	pairs = slices.Clone(pairs)
	for len(pairs)%a.lanes > 0 {
		pairs = append(pairs, pairs[0])
	}
	rand.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
	for lanes := range slices.Chunk(pairs, a.lanes) {
		got := a.step(p, lanes)
		for j, lane := range lanes {
			if want := lane.product(p); !got.agrees(j, want) {
				count++
				example = fmt.Sprintf("%s: %d·%d mod %d in lane %d is %s; want %d", a.name, lane.x, lane.t, p, j, got.lane(j), want)
			}
		}
	}
	return count, example
}

// An outcome is that of one step, made in the three ways in which it can be made: in the
// first pass, and generating signed and folded keys.
type outcome struct {
	first, signed, folded  floatLanes
	signedKeys, foldedKeys []int32
	index                  float64 // of the next factor
}

// step makes one step with one pair a lane.
func (a arithmetic) step(p int64, pairs []pair) *outcome {
	var l floatLanes
	l.p, l.inverse, l.index = float64(p), 1/float64(p), float64(1+rand.IntN(3))
	for j, lane := range pairs {
		l.x[j], l.offset[j] = float64(lane.x), float64(lane.t)-l.index
	}
	o := &outcome{l, l, l, make([]int32, a.lanes), make([]int32, a.lanes), l.index + 1}
	a.products(&o.first.x[0], 1)
	a.generate(&o.signedKeys[0], &o.signed.x[0], keepMask, 1)
	a.generate(&o.foldedKeys[0], &o.folded.x[0], foldMask, 1)
	return o
}

func (o *outcome) agrees(j int, want int32) bool {
	for _, l := range []*floatLanes{&o.first, &o.signed, &o.folded} {
		if l.x[j] != float64(want) || l.index != o.index {
			return false
		}
	}
	return o.signedKeys[j] == want && o.foldedKeys[j] == max(want, -want)
}

func (o *outcome) lane(j int) string {
	return fmt.Sprintf("%v in the first pass, %v with the key %d, %v with the folded key %d, next factors %v, %v, %v",
		o.first.x[j], o.signed.x[j], o.signedKeys[j], o.folded.x[j], o.foldedKeys[j], o.first.index, o.signed.index, o.folded.index)
}

// testVectors runs f for every vector implementation that this machine can run.
func testVectors(t *testing.T, f func(*testing.T, *Implementation)) {
	testAll(t, func(t *testing.T, impl *Implementation) {
		if impl != Generic {
			f(t, impl)
		}
	})
}

// moduli are small primes, the largest below 2^16 and 2^24, and the edges.
var moduli = append([]uint32{3, 5, 7, 11, 13, 65_521, 16_777_213}, edgePrimes...)

func TestProductsOfEdgeValuesAreThoseOfBigIntegers(t *testing.T) {
	testVectors(t, func(t *testing.T, impl *Implementation) {
		for _, p := range moduli {
			pairs := append(edgePairs(int64(p)), hardPairs(int64(p))...)
			for _, a := range exact(impl, int64(p)) {
				if n, example := a.wrong(int64(p), pairs); n > 0 {
					t.Errorf("%d of %d products are wrong: %s", n, len(pairs), example)
				}
			}
		}
	})
}

func TestGenericProductsOfEdgeValuesAreThoseOfBigIntegers(t *testing.T) {
	for _, p := range moduli {
		p64 := uint64(p)
		for _, a := range append(edgePairs(int64(p)), hardPairs(int64(p))...) {
			// Residues are unreduced: both numbers of the class below 2p are allowed.
			x := uint64(a.x+int64(p)) % p64
			for _, x := range []uint64{x, x + p64} {
				y := reduce(x*uint64(a.t), ^uint64(0)/p64, p64)
				want := a.product(int64(p))
				if y >= 2*p64 || signed(uint32(y), p) != want || fold(uint32(y), p) != max(want, -want) {
					t.Errorf("%d·%d mod %d is %d: signed %d, folded %d; want %d", x, a.t, p, y, signed(uint32(y), p), fold(uint32(y), p), want)
				}
			}
		}
	}
}

// Below the limit the narrow arithmetic is exact for the hardest products, from the limit
// on the wide one is. That such products are hard enough to tell is seen a little further
// up, where the narrow arithmetic goes wrong. (It first does at 1.26 times the limit.)
func TestNarrowLimit(t *testing.T) {
	const count, beyond = 10, 1<<28 - 57
	var below, above []uint32
	for p := uint32(narrowLimit - 1); len(below) < count; p -= 2 {
		if naive.NextPrime(p) == p {
			below = append(below, p)
		}
	}
	for p := uint32(narrowLimit); len(above) < count; p++ {
		p = naive.NextPrime(p)
		above = append(above, p)
	}
	testVectors(t, func(t *testing.T, impl *Implementation) {
		for _, p := range below {
			if n, example := narrow(impl).wrong(int64(p), hardPairs(int64(p))); n > 0 {
				t.Errorf("%d products are wrong: %s", n, example)
			}
		}
		for _, p := range append(above, beyond) {
			if n, example := wide(impl).wrong(int64(p), hardPairs(int64(p))); n > 0 {
				t.Errorf("%d products are wrong: %s", n, example)
			}
		}
		if n, _ := narrow(impl).wrong(beyond, hardPairs(beyond)); n == 0 {
			t.Errorf("no product mod %d shows the error of the narrow arithmetic", beyond)
		}
	})
}

func TestWideArithmeticIsChosenFromTheLimitOn(t *testing.T) {
	var called []string
	products := func(name string) func(*float64, int) {
		return func(*float64, int) { called = append(called, name) }
	}
	generate := func(name string) func(*int32, *float64, uint64, int) {
		return func(*int32, *float64, uint64, int) { called = append(called, name) }
	}
	impl := newFloat("spy", "", nil, floatFunctions{
		lanes:    2,
		products: products("products"), productsWide: products("productsWide"),
		generate: generate("generate"), generateWide: generate("generateWide"),
	})
	for _, c := range []struct {
		p    uint32
		want []string
	}{
		{3, []string{"products", "generate"}},
		{narrowLimit - 1, []string{"products", "generate"}},
		{narrowLimit, []string{"productsWide", "generateWide"}},
		{MaxPrime, []string{"productsWide", "generateWide"}},
	} {
		called = nil
		chain := Chain{impl: impl, p: c.p, steps: 1}
		impl.products(&chain)
		impl.generate(&chain, make([]int32, 2), false)
		if !slices.Equal(called, c.want) {
			t.Errorf("p = %d: %v were called, want %v", c.p, called, c.want)
		}
	}
}

func TestRandomProductsAreThoseOfBigIntegers(t *testing.T) {
	testVectors(t, func(t *testing.T, impl *Implementation) {
		for range 20_000 / impl.lanes {
			// Exactness needs p odd, not prime. All sizes of p come.
			p := 3 + 2*rand.Int64N(int64(MaxPrime-1)/2>>rand.IntN(30))
			pairs := make([]pair, impl.lanes)
			for j := range pairs {
				h := (p - 1) / 2
				pairs[j] = pair{rand.Int64N(p) - h, 1 + rand.Int64N(h)}
			}
			for _, a := range exact(impl, p) {
				if n, example := a.wrong(p, pairs); n > 0 {
					t.Fatalf("%d products are wrong: %s", n, example)
				}
			}
		}
	})
}

func FuzzProducts(f *testing.F) {
	f.Add(uint32(134_217_689), int32(67_108_844), uint32(67_108_844))
	f.Add(uint32(2_147_483_647), int32(-1), uint32(1_073_741_823))
	f.Fuzz(func(t *testing.T, p uint32, x int32, factor uint32) {
		p = max(p&MaxPrime|1, 3)
		h := int64(p-1) / 2
		pairs := []pair{{int64(x) % (h + 1), 1 + int64(factor)%h}}
		for _, impl := range All() {
			if impl == Generic || !impl.Available() {
				continue
			}
			for _, a := range exact(impl, int64(p)) {
				if _, example := a.wrong(int64(p), pairs); example != "" {
					t.Errorf("impl=%s: %s", impl.Name, example)
				}
			}
		}
	})
}
