// Package halffactorial computes h! mod p, h = (p-1)/2, for all primes of a list at once, without
// walking the chain of any of them: by an accumulating remainder tree, in time that is
// quasi-linear in the greatest prime. It shares neither code nor method with the kernels of the search
// or with the reference kernel, so it can say of every single chain of a campaign whether it
// was walked right to its middle.
//
// # The tree
//
// Let p_0 < p_1 < ... be the primes, h_i their halves, and a_i the product of the numbers
// above h_(i-1) up to h_i, so that h_i! = a_0 a_1 ... a_i. A node is a run of primes; M is the product of its
// primes and A that of its a_i. Given V, the product of all a_j ahead of the node modulo its M,
//
//	left child:   V mod M(left)
//	right child:  V · A(left) mod M(right)
//	leaf i:       V · a_i mod p_i = h_i!
//
// The numbers halve from level to level, so the time is that of a few products of the size of the root's M
// times the number of levels, or less where multiplication costs more than linear time. (E. Costa, R. Gerbicz, D. Harvey, A
// search for Wilson primes, Math. Comp. 83, 2014, after D. Harvey and D. Bernstein.)
package halffactorial

import (
	"context"
	"fmt"
	"math/big"
	"math/bits"
	"sync"
)

// Memory is a bound on the bytes that All takes for n primes: the products of all nodes, a level
// being n words of 32 bits, and as much again for what is in flight.
func Memory(n int) uint64 {
	return 2 * 4 * uint64(n) * uint64(bits.Len(uint(n))+8)
}

// All returns h! mod p, h = (p-1)/2, for each of the odd primes ps, which must ascend; a few subtrees
// are computed at the same time by as many threads. The error is ctx's, or tells which number of ps is
// even or out of order.
func All(ctx context.Context, ps []uint32, threads int) ([]uint32, error) {
	for i, p := range ps {
		if p%2 == 0 || i > 0 && p <= ps[i-1] {
			return nil, fmt.Errorf("number %d of the list: expected odd primes in ascending order, found %d", i, p)
		}
	}
	if len(ps) == 0 {
		return nil, nil
	}
	t := &tree{ctx: ctx, primes: ps, out: make([]uint32, len(ps)), slots: make(chan struct{}, max(threads, 1)-1)}
	t.remainders(t.build(0, len(ps)), new(big.Int).SetUint64(1))
	return t.out, ctx.Err()
}

type tree struct {
	ctx    context.Context
	primes []uint32
	out    []uint32
	slots  chan struct{} // room for one more goroutine
}

// A node is the run of primes from lo to hi-1 and their product.
type node struct {
	lo, hi      int
	product     *big.Int
	left, right *node
}

// leaf is the number of primes of a node that is not split further: their product, of at most 2 KiB, is
// divided in the schoolbook way, where halving gains nothing.
const leaf = 16

func (t *tree) build(lo, hi int) *node {
	n := &node{lo: lo, hi: hi, product: new(big.Int)}
	if hi-lo <= leaf || t.ctx.Err() != nil {
		n.product = product(hi-lo, func(i int) uint64 { return uint64(t.primes[lo+i]) })
		return n
	}
	mid := (lo + hi) / 2
	t.both(hi-lo, func() { n.left = t.build(lo, mid) }, func() { n.right = t.build(mid, hi) })
	n.product.Mul(n.left.product, n.right.product)
	return n
}

// both runs two tasks on runs of n primes together, side by side if there is a thread to spare and the
// work is worth one.
func (t *tree) both(n int, first, second func()) {
	if n < 1<<10 {
		first()
		second()
		return
	}
	select {
	case t.slots <- struct{}{}:
		var wait sync.WaitGroup
		wait.Go(func() { first(); <-t.slots })
		second()
		wait.Wait()
	default:
		first()
		second()
	}
}

// half is the number of factors of h! for prime i, and 0 for i = -1.
func (t *tree) half(i int) uint64 {
	if i < 0 {
		return 0
	}
	return uint64(t.primes[i]-1) / 2
}

// remainders fills in the results of a node; v is the product of everything up to the half of the prime
// ahead of it, modulo the node's product. It takes the node apart: products are dropped once they are used.
func (t *tree) remainders(n *node, v *big.Int) {
	if t.ctx.Err() != nil {
		return
	}
	if n.left == nil {
		t.leaf(n, v)
		return
	}
	left, right := n.left, n.right
	n.left, n.right, n.product = nil, nil, nil
	t.both(n.hi-n.lo,
		func() { t.remainders(left, new(big.Int).Rem(v, left.product)) },
		func() {
			w := new(big.Int).Rem(v, right.product)
			w = t.times(w, t.half(n.lo-1), t.half(left.hi-1), right.product)
			t.remainders(right, w)
		})
}

// times returns v times the product of the numbers above a up to b, modulo m. Factors are gathered into
// products about as long as m before they are multiplied and reduced.
func (t *tree) times(v *big.Int, a, b uint64, m *big.Int) *big.Int {
	perChunk := max(uint64(m.BitLen()/bits.Len64(b)), 8)
	for a < b && t.ctx.Err() == nil {
		n := min(perChunk, b-a)
		if rest := b - a - n; rest < perChunk/4 {
			n = b - a
		}
		from := a + 1
		c := product(int(n), func(i int) uint64 { return from + uint64(i) })
		v = c.Mul(c, v)
		v.Rem(v, m)
		a += n
	}
	return v
}

// leaf computes the results of a few primes one after the other.
func (t *tree) leaf(n *node, v *big.Int) {
	var r, p big.Int
	for i := n.lo; i < n.hi; i++ {
		q := uint64(t.primes[i])
		x := r.Rem(v, p.SetUint64(q)).Uint64()
		for f := t.half(n.lo-1) + 1; f <= t.half(i); f++ {
			x = x * f % q
		}
		t.out[i] = uint32(x)
	}
}

// product multiplies n numbers below 2^32 by binary splitting.
func product(n int, factor func(i int) uint64) *big.Int {
	if n > 64 {
		x := product(n/2, factor)
		y := product(n-n/2, func(i int) uint64 { return factor(n/2 + i) })
		return x.Mul(x, y)
	}
	z, word := new(big.Int).SetUint64(1), uint64(1)
	var w big.Int
	for i := range n {
		hi, lo := bits.Mul64(word, factor(i))
		if hi != 0 {
			z.Mul(z, w.SetUint64(word))
			lo = factor(i)
		}
		word = lo
	}
	return z.Mul(z, w.SetUint64(word))
}
