package residues

import (
	"fmt"
	"math/bits"
)

const (
	// MaxPrime is the largest modulus a Chain can take.
	MaxPrime = 1<<31 - 1

	// BlockSize is the largest number of residues in a Block. It bounds the work
	// done between two chances to stop, to well under a millisecond.
	BlockSize = 1 << 11

	maxLanes = 64
)

// A CheckError reports that a free check failed: the machine or the program made
// an error at prime P. Check names the check, Detail says what was compared.
type CheckError struct {
	P             uint32
	Check, Detail string
}

func (e *CheckError) Error() string {
	return fmt.Sprintf("p = %d: check %q failed: %s", e.P, e.Check, e.Detail)
}

// Names of the checks made by this package.
const (
	LaneChain = "lane chain"
	Wilson    = "Wilson"
)

// A Chain generates c·t! mod p for 0 <= t < h = (p-1)/2, block after block, or for one of
// several parts of these cuts. Start, or StartPart and Place, must be called before
// Next. A Chain is about 4 KiB, reusable, and not safe for concurrent use.
type Chain struct {
	impl *Implementation
	p, h uint32
	unit uint32 // c, in [1, p)

	low, high   uint32 // the part covers the cuts low < t <= high; the first one also t = 0
	first, last bool   // the first part; the last one, which goes on to the middle
	steps       uint32 // length n of a lane
	step        uint32 // steps generated so far in each lane
	stage       stage

	start [maxLanes + 1]uint32 // c·(low + j·n)! in [0, p), for j = 0 ... lanes

	float  floatLanes
	scalar scalarLanes

	end    uint32 // c·high! in [0, p), once the tail has been generated
	middle uint32 // c·h!, once the last part's tail has been generated

	// WrongLaneStart makes the next Start begin one lane at a wrong residue, for
	// tests that want to see the lane chain check fail.
	WrongLaneStart bool
}

type stage uint8

const (
	zeroStage stage = iota // t = 0
	laneStage              // low < t <= low + lanes·n
	tailStage              // low + lanes·n < t <= high, and the middle
	endStage
)

// A Block is a run of residues: Keys[i] belongs to the cut Cut(i). Signed keys s
// satisfy s = c·t! mod p and |s| <= h; folded keys are |s|.
type Block struct {
	Keys          []int32 // at most BlockSize, aliasing the Chain's caller's buffer
	first, stride uint32
	lanes         int
}

// Cut returns the cut t that Keys[i] belongs to.
func (b *Block) Cut(i int) uint32 {
	return b.first + uint32(i/b.lanes) + uint32(i%b.lanes)*b.stride
}

// Start prepares the chain of the odd prime p <= MaxPrime with unit 1 <= unit < p: it
// makes the first pass and places the lanes.
func (c *Chain) Start(impl *Implementation, p, unit uint32) {
	c.StartPart(impl, p, 0, 1)
	c.Place(unit, unit)
}

// StartPart makes the first pass for part i of n, 0 <= i < n, and returns the product of
// the part's factors: c·t! at the end of the part over c·t! at its beginning.
func (c *Chain) StartPart(impl *Implementation, p uint32, i, n int) (product uint32) {
	c.impl, c.p, c.h = impl, p, (p-1)/2
	c.low = uint32(uint64(c.h-1) * uint64(i) / uint64(n))
	c.high = uint32(uint64(c.h-1) * uint64(i+1) / uint64(n))
	c.first, c.last = i == 0, i == n-1
	c.steps = (c.high - c.low) / uint32(impl.lanes)
	if impl.odd && c.steps > 0 {
		c.steps -= 1 - c.steps%2
	}
	c.start[0] = 1
	if c.steps > 0 {
		for j, product := range impl.products(c) {
			c.start[j+1] = mulMod(c.start[j], product, p)
		}
	}
	product = c.laneEnd()
	for t := c.low + uint32(impl.lanes)*c.steps + 1; t <= c.high; t++ {
		product = mulMod(product, t, p)
	}
	return product
}

// Place puts the lanes at their starts, where c·t! at the beginning of the part is the given
// residue, in [1, p).
func (c *Chain) Place(unit, residue uint32) {
	c.unit = unit
	c.start[0] = residue // it was 1
	if c.steps > 0 {
		for j := range c.impl.lanes {
			c.start[j+1] = mulMod(c.start[j+1], residue, c.p)
		}
	}
	if c.WrongLaneStart && c.steps > 0 {
		c.WrongLaneStart = false
		c.start[1] = c.p - c.start[1]
	}
	c.Rewind()
}

// laneEnd is the residue behind the last lane.
func (c *Chain) laneEnd() uint32 {
	if c.steps == 0 {
		return c.start[0]
	}
	return c.start[c.impl.lanes]
}

// Rewind returns to the beginning of the part without a new first pass.
func (c *Chain) Rewind() {
	c.step, c.stage = 0, laneStage
	if c.first {
		c.stage = zeroStage
	}
	c.impl.place(c)
}

// Next generates the next block into keys, whose capacity must be BlockSize; folded
// selects |s| instead of s. It returns false after the last block. The error is a
// *CheckError.
func (c *Chain) Next(b *Block, keys []int32, folded bool) (bool, error) {
	switch c.stage {
	case zeroStage:
		c.stage = laneStage
		keys = keys[:1]
		keys[0] = balanced(c.unit, c.p)
		foldAll(keys, folded)
		*b = Block{Keys: keys, lanes: 1}
		return true, nil
	case laneStage:
		if c.step < c.steps {
			lanes := c.impl.lanes
			n := min(uint32(BlockSize/lanes), c.steps-c.step)
			keys = keys[:int(n)*lanes]
			c.impl.generate(c, keys, folded)
			*b = Block{Keys: keys, first: c.low + 1 + c.step, stride: c.steps, lanes: lanes}
			c.step += n
			return true, nil
		}
		c.stage = tailStage
		if err := c.checkLanes(); err != nil {
			return false, err
		}
		fallthrough
	case tailStage:
		c.stage = endStage
		keys, err := c.tail(keys[:0])
		if err != nil {
			return false, err
		}
		foldAll(keys, folded)
		*b = Block{Keys: keys, first: c.low + uint32(c.impl.lanes)*c.steps + 1, lanes: 1}
		return len(keys) > 0, nil
	}
	return false, nil
}

// NextInto is Next for folded keys that may count them itself, at less cost than storing and
// reading them: key a adds 1 to nibble a of the table, which has nibbles up to h, low halves of
// bytes first. The block then has no keys; those it has are left to the caller.
func (c *Chain) NextInto(b *Block, keys []int32, nibbles []byte) (bool, error) {
	count := c.impl.float.countNibbles
	if count == nil || c.p >= narrowLimit || c.stage != laneStage {
		return c.Next(b, keys, true)
	}
	n := min(uint32(BlockSize/c.impl.lanes), c.steps-c.step) / 2 * 2
	if n == 0 {
		return c.Next(b, keys, true)
	}
	raceWrite(nibbles[:1]) // which stands for the table
	count(&nibbles[0], &c.float.x[0], int(n))
	*b = Block{}
	c.step += n
	return true, nil
}

// checkLanes compares where each lane ended with where the next one started.
func (c *Chain) checkLanes() error {
	if c.steps == 0 {
		return nil
	}
	for j, end := range c.impl.ends(c) {
		if end != c.start[j+1] {
			return &CheckError{c.p, LaneChain, fmt.Sprintf("lane %d of %d ended at residue %d, the next one starts at %d", j, c.impl.lanes, end, c.start[j+1])}
		}
	}
	return nil
}

// tail generates the cuts behind the last lane; the last part moves on to the middle and
// checks it.
func (c *Chain) tail(keys []int32) ([]int32, error) {
	x := c.laneEnd()
	for t := c.low + uint32(c.impl.lanes)*c.steps + 1; t <= c.high; t++ {
		x = mulMod(x, t, c.p)
		keys = append(keys, balanced(x, c.p))
	}
	c.end = x
	if !c.last {
		return keys, nil
	}
	c.middle = mulMod(x, c.h, c.p)
	square, want := mulMod(c.middle, c.middle, c.p), mulMod(c.unit, c.unit, c.p)
	if c.h%2 == 0 {
		want = c.p - want
	}
	if square != want {
		return nil, &CheckError{c.p, Wilson, fmt.Sprintf("the square of the middle residue is %d, expected %d", square, want)}
	}
	return keys, nil
}

// Begin returns c·t! mod p at the beginning of the part, in [0, p).
func (c *Chain) Begin() uint32 { return c.start[0] }

// End returns c·t! mod p at the last cut of the part, in [0, p), where the next part must
// start. It is known after the last block.
func (c *Chain) End() uint32 { return c.end }

// Middle returns c·h! mod p in [0, p). It is known after the last block of the last part.
func (c *Chain) Middle() uint32 { return c.middle }

// Prime returns p.
func (c *Chain) Prime() uint32 { return c.p }

// Unit returns the factor c common to all residues.
func (c *Chain) Unit() uint32 { return c.unit }

func foldAll(keys []int32, folded bool) {
	if !folded {
		return
	}
	for i, k := range keys {
		keys[i] = max(k, -k)
	}
}

// balanced takes x in [0, p) to the representative of least absolute value.
func balanced(x, p uint32) int32 {
	if x > p/2 {
		return int32(x) - int32(p)
	}
	return int32(x)
}

// mulMod returns a·b mod p for a, b < 2^32 and a·b < 2^32·p.
func mulMod(a, b, p uint32) uint32 {
	hi, lo := bits.Mul32(a, b)
	return bits.Rem32(hi, lo, p)
}
