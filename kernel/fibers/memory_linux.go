package fibers

import "golang.org/x/sys/unix"

// allocate returns n zero bytes, mapped if the system grants that, else from the heap.
func allocate(n int) (whole []byte, mapped bool) {
	whole, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return make([]byte, n), false
	}
	return whole, true
}

// unmap gives back what was mapped. It fails for no mapping of allocate.
func unmap(whole []byte) { _ = unix.Munmap(whole) }

// adviseHugePages asks for huge pages. A refusal costs speed only.
func adviseHugePages(memory []byte) {
	_ = unix.Madvise(memory, unix.MADV_HUGEPAGE)
}
