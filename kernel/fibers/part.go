package fibers

import (
	"context"
	"fmt"

	"github.com/erdos1056/erdos1056/kernel/residues"
)

// A part is one goroutine's share of a prime: a part of the cuts, and where it counts
// them.
type part struct {
	chain  residues.Chain
	keys   []int32
	counts counts
	wanted classSet

	classes, scratch []uint32 // of the cells whose partners it finds
}

// generate calls visit with every block of the part, signed keys.
func (p *part) generate(ctx context.Context, visit func(*residues.Block)) error {
	return p.blocks(ctx, func(b *residues.Block) (bool, error) { return p.chain.Next(b, p.keys, false) }, visit)
}

// count counts the folded keys of the part. Each block goes through tamper first, if that is
// not nil.
func (p *part) count(ctx context.Context, tamper func([]int32) []int32) error {
	next := func(b *residues.Block) (bool, error) { return p.chain.Next(b, p.keys, true) }
	if table, ok := p.counts.(*nibbleTable); ok && tamper == nil {
		next = func(b *residues.Block) (bool, error) { return p.chain.NextInto(b, p.keys, table.cells) }
	}
	return p.blocks(ctx, next, func(b *residues.Block) {
		keys := b.Keys
		if tamper != nil {
			keys = tamper(keys)
		}
		p.counts.add(keys)
	})
}

func (p *part) blocks(ctx context.Context, next func(*residues.Block) (bool, error), visit func(*residues.Block)) error {
	var b residues.Block
	for {
		more, err := next(&b)
		if err != nil || !more {
			return err
		}
		visit(&b)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// each calls f for all parts at once and returns the first part's error.
func (s *Scanner) each(f func(i int, p *part) error) error {
	if len(s.parts) == 1 {
		return f(0, s.parts[0])
	}
	failures := make([]error, len(s.parts))
	sideBySide(len(s.parts), func(i int) { failures[i] = f(i, s.parts[i]) })
	for _, err := range failures {
		if err != nil {
			return err
		}
	}
	return nil
}

// checkSeams compares where each part ended with where the next one started, as the chain
// does with its lanes.
func (s *Scanner) checkSeams() error {
	for i, part := range s.parts[1:] {
		if end, start := s.parts[i].chain.End(), part.chain.Begin(); end != start {
			return &residues.CheckError{P: s.prime(), Check: residues.LaneChain, Detail: fmt.Sprintf("part %d of %d ended at residue %d, the next one started at %d", i, len(s.parts), end, start)}
		}
	}
	return nil
}

func (s *Scanner) prime() uint32  { return s.parts[0].chain.Prime() }
func (s *Scanner) unit() uint32   { return s.parts[0].chain.Unit() }
func (s *Scanner) middle() uint32 { return s.parts[len(s.parts)-1].chain.Middle() }
