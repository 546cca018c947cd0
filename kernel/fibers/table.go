package fibers

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/erdos1056/erdos1056/kernel/residues"
)

// Names of the checks made by this package.
const (
	TableSum        = "table sum"
	CounterOverflow = "counter overflow"
)

// cellLimit is the count that a cell must not reach: the scan needs the top bit of
// every byte, and a counter that came this far is no longer believed.
const cellLimit = 128

// A table counts classes: cell a in [1, h] is D[a]. It is padded with empty cells to
// whole words of eight.
type table []byte

func (t table) count(keys []int32) {
	for _, k := range keys {
		t[k]++
	}
}

// sums are the totals of a table that fingerprints and checks are made of.
type sums struct {
	total   uint64 // sum of D[a]
	cells   uint64 // number of a with D[a] > 0
	squares uint64 // sum of D[a]^2
}

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// scan sums up the table and appends to found the cells a with D[a] >= threshold,
// 1 <= threshold < 128, in ascending order. It works on words of eight cells: with
// n(j) the number of cells of at least j, total is the sum of n(j), cells is
// n(1) and squares is the sum of (2j-1)·n(j) over j >= 1.
func (t table) scan(threshold int, found []uint32) (s sums, _ []uint32, err error) {
	reach := uint64(cellLimit-threshold) * lowBits
	for i := 0; i+8 <= len(t); i += 8 {
		word := binary.LittleEndian.Uint64(t[i:])
		if word&highBits != 0 {
			return s, found, fmt.Errorf("a cell near %d counted %d times or more", i, cellLimit)
		}
		n1, n2, n3 := atLeast(word, 1), atLeast(word, 2), atLeast(word, 3)
		s.cells += n1
		s.total += n1 + n2 + n3
		s.squares += n1 + 3*n2 + 5*n3
		if (word+(cellLimit-4)*lowBits)&highBits == 0 && threshold >= 4 {
			continue
		}
		for j := uint64(4); ; j++ {
			n := atLeast(word, j)
			if n == 0 {
				break
			}
			s.total += n
			s.squares += (2*j - 1) * n
		}
		for large := (word + reach) & highBits; large != 0; large &= large - 1 {
			found = append(found, uint32(i+bits.TrailingZeros64(large)/8))
		}
	}
	return s, found, nil
}

// atLeast returns the number of cells of the word that are j or more, for cells and j
// below 128: adding 128-j carries into the top bit of just those bytes.
func atLeast(word, j uint64) uint64 {
	return uint64(bits.OnesCount64((word + (cellLimit-j)*lowBits) & highBits))
}

// check holds the totals of the table of p against h.
func (s sums) check(p uint32) error {
	if want := uint64(p-1) / 2; s.total != want {
		return &residues.CheckError{P: p, Check: TableSum, Detail: fmt.Sprintf("the table holds %d counts, expected %d", s.total, want)}
	}
	return nil
}
