package reference

import "math/bits"

// modulus holds the constants of multiplication modulo an odd p < 2^31 in
// Montgomery's method with R = 2^32 (P. L. Montgomery, Modular multiplication
// without trial division, Math. Comp. 44, 1985).
type modulus struct {
	p       uint32
	negInv  uint32 // -1/p mod R
	rModP   uint32 // R mod p: the number 1 in Montgomery form
	rSquare uint32 // R*R mod p: takes a number into Montgomery form
}

func newModulus(p uint32) modulus {
	inv := p // correct to 3 bits, since p*p = 1 mod 8; each step doubles them
	for range 4 {
		inv *= 2 - p*inv
	}
	r := uint32((1 << 32) % uint64(p))
	_, square := bits.Div64(0, uint64(r)*uint64(r), uint64(p))
	return modulus{p: p, negInv: -inv, rModP: r, rSquare: uint32(square)}
}

// mul returns a*b/R mod p for a, b < p. With one factor in Montgomery form the
// result is the plain product mod p.
func (m modulus) mul(a, b uint32) uint32 {
	t := uint64(a) * uint64(b)
	q := uint32(t) * m.negInv // t + q*p is a multiple of R
	u := uint32((t + uint64(q)*uint64(m.p)) >> 32)
	if u >= m.p {
		u -= m.p
	}
	return u
}

// add returns a+b mod p for a, b < p.
func (m modulus) add(a, b uint32) uint32 {
	s := a + b
	if s >= m.p {
		s -= m.p
	}
	return s
}

// chain walks t! mod p for t = 0, 1, 2, ... The residue is a plain one; the factor
// t is kept in Montgomery form, so one multiplication advances the walk.
type chain struct {
	modulus
	t       uint32
	residue uint32 // t! mod p
	factor  uint32 // t*R mod p
}

// newChain returns the walk at t = 0. Montgomery's method needs an odd modulus: 3
// stands in for 2, whose cuts 0 and 1 have the residue 1 by either.
func newChain(p uint32) chain {
	if p == 2 {
		p = 3
	}
	return chain{modulus: newModulus(p), residue: 1}
}

// fill stores t!, (t+1)!, ... mod p in block and moves t on by its length. Two
// cuts are taken at a time: (t+1)! and (t+2)! both come from t!, the second by
// the product (t+1)(t+2), so that the multiplier does not wait for its own
// result at every cut.
func (c *chain) fill(block []uint32) {
	m, residue, factor := c.modulus, c.residue, c.factor
	i := 0
	for ; i+2 <= len(block); i += 2 {
		first := m.add(factor, m.rModP)
		factor = m.add(first, m.rModP)
		block[i], block[i+1] = residue, m.mul(residue, first)
		residue = m.mul(residue, m.mul(first, factor))
	}
	if i < len(block) {
		block[i] = residue
		factor = m.add(factor, m.rModP)
		residue = m.mul(residue, factor)
	}
	c.t, c.residue, c.factor = c.t+uint32(len(block)), residue, factor
}
