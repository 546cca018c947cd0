//go:build unix

package residues

import (
	"runtime/debug"
	"slices"
	"testing"
	"unsafe"

	"github.com/erdos1056/erdos1056/kernel/internal/guard"
)

func TestNothingBehindTheKeysIsTouched(t *testing.T) {
	testAll(t, func(t *testing.T, impl *Implementation) {
		for _, p := range []uint32{1_000_003, 134_217_757} {
			c := edgeChain(impl, p)
			longest := BlockSize / impl.lanes
			want := definition(c, longest)
			for _, n := range []int{1, 2, longest - 1, longest} {
				keys := guard.Slice[int32](t, n*impl.lanes)
				generateInto(c, keys, true)
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
			free := edgeChain(impl, p)
			c := (*Chain)(guard.Behind(t, unsafe.Offsetof(free.float)+unsafe.Sizeof(free.float)))
			c.impl, c.p, c.steps, c.start = impl, p, free.steps, free.start
			keys := make([]int32, 2*impl.lanes)
			generateInto(c, keys, false)
			if !slices.Equal(keys, definition(free, 2).keys(2, false)) {
				t.Errorf("p = %d: wrong residues", p)
			}
			free.steps, c.steps = 3, 3
			if got, want := impl.products(c), impl.products(free); !slices.Equal(got, want) {
				t.Errorf("p = %d: products %v, elsewhere %v", p, got, want)
			}
		}
	})
}

// One step more than the keys have room for must fault, or the tests above see nothing.
func TestGuardFaults(t *testing.T) {
	testAll(t, func(t *testing.T, impl *Implementation) {
		c := edgeChain(impl, 1_000_003)
		keys := guard.Slice[int32](t, impl.lanes)
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		defer func() {
			if recover() == nil {
				t.Error("a step behind the keys did not fault")
			}
		}()
		generateInto(c, unsafe.Slice(&keys[0], 2*len(keys)), true)
	})
}
