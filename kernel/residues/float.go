package residues

//go:generate go -C _asm run . -out ../residues_amd64.s -stubs ../residues_stubs_amd64.go -pkg residues
//go:generate go -C _asm run ./neon -out ../residues_arm64.s -stubs ../residues_stubs_arm64.go

// floatLanes is the state of the vector implementations: balanced residues as
// floating-point numbers. Lane j multiplies by the factors offset[j] + index, with
// one index for all lanes. The generated code knows the layout.
//
// Exactness. Let |x| <= p/2 be an integer, 1 <= t < p/2 a factor, h = x·t rounded to a
// double, and q the integer nearest to h·(1/p), computed by one fused multiply-add
// with 1/p rounded to a double, so that its argument is h/p up to a relative error of
// 2^-53, and |h/p| <= p/4: an absolute error of at most p·2^-55.
//
// Narrow, p < 2^27: |x·t| < p^2/4 < 2^52, so h is exact. As p is odd, h/p keeps a
// distance of at least 1/(2p) from every half integer. While p·2^-55 < 1/(2p), that is
// p < 2^27, the error does not carry h·(1/p) past one, q is the integer nearest to h/p
// itself, and h - q·p, an integer of at most 27 bits that the fused multiply-add gets
// exactly, is the balanced residue.
//
// Wide, p < 2^31: h is a multiple of its last bit, at most 2^8, and l = x·t - h, at most
// 2^7 in size, is exact by the fused multiply-subtract (NEON has -l and subtracts it). q
// may miss the nearest integer to h/p by the error p·2^-55 < 2^-24, so h - q·p lies within
// p·(1/2 + 2^-24) and is an exact integer; with l it stays within p/2 + 2^8. The second
// quotient of this number x is -1, 0 or 1, and x/p keeps 1/(2p) > 2^-32 from 1/2, far
// above its error, so x - q·p is the balanced residue.
type floatLanes struct {
	x          [maxLanes]float64 // residues, |x| <= p/2
	offset     [maxLanes]float64 // lane j: low + j·n
	p, inverse float64           // p and 1/p
	index      float64           // of the next factor, from 1 to n

	// For the first pass by pairs: the factors of a lane, an odd number, lie around a middle
	// c, and those at the distance d have the product c^2 - d^2.
	odd    float64           // 2d - 1 for the next d
	square [maxLanes]float64 // c^2 - (d-1)^2 mod p, |square| <= p
}

// narrowLimit bounds the primes of the narrow functions.
const narrowLimit = 1 << 27

// floatFunctions are the machine's part of a vector implementation. steps is at least 1
// and at most maxSteps.
type floatFunctions struct {
	lanes                  int
	products, productsWide func(lanes *float64, steps int)
	// pairs, if not nil, multiplies by 1 <= steps <= maxPairs pairs of factors, p < narrowLimit.
	pairs                  func(lanes *float64, steps int)
	generate, generateWide func(keys *int32, lanes *float64, mask uint64, steps int)
	// countNibbles, if not nil, generates an even number of steps, p < narrowLimit, and counts
	// their folded keys: key a adds 1 to nibble a of the table, low halves first.
	countNibbles func(table *byte, lanes *float64, steps int)
}

// maxSteps bounds the work of one call, which cannot be interrupted, to some ten
// microseconds.
const maxSteps = 1 << 10

// maxPairs bounds the growth of the squares in one call of pairs. A square grows by less than
// 2d < n a step, and with at least 32 lanes n < p/64, so that from |square| <= p/2 it
// stays below p/2 + 32·p/64 = p. Then |x·square| < p^2/2·(1 + 1/p) < 2^53 for p < 2^27: the
// product is exact. Its quotient by p is below p/2 + 1, so that rounding misses the
// nearest integer by less than 2^-26, and |x| stays within (p+1)/2.
const maxPairs = 32

const (
	foldMask = 1<<63 - 1  // clears the sign of a double
	keepMask = ^uint64(0) // keeps it
)

// newFloat makes an implementation of the machine's functions.
func newFloat(name, needs string, available func() bool, f floatFunctions) *Implementation {
	return &Implementation{
		Name: name, Needs: needs, available: available, lanes: f.lanes, odd: f.pairs != nil, float: f,
		products: func(c *Chain) []uint32 {
			if f.pairs != nil && c.p < narrowLimit {
				return c.productsByPairs(f)
			}
			c.float.start(c, f.lanes)
			for j := range f.lanes {
				c.float.x[j] = 1
			}
			multiply := f.products
			if c.p >= narrowLimit {
				multiply = f.productsWide
			}
			for left := int(c.steps); left > 0; left -= maxSteps {
				multiply(&c.float.x[0], min(left, maxSteps))
			}
			return c.float.residues(f.lanes)
		},
		place: func(c *Chain) {
			c.float.start(c, f.lanes)
			for j := range f.lanes {
				c.float.x[j] = float64(balanced(c.start[j], c.p))
			}
		},
		generate: func(c *Chain, keys []int32, folded bool) {
			generate, mask := f.generate, uint64(keepMask)
			if c.p >= narrowLimit {
				generate = f.generateWide
			}
			if folded {
				mask = foldMask
			}
			raceWrite(keys)
			generate(&keys[0], &c.float.x[0], mask, len(keys)/f.lanes)
		},
		ends: func(c *Chain) []uint32 { return c.float.residues(f.lanes) },
	}
}

// productsByPairs makes the first pass with one multiplication for two factors. The number of
// factors of a lane is odd.
func (c *Chain) productsByPairs(f floatFunctions) []uint32 {
	l := &c.float
	l.start(c, f.lanes)
	l.odd = 1
	for j := range f.lanes {
		middle := c.low + uint32(j)*c.steps + (c.steps+1)/2
		l.x[j] = float64(balanced(middle, c.p))
		l.square[j] = float64(balanced(mulMod(middle, middle, c.p), c.p))
	}
	for left := int(c.steps) / 2; left > 0; left -= maxPairs {
		f.pairs(&l.x[0], min(left, maxPairs))
	}
	return l.residues(f.lanes)
}

// start sets everything but the residues for the first factor of every lane.
func (l *floatLanes) start(c *Chain, lanes int) {
	l.p, l.inverse, l.index = float64(c.p), 1/float64(c.p), 1
	for j := range lanes {
		l.offset[j] = float64(c.low + uint32(j)*c.steps)
	}
}

// residues returns the residues of the lanes in [0, p).
func (l *floatLanes) residues(lanes int) []uint32 {
	rs := make([]uint32, lanes)
	for j := range rs {
		x := int64(l.x[j])
		if x < 0 {
			x += int64(l.p)
		}
		rs[j] = uint32(x)
	}
	return rs
}
