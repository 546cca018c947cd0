package fibers

import (
	"encoding/binary"
	"math/bits"
)

// nibbleTable is a direct table of 4-bit counters: cell a is the low half of byte a/2 if a
// is even, the high half if a is odd. It takes half the cache that bytes take, which is
// worth the few vector instructions for index and step. A counter that reaches 16 carries
// into its neighbour or is lost; either way the total falls short, by 15 or by 16, and the
// Scanner counts the prime again in bytes.
type nibbleTable struct {
	functions nibbleFunctions
	memory    memory
	cells     []byte // a multiple of 64 bytes
	list      []cell
}

// nibbleFunctions are the machine's part.
type nibbleFunctions struct {
	// add counts n keys, a positive multiple of width; nil leaves it to the portable code.
	add   func(table *byte, keys *int32, n int)
	width int
	// scan sums up groups of 64 bytes; nil leaves it to the portable code.
	scan scanFunction
}

func (t *nibbleTable) reset(p uint32) {
	t.cells = t.memory.cleared(int(p/4)/64*64 + 64)
}

func (t *nibbleTable) add(keys []int32) {
	whole := 0
	if t.functions.add != nil {
		whole = len(keys) / t.functions.width * t.functions.width
	}
	if whole > 0 {
		raceRead(keys[:whole])
		t.functions.add(&t.cells[0], &keys[0], whole)
	}
	for _, k := range keys[whole:] {
		t.cells[k/2] += 1 << (k % 2 * 4)
	}
}

func (t *nibbleTable) scan(threshold int, found []cell) (sums, []cell, error) {
	return t.scanPart(t.cells, threshold, found)
}

func (t *nibbleTable) memoryOf() []byte { return t.cells }

func (t *nibbleTable) perByte() int { return 2 }

func (t *nibbleTable) scanPart(cells []byte, threshold int, found []cell) (sums, []cell, error) {
	if t.functions.scan != nil {
		if t.list == nil {
			t.list = make([]cell, listSize)
		}
		s, _, found := t.functions.scan.run(cells, 128, threshold, t.list, found)
		return s, found, nil
	}
	const nibble = 0x0F0F0F0F0F0F0F0F
	var s sums
	for i := 0; i+8 <= len(cells); i += 8 {
		both := binary.LittleEndian.Uint64(cells[i:])
		for half, w := range [2]word{word(both & nibble), word(both >> 4 & nibble)} {
			w.sumUp(&s)
			for large := w.atLeast(uint64(threshold)); large != 0; large &= large - 1 {
				j := bits.TrailingZeros64(large) / 8
				found = append(found, cell{uint32(2*(i+j) + half), w.byteAt(j)})
			}
		}
	}
	return s, found, nil
}

func (t *nibbleTable) lookup(cells []cell) {
	for i, c := range cells {
		cells[i].count = uint32(t.cells[c.class/2] >> (c.class % 2 * 4) & 15)
	}
}

func (t *nibbleTable) bytes() int { return len(t.memory.bytes) + 8*len(t.list) }

func (t *nibbleTable) release() { t.memory.release() }
