package residues

import (
	"fmt"
	"strings"
)

// An Implementation is one way to generate residues: an arithmetic and a number of
// lanes. All of them yield the same residues.
type Implementation struct {
	Name  string // as --kernel names it
	Needs string // the processor features it uses, for messages

	available func() bool
	lanes     int
	odd       bool // the lanes must have an odd number of factors
	// products makes the first pass and returns the product of the factors
	// of each lane, in [0, p).
	products func(*Chain) []uint32
	// place puts every lane at its start.
	place func(*Chain)
	// generate fills keys, a whole number of steps: one residue of each lane a step.
	generate func(c *Chain, keys []int32, folded bool)
	// ends returns the residue that each lane has reached, in [0, p).
	ends func(*Chain) []uint32

	float floatFunctions // what a vector implementation is made of
}

// Available reports whether this machine can run the implementation.
func (i *Implementation) Available() bool { return i.available() }

// Generic is the portable implementation, available everywhere.
var Generic = &Implementation{
	Name:      "generic",
	Needs:     "nothing",
	available: func() bool { return true },
	lanes:     scalarWidth,
	products:  genericProducts,
	place:     genericPlace,
	generate:  genericGenerate,
	ends:      genericEnds,
}

// All lists the implementations compiled into this program, fastest first, whether or
// not this machine can run them.
func All() []*Implementation { return append(vectorImplementations(), Generic) }

// Best returns the fastest implementation that this machine can run.
func Best() *Implementation {
	for _, impl := range All() {
		if impl.Available() {
			return impl
		}
	}
	return Generic
}

// Find returns the named implementation; the error says which names there are, or
// which processor features are missing.
func Find(name string) (*Implementation, error) { return find(name, All()) }

func find(name string, among []*Implementation) (*Implementation, error) {
	var names []string
	for _, impl := range among {
		if impl.Name == name {
			if !impl.Available() {
				return nil, fmt.Errorf("this machine cannot run the kernel %q: it needs %s", name, impl.Needs)
			}
			return impl, nil
		}
		names = append(names, impl.Name)
	}
	return nil, fmt.Errorf("no kernel %q in this program; there are %s", name, strings.Join(names, ", "))
}
