package special

// chains are factorial chains at the same cut, one prime to a lane: x = cut! mod p,
// balanced. The machine's code knows the layout of the fields up to hits.
type chains struct {
	x       [maxLanes]float64
	p       [maxLanes]float64
	inverse [maxLanes]float64 // 1/p
	target  [maxLanes]float64 // a lane hits where |x| equals it
	cut     float64
	hits    uint64 // lanes that hit at this cut

	wide bool // some p is too large for the narrow arithmetic
}

// A machine is one way to advance chains.
type machine struct {
	lanes int
	// advance multiplies the chains by the next cuts: 1 <= steps <= maxSteps of them, or
	// fewer, up to the first cut at which a lane hits.
	advance func(c *chains, steps int)
}

// maxSteps bounds the work of one call, which cannot be interrupted, to some ten
// microseconds.
const maxSteps = 1 << 11

// narrowLimit bounds the primes of the narrow arithmetic; package residues proves it.
const narrowLimit = 1 << 27

// start puts the group into the lanes and repeats its last chain in those that are left.
func (c *chains) start(group []Chain, lanes int) {
	c.cut, c.wide = float64(group[0].T), false
	for j := range lanes {
		c.set(j, group[min(j, len(group)-1)])
		c.wide = c.wide || c.p[j] >= narrowLimit
	}
}

func (c *chains) set(j int, chain Chain) {
	c.x[j], c.p[j], c.inverse[j], c.target[j] = balanced(chain.X, chain.P), float64(chain.P), 1/float64(chain.P), 1
}

// residue is the residue of lane j in [0, p).
func (c *chains) residue(j int) uint32 {
	x := c.x[j]
	if x < 0 {
		x += c.p[j]
	}
	return uint32(x)
}

func balanced(x, p uint32) float64 {
	if x > p/2 {
		return float64(x) - float64(p)
	}
	return float64(x)
}
