package fibers

import (
	"slices"

	"github.com/erdos1056/erdos1056/kernel/residues"
)

// A classSet holds the classes that are looked for. Few classes: a small table of marks turns
// nearly all others away, and a search among the classes decides about the rest. Many: a
// bitmap of all classes is slower to look into, but exact.
type classSet struct {
	machine filters
	hashes  *filter              // the machine's filter for so many classes, or nil
	words   [maxMarkWords]uint32 // its marks
	marks   [1 << 13]byte        // marks indexed by the low bits of the class
	classes []uint32             // ascending
	many    bool                 // the bitmap holds them, and neither words nor marks do
	bitmap  []uint32             // bit a is set for the class a
	places  [residues.BlockSize]uint32
}

// filters is the machine's way to find the keys that may be in the set, or nothing.
type filters struct {
	hashes []filter // the cheaper first
	// bitmap is a filter's function for marks that are the bitmap, and n a positive multiple
	// of 32.
	bitmap func(places *uint32, keys *int32, n int, marks *uint32) int
}

// A filter turns away the keys of which a hash has no mark.
type filter struct {
	// function stores the places of those of n keys, a positive multiple of 16, whose class
	// passes all hashes, and returns their number.
	function func(places *uint32, keys *int32, n int, marks *uint32) int
	// Each hash takes the bits of the class from one of the firsts on: they choose one of
	// its words, a power of 2, and the next five a bit of that word.
	firsts []int
	words  int
	most   int // classes for which so few others pass that it is worth its while
}

const maxMarkWords = 4 * 32

// mark sets the bits of class a in the marks.
func (f filter) mark(marks []uint32, a uint32) {
	words := uint32(f.words)
	for i, first := range f.firsts {
		bits := a >> first
		marks[uint32(i)*words+bits%words] |= 1 << (bits / words % 32)
	}
}

const (
	manyClasses     = 1 << 5 // from so many on the machine's bitmap beats portable marks
	crowdingClasses = 1 << 8 // from so many on the portable bitmap does
)

// reset makes the set hold exactly the given ascending classes of p.
func (s *classSet) reset(classes []uint32, p uint32) {
	s.classes = classes
	s.hashes = nil
	for i := range s.machine.hashes {
		if f := &s.machine.hashes[i]; s.hashes == nil && len(classes) <= f.most {
			s.hashes = f
		}
	}
	s.many = s.hashes == nil && (len(classes) >= crowdingClasses || len(classes) >= manyClasses && s.machine.bitmap != nil)
	if s.many {
		s.resetBitmap(p)
		return
	}
	clear(s.words[:])
	clear(s.marks[:])
	for _, a := range classes {
		s.marks[a%uint32(len(s.marks))] = 1
		if s.hashes != nil {
			s.hashes.mark(s.words[:], a)
		}
	}
}

func (s *classSet) resetBitmap(p uint32) {
	if n := int(p/2)/32 + 1; n > len(s.bitmap) {
		s.bitmap = make([]uint32, n)
		touch(s.bitmap)
	} else {
		clear(s.bitmap)
	}
	for _, a := range s.classes {
		s.bitmap[a/32] |= 1 << (a % 32)
	}
}

// filter returns the places of the signed keys that may be in the set. They are valid until
// the next call.
func (s *classSet) filter(keys []int32) []uint32 {
	if s.many {
		return s.filterBitmap(keys)
	}
	n, done := 0, 0
	if whole := len(keys) &^ 15; whole > 0 && s.hashes != nil {
		raceRead(keys[:whole])
		n, done = s.hashes.function(&s.places[0], &keys[0], whole, &s.words[0]), whole
	}
	for i, k := range keys[done:] {
		if s.isMarked(classOf(k)) {
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

func (s *classSet) isMarked(a uint32) bool { return s.marks[a%uint32(len(s.marks))] != 0 }

func (s *classSet) inBitmap(a uint32) bool { return s.bitmap[a/32]>>(a%32)&1 != 0 }

// has reports whether the class of a key is in the set.
func (s *classSet) has(key int32) bool {
	a := classOf(key)
	if s.many {
		return s.inBitmap(a)
	}
	if !s.isMarked(a) {
		return false
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
