package special

import (
	"fmt"
	"math/rand/v2"

	"github.com/erdos1056/erdos1056/kernel/residues"
)

// chains are factorial chains at the same cut, one prime to a lane: x = unit·cut! mod p,
// balanced. The machine's code knows the layout of the fields up to hits.
type chains struct {
	x       [maxLanes]float64
	p       [maxLanes]float64
	inverse [maxLanes]float64 // 1/p
	target  [maxLanes]float64 // |unit|: a lane hits where |x| equals it
	cut     float64
	hits    uint64 // lanes that hit at this cut

	unit [maxLanes]float64
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

// start puts the chains of the primes at the cut 0 and repeats the last prime in the lanes
// that are left.
func (c *chains) start(primes []uint32, lanes int, seed uint32) {
	*c = chains{}
	random := rand.New(rand.NewPCG(uint64(seed), 1056))
	for j := range lanes {
		p := primes[min(j, len(primes)-1)]
		unit := 1.0
		if seed != 0 {
			unit = float64(1 + random.Uint32N(p/2)) // balanced, as p/2 rounds down
		}
		c.x[j], c.p[j], c.inverse[j] = unit, float64(p), 1/float64(p)
		c.unit[j], c.target[j] = unit, unit
		c.wide = c.wide || p >= narrowLimit
	}
}

// wilson checks lane j at the middle of its prime p, and returns 1, -1, or 0 where h! is
// neither.
func (c *chains) wilson(j int, p uint32) (int, error) {
	x, unit := modulo(c.x[j], p), modulo(c.unit[j], p)
	square, want := x*x%uint64(p), unit*unit%uint64(p)
	if (p-1)/2%2 == 0 {
		want = uint64(p) - want
	}
	if square != want {
		return 0, &residues.CheckError{P: p, Check: residues.Wilson, Detail: fmt.Sprintf("the square of the middle residue is %d, expected %d", square, want)}
	}
	switch x {
	case unit:
		return 1, nil
	case uint64(p) - unit:
		return -1, nil
	}
	return 0, nil
}

// modulo takes a balanced residue into [0, p).
func modulo(x float64, p uint32) uint64 {
	if x < 0 {
		x += float64(p)
	}
	return uint64(x)
}
