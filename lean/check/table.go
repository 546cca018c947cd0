package check

import "github.com/erdos1056/erdos1056/lean/term"

// A table maps expressions to expressions: open addressing with linear probing
// over slots of key+1 and value. Emptying it costs no more than its last use.
type table struct {
	slots   []uint64
	backing []uint64
	used    int
	budget  *term.Budget
}

const minTable = 1 << 8

func newTable(budget *term.Budget) table {
	budget.Take(8 * minTable)
	b := make([]uint64, minTable)
	return table{slots: b, backing: b, budget: budget}
}

// mix spreads a key over 64 bits; the upper half indexes slots.
func mix(key uint64) uint64 {
	key ^= key >> 32
	key *= 0x9e3779b97f4a7c15
	return key ^ key>>29
}

func (t *table) get(e term.Expr) (term.Expr, bool) {
	mask := uint64(len(t.slots) - 1)
	for i := mix(uint64(e)) >> 16 & mask; ; i = (i + 1) & mask {
		slot := t.slots[i]
		if slot == 0 {
			return 0, false
		}
		if uint32(slot>>32) == uint32(e)+1 {
			return term.Expr(uint32(slot)), true
		}
	}
}

// put adds an entry for e, replacing an earlier one.
func (t *table) put(e, value term.Expr) {
	if 4*t.used >= 3*len(t.slots) {
		t.grow()
	}
	mask := uint64(len(t.slots) - 1)
	i := mix(uint64(e)) >> 16 & mask
	for t.slots[i] != 0 && uint32(t.slots[i]>>32) != uint32(e)+1 {
		i = (i + 1) & mask
	}
	if t.slots[i] == 0 {
		t.used++
	}
	t.slots[i] = uint64(uint32(e)+1)<<32 | uint64(value)
}

func (t *table) grow() {
	old := append([]uint64(nil), t.slots...)
	t.slots = enlarge(&t.backing, 2*len(t.slots), t.budget)
	mask := uint64(len(t.slots) - 1)
	for _, slot := range old {
		if slot == 0 {
			continue
		}
		i := mix(slot>>32-1) >> 16 & mask
		for t.slots[i] != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = slot
	}
}

func (t *table) reset() {
	t.slots = shrink(t.backing, t.used)
	t.used = 0
}

func (t *table) release() {
	t.budget.Take(-8 * int64(len(t.backing)))
	t.backing, t.slots = nil, nil
}

// A pairSet is a set of pairs of different expressions.
type pairSet struct {
	slots   []uint64
	backing []uint64
	used    int
	budget  *term.Budget
}

func newPairSet(budget *term.Budget) pairSet {
	budget.Take(8 * minTable)
	b := make([]uint64, minTable)
	return pairSet{slots: b, backing: b, budget: budget}
}

// pairKey is never 0, because a and b differ.
func pairKey(a, b term.Expr) uint64 {
	if a > b {
		a, b = b, a
	}
	return uint64(a)<<32 | uint64(b)
}

func (t *pairSet) has(a, b term.Expr) bool {
	key := pairKey(a, b)
	mask := uint64(len(t.slots) - 1)
	for i := mix(key) >> 16 & mask; ; i = (i + 1) & mask {
		if t.slots[i] == key {
			return true
		}
		if t.slots[i] == 0 {
			return false
		}
	}
}

func (t *pairSet) add(a, b term.Expr) {
	if 4*t.used >= 3*len(t.slots) {
		old := append([]uint64(nil), t.slots...)
		t.slots = enlarge(&t.backing, 2*len(t.slots), t.budget)
		t.used = 0
		for _, key := range old {
			if key != 0 {
				t.insert(key)
			}
		}
	}
	t.insert(pairKey(a, b))
}

func (t *pairSet) insert(key uint64) {
	mask := uint64(len(t.slots) - 1)
	i := mix(key) >> 16 & mask
	for t.slots[i] != 0 {
		if t.slots[i] == key {
			return
		}
		i = (i + 1) & mask
	}
	t.slots[i] = key
	t.used++
}

func (t *pairSet) reset() {
	t.slots = shrink(t.backing, t.used)
	t.used = 0
}

func (t *pairSet) release() {
	t.budget.Take(-8 * int64(len(t.backing)))
	t.backing, t.slots = nil, nil
}

// enlarge returns an empty table of size slots, from *backing if that is large
// enough.
func enlarge(backing *[]uint64, size int, budget *term.Budget) []uint64 {
	if size > len(*backing) {
		budget.Take(8 * int64(size-len(*backing)))
		*backing = make([]uint64, size)
		return *backing
	}
	slots := (*backing)[:size]
	clear(slots)
	return slots
}

// shrink returns an empty table for about as many entries as were used, a part
// of backing.
func shrink(backing []uint64, used int) []uint64 {
	size := minTable
	for size < 2*used && size < len(backing) {
		size <<= 1
	}
	slots := backing[:size]
	clear(slots)
	return slots
}
