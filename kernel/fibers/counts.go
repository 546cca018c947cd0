package fibers

import (
	"fmt"

	"github.com/erdos1056/erdos1056/kernel/residues"
)

// Names of the checks made by this package.
const (
	TableSum        = "table sum"
	CounterOverflow = "counter overflow"
)

// counts holds D[a], 1 <= a <= h, for one prime: how often each class was added.
type counts interface {
	// reset empties the counts and prepares them for the classes of p.
	reset(p uint32)
	// add counts folded keys.
	add(keys []int32)
	// scan sums everything up and appends to found the cells of at least threshold, in
	// no particular order; 1 <= threshold <= maxThreshold. It may be called again. The
	// error says that a counter overflowed, where that shows in the counter.
	scan(threshold int, found []cell) (sums, []cell, error)
	// lookup sets the count of every given cell. The count that a cell comes with is the
	// least that matters: for one below it, 0 may be set.
	lookup(cells []cell)
	// bytes is the memory held.
	bytes() int
	// release gives most of it back; reset takes it again.
	release()
}

// A cell is one class with its count.
type cell struct{ class, count uint32 }

// sums are the totals that fingerprints and checks are made of.
type sums struct {
	total   uint64 // sum of D[a]
	cells   uint64 // number of a with D[a] > 0
	squares uint64 // sum of D[a]^2
}

func (s *sums) add(t sums) {
	s.total += t.total
	s.cells += t.cells
	s.squares += t.squares
}

// check holds the total against h. A counter that wraps around loses its modulus from the
// total, or turns it into a 1 elsewhere: the total shows it.
func (s sums) check(p uint32) error {
	if want := uint64(p-1) / 2; s.total != want {
		return &residues.CheckError{P: p, Check: TableSum, Detail: fmt.Sprintf("the table holds %d counts, expected %d", s.total, want)}
	}
	return nil
}

// maxThreshold is the greatest count that every table can tell from greater ones.
const maxThreshold = 15
