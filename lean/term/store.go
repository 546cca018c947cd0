package term

import (
	"fmt"
	"math/big"
)

// A Store owns names, levels and expressions. Only one goroutine may use a
// store at a time, except that children of a store at rest may be used
// concurrently.
type Store struct {
	parent *Store
	budget *Budget

	names     []nameNode
	roots     []Name // of the names, their first components
	nameIndex map[nameNode]Name
	nameBase  uint32

	levels     []levelNode
	levelIndex map[levelNode]Level
	levelBase  uint32

	lists       []levelsNode
	listData    []Level
	levelsIndex map[string]Levels
	listBase    uint32

	nats     []*big.Int
	natIndex map[uint64]uint32
	natBase  uint32

	strings     []string
	stringIndex map[string]uint32
	stringBase  uint32

	shared []Node // the parent's expressions
	own    []Node
	base   uint32
	index  exprIndex

	memo  memo
	depth int
	// Work counts the terms made or looked up since the last reset.
	Work int64
	// MaxDepth bounds the depth of recursion over terms and levels.
	MaxDepth int
}

// DefaultDepth is the bound on recursion depth of a new store.
const DefaultDepth = 1 << 20

// NewStore returns an empty store that accounts for its memory in budget, which
// may be nil.
func NewStore(budget *Budget) *Store {
	s := &Store{budget: budget, MaxDepth: DefaultDepth}
	s.nameIndex = map[nameNode]Name{}
	s.levelIndex = map[levelNode]Level{}
	s.levelsIndex = map[string]Levels{}
	s.natIndex = map[uint64]uint32{}
	s.stringIndex = map[string]uint32{}
	s.names, s.roots = append(s.names, nameNode{}), append(s.roots, Anonymous)
	s.levels = append(s.levels, levelNode{size: 1})
	s.levelIndex[levelNode{size: 1}] = Zero
	s.lists = append(s.lists, levelsNode{})
	s.index.init(1<<12, budget)
	return s
}

// emptied returns an empty map, m itself unless that is large: clearing a map
// costs as much as its greatest size ever.
func emptied[K comparable, V any](m map[K]V) map[K]V {
	if m == nil || len(m) > 1<<12 {
		return map[K]V{}
	}
	clear(m)
	return m
}

// Child returns an empty store on top of s. s must not change while the child
// is in use; after a change, [Store.Reset] makes the child usable again.
func (s *Store) Child() *Store {
	if s.parent != nil {
		panic("term: a child store has no children")
	}
	c := &Store{parent: s, budget: s.budget, MaxDepth: s.MaxDepth}
	c.index.init(1<<10, s.budget)
	c.Reset()
	return c
}

// Reset drops everything a child store added and adopts what its parent has
// now. Handles made by the child become invalid.
func (s *Store) Reset() {
	p := s.parent
	s.names, s.roots = s.names[:0], s.roots[:0]
	s.levels = s.levels[:0]
	s.lists = s.lists[:0]
	s.listData = s.listData[:0]
	clear(s.nats)
	s.nats = s.nats[:0]
	s.strings = s.strings[:0]
	s.nameIndex = emptied(s.nameIndex)
	s.levelIndex = emptied(s.levelIndex)
	s.levelsIndex = emptied(s.levelsIndex)
	s.natIndex = emptied(s.natIndex)
	s.stringIndex = emptied(s.stringIndex)
	s.nameBase = uint32(len(p.names))
	s.levelBase = uint32(len(p.levels))
	s.listBase = uint32(len(p.lists))
	s.natBase = uint32(len(p.nats))
	s.stringBase = uint32(len(p.strings))
	s.shared = p.own
	s.base = uint32(len(p.own))
	s.index.reset(len(s.own))
	if cap(s.own) > 1<<16 && len(s.own) < cap(s.own)/8 {
		s.budget.Take(-int64(cap(s.own)) * nodeSize)
		s.own = nil
	}
	s.own = s.own[:0]
	s.depth = 0
	s.Work = 0
}

// Release gives the memory of a child back to its budget; the store must not be
// used afterwards.
func (s *Store) Release() {
	s.budget.Take(-int64(cap(s.own)) * nodeSize)
	s.own = nil
	s.index.release()
	s.memo.release(s.budget)
}

// Charge accounts for n bytes that whoever fills the store holds for it.
func (s *Store) Charge(n int64) { s.budget.Take(n) }

func (s *Store) enter() {
	s.depth++
	if s.depth > s.MaxDepth {
		panic(&LimitError{fmt.Sprintf("a term is nested more than %d deep", s.MaxDepth)})
	}
}

func (s *Store) leave() { s.depth-- }
