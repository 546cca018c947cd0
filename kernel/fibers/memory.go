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
		touch(memory)
		return memory, memory
	}
	size := n + n/32 // the next primes are a little larger
	raw := make([]byte, size+2*hugePage)
	start := -int(uintptr(unsafe.Pointer(&raw[0]))) & (hugePage - 1)
	adviseHugePages(raw[start : start+(size+hugePage-1)/hugePage*hugePage])
	memory = raw[start : start+size : start+size]
	touch(memory)
	return memory, memory[:n]
}

// touch writes to every page of new memory. Where the first access is a read, the system maps
// its page of zeros, and the write that follows costs a second fault and an interrupt
// to the other processors.
func touch[T any](memory []T) {
	const page = 4 << 10
	var zero T
	for i := 0; i < len(memory); i += page / int(unsafe.Sizeof(zero)) {
		memory[i] = zero
	}
}
