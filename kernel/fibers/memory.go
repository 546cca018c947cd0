package fibers

import "unsafe"

const hugePage = 2 << 20

// cleared returns a table of n zero bytes, taken from memory if that is large enough, and
// the memory to keep. New memory is aligned to huge pages and asks the system for
// them: a table is hit at random, and small pages would miss the translation
// buffer at nearly every key.
func cleared(memory []byte, n int) (kept, table []byte) {
	if n <= len(memory) {
		clear(memory[:n])
		return memory, memory[:n]
	}
	if n < hugePage/4 {
		memory = make([]byte, n)
		return memory, memory
	}
	raw := make([]byte, n+2*hugePage)
	start := -int(uintptr(unsafe.Pointer(&raw[0]))) & (hugePage - 1)
	adviseHugePages(raw[start : start+(n+hugePage-1)/hugePage*hugePage])
	memory = raw[start : start+n : start+n]
	return memory, memory
}
