package term

// memo remembers results of one traversal. Entries of earlier traversals are
// recognised by their stamp and need no clearing. A memo in use by one
// traversal must not be used by another, see [Store.startMemo].
type memo struct {
	slots []memoSlot
	stamp uint32
	used  int
}

type memoSlot struct {
	key   uint64
	stamp uint32
	value Expr
}

const memoSlotSize = 16

func (s *Store) startMemo() *memo {
	m := &s.memo
	m.used = 0
	m.stamp++
	if m.stamp == 0 {
		clear(m.slots)
		m.stamp = 1
	}
	if len(m.slots) == 0 {
		s.budget.Take(256 * memoSlotSize)
		m.slots = make([]memoSlot, 256)
	}
	return m
}

func memoKey(e Expr, offset uint32) uint64 { return uint64(offset)<<32 | uint64(e) }

func memoHash(key uint64) uint32 {
	h := key * 0x9e3779b97f4a7c15
	return uint32(h >> 32)
}

func (m *memo) get(key uint64) (Expr, bool) {
	mask := uint32(len(m.slots) - 1)
	for i := memoHash(key) & mask; ; i = (i + 1) & mask {
		slot := &m.slots[i]
		if slot.stamp != m.stamp {
			return 0, false
		}
		if slot.key == key {
			return slot.value, true
		}
	}
}

func (m *memo) put(key uint64, value Expr, budget *Budget) {
	if 4*m.used >= 3*len(m.slots) {
		m.grow(budget)
	}
	m.used++
	mask := uint32(len(m.slots) - 1)
	i := memoHash(key) & mask
	for m.slots[i].stamp == m.stamp {
		i = (i + 1) & mask
	}
	m.slots[i] = memoSlot{key, m.stamp, value}
}

func (m *memo) grow(budget *Budget) {
	old := m.slots
	budget.Take(int64(len(old)) * memoSlotSize)
	m.slots = make([]memoSlot, 2*len(old))
	mask := uint32(len(m.slots) - 1)
	for _, slot := range old {
		if slot.stamp != m.stamp {
			continue
		}
		i := memoHash(slot.key) & mask
		for m.slots[i].stamp == m.stamp {
			i = (i + 1) & mask
		}
		m.slots[i] = slot
	}
}

func (m *memo) release(budget *Budget) {
	budget.Take(-int64(len(m.slots)) * memoSlotSize)
	m.slots = nil
}
