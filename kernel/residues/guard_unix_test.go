//go:build unix

package residues

import (
	"runtime/debug"
	"slices"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// guarded returns size bytes that end where a page begins that may not be touched.
func guarded(t *testing.T, size uintptr) unsafe.Pointer {
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

func guardedKeys(t *testing.T, n int) []int32 {
	return unsafe.Slice((*int32)(guarded(t, 4*uintptr(n))), n)
}

func TestNothingBehindTheKeysIsTouched(t *testing.T) {
	testAll(t, func(t *testing.T, impl *Implementation) {
		for _, p := range []uint32{1_000_003, 134_217_757} {
			var c Chain
			c.Start(impl, p, 1)
			longest := BlockSize / impl.lanes
			want := definition(&c, longest)
			for _, n := range []int{1, 2, longest - 1, longest} {
				keys := guardedKeys(t, n*impl.lanes)
				generateInto(&c, keys, true)
				if !slices.Equal(keys, want.keys(n, true)) {
					t.Errorf("p = %d: wrong residues in %d steps", p, n)
				}
			}
		}
	})
}

// The lanes of the last chain that fits before the guard end just there: what a Chain has
// behind its lanes is not for assembly.
func TestNothingBehindTheLanesIsTouched(t *testing.T) {
	testVectors(t, func(t *testing.T, impl *Implementation) {
		for _, p := range []uint32{1_000_003, 134_217_757} {
			var whole Chain
			whole.Start(impl, p, 1)
			want := definition(&whole, 2).keys(2, false)
			c := (*Chain)(guarded(t, unsafe.Offsetof(whole.float)+unsafe.Sizeof(whole.float)))
			c.impl, c.p, c.steps = impl, p, whole.steps
			impl.products(c)
			c.start = whole.start
			impl.place(c)
			keys := make([]int32, 2*impl.lanes)
			impl.generate(c, keys, false)
			if !slices.Equal(keys, want) {
				t.Errorf("p = %d: wrong residues", p)
			}
		}
	})
}

// One step more than the keys have room for must fault, or the tests above see nothing.
func TestGuardFaults(t *testing.T) {
	testAll(t, func(t *testing.T, impl *Implementation) {
		var c Chain
		c.Start(impl, 1_000_003, 1)
		keys := guardedKeys(t, impl.lanes)
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		defer func() {
			if recover() == nil {
				t.Error("a step behind the keys did not fault")
			}
		}()
		generateInto(&c, unsafe.Slice(&keys[0], 2*len(keys)), true)
	})
}
