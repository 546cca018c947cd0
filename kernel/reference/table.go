package reference

import "math/bits"

// A table counts how often each key occurs. It is one flat array with open
// addressing and linear probing, keyed by the residue itself; a slot is empty
// while its count is 0.
type table struct{ slots []slot } // a power of two of them

type slot struct{ key, count uint32 }

// reset empties the table and makes room for more than n distinct keys.
func (t *table) reset(n int) {
	if size := 1 << bits.Len(uint(n)); size > len(t.slots) {
		t.slots = make([]slot, size)
	} else {
		clear(t.slots)
	}
}

// find returns the slot of key: the one that holds it, or the empty one where it
// belongs. The hash is the key's low bits: keys that are counted together lie
// in one span of residues, so they hardly ever collide. The loop's condition
// "the slot is taken, and by another key" is one test without a branch, because
// whether a slot is taken is a coin toss.
func (t *table) find(key uint32) *slot {
	mask := uint32(len(t.slots) - 1)
	i := key & mask
	for (t.slots[i].key^key)&-min(t.slots[i].count, 1) != 0 {
		i = (i + 1) & mask
	}
	return &t.slots[i]
}

// A tally is what counting a stream of keys has shown so far.
type tally struct {
	most, key uint32   // the greatest count, and the smallest key that has it
	threshold uint32   // keys that reach this count are listed in reached
	reached   []uint32 // in no particular order
	distinct  uint64   // number of different keys
	squares   uint64   // sum of the squares of their counts
}

// addAll counts each key once more and notes the greatest count and the keys that
// reach the threshold.
func (t *table) addAll(keys []uint32, y *tally) {
	most, least, threshold := y.most, y.key, y.threshold
	for _, key := range keys {
		s := t.find(key)
		s.key = key
		s.count++
		n := s.count
		if n >= most && (n > most || key < least) {
			most, least = n, key
		}
		if n == threshold {
			y.reached = append(y.reached, key)
		}
	}
	y.most, y.key = most, least
}

// sumUp adds the number of keys in the table and the squares of their counts.
func (t *table) sumUp(y *tally) {
	for _, s := range t.slots {
		y.distinct += uint64(min(s.count, 1))
		y.squares += uint64(s.count) * uint64(s.count)
	}
}
