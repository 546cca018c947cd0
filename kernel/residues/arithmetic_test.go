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
	*Implementation
	chosenFor uint32 // a prime for which the implementation chooses it
}

func narrow(impl *Implementation) arithmetic { return arithmetic{impl, narrowLimit - 1} }
func wide(impl *Implementation) arithmetic   { return arithmetic{impl, narrowLimit} }

// multiply makes one step with one pair a lane; the last pair fills the lanes left over.
func (a arithmetic) multiply(p int64, pairs []pair, folded bool) []int32 {
	c := Chain{p: a.chosenFor}
	c.float.p, c.float.inverse = float64(p), 1/float64(p)
	c.float.index = float64(1 + rand.IntN(3))
	for j := range a.lanes {
		lane := pairs[min(j, len(pairs)-1)]
		c.float.x[j], c.float.offset[j] = float64(lane.x), float64(lane.t)-c.float.index
	}
	keys := make([]int32, a.lanes)
	a.generate(&c, keys, folded)
	return keys[:min(a.lanes, len(pairs))]
}

// wrong returns how many of the products of the pairs, in random lanes, are not those of
// math/big, and one of them.
func (a arithmetic) wrong(p int64, pairs []pair) (count int, example string) {
	pairs = slices.Clone(pairs)
	rand.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
	for lanes := range slices.Chunk(pairs, a.lanes) {
		signed, folded := a.multiply(p, lanes, false), a.multiply(p, lanes, true)
		for j, lane := range lanes {
			want := lane.product(p)
			if signed[j] != want || folded[j] != max(want, -want) {
				count++
				example = fmt.Sprintf("%d·%d mod %d in lane %d is %d, folded %d; want %d", lane.x, lane.t, p, j, signed[j], folded[j], want)
			}
		}
	}
	return count, example
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
			arithmetics := map[string]arithmetic{"wide": wide(impl)}
			if p < narrowLimit {
				arithmetics["narrow"] = narrow(impl)
			}
			for name, a := range arithmetics {
				if n, example := a.wrong(int64(p), pairs); n > 0 {
					t.Errorf("%s: %d of %d products are wrong: %s", name, n, len(pairs), example)
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

// The narrow arithmetic is exact for every prime below the limit on the hardest products,
// and the implementation chooses it there; from the limit on the wide one is chosen and
// exact. That the hardest products are hard enough to tell is seen a little further up,
// where the narrow arithmetic goes wrong and the wide one does not.
func TestNarrowLimit(t *testing.T) {
	var below, above []uint32
	for p := uint32(narrowLimit - 1); len(below) < 10; p -= 2 {
		if naive.NextPrime(p) == p {
			below = append(below, p)
		}
	}
	for p := uint32(narrowLimit + 1); len(above) < 10; p += 2 {
		if naive.NextPrime(p) == p {
			above = append(above, p)
		}
	}
	const beyond = 1<<28 - 57 // prime
	testVectors(t, func(t *testing.T, impl *Implementation) {
		for _, p := range slices.Concat(below, above) {
			chosen := arithmetic{impl, p}
			if n, example := chosen.wrong(int64(p), hardPairs(int64(p))); n > 0 {
				t.Errorf("%d products are wrong: %s", n, example)
			}
		}
		hard := hardPairs(beyond)
		if n, _ := (arithmetic{impl, narrowLimit - 1}).wrong(beyond, hard); n == 0 {
			t.Errorf("the narrow arithmetic is not chosen below the limit, or no product at %d shows its error", beyond)
		}
		if n, example := (arithmetic{impl, narrowLimit}).wrong(beyond, hard); n > 0 {
			t.Errorf("the wide arithmetic is not chosen at the limit, or wrong: %s", example)
		}
	})
}

func TestRandomProductsAreThoseOfBigIntegers(t *testing.T) {
	testVectors(t, func(t *testing.T, impl *Implementation) {
		compared := 0
		for compared < 20_000 {
			p := int64(3+rand.Uint32N(narrowLimit-3)) | 1 // exactness needs p odd, not prime
			pairs := make([]pair, impl.lanes)
			for j := range pairs {
				h := (p - 1) / 2
				pairs[j] = pair{rand.Int64N(p) - h, 1 + rand.Int64N(h)}
			}
			for _, a := range []arithmetic{narrow(impl), wide(impl)} {
				if n, example := a.wrong(p, pairs); n > 0 {
					t.Fatalf("%d products are wrong: %s", n, example)
				}
			}
			compared += len(pairs)
		}
	})
}

func FuzzProducts(f *testing.F) {
	f.Add(uint32(134_217_689), int32(67_108_844), uint32(67_108_844))
	f.Add(uint32(2_147_483_647), int32(-1), uint32(1_073_741_823))
	f.Fuzz(func(t *testing.T, p uint32, x int32, factor uint32) {
		p = max(p&MaxPrime|1, 3)
		h := int64(p-1) / 2
		a := pair{int64(x) % (h + 1), 1 + int64(factor)%h}
		for _, impl := range All() {
			if impl == Generic || !impl.Available() {
				continue
			}
			if n, example := (arithmetic{impl, p}).wrong(int64(p), slices.Repeat([]pair{a}, impl.lanes)); n > 0 {
				t.Errorf("impl=%s: %s", impl.Name, example)
			}
		}
	})
}
