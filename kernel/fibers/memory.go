package fibers

import (
	"runtime"
	"unsafe"
)

const hugePage = 2 << 20

// memory is what a table keeps from one prime to the next. It lies outside the heap of the
// garbage collector, which would otherwise take the first tables for a reason to collect:
// in a search of few primes that costs as much as a prime. The zero value is empty.
type memory struct {
	bytes   []byte
	mapping *mapping
}

// A mapping is memory that the system gave. Where nobody calls release, it is given back
// after its owner has become garbage; hence the owner must be kept alive while
// assembly uses it.
type mapping struct {
	whole   []byte
	cleanup runtime.Cleanup
}

// cleared returns n zero bytes.
func (m *memory) cleared(n int) []byte {
	if n > len(m.bytes) {
		m.grow(n)
	} else {
		clear(m.bytes[:n])
	}
	return m.bytes[:n]
}

// room returns all bytes, at least n of them, with any content.
func (m *memory) room(n int) []byte {
	if n > len(m.bytes) {
		m.grow(n)
	}
	return m.bytes
}

// grow replaces the memory by at least n zero bytes. They are aligned to huge pages and ask
// the system for them: a table is hit at random, and small pages would miss the
// translation buffer at nearly every key.
func (m *memory) grow(n int) {
	m.release()
	if n < hugePage/4 {
		m.bytes = make([]byte, n)
		touch(m.bytes)
		return
	}
	size := n + n/32 // the next primes are a little larger
	whole, mapped := allocate(size + 2*hugePage)
	start := -int(uintptr(unsafe.Pointer(&whole[0]))) & (hugePage - 1)
	adviseHugePages(whole[start : start+(size+hugePage-1)/hugePage*hugePage])
	m.bytes = whole[start : start+size : start+size]
	if mapped {
		m.mapping = &mapping{whole: whole}
		m.mapping.cleanup = runtime.AddCleanup(m.mapping, unmap, whole)
	}
	touch(m.bytes)
}

// release gives the memory back, of which nothing may be in use.
func (m *memory) release() {
	if m.mapping != nil {
		m.mapping.cleanup.Stop()
		unmap(m.mapping.whole)
	}
	*m = memory{}
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
