package residues

import "math/bits"

// scalarWidth is the number of lanes that the portable code interleaves: enough to
// hide the latency of a multiplication, few enough to stay in registers.
const scalarWidth = 4

// scalarLanes is the state of the portable implementation: each lane's residue in
// [0, 2p), left unreduced between steps.
//
// Reduction is Barrett's with m = floor((2^64-1)/p): for a product x < 2^64 the
// quotient q = floor(x·m/2^64) is floor(x/p) or one less, so x - q·p is in [0, 2p). A
// residue below 2p times a factor t < p is below 2p·p < 2^63.
type scalarLanes struct {
	residue [scalarWidth]uint64
}

// reduce returns a number in [0, 2p) congruent to x mod p.
func reduce(x, m, p uint64) uint64 {
	q, _ := bits.Mul64(x, m)
	return x - q*p
}

func genericProducts(c *Chain) []uint32 {
	p, n := uint64(c.p), uint64(c.steps)
	m := ^uint64(0) / p
	x0, x1, x2, x3 := uint64(1), uint64(1), uint64(1), uint64(1)
	for t := uint64(c.low) + 1; t <= uint64(c.low)+n; t++ {
		x0 = reduce(x0*t, m, p)
		x1 = reduce(x1*(n+t), m, p)
		x2 = reduce(x2*(2*n+t), m, p)
		x3 = reduce(x3*(3*n+t), m, p)
	}
	return []uint32{uint32(x0 % p), uint32(x1 % p), uint32(x2 % p), uint32(x3 % p)}
}

func genericPlace(c *Chain) {
	for j := range c.scalar.residue {
		c.scalar.residue[j] = uint64(c.start[j])
	}
}

func genericEnds(c *Chain) []uint32 {
	ends := make([]uint32, scalarWidth)
	for j, x := range c.scalar.residue {
		ends[j] = uint32(x % uint64(c.p))
	}
	return ends
}

func genericGenerate(c *Chain, keys []int32, folded bool) {
	if folded {
		c.scalar.generateFolded(keys, uint64(c.p), uint64(c.steps), uint64(c.low+c.step)+1)
	} else {
		c.scalar.generateSigned(keys, uint64(c.p), uint64(c.steps), uint64(c.low+c.step)+1)
	}
}

// generateFolded stores |t!| for t = j·n + i, all lanes j for i = first, then for i = first+1 ...
func (s *scalarLanes) generateFolded(keys []int32, p, n, first uint64) {
	m := ^uint64(0) / p
	x0, x1, x2, x3 := s.residue[0], s.residue[1], s.residue[2], s.residue[3]
	for t := first; len(keys) >= scalarWidth; keys, t = keys[scalarWidth:], t+1 {
		x0 = reduce(x0*t, m, p)
		x1 = reduce(x1*(n+t), m, p)
		x2 = reduce(x2*(2*n+t), m, p)
		x3 = reduce(x3*(3*n+t), m, p)
		keys[0] = fold(uint32(x0), uint32(p))
		keys[1] = fold(uint32(x1), uint32(p))
		keys[2] = fold(uint32(x2), uint32(p))
		keys[3] = fold(uint32(x3), uint32(p))
	}
	s.residue = [scalarWidth]uint64{x0, x1, x2, x3}
}

// generateSigned is generateFolded with the signs kept.
func (s *scalarLanes) generateSigned(keys []int32, p, n, first uint64) {
	m := ^uint64(0) / p
	x0, x1, x2, x3 := s.residue[0], s.residue[1], s.residue[2], s.residue[3]
	for t := first; len(keys) >= scalarWidth; keys, t = keys[scalarWidth:], t+1 {
		x0 = reduce(x0*t, m, p)
		x1 = reduce(x1*(n+t), m, p)
		x2 = reduce(x2*(2*n+t), m, p)
		x3 = reduce(x3*(3*n+t), m, p)
		keys[0] = signed(uint32(x0), uint32(p))
		keys[1] = signed(uint32(x1), uint32(p))
		keys[2] = signed(uint32(x2), uint32(p))
		keys[3] = signed(uint32(x3), uint32(p))
	}
	s.residue = [scalarWidth]uint64{x0, x1, x2, x3}
}

// fold takes x in [0, 2p) to the least absolute value of its class: d = |x-p| is in
// [0, p] and congruent to x or -x, and so is p-d.
func fold(x, p uint32) int32 {
	d := int32(x - p)
	d = (d ^ d>>31) - d>>31 // |d| without a branch
	return min(d, int32(p)-d)
}

// signed takes x in [0, 2p) to the representative of least absolute value, without
// a branch, since its sign is a coin toss.
func signed(x, p uint32) int32 {
	x = min(x, x-p) // x-p wraps around where x < p
	above := (int32(p/2) - int32(x)) >> 31
	return int32(x) - int32(p)&above
}
