package fibers

import (
	"cmp"
	"context"
	"slices"

	"github.com/erdos1056/erdos1056/kernel/residues"
)

// survivors turns the large cells s.found of d into the fibers of at least m cuts.
func (s *Scanner) survivors(ctx context.Context, d counts, m int) ([]Fiber, error) {
	p, c := s.prime(), s.unit()
	middle := fold(s.middle(), p)
	s.findMiddle(d, middle, m)
	s.findPartners(d, mulMod(c, c, p), p, m)
	var classes []uint32
	for i, a := range s.found {
		b := s.partners[i]
		bound := int(a.count) + int(b.count)
		if a.class == middle {
			bound++
		}
		if bound >= m {
			classes = append(classes, a.class, b.class)
		}
	}
	if len(classes) == 0 {
		return nil, nil
	}
	for _, part := range s.parts {
		part.chain.Rewind()
	}
	return s.collect(ctx, classes, m)
}

// findMiddle adds the class of h! to s.found if its fibers can have m cuts. It is its own
// inverse, since h!² = ±1, and has one cut more than its cell counts.
func (s *Scanner) findMiddle(d counts, middle uint32, m int) {
	c := []cell{{middle, uint32(m / 2)}} // less does not matter
	if d.lookup(c); 2*int(c[0].count)+1 >= m {
		s.found = append(s.found, c...)
	}
}

// findPartners sets s.partners to the cells of the inverses, square/a, of the found ones. A
// partner that leaves the bound below m may have the count 0.
func (s *Scanner) findPartners(d counts, square, p uint32, m int) {
	n := len(s.found)
	s.partners = slices.Grow(s.partners[:0], n)[:n]
	_ = s.each(func(i int, part *part) error {
		lo, hi := n*i/len(s.parts), n*(i+1)/len(s.parts)
		part.invert(s.found[lo:hi], s.partners[lo:hi], square, p)
		return nil
	})
	for i, a := range s.found {
		s.partners[i].count = uint32(max(0, m-1-int(a.count)))
	}
	d.lookup(s.partners)
}

// invert sets the classes of the partners of some cells.
func (p *part) invert(cells, partners []cell, square, prime uint32) {
	p.classes = slices.Grow(p.classes[:0], len(cells))
	for _, a := range cells {
		p.classes = append(p.classes, a.class)
	}
	p.scratch = quotients(p.classes, square, prime, p.scratch)
	for i, b := range p.scratch {
		partners[i].class = fold(b, prime)
	}
}

// A hit is one first-half cut whose residue lies in a class that is looked for.
type hit struct {
	residue int32 // c·t! mod p, balanced
	t       uint32
}

// collect generates the residues once more, keeps the cuts of the given classes (which
// must hold with every class that of its inverse), and returns the fibers of at
// least m cuts among them, by ascending residue.
func (s *Scanner) collect(ctx context.Context, classes []uint32, m int) ([]Fiber, error) {
	slices.Sort(classes)
	classes = slices.Compact(classes)
	found := make([][]hit, len(s.parts))
	err := s.each(func(i int, part *part) error {
		part.wanted.machine = machineFilters(s.Implementation.Name)
		part.wanted.reset(classes, s.prime())
		return part.generate(ctx, func(b *residues.Block) {
			for _, place := range part.wanted.filter(b.Keys) {
				if k := b.Keys[place]; part.wanted.has(k) {
					found[i] = append(found[i], hit{k, b.Cut(int(place))})
				}
			}
		})
	})
	if err != nil {
		return nil, err
	}
	hits := slices.Concat(found...)
	slices.SortFunc(hits, func(x, y hit) int {
		return cmp.Or(cmp.Compare(x.residue, y.residue), cmp.Compare(x.t, y.t))
	})
	return s.assemble(hits, classes, m), nil
}

// assemble puts together the fibers of the residues a and -a of every class a.
func (s *Scanner) assemble(hits []hit, classes []uint32, m int) []Fiber {
	p, c := s.prime(), s.unit()
	square, plain := mulMod(c, c, p), inverse(c, p)
	partners := quotients(classes, square, p, nil)
	middle := balanced(s.middle(), p)
	var fs []Fiber
	for i, a := range classes {
		partner := balanced(partners[i], p) // c²/a
		for _, sign := range [2]int32{1, -1} {
			x := sign * int32(a)
			if cuts := fiberCuts(hits, x, sign*partner, middle, p, m); cuts != nil {
				r := x
				if r < 0 {
					r += int32(p)
				}
				fs = append(fs, Fiber{P: p, Residue: mulMod(uint32(r), plain, p), Cuts: cuts})
			}
		}
	}
	sortByResidue(fs)
	return fs
}

// fiberCuts returns the cuts of the residue x, whose inverse is y, or nil where they are
// fewer than m: those of x, the middle, and the mirrors of the odd cuts of y and
// of the even cuts of -y.
func fiberCuts(hits []hit, x, y, middle int32, p uint32, m int) []uint32 {
	own, plus, minus := run(hits, x), run(hits, y), run(hits, -y)
	if len(own)+len(plus)+len(minus)+1 < m {
		return nil
	}
	cuts := make([]uint32, 0, len(own)+len(plus)+len(minus)+1)
	for _, h := range own {
		cuts = append(cuts, h.t)
	}
	if x == middle {
		cuts = append(cuts, (p-1)/2)
	}
	for _, h := range plus {
		if h.t%2 == 1 {
			cuts = append(cuts, p-1-h.t)
		}
	}
	for _, h := range minus {
		if h.t%2 == 0 {
			cuts = append(cuts, p-1-h.t)
		}
	}
	if len(cuts) < m {
		return nil
	}
	slices.Sort(cuts)
	return cuts
}

// run returns the hits of one residue, a contiguous part of the sorted hits.
func run(hits []hit, residue int32) []hit {
	lo, _ := slices.BinarySearchFunc(hits, residue, func(h hit, r int32) int { return cmp.Compare(h.residue, r) })
	hi := lo
	for hi < len(hits) && hits[hi].residue == residue {
		hi++
	}
	return hits[lo:hi]
}
