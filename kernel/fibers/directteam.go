package fibers

import (
	"encoding/binary"
	"errors"
	"slices"
	"sync"
)

// A directTable is a table hit at random.
type directTable interface {
	counts
	// memoryOf is all cells, in groups of 64 bytes.
	memoryOf() []byte
	// perByte is the number of cells in a byte.
	perByte() int
	// scanPart is scan for some of the cells, which it numbers from 0 on.
	scanPart(cells []byte, threshold int, found []cell) (sums, []cell, error)
}

// directTeam is the tables of several goroutines that work on one prime together: each counts
// the keys of its part of the cuts in a table of its own; then each adds up a part of the
// cells of all tables and scans it.
type directTeam struct {
	tables []directTable
	added  bool     // the first table holds the sums
	found  [][]cell // by each of them
}

func (t *directTeam) reset(p uint32) {
	sideBySide(len(t.tables), func(i int) { t.tables[i].reset(p) })
	t.added = false
	t.found = slices.Grow(t.found[:0], len(t.tables))[:len(t.tables)]
}

// add counts keys in the first table. The members of a team add to their own.
func (t *directTeam) add(keys []int32) { t.tables[0].add(keys) }

func (t *directTeam) scan(threshold int, found []cell) (sums, []cell, error) {
	cells := t.tables[0].memoryOf()
	groups, n := len(cells)/64, len(t.tables)
	s, found, err := together(n, found, func(i int) (sums, []cell, error) {
		lo, hi := 64*(groups*i/n), 64*(groups*(i+1)/n)
		for _, other := range t.tables[1:] {
			if !t.added {
				addCells(cells[lo:hi], other.memoryOf()[lo:hi])
			}
		}
		s, part, err := t.tables[i].scanPart(cells[lo:hi], threshold, t.found[i][:0])
		t.found[i] = part
		for j := range part {
			part[j].class += uint32(lo * t.tables[0].perByte())
		}
		return s, part, err
	})
	t.added = true
	return s, found, err
}

// addCells adds the cells of one table to those of another, eight bytes at a time. A cell that
// wraps around carries into its neighbour, which the total shows.
func addCells(to, from []byte) {
	for i := 0; i+8 <= len(to); i += 8 {
		binary.LittleEndian.PutUint64(to[i:], binary.LittleEndian.Uint64(to[i:])+binary.LittleEndian.Uint64(from[i:]))
	}
}

func (t *directTeam) lookup(cells []cell) { t.tables[0].lookup(cells) }

func (t *directTeam) bytes() (n int) {
	for _, table := range t.tables {
		n += table.bytes()
	}
	return n
}

func (t *directTeam) release() {
	for _, table := range t.tables {
		table.release()
	}
}

// together calls scan for 0 <= i < n at once and puts the results together in that order.
func together(n int, found []cell, scan func(i int) (sums, []cell, error)) (s sums, _ []cell, err error) {
	parts := make([]struct {
		sums
		found []cell
		err   error
	}, n)
	sideBySide(n, func(i int) {
		p := &parts[i]
		p.sums, p.found, p.err = scan(i)
	})
	for _, p := range parts {
		s.add(p.sums)
		found = append(found, p.found...)
		err = errors.Join(err, p.err)
	}
	return s, found, err
}

// sideBySide calls f for 0 <= i < n at once.
func sideBySide(n int, f func(i int)) {
	var workers sync.WaitGroup
	for i := range n {
		workers.Go(func() { f(i) })
	}
	workers.Wait()
}
