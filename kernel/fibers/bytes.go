package fibers

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// byteTable is a direct table: cell a is byte a. Indexed by the class itself it is a
// perfect hash: there is no probing and no key is stored.
type byteTable struct {
	functions byteFunctions
	memory    memory
	cells     []byte // h+1 and padding, a multiple of 64
	list      []cell
}

// byteFunctions are the machine's part; the portable code stands in where it is nil.
type byteFunctions struct {
	// add counts n keys, a positive multiple of 8.
	add func(table *byte, keys *int32, n int)
	// scan sums up groups of 64 bytes.
	scan scanFunction
}

func (t *byteTable) reset(p uint32) {
	t.cells = t.memory.cleared(int(p/2)/64*64 + 64)
}

func (t *byteTable) add(keys []int32) {
	if whole := len(keys) &^ 7; t.functions.add != nil && whole > 0 {
		raceRead(keys[:whole])
		t.functions.add(&t.cells[0], &keys[0], whole)
		keys = keys[whole:]
	}
	for _, k := range keys {
		t.cells[k]++
	}
}

func (t *byteTable) scan(threshold int, found []cell) (sums, []cell, error) {
	return t.scanPart(t.cells, threshold, found)
}

func (t *byteTable) memoryOf() []byte { return t.cells }

func (t *byteTable) perByte() int { return 1 }

func (t *byteTable) scanPart(cells []byte, threshold int, found []cell) (sums, []cell, error) {
	if t.functions.scan == nil {
		return scanBytes(cells, threshold, found)
	}
	if t.list == nil {
		t.list = make([]cell, listSize)
	}
	s, large, found := t.functions.scan.run(cells, 64, threshold, t.list, found)
	if large {
		return s, found, fmt.Errorf("a cell counted %d times or more", cellLimit)
	}
	return s, found, nil
}

// scanBytes sums up cells of one byte and lists those of at least threshold.
func scanBytes(cells []byte, threshold int, found []cell) (s sums, _ []cell, err error) {
	for i := 0; i+8 <= len(cells); i += 8 {
		w := word(binary.LittleEndian.Uint64(cells[i:]))
		if w&highBits != 0 {
			return s, found, fmt.Errorf("a cell from %d to %d counted %d times or more", i, i+7, cellLimit)
		}
		w.sumUp(&s)
		for large := w.atLeast(uint64(threshold)); large != 0; large &= large - 1 {
			j := bits.TrailingZeros64(large) / 8
			found = append(found, cell{uint32(i + j), w.byteAt(j)})
		}
	}
	return s, found, nil
}

func (t *byteTable) lookup(cells []cell) {
	for i, c := range cells {
		cells[i].count = uint32(t.cells[c.class])
	}
}

func (t *byteTable) bytes() int { return len(t.memory.bytes) + 8*len(t.list) }

func (t *byteTable) release() { t.memory.release() }
