package fibers

import "math/bits"

// A word holds eight counts below 128, one in each byte.
type word uint64

const (
	cellLimit = 128
	lowBits   = 0x0101010101010101
	highBits  = 0x8080808080808080
)

// atLeast returns a high bit for every count that is j or more, 1 <= j < 128: adding 128-j
// carries into the top bit of just those bytes.
func (w word) atLeast(j uint64) uint64 {
	return (uint64(w) + (cellLimit-j)*lowBits) & highBits
}

// sumUp adds the word's counts to s. With n(j) the number of counts of at least j, the
// total is the sum of n(j), the number of cells n(1), and the squares are the sum of
// (2j-1)·n(j) over j >= 1.
func (w word) sumUp(s *sums) {
	n1 := uint64(bits.OnesCount64(w.atLeast(1)))
	n2 := uint64(bits.OnesCount64(w.atLeast(2)))
	n3 := uint64(bits.OnesCount64(w.atLeast(3)))
	s.cells += n1
	s.total += n1 + n2 + n3
	s.squares += n1 + 3*n2 + 5*n3
	for j := uint64(4); w.atLeast(j) != 0; j++ {
		n := uint64(bits.OnesCount64(w.atLeast(j)))
		s.total += n
		s.squares += (2*j - 1) * n
	}
}

// byteAt returns count i.
func (w word) byteAt(i int) uint32 { return uint32(w >> (8 * i) & 0xFF) }
