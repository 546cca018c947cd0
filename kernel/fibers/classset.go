package fibers

import (
	"slices"

	"github.com/erdos1056/erdos1056/kernel/residues"
)

// A classSet holds the classes that are looked for. Few classes: a small table of marks turns
// nearly all others away, and a search among the classes decides about the rest. Many: a
// bitmap of all classes is slower to look into, but exact.
type classSet struct {
	machine filter
	words   [64]uint32    // marks for the machine's filter
	marks   [1 << 13]byte // marks for the portable one, indexed by the low bits of the class
	classes []uint32      // ascending
	bitmap  []uint32      // bit a is set for the class a, if they are many
	places  [residues.BlockSize]uint32
}

// A filter is the machine's way to find the keys that may be in the set, or nothing.
type filter struct {
	// function stores the places of those of n keys, a positive multiple of 16, whose class
	// passes all hashes, and returns their number.
	function      func(places *uint32, keys *int32, n int, marks *uint32) int
	hashes, words int // number of hashes, and of the 32-bit words of each, a power of 2
	// bitmap is function for marks that are the bitmap, and n a positive multiple of 32.
	bitmap func(places *uint32, keys *int32, n int, marks *uint32) int
}

// mark sets the bits of class a in the marks. Hash i takes its word, and then the bit of
// that word, from the bits of a that follow those of hash i-1.
func (f filter) mark(marks []uint32, a uint32) {
	words := uint32(f.words)
	for i := range f.hashes {
		marks[uint32(i)*words+a%words] |= 1 << (a / words % 32)
		a /= 32 * words
	}
}

// serves reports whether the filter turns nearly all keys away where n classes are looked for:
// an eighth of the bits of each hash may be set.
func (f filter) serves(n int) bool { return f.function != nil && n <= 4*f.words }

const (
	manyClasses     = 1 << 5 // from so many on a bitmap beats the search
	crowdingClasses = 1 << 8 // from so many on it beats the marks, in portable code
)

// reset makes the set hold exactly the given ascending classes of p.
func (s *classSet) reset(classes []uint32, p uint32) {
	clear(s.words[:])
	clear(s.marks[:])
	s.classes = classes
	for _, a := range classes {
		s.machine.mark(s.words[:], a)
		s.marks[a%uint32(len(s.marks))] = 1
	}
	if len(classes) < manyClasses {
		return
	}
	if n := int(p/2)/32 + 1; n > len(s.bitmap) {
		s.bitmap = make([]uint32, n)
		touch(s.bitmap)
	} else {
		clear(s.bitmap)
	}
	for _, a := range classes {
		s.bitmap[a/32] |= 1 << (a % 32)
	}
}

// filter returns the places of the signed keys that may be in the set. They are valid until
// the next call.
func (s *classSet) filter(keys []int32) []uint32 {
	hashes := s.machine.serves(len(s.classes))
	if classes := len(s.classes); !hashes && classes >= manyClasses && (s.machine.bitmap != nil || classes >= crowdingClasses) {
		return s.filterBitmap(keys)
	}
	n, done := 0, 0
	if whole := len(keys) &^ 15; whole > 0 && hashes {
		raceRead(keys[:whole])
		n, done = s.machine.function(&s.places[0], &keys[0], whole, &s.words[0]), whole
	}
	for i, k := range keys[done:] {
		if s.marks[classOf(k)%uint32(len(s.marks))] != 0 {
			s.places[n%len(s.places)] = uint32(done + i)
			n++
		}
	}
	return s.places[:n]
}

// filterBitmap is filter for many classes, and exact.
func (s *classSet) filterBitmap(keys []int32) []uint32 {
	n, done := 0, 0
	if whole := len(keys) &^ 31; whole > 0 && s.machine.bitmap != nil {
		raceRead(keys[:whole])
		n, done = s.machine.bitmap(&s.places[0], &keys[0], whole, &s.bitmap[0]), whole
	}
	for i, k := range keys[done:] {
		if s.inBitmap(classOf(k)) {
			s.places[n%len(s.places)] = uint32(done + i)
			n++
		}
	}
	return s.places[:n]
}

func (s *classSet) inBitmap(a uint32) bool { return s.bitmap[a/32]>>(a%32)&1 != 0 }

// has reports whether the class of a key is in the set.
func (s *classSet) has(key int32) bool {
	a := classOf(key)
	if len(s.classes) >= manyClasses {
		return s.inBitmap(a)
	}
	_, ok := slices.BinarySearch(s.classes, a)
	return ok
}

// classOf returns |key| without a branch, since the sign is a coin toss.
func classOf(key int32) uint32 {
	sign := key >> 31
	return uint32((key ^ sign) - sign)
}

func (s *classSet) bytes() int { return len(s.marks) + 4*len(s.places) + 4*len(s.bitmap) }
