//go:build unix

// Package guard gives tests memory with a wall behind it, to see that assembly touches nothing
// beyond its slices.
package guard

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Behind returns size bytes of zeros that end where a page begins that may not be touched. They
// are gone after the test.
func Behind(t testing.TB, size uintptr) unsafe.Pointer {
	t.Helper()
	page := uintptr(unix.Getpagesize())
	used := (size + page - 1) / page * page
	memory, err := unix.Mmap(-1, 0, int(used+page), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Munmap(memory); err != nil {
			t.Error(err)
		}
	})
	if err := unix.Mprotect(memory[used:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	return unsafe.Pointer(&memory[used-size])
}

// Slice is Behind for n values.
func Slice[T any](t testing.TB, n int) []T {
	t.Helper()
	var value T
	return unsafe.Slice((*T)(Behind(t, uintptr(n)*unsafe.Sizeof(value))), n)
}
