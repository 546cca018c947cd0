package special

import "math/bits"

// genericLanes is the number of chains that the portable code interleaves.
const genericLanes = 8

var generic = machine{lanes: genericLanes, advance: advanceGeneric}

// advanceGeneric keeps residues in [0, p) and reduces by Barrett's method, as package
// residues explains.
func advanceGeneric(c *chains, steps int) {
	var x, p, m, target [genericLanes]uint64
	for j := range x {
		p[j] = uint64(c.p[j])
		m[j] = ^uint64(0) / p[j]
		x[j] = uint64(c.residue(j))
		target[j] = uint64(c.target[j])
	}
	cut := uint64(c.cut)
	c.hits = 0
	for ; steps > 0 && c.hits == 0; steps-- {
		cut++
		for j := range x {
			product := x[j] * cut
			q, _ := bits.Mul64(product, m[j])
			r := product - q*p[j]
			r = min(r, r-p[j]) // r-p wraps around where r < p
			x[j] = r
			if r == target[j] || p[j]-r == target[j] {
				c.hits |= 1 << j
			}
		}
	}
	c.cut = float64(cut)
	for j := range x {
		c.x[j] = balanced(uint32(x[j]), uint32(p[j]))
	}
}
