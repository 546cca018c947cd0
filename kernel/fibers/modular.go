package fibers

import (
	"math/bits"
	"slices"
)

// mulMod returns a·b mod p for a, b < p.
func mulMod(a, b, p uint32) uint32 {
	hi, lo := bits.Mul32(a, b)
	return bits.Rem32(hi, lo, p)
}

// inverse returns 1/a mod p, 1 <= a < p, by the extended Euclidean algorithm.
func inverse(a, p uint32) uint32 {
	t, next := int64(0), int64(1)
	r, rest := int64(p), int64(a)
	for rest != 0 {
		q := r / rest
		t, next = next, t-q*next
		r, rest = rest, r-q*rest
	}
	if t < 0 {
		t += int64(p)
	}
	return uint32(t)
}

// quotients replaces every a in as, 1 <= a < p, by c/a mod p. One inversion serves
// all of them (Montgomery's trick): with the prefix products P(i) of the a's,
// 1/a(i) = P(i-1) · (1/P(i)).
func quotients(as []uint32, c, p uint32, scratch []uint32) (out []uint32) {
	if len(as) == 0 {
		return scratch[:0]
	}
	prefix := append(slices.Grow(scratch[:0], len(as)), as...)
	for i := 1; i < len(as); i++ {
		prefix[i] = mulMod(prefix[i-1], as[i], p)
	}
	inv := mulMod(c, inverse(prefix[len(as)-1], p), p) // c / (a(0)···a(i))
	for i := len(as) - 1; i > 0; i-- {
		a := as[i]
		prefix[i] = mulMod(inv, prefix[i-1], p)
		inv = mulMod(inv, a, p)
	}
	prefix[0] = inv
	return prefix
}

// fold takes x in [0, p) to min(x, p-x).
func fold(x, p uint32) uint32 { return min(x, p-x) }

// balanced takes x in [0, p) to the representative of least absolute value.
func balanced(x, p uint32) int32 {
	if x > p/2 {
		return int32(x) - int32(p)
	}
	return int32(x)
}
