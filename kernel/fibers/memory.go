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
	size := n + n/32 // the next primes are a little larger
	raw := make([]byte, size+2*hugePage)
	start := -int(uintptr(unsafe.Pointer(&raw[0]))) & (hugePage - 1)
	adviseHugePages(raw[start : start+(size+hugePage-1)/hugePage*hugePage])
	memory = raw[start : start+size : start+size]
	return memory, memory[:n]
}
