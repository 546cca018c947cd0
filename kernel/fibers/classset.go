package fibers

import "github.com/erdos1056/erdos1056/kernel/residues"

// A classSet holds the classes that are looked for. A small table of marks, which
// stays in the first-level cache, turns nearly all others away; a bitmap of all
// classes decides about the rest.
type classSet struct {
	marks  [1 << 13]byte // indexed by the low bits of the class
	bitmap []uint64      // bit a is set for the class a
}

// reset makes the set hold exactly the given classes of p.
func (s *classSet) reset(classes []uint32, p uint32) {
	clear(s.marks[:])
	if n := int(p/2)/64 + 1; n > len(s.bitmap) {
		s.bitmap = make([]uint64, n)
	} else {
		clear(s.bitmap)
	}
	for _, a := range classes {
		s.marks[a%uint32(len(s.marks))] = 1
		s.bitmap[a/64] |= 1 << (a % 64)
	}
}

// filter returns the places of the keys that may be in the set, at most BlockSize of
// them.
func (s *classSet) filter(keys []int32, places *[residues.BlockSize]uint16) []uint16 {
	n := uint(0)
	for i, k := range keys {
		if s.marks[classOf(k)%uint32(len(s.marks))] != 0 {
			places[n%residues.BlockSize] = uint16(i)
			n++
		}
	}
	return places[:n]
}

// has reports whether the class of a key is in the set.
func (s *classSet) has(key int32) bool {
	a := classOf(key)
	return s.bitmap[a/64]>>(a%64)&1 != 0
}

// classOf returns |key| without a branch, since the sign is a coin toss.
func classOf(key int32) uint32 {
	sign := key >> 31
	return uint32((key ^ sign) - sign)
}
