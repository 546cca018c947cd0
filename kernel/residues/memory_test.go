package residues

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"testing"
	"unsafe"
)

// edgeChain returns a chain whose lanes are as long as those of a started one, but start
// at residues at which arithmetic tends to break. It makes no first pass.
func edgeChain(impl *Implementation, p uint32) *Chain {
	c := &Chain{impl: impl, p: p, h: (p - 1) / 2}
	c.steps = (c.h - 1) / uint32(impl.lanes)
	edges := []uint32{1, p - 1, p / 2, p/2 + 1, 2, p - 2, p/2 - 1, p/2 + 2, p / 3, p / 4, 1 << 16, p - 1<<16}
	for j := range impl.lanes {
		c.start[j] = edges[j%len(edges)]
	}
	return c
}

// steps are the residues of the lanes of a chain: those of step i+1 are steps[i].
type steps [][]int32

// definition computes the first n steps of the lanes of c.
func definition(c *Chain, n int) steps {
	s := make(steps, n)
	for i := range s {
		s[i] = make([]int32, c.impl.lanes)
	}
	for j := range c.impl.lanes {
		x := uint64(c.start[j])
		for i := range s {
			x = x * (uint64(j)*uint64(c.steps) + uint64(i) + 1) % uint64(c.p)
			s[i][j] = balanced(uint32(x), c.p)
		}
	}
	return s
}

// keys returns the first n steps as generate stores them.
func (s steps) keys(n int, folded bool) []int32 {
	keys := slices.Concat(s[:n]...)
	foldAll(keys, folded)
	return keys
}

// generateInto starts the lanes of c again and generates into keys.
func generateInto(c *Chain, keys []int32, folded bool) {
	c.Rewind()
	c.impl.generate(c, keys, folded)
}

// A block of any length, at any place of the buffer, holds the residues and leaves what
// lies before and behind it alone.
func TestBlocksOfAnyLengthAndAlignment(t *testing.T) {
	const canary, margin = -1 << 31, 64
	testAll(t, func(t *testing.T, impl *Implementation) {
		buffer := make([]int32, margin+BlockSize+margin)
		for _, p := range append([]uint32{1_000_003}, edgePrimes...) {
			c := edgeChain(impl, p)
			longest := BlockSize / impl.lanes
			want := definition(c, longest)
			check := func(offset, n int, folded bool) {
				t.Helper()
				for i := range buffer {
					buffer[i] = canary
				}
				end := offset + n*impl.lanes
				generateInto(c, buffer[offset:end:end], folded)
				if !slices.Equal(buffer[offset:end], want.keys(n, folded)) {
					t.Fatalf("p = %d: %d steps at offset %d, folded %v: wrong residues", p, n, offset, folded)
				}
				for i, k := range buffer {
					if (i < offset || i >= end) && k != canary {
						t.Fatalf("p = %d: %d steps at offset %d wrote %d at %d", p, n, offset, k, i)
					}
				}
			}
			for n := 1; n <= longest; n++ {
				check(margin, n, n%2 == 0)
			}
			for offset := range margin {
				check(offset, 1, false)
				check(offset, 3, true)
				check(offset, longest, false)
			}
		}
	})
}

// Steps may be made in any portions: the state between calls is all there is.
// Keys that a chain counts itself are those that it would have handed out, in a table that
// ends at the last class.
func TestResiduesCountedAreThoseHandedOut(t *testing.T) {
	testAll(t, func(t *testing.T, impl *Implementation) {
		for _, p := range []uint32{3, 5, 127, 131, 257, 521, 1009, 65_537, 1_000_003, 134_217_757} {
			counted, want := make([]byte, p/4+1), make([]byte, p/4+1)
			keys := make([]int32, BlockSize)
			for _, run := range []struct {
				table []byte
				next  func(*Chain, *Block) (bool, error)
			}{
				{want, func(c *Chain, b *Block) (bool, error) { return c.Next(b, keys, true) }},
				{counted, func(c *Chain, b *Block) (bool, error) { return c.NextInto(b, keys, counted) }},
			} {
				var c Chain
				var b Block
				c.Start(impl, p, 1)
				for {
					more, err := run.next(&c, &b)
					if err != nil {
						t.Fatal(err)
					}
					if !more {
						break
					}
					for _, k := range b.Keys {
						run.table[k/2] += 1 << (k % 2 * 4)
					}
				}
			}
			if !slices.Equal(counted, want) {
				t.Errorf("p = %d: the chain counts otherwise", p)
			}
		}
	})
}

func TestPortionsAddUp(t *testing.T) {
	testAll(t, func(t *testing.T, impl *Implementation) {
		c := edgeChain(impl, 1_000_003)
		longest := BlockSize / impl.lanes
		want := definition(c, longest).keys(longest, false)
		for portion := 1; portion <= longest; portion++ {
			c.Rewind()
			keys := make([]int32, 0, BlockSize)
			for made := 0; made < longest; made += portion {
				n := min(portion, longest-made)
				start := len(keys)
				keys = keys[:start+n*impl.lanes]
				impl.generate(c, keys[start:], false)
				c.step += uint32(n)
			}
			if !slices.Equal(keys, want) {
				t.Fatalf("portions of %d steps: wrong residues", portion)
			}
		}
	})
}

// The first pass is cut into calls of at most maxSteps, or maxPairs.
func TestFirstPassesOfAnyLength(t *testing.T) {
	lengths := []uint32{1, 2, 3, 4, 5, 2*maxPairs - 1, 2*maxPairs + 1, 2*maxPairs + 3, 6*maxPairs + 1, maxSteps - 1, maxSteps, maxSteps + 1, 2*maxSteps - 1, 2 * maxSteps, 3*maxSteps + 1}
	testAll(t, func(t *testing.T, impl *Implementation) {
		for _, p := range edgePrimes {
			for _, n := range lengths {
				if impl.odd && n%2 == 0 {
					continue // such lanes are not made
				}
				c := Chain{impl: impl, p: p, h: (p - 1) / 2, steps: n}
				for j, got := range impl.products(&c) {
					want := uint64(1)
					for i := range uint64(n) {
						want = want * (uint64(j)*uint64(n) + i + 1) % uint64(p)
					}
					if uint64(got) != want {
						t.Fatalf("p = %d, %d steps: the product of lane %d is %d, want %d", p, n, j, got, want)
					}
				}
			}
		}
	})
}

// The generators know the layout of a floatLanes from a package of their own module.
func TestGeneratorsKnowTheLayout(t *testing.T) {
	constants := constantsOf(t, "_asm/layout/layout.go")
	var l floatLanes
	for name, want := range map[string]uintptr{
		"MaxLanes": uintptr(len(l.x)),
		"X":        unsafe.Offsetof(l.x),
		"Offset":   unsafe.Offsetof(l.offset),
		"P":        unsafe.Offsetof(l.p),
		"Inverse":  unsafe.Offsetof(l.inverse),
		"Index":    unsafe.Offsetof(l.index),
		"Odd":      unsafe.Offsetof(l.odd),
		"Square":   unsafe.Offsetof(l.square),
		"Size":     unsafe.Sizeof(l),
	} {
		if got, ok := constants[name]; !ok || got != int64(want) {
			t.Errorf("layout.%s is %d, in floatLanes it is %d", name, got, want)
		}
		delete(constants, name)
	}
	if len(constants) > 0 {
		t.Errorf("constants that nothing was compared with: %v", constants)
	}
}

// constantsOf evaluates the exported integer constants of a file.
func constantsOf(t *testing.T, file string) map[string]int64 {
	t.Helper()
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	pkg, err := new(types.Config).Check("layout", fset, []*ast.File{parsed}, nil)
	if err != nil {
		t.Fatal(err)
	}
	constants := map[string]int64{}
	for _, name := range pkg.Scope().Names() {
		if c, ok := pkg.Scope().Lookup(name).(*types.Const); ok {
			constants[name], _ = constant.Int64Val(c.Val())
		}
	}
	return constants
}
