//go:build unix

package fibers

import (
	"fmt"
	"runtime/debug"
	"slices"
	"testing"
	"unsafe"

	"github.com/erdos1056/erdos1056/kernel/internal/guard"
	"github.com/erdos1056/erdos1056/kernel/residues"
)

// equalKeys returns n keys of one class that end at the guard.
func equalKeys(t *testing.T, n int, class int32) []int32 {
	keys := guard.Slice[int32](t, n)
	for i := range keys {
		keys[i] = class
	}
	return keys
}

// Adding and scanning touch nothing behind the keys and nothing behind the cells: the last
// class is counted, in tables and with keys that end at a guard.
func TestNothingBehindKeysAndCellsIsTouched(t *testing.T) {
	const p = 12_289
	last := int32(p-1) / 2
	for name, table := range tables() {
		for _, n := range []int{1, 7, 8, 16, 63, 64, 128, 129, residues.BlockSize} {
			table.reset(p)
			switch table := table.(type) {
			case *byteTable:
				table.cells = guard.Slice[byte](t, len(table.cells))
			case *nibbleTable:
				table.cells = guard.Slice[byte](t, len(table.cells))
			case *bucketTable:
				table.store = guard.Slice[uint16](t, len(table.heads)*table.room)
			}
			table.add(equalKeys(t, n, last))
			sums, found, _ := table.scan(1, nil)
			if n < 16 && (sums.total != uint64(n) || len(found) != 1 || found[0] != (cell{uint32(last), uint32(n)})) {
				t.Errorf("%s: %d keys: %+v and %v", name, n, sums, found)
			}
			cells := []cell{{class: uint32(last)}}
			table.lookup(cells)
			if n < 16 && cells[0].count != uint32(n) {
				t.Errorf("%s: %d keys: looked up %d", name, n, cells[0].count)
			}
		}
	}
}

// A bucket that ends at a guard is counted and searched to its last key.
func TestNothingBehindABucketIsTouched(t *testing.T) {
	for _, impl := range residues.All() {
		if !impl.Available() {
			continue
		}
		table := &bucketTable{functions: machineBuckets(impl.Name)}
		for _, n := range []int{1, 8, 15, 16, 17, 100} {
			keys := guard.Slice[uint16](t, n)
			for i := range keys {
				keys[i] = 7
			}
			clear(table.cells[:])
			if table.addKeys(keys); int(table.cells[7]) != n {
				t.Errorf("impl=%s: %d keys counted as %d", impl.Name, n, table.cells[7])
			}
			if table.functions.equal == nil {
				continue
			}
			if got := table.equalKeys(keys, 7); got != n {
				t.Errorf("impl=%s: %d keys found as %d", impl.Name, n, got)
			}
		}
	}
}

// The filter reads no key and writes no place beyond the last, even if every key passes.
func TestNothingBehindTheFilterIsTouched(t *testing.T) {
	for _, impl := range residues.All() {
		if !impl.Available() {
			continue
		}
		machine := machineFilters(impl.Name)
		for _, f := range machine.hashes {
			marks := guard.Slice[uint32](t, len(f.firsts)*f.words)
			f.mark(marks, 5)
			testGuardedFilter(t, fmt.Sprintf("impl=%s, %d hashes", impl.Name, len(f.firsts)), f.function, marks)
		}
		if machine.bitmap != nil {
			bitmap := guard.Slice[uint32](t, 1)
			bitmap[0] = 1 << 5
			testGuardedFilter(t, fmt.Sprintf("impl=%s, bitmap", impl.Name), machine.bitmap, bitmap)
		}
	}
}

// testGuardedFilter lets keys of class 5 pass a filter with these marks.
func testGuardedFilter(t *testing.T, name string, filter func(places *uint32, keys *int32, n int, marks *uint32) int, marks []uint32) {
	for _, n := range []int{32, 64, residues.BlockSize} {
		places := guard.Slice[uint32](t, n)
		keys := equalKeys(t, n, -5)
		if got := filter(&places[0], &keys[0], n, &marks[0]); got != n || !slices.IsSorted(places) || places[n-1] != uint32(n-1) {
			t.Errorf("%s: %d of %d keys pass, the last at %d", name, got, n, places[n-1])
		}
	}
}

// Keys beyond the guard must fault, or the tests above see nothing.
func TestGuardFaults(t *testing.T) {
	for name, table := range tables() {
		table.reset(101)
		keys := equalKeys(t, 128, 5)
		func() {
			defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
			defer func() {
				if recover() == nil {
					t.Errorf("%s: keys behind the guard did not fault", name)
				}
			}()
			table.add(unsafe.Slice(&keys[0], 2*len(keys)))
		}()
	}
}
