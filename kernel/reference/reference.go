// Package reference finds the fibers of t -> t! mod p the plain way: it walks
// all p cuts of one prime, multiplies by Montgomery's method and counts in a
// flat open-addressed table keyed by the residue. This is the method of the
// published capsule. It is slow, short and independent: it shares no arithmetic
// and no counting with the fast kernel (a test holds that), so that the two can
// be held against each other and the frozen verifier can judge the searcher.
//
// The only departure from the published program is the order of counting: the
// residues are first sorted by their leading bits into spans, and one span after
// the other is counted in a table that fits the cache.
package reference

import (
	"context"
	"fmt"
	"slices"
)

// MaxPrime is the largest modulus that the arithmetic can take.
const MaxPrime = 1<<31 - 1

const (
	spanBits  = 15      // a span holds 2^15 consecutive residues
	roundSize = 1 << 24 // residues kept at a time: bounds memory at about 80 MB
	blockSize = 1 << 12 // cuts walked between two looks at the context
)

// A Fiber is the set of all cuts t, 0 <= t < P, with t! = Residue mod P. Cuts
// ascend; their number is the multiplicity.
type Fiber struct {
	P, Residue uint32
	Cuts       []uint32
}

// A Fingerprint is what any two kernels must agree on for one prime. With
// h = (P-1)/2 and D[a] the number of t in [0, h) with t! = a or -a mod P:
type Fingerprint struct {
	P             uint32
	HalfFactorial uint32 // h! mod P
	Cells         uint64 // number of a in [1, h] with D[a] > 0
	Squares       uint64 // sum of D[a]^2
}

// A Counter finds fibers. It keeps its memory from one prime to the next; the
// zero value is ready. It is not safe for concurrent use.
type Counter struct {
	table table
	spans [][]uint32
	block []uint32
}

// Largest returns the largest fiber of the prime p, 2 <= p <= MaxPrime; among
// equals the one with the smallest residue. Where its multiplicity is below
// atLeast the cuts are left out (Cuts is nil), which saves a second walk.
// The error is that of ctx, or says that p is out of range. Primality is the
// caller's promise.
func (c *Counter) Largest(ctx context.Context, p uint32, atLeast int) (f Fiber, multiplicity int, err error) {
	if err := checkModulus(p); err != nil {
		return Fiber{}, 0, err
	}
	y, err := c.count(ctx, p, p, tally{})
	if err != nil {
		return Fiber{}, 0, err
	}
	f = Fiber{P: p, Residue: y.key}
	if int(y.most) >= atLeast {
		fs, err := c.collect(ctx, p, []uint32{y.key})
		if err != nil {
			return Fiber{}, 0, err
		}
		f = fs[0]
	}
	return f, int(y.most), nil
}

// Fibers returns every fiber of at least atLeast >= 1 cuts, by ascending residue.
func (c *Counter) Fibers(ctx context.Context, p uint32, atLeast int) ([]Fiber, error) {
	if err := checkModulus(p); err != nil {
		return nil, err
	}
	y, err := c.count(ctx, p, p, tally{threshold: uint32(max(1, atLeast))})
	if err != nil || len(y.reached) == 0 {
		return nil, err
	}
	slices.Sort(y.reached)
	return c.collect(ctx, p, y.reached)
}

// Fiber returns the fiber of one residue; its Cuts are empty where t! never
// takes that value.
func (c *Counter) Fiber(ctx context.Context, p, residue uint32) (Fiber, error) {
	if err := checkModulus(p); err != nil {
		return Fiber{}, err
	}
	fs, err := c.collect(ctx, p, []uint32{residue})
	if err != nil {
		return Fiber{}, err
	}
	return fs[0], nil
}

// Fingerprint computes the fingerprint of p by counting min(r, p-r) over the
// first half of the cuts.
func (c *Counter) Fingerprint(ctx context.Context, p uint32) (Fingerprint, error) {
	if err := checkModulus(p); err != nil {
		return Fingerprint{}, err
	}
	half := (p - 1) / 2
	y, err := c.count(ctx, p, half, tally{})
	if err != nil {
		return Fingerprint{}, err
	}
	var factorial uint32
	err = c.walk(ctx, p, half+1, func(_ uint32, block []uint32) { factorial = block[len(block)-1] })
	if err != nil {
		return Fingerprint{}, err
	}
	return Fingerprint{P: p, HalfFactorial: factorial, Cells: y.distinct, Squares: y.squares}, nil
}

func checkModulus(p uint32) error {
	if p < 2 || p > MaxPrime || p > 2 && p%2 == 0 {
		return fmt.Errorf("reference: modulus %d: expected a prime from 2 to %d", p, MaxPrime)
	}
	return nil
}

// count walks the cuts 0 <= t < cuts and adds each key to y. The key is t! mod p
// when all p cuts are asked for, and min(t!, p - t!) for the first half.
func (c *Counter) count(ctx context.Context, p, cuts uint32, y tally) (tally, error) {
	for low := uint64(0); low < uint64(p) && cuts > 0; low += roundSize {
		if err := c.sortIntoSpans(ctx, p, cuts, uint32(low)); err != nil {
			return y, err
		}
		for i, span := range c.spans {
			if i%64 == 0 && ctx.Err() != nil {
				return y, ctx.Err()
			}
			c.table.reset(max(len(span), 1<<spanBits-1))
			c.table.addAll(span, &y)
			if cuts < p {
				c.table.sumUp(&y)
			}
		}
	}
	return y, nil
}

// sortIntoSpans walks the cuts below `cuts` and keeps the keys in
// [low, low+roundSize), appended to the span of their leading bits.
func (c *Counter) sortIntoSpans(ctx context.Context, p, cuts, low uint32) error {
	size := min(p-low, roundSize)
	n := int(size>>spanBits) + 1
	if len(c.spans) < n {
		c.spans = append(c.spans, make([][]uint32, n-len(c.spans))...)
	}
	for i := range c.spans {
		c.spans[i] = c.spans[i][:0]
	}
	spans, folded := c.spans, cuts < p
	return c.walk(ctx, p, cuts, func(_ uint32, block []uint32) {
		for _, k := range block {
			if folded {
				k = min(k, p-k)
			}
			if k -= low; k < size {
				s := k >> spanBits
				spans[s] = append(spans[s], k+low)
			}
		}
	})
}

// walk calls visit with successive blocks of residues: block[i] = (t+i)! mod p. The
// blocks cover the cuts 0 <= t < cuts in order.
func (c *Counter) walk(ctx context.Context, p, cuts uint32, visit func(t uint32, block []uint32)) error {
	if c.block == nil {
		c.block = make([]uint32, blockSize)
	}
	for walk := newChain(p); walk.t < cuts; {
		t, block := walk.t, c.block[:min(blockSize, cuts-walk.t)]
		walk.fill(block)
		visit(t, block)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// collect walks all cuts again and returns the fibers of the given distinct
// residues, in their order.
func (c *Counter) collect(ctx context.Context, p uint32, residues []uint32) ([]Fiber, error) {
	fibers := make([]Fiber, len(residues))
	var wanted table
	wanted.reset(4 * len(residues))
	for i, r := range residues {
		fibers[i] = Fiber{P: p, Residue: r}
		s := wanted.find(r)
		s.key, s.count = r, uint32(i)+1
	}
	err := c.walk(ctx, p, p, func(t uint32, block []uint32) {
		for i, r := range block {
			if s := wanted.find(r); s.count != 0 {
				f := &fibers[s.count-1]
				f.Cuts = append(f.Cuts, t+uint32(i))
			}
		}
	})
	return fibers, err
}

// Bytes is the memory that the Counter holds.
func (c *Counter) Bytes() int {
	n := 8*len(c.table.slots) + 4*len(c.block)
	for _, s := range c.spans {
		n += 4 * cap(s)
	}
	return n
}
