package special

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/erdos1056/erdos1056/kernel/residues"
)

// A Chain is the factorial chain of an odd prime P at the cut T: X = T! mod P. It is all
// that there is to know to walk on from there.
type Chain struct {
	P uint32 // 3 <= P <= residues.MaxPrime; primality is the caller's promise
	T uint32 // 0 <= T <= Middle()
	X uint32 // 1 <= X < P
}

// Start is the chain of p at the cut 0.
func Start(p uint32) Chain { return Chain{P: p, X: 1} }

// Middle is the last cut that a chain is walked to, h = (P-1)/2; the rest is its mirror image.
func (c Chain) Middle() uint32 { return (c.P - 1) / 2 }

// Done reports whether the chain has reached its middle.
func (c Chain) Done() bool { return c.T == c.Middle() }

// Sign is 1 where T! = 1 mod P, -1 where T! = -1, and 0 elsewhere.
func (c Chain) Sign() int {
	switch c.X {
	case 1:
		return 1
	case c.P - 1:
		return -1
	}
	return 0
}

// A Walker walks chains, many side by side. The zero value is ready; it takes about 2 KiB
// and is not safe for concurrent use.
type Walker struct {
	// Implementation selects the arithmetic by the name it has in package residues; nil
	// stands for the fastest one that this machine can run.
	Implementation *residues.Implementation

	// Plant makes the next Walk commit an error in one chain, which the Wilson check
	// must catch once that chain reaches its middle.
	Plant bool

	chains chains
}

// maxLanes is the greatest number of chains in a group.
const maxLanes = 64

// Lanes is the number of chains that run side by side: any smaller number takes as long.
func (w *Walker) Lanes() int { return w.machine().lanes }

func (w *Walker) machine() machine {
	if w.Implementation == nil {
		w.Implementation = residues.Best()
	}
	return machineOf(w.Implementation.Name)
}

// Walk takes every chain to the cut to, or to its middle where that comes first, and calls
// hit for each cut t behind the first up to the last, in ascending order for each chain, at
// which chains[i] has t! = 1 (sign 1) or t! = -1 (sign -1). All chains that are not Done
// must be at the same cut.
//
// Chains run in groups of Lanes(), in the order of the slice: a number of chains divisible by
// Lanes() keeps all lanes busy. A lane whose chain has reached its middle idles until its group
// has finished, so neighbours should be close in size.
//
// A chain that reaches its middle is checked by Wilson's theorem, (h!)^2 = (-1)^(h+1). The error
// is ctx's, a *residues.CheckError, or says which chain is not as it should be; behind an error
// neither the chains nor the hits are of use.
func (w *Walker) Walk(ctx context.Context, chains []Chain, to uint32, hit func(i int, t uint32, sign int)) error {
	cut, err := check(chains)
	if err != nil {
		return err
	}
	m := w.machine()
	group := walk{walker: w, machine: m, to: to, hit: hit}
	for i := range chains {
		if chains[i].Done() || cut >= to {
			continue
		}
		group.add(i, &chains[i])
		if len(group.chains) == m.lanes {
			if err := group.run(ctx); err != nil {
				return err
			}
		}
	}
	return group.run(ctx)
}

// check returns the common cut of the chains that are not done.
func check(chains []Chain) (cut uint32, err error) {
	first := -1
	for i, c := range chains {
		if c.P < 3 || c.P > residues.MaxPrime || c.P%2 == 0 {
			return 0, fmt.Errorf("special: chain %d has the prime %d, expected an odd prime from 3 to %d", i, c.P, residues.MaxPrime)
		}
		if c.T > c.Middle() || c.X < 1 || c.X >= c.P {
			return 0, fmt.Errorf("special: chain %d of %d is at the cut %d with residue %d, expected a cut up to %d and a residue from 1 to %d", i, c.P, c.T, c.X, c.Middle(), c.P-1)
		}
		if c.Done() {
			continue
		}
		if first < 0 {
			first, cut = i, c.T
		}
		if c.T != cut {
			return 0, fmt.Errorf("special: chain %d of %d is at the cut %d, expected %d, where chain %d is", i, c.P, c.T, cut, first)
		}
	}
	return cut, nil
}

// A walk takes one group after another to the same cut.
type walk struct {
	walker  *Walker
	machine machine
	to      uint32
	hit     func(i int, t uint32, sign int)

	chains []Chain  // of the group, as they were at its start
	origin []*Chain // where they came from
	index  []int    // and at what place
}

func (g *walk) add(i int, c *Chain) {
	g.chains, g.origin, g.index = append(g.chains, *c), append(g.origin, c), append(g.index, i)
}

// run walks the group and empties it.
func (g *walk) run(ctx context.Context) error {
	if len(g.chains) == 0 {
		return nil
	}
	c := &g.walker.chains
	c.start(g.chains, g.machine.lanes)
	if g.walker.Plant {
		g.walker.Plant = false
		c.x[0] = -2 * c.x[0]
	}
	for {
		stop, going := g.stop()
		if !going {
			break
		}
		if err := g.advance(ctx, stop); err != nil {
			return err
		}
		if err := g.arrive(stop); err != nil {
			return err
		}
	}
	g.chains, g.origin, g.index = g.chains[:0], g.origin[:0], g.index[:0]
	return nil
}

// stop is the next cut at which a chain of the group is to arrive.
func (g *walk) stop() (cut uint32, going bool) {
	for _, c := range g.chains {
		if end := min(g.to, c.Middle()); c.T < end && (!going || end < cut) {
			cut, going = end, true
		}
	}
	return cut, going
}

// advance walks all lanes to the cut stop, and tells the hits on the way.
func (g *walk) advance(ctx context.Context, stop uint32) error {
	c := &g.walker.chains
	for uint32(c.cut) < stop {
		g.machine.advance(c, int(min(stop-uint32(c.cut), maxSteps)))
		for lanes := c.hits; lanes != 0; lanes &= lanes - 1 {
			if j := bits.TrailingZeros64(lanes); j < len(g.chains) && g.chains[j].T < min(g.to, g.chains[j].Middle()) {
				g.hit(g.index[j], uint32(c.cut), int(c.x[j]))
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// arrive ends the chains that were to go to the cut.
func (g *walk) arrive(cut uint32) error {
	for j := range g.chains {
		chain := &g.chains[j]
		if chain.T == min(g.to, chain.Middle()) || cut < min(g.to, chain.Middle()) {
			continue
		}
		chain.T, chain.X = cut, g.walker.chains.residue(j)
		if chain.Done() {
			if err := chain.wilson(); err != nil {
				return err
			}
		}
		*g.origin[j] = *chain
	}
	return nil
}

// wilson checks a chain at its middle.
func (c Chain) wilson() error {
	square := uint32(uint64(c.X) * uint64(c.X) % uint64(c.P))
	expected := uint32(1)
	if c.Middle()%2 == 0 {
		expected = c.P - 1
	}
	if square != expected {
		return &residues.CheckError{P: c.P, Check: residues.Wilson, Detail: fmt.Sprintf("the square of the middle residue is %d, expected %d", square, expected)}
	}
	return nil
}
