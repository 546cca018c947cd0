package fibers

import (
	"cmp"
	"fmt"
	"slices"
	"unsafe"

	"github.com/erdos1056/erdos1056/kernel/residues"
)

// bucketTable counts in two steps, for primes whose direct table would not stay in the
// cache: keys are first appended to the bucket of their upper bits, as 16-bit
// remainders; then one bucket after the other is counted in 64 KiB of cells. Keys of
// large primes spread evenly, so a bucket of 2^16 classes gets about 2^16 keys, with a
// standard deviation of 2^8.
type bucketTable struct {
	functions bucketFunctions
	memory    memory
	share     int        // this table gets one of so many parts of the keys; 0 stands for 1
	room      int        // keys that fit a bucket
	store     []uint16   // bucket b begins at b·room
	mates     bucketTeam // the tables whose buckets are counted together with this one's
	heads     []uint64   // where the next key of each bucket goes, as an index into store
	spare     int        // keys that may be added before a bucket can be full
	overflow  bool
	cells     [1 << 16]byte
	list      []cell
	order     []int

	// The last scan noted all cells of at least notedFrom in the buckets it counted, by
	// ascending class: looking into a bucket again is expensive.
	noted     []cell
	notedFrom int
}

const bucketBits = 16

// bucketRoom is the room of a bucket that gets one of `share` parts of the keys: its mean,
// sixteen standard deviations, and one batch of keys. It is an odd number of cache lines:
// the heads of all buckets advance at about the same pace, and at a distance of a
// multiple of the page size they would crowd into a few sets of the first-level cache.
func bucketRoom(share int) int {
	const line = 32 // keys
	need := 1<<bucketBits/max(share, 1) + 16<<(bucketBits/2) + residues.BlockSize
	return need/line*line + line + need/line%2*line
}

// nearBuckets is the number of buckets whose heads stay in a first-level cache of 512 lines
// beside everything else.
const nearBuckets = 400

// bucketFunctions are the machine's part; the portable code stands in where it is nil.
type bucketFunctions struct {
	// partition puts n keys, a positive multiple of 2, at their heads; partitionFar does
	// so for more than nearBuckets buckets.
	partition, partitionFar func(store *uint16, heads *uint64, keys *int32, n int)
	// add adds 1 to the byte at each of n keys, a positive multiple of 8.
	add func(table *byte, keys *uint16, n int)
	// take sums up and clears groups of 64 bytes.
	take scanFunction
	// equal counts the occurrences of a key among n, a positive multiple of 16.
	equal func(keys *uint16, n int, key uint16) int
}

func (t *bucketTable) reset(p uint32) {
	n := int(p/2)>>bucketBits + 1
	t.room = bucketRoom(t.share)
	memory := t.memory.room(2 * n * t.room)
	t.store = unsafe.Slice((*uint16)(unsafe.Pointer(&memory[0])), len(memory)/2)
	t.heads = slices.Grow(t.heads[:0], n)[:n]
	for b := range t.heads {
		t.heads[b] = uint64(b * t.room)
	}
	t.spare, t.overflow = 0, false
	if t.list == nil {
		t.list = make([]cell, listSize)
	}
}

func (t *bucketTable) add(keys []int32) {
	if t.spare < len(keys) {
		t.spare = t.leastRoom()
		t.overflow = t.overflow || t.spare < len(keys)
	}
	if t.overflow {
		return // the keys are lost, and scan says so
	}
	t.spare -= len(keys)
	partition := t.functions.partition
	if len(t.heads) > nearBuckets {
		partition = t.functions.partitionFar
	}
	if whole := len(keys) &^ 1; partition != nil && whole > 0 {
		raceRead(keys[:whole])
		partition(&t.store[0], &t.heads[0], &keys[0], whole)
		keys = keys[whole:]
	}
	for _, k := range keys {
		b := k >> bucketBits
		t.store[t.heads[b]] = uint16(k)
		t.heads[b]++
	}
}

// leastRoom is the number of keys that still fit the fullest bucket: any so many keys may be
// added before the heads must be looked at again.
func (t *bucketTable) leastRoom() int {
	least := t.room
	for b, head := range t.heads {
		least = min(least, (b+1)*t.room-int(head))
	}
	return least
}

// bucket returns the remainders of bucket b.
func (t *bucketTable) bucket(b int) []uint16 { return t.store[b*t.room : t.heads[b]] }

// countBucket adds the keys of bucket b, those of the mates included, to the cells.
func (t *bucketTable) countBucket(b int) {
	t.addKeys(t.bucket(b))
	for _, mate := range t.mates {
		if mate != t {
			t.addKeys(mate.bucket(b))
		}
	}
}

func (t *bucketTable) addKeys(keys []uint16) {
	if whole := len(keys) &^ 7; t.functions.add != nil && whole > 0 {
		t.functions.add(&t.cells[0], &keys[0], whole)
		keys = keys[whole:]
	}
	for _, k := range keys {
		t.cells[k]++
	}
}

func (t *bucketTable) scan(threshold int, found []cell) (sums, []cell, error) {
	return t.scanEvery(1, 0, threshold, found)
}

// scanEvery is scan for the buckets first, first + step, first + 2·step, ... Most cells that
// are looked up afterwards need a count just below the threshold.
func (t *bucketTable) scanEvery(step, first, threshold int, found []cell) (s sums, _ []cell, err error) {
	if t.overflow {
		return s, found, fmt.Errorf("a bucket of %d keys overflowed", t.room)
	}
	const rare = 5 // lower counts are too many to note
	t.noted, t.notedFrom = t.noted[:0], max(threshold-1, min(threshold, rare))
	for b := first; b < len(t.heads); b += step {
		t.countBucket(b)
		if err = t.takeCells(b, &s); err != nil {
			return s, found, fmt.Errorf("bucket %d: %w", b, err)
		}
	}
	for _, c := range t.noted {
		if int(c.count) >= threshold {
			found = append(found, c)
		}
	}
	return s, found, nil
}

// takeCells sums up and clears the cells, which hold bucket b, and notes the large ones.
func (t *bucketTable) takeCells(b int, s *sums) (err error) {
	first := len(t.noted)
	var more sums
	if t.functions.take == nil {
		more, t.noted, err = scanBytes(t.cells[:], t.notedFrom, t.noted)
		clear(t.cells[:])
	} else {
		var large bool
		more, large, t.noted = t.functions.take.run(t.cells[:], 64, t.notedFrom, t.list, t.noted)
		if large {
			err = fmt.Errorf("a cell counted %d times or more", cellLimit)
		}
	}
	for i := range t.noted[first:] {
		t.noted[first+i].class += uint32(b) << bucketBits
	}
	s.add(more)
	return err
}

// recall sets the count of a cell that needs no less than was noted, and reports whether it
// does. The cell's bucket is one that this table counted.
func (t *bucketTable) recall(c *cell) bool {
	if int(c.count) < t.notedFrom {
		return false
	}
	i, ok := slices.BinarySearchFunc(t.noted, c.class, func(n cell, class uint32) int { return cmp.Compare(n.class, class) })
	c.count = 0
	if ok {
		c.count = t.noted[i].count
	}
	return true
}

// lookup recalls what it can and visits the other cells bucket by bucket. A bucket with few of
// them is searched for each; otherwise it is counted again.
func (t *bucketTable) lookup(cells []cell) {
	t.order = t.order[:0]
	for i := range cells {
		if !t.counterOf(cells[i]).recall(&cells[i]) {
			t.order = append(t.order, i)
		}
	}
	slices.SortFunc(t.order, func(i, j int) int { return cmp.Compare(cells[i].class, cells[j].class) })
	for rest := t.order; len(rest) > 0; {
		b := int(cells[rest[0]].class >> bucketBits)
		n := 1
		for n < len(rest) && int(cells[rest[n]].class>>bucketBits) == b {
			n++
		}
		t.lookupBucket(b, cells, rest[:n])
		rest = rest[n:]
	}
}

// counterOf returns the table that counted the bucket of a cell.
func (t *bucketTable) counterOf(c cell) *bucketTable {
	if len(t.mates) == 0 {
		return t
	}
	return t.mates[int(c.class>>bucketBits)%len(t.mates)]
}

func (t *bucketTable) lookupBucket(b int, cells []cell, places []int) {
	const few = 8
	if t.functions.equal != nil && len(places) <= few {
		for _, i := range places {
			cells[i].count = t.occurrences(b, uint16(cells[i].class))
		}
		return
	}
	t.countBucket(b)
	for _, i := range places {
		cells[i].count = uint32(t.cells[uint16(cells[i].class)])
	}
	clear(t.cells[:])
}

// occurrences counts one remainder in bucket b.
func (t *bucketTable) occurrences(b int, key uint16) uint32 {
	n := t.equalKeys(t.bucket(b), key)
	for _, mate := range t.mates {
		if mate != t {
			n += t.equalKeys(mate.bucket(b), key)
		}
	}
	return uint32(n)
}

func (t *bucketTable) equalKeys(keys []uint16, key uint16) (n int) {
	if whole := len(keys) &^ 15; whole > 0 {
		n = t.functions.equal(&keys[0], whole, key)
		keys = keys[whole:]
	}
	for _, k := range keys {
		if k == key {
			n++
		}
	}
	return n
}

func (t *bucketTable) bytes() int {
	return len(t.memory.bytes) + 8*len(t.heads) + len(t.cells) + 8*len(t.list) + 8*cap(t.order) + 8*cap(t.noted)
}

func (t *bucketTable) release() { t.memory.release() }
