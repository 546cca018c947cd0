package fibers

import (
	"slices"
	"unsafe"
)

// scanState is what the machine's scans read and write; they know its layout.
type scanState struct {
	sums                     // added to
	large     uint64         // not 0 if a byte reached cellLimit
	threshold uint64         // cells of at least this count are listed
	out       unsafe.Pointer // *cell: where the next listed cell goes
	room      uint64         // number of cells that fit behind out
}

// A scanFunction sums up groups of 64 bytes, as long as there is room to list all cells of a
// group, and returns how many it did. It gets the address of a scanState's first word.
type scanFunction func(table *byte, groups int, state *uint64) int

const (
	// scanGroups bounds the groups of one call, which cannot be interrupted, to some
	// ten microseconds.
	scanGroups = 1 << 11
	// listSize is the number of cells that a call may list.
	listSize = 1 << 12
)

// run scans a whole table with perGroup cells in 64 bytes, by way of a list of listSize
// cells. large tells that a byte reached cellLimit.
func (f scanFunction) run(table []byte, perGroup, threshold int, list, found []cell) (s sums, large bool, _ []cell) {
	state := scanState{threshold: uint64(threshold)}
	for group, groups := 0, len(table)/64; group < groups; {
		state.out, state.room = unsafe.Pointer(&list[0]), uint64(len(list))
		done := f(&table[64*group], min(scanGroups, groups-group), &state.total)
		listed := list[:len(list)-int(state.room)]
		if len(listed) > cap(found)-len(found) {
			found = slices.Grow(found, max(len(listed), len(found)))
		}
		for _, c := range listed {
			found = append(found, cell{c.class + uint32(perGroup*group), c.count})
		}
		group += done
	}
	return state.sums, state.large != 0, found
}
