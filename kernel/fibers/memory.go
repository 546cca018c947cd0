package fibers

import (
	"runtime"
	"unsafe"
)

const (
	hugePage = 2 << 20
	mapFrom  = hugePage / 4

	// From hugeFrom on, tables lie in huge pages: they are hit at random, and small pages
	// would miss the translation buffer at nearly every key. Below, the second-level buffer
	// reaches all of a table, and it is not worth waiting for the first touch of a huge
	// page, which may take a virtual machine several milliseconds.
	hugeFrom = 8 << 20
)

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

// grow replaces the memory by at least n zero bytes.
func (m *memory) grow(n int) {
	m.release()
	size := n + n/32 // the next primes are a little larger
	switch {
	case size < mapFrom:
		m.bytes = make([]byte, size)
	case size < hugeFrom:
		m.bytes = m.take(size)
	default:
		whole := m.take(size + 2*hugePage)
		start := -int(uintptr(unsafe.Pointer(&whole[0]))) & (hugePage - 1)
		adviseHugePages(whole[start : start+(size+hugePage-1)/hugePage*hugePage])
		m.bytes = whole[start : start+size : start+size]
	}
	touch(m.bytes)
}

// take returns n zero bytes, mapped if the system grants that.
func (m *memory) take(n int) []byte {
	whole, mapped := allocate(n)
	if mapped {
		m.mapping = &mapping{whole: whole}
		m.mapping.cleanup = runtime.AddCleanup(m.mapping, unmap, whole)
	}
	return whole
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
