package term

import (
	"math/big"
	"math/bits"
)

// An Expr is the handle of an expression.
type Expr uint32

// NoExpr stands for the absence of an expression.
const NoExpr Expr = 1<<32 - 1

// A Kind says how an expression is built.
type Kind uint8

// The kinds of expressions, with the meaning of the fields A, B and C of their
// node.
const (
	BVar   Kind = iota // bound variable: A de Bruijn index
	FVar               // free variable: A level, B type
	Sort               // universe: A Level
	Const              // constant: A Name, B Levels
	App                // application: A function, B argument
	Lambda             // A binder type, B body
	Pi                 // A binder type, B body
	Let                // A binder type, B value, C body
	Proj               // field of a structure: A type Name, B field index, C structure
	NatLit             // A index of the number
	StrLit             // A index of the string
	numKinds
)

// A BinderInfo says how an argument is written; it has no meaning to the
// kernel.
type BinderInfo uint8

// The binder annotations of Lean.
const (
	Default BinderInfo = iota
	Implicit
	StrictImplicit
	InstImplicit
)

// A Node is the content of an expression.
type Node struct {
	Kind     Kind
	Info     BinderInfo
	HasParam bool // a universe parameter occurs
	HasStr   bool // a string literal occurs
	hash     uint32
	Loose    uint32 // one more than the greatest loose bound variable, or 0
	FVars    uint32 // one more than the greatest free variable level, or 0
	A, B, C  uint32
	Name     Name // of the binder, for printing
}

const nodeSize = 32

// MaxBVar is the greatest de Bruijn index a store takes.
const MaxBVar = 1<<31 - 1

// At returns the content of e. The result is valid as long as e is; it must not
// be changed.
func (s *Store) At(e Expr) *Node {
	if uint32(e) < s.base {
		return &s.shared[e]
	}
	return &s.own[uint32(e)-s.base]
}

// Kind returns how e is built.
func (s *Store) Kind(e Expr) Kind { return s.At(e).Kind }

// Loose returns one more than the greatest loose de Bruijn index of e, or 0.
func (s *Store) Loose(e Expr) uint32 { return s.At(e).Loose }

// FVarRange returns one more than the greatest level of a free variable in e, or
// 0 if e has none.
func (s *Store) FVarRange(e Expr) uint32 { return s.At(e).FVars }

// ExprCount returns the number of expressions in the store and its parent.
func (s *Store) ExprCount() int { return int(s.base) + len(s.own) }

// BVar returns the bound variable with de Bruijn index i <= MaxBVar.
func (s *Store) BVar(i uint32) Expr {
	if i > MaxBVar {
		panic(&LimitError{"a de Bruijn index is above 2^31"})
	}
	return s.intern(Node{Kind: BVar, A: i, Loose: i + 1})
}

// FVar returns the free variable of the given level and type. The level must
// not be below the levels in the type.
func (s *Store) FVar(level uint32, name Name, typ Expr) Expr {
	t := s.At(typ)
	if t.FVars > level || t.Loose > 0 {
		panic("term: the type of a free variable is not closed below its level")
	}
	return s.intern(Node{Kind: FVar, A: level, B: uint32(typ), FVars: level + 1, HasParam: t.HasParam, HasStr: t.HasStr, Name: name})
}

// Sort returns the universe of level l.
func (s *Store) Sort(l Level) Expr {
	return s.intern(Node{Kind: Sort, A: uint32(l), HasParam: s.level(l).hasParam})
}

// Const returns the constant n at the given universe levels.
func (s *Store) Const(n Name, us Levels) Expr {
	return s.intern(Node{Kind: Const, A: uint32(n), B: uint32(us), HasParam: s.levelsHaveParam(us)})
}

// App returns f applied to a.
func (s *Store) App(f, a Expr) Expr {
	x, y := s.At(f), s.At(a)
	return s.intern(Node{Kind: App, A: uint32(f), B: uint32(a),
		HasParam: x.HasParam || y.HasParam, HasStr: x.HasStr || y.HasStr, Loose: max(x.Loose, y.Loose), FVars: max(x.FVars, y.FVars)})
}

// Apps returns f applied to args in order.
func (s *Store) Apps(f Expr, args ...Expr) Expr {
	for _, a := range args {
		f = s.App(f, a)
	}
	return f
}

// Lambda returns the function with the given binder and body.
func (s *Store) Lambda(name Name, info BinderInfo, typ, body Expr) Expr {
	return s.binder(Lambda, name, info, typ, body)
}

// Pi returns the dependent function type with the given binder and body.
func (s *Store) Pi(name Name, info BinderInfo, typ, body Expr) Expr {
	return s.binder(Pi, name, info, typ, body)
}

func (s *Store) binder(kind Kind, name Name, info BinderInfo, typ, body Expr) Expr {
	t, b := s.At(typ), s.At(body)
	return s.intern(Node{Kind: kind, Info: info, Name: name, A: uint32(typ), B: uint32(body),
		HasParam: t.HasParam || b.HasParam, HasStr: t.HasStr || b.HasStr, Loose: max(t.Loose, under(b.Loose)), FVars: max(t.FVars, b.FVars)})
}

// Let returns the expression that binds value in body.
func (s *Store) Let(name Name, typ, value, body Expr) Expr {
	t, v, b := s.At(typ), s.At(value), s.At(body)
	return s.intern(Node{Kind: Let, Name: name, A: uint32(typ), B: uint32(value), C: uint32(body),
		HasParam: t.HasParam || v.HasParam || b.HasParam, HasStr: t.HasStr || v.HasStr || b.HasStr,
		Loose: max(t.Loose, v.Loose, under(b.Loose)), FVars: max(t.FVars, v.FVars, b.FVars)})
}

// Proj returns field idx, counted from 0, of a structure of type typ.
func (s *Store) Proj(typ Name, idx uint32, structure Expr) Expr {
	t := s.At(structure)
	return s.intern(Node{Kind: Proj, A: uint32(typ), B: idx, C: uint32(structure),
		HasParam: t.HasParam, HasStr: t.HasStr, Loose: t.Loose, FVars: t.FVars})
}

func under(loose uint32) uint32 {
	if loose == 0 {
		return 0
	}
	return loose - 1
}

// Nat returns the literal of a natural number. The store may keep n; the caller
// must not change it.
func (s *Store) Nat(n *big.Int) Expr {
	if n.IsUint64() {
		return s.SmallNat(n.Uint64())
	}
	return s.intern(Node{Kind: NatLit, A: s.internNat(n), C: 1})
}

// SmallNat returns the literal of a number below 2^64.
func (s *Store) SmallNat(n uint64) Expr {
	return s.intern(Node{Kind: NatLit, A: uint32(n), B: uint32(n >> 32)})
}

// NatValue returns the number of a literal; the caller must not change it.
func (s *Store) NatValue(e Expr) *big.Int {
	n := s.At(e)
	if n.C == 0 {
		return new(big.Int).SetUint64(uint64(n.B)<<32 | uint64(n.A))
	}
	return s.nat(n.A)
}

func (s *Store) nat(i uint32) *big.Int {
	if i < s.natBase {
		return s.parent.nats[i]
	}
	return s.nats[i-s.natBase]
}

// internNat keeps a number of more than 64 bits. Numbers with the hash of
// another take the next free hash.
func (s *Store) internNat(n *big.Int) uint32 {
	words := n.Bits()
	h := uint64(len(words))
	for _, w := range words {
		h = (bits.RotateLeft64(h, 23) ^ uint64(w)) * 0x9e3779b97f4a7c15
	}
	if s.parent != nil {
		for k := h; ; k++ {
			i, ok := s.parent.natIndex[k]
			if !ok {
				break
			}
			if s.parent.nats[i].Cmp(n) == 0 {
				return i
			}
		}
	}
	for ; ; h++ {
		i, ok := s.natIndex[h]
		if !ok {
			break
		}
		if s.nats[i-s.natBase].Cmp(n) == 0 {
			return i
		}
	}
	s.budget.Take(int64(96 + 8*len(words)))
	s.nats = append(s.nats, n)
	i := s.natBase + uint32(len(s.nats)-1)
	s.natIndex[h] = i
	return i
}

// StrLit returns the literal of a string, which must be valid UTF-8.
func (s *Store) StrLit(text string) Expr {
	return s.intern(Node{Kind: StrLit, A: s.internString(text), HasStr: true})
}

// StrValue returns the string of a literal.
func (s *Store) StrValue(e Expr) string {
	i := s.At(e).A
	if i < s.stringBase {
		return s.parent.strings[i]
	}
	return s.strings[i-s.stringBase]
}

func (s *Store) internString(text string) uint32 {
	if s.parent != nil {
		if i, ok := s.parent.stringIndex[text]; ok {
			return i
		}
	}
	if i, ok := s.stringIndex[text]; ok {
		return i
	}
	s.budget.Take(int64(64 + len(text)))
	s.strings = append(s.strings, text)
	i := s.stringBase + uint32(len(s.strings)-1)
	s.stringIndex[text] = i
	return i
}

// Head returns the function at the left end of a chain of applications.
func (s *Store) Head(e Expr) Expr {
	n := s.At(e)
	for n.Kind == App {
		e = Expr(n.A)
		n = s.At(e)
	}
	return e
}

// Spine appends the arguments of e to args, first to last, and returns the
// function they are applied to.
func (s *Store) Spine(e Expr, args []Expr) (Expr, []Expr) {
	start := len(args)
	n := s.At(e)
	for n.Kind == App {
		args = append(args, Expr(n.B))
		e = Expr(n.A)
		n = s.At(e)
	}
	for i, j := start, len(args)-1; i < j; i, j = i+1, j-1 {
		args[i], args[j] = args[j], args[i]
	}
	return e, args
}

// ArgCount returns the number of arguments e applies its head to.
func (s *Store) ArgCount(e Expr) int {
	k := 0
	for n := s.At(e); n.Kind == App; n = s.At(Expr(n.A)) {
		k++
	}
	return k
}

func (s *Store) intern(n Node) Expr {
	s.Work++
	h := (uint64(n.A)*0x9e3779b97f4a7c15 ^ uint64(n.B)*0xc2b2ae3d27d4eb4f ^ uint64(n.C)*0x165667b19e3779f9 ^ uint64(n.Kind)<<57)
	h ^= h >> 29
	h *= 0xbf58476d1ce4e5b9
	n.hash = uint32(h >> 32)
	if s.parent != nil && s.mayBeShared(&n) {
		if e := s.parent.index.find(&n, s.shared, 0); e != NoExpr {
			return e
		}
	}
	slot, e := s.index.probe(&n, s.own, s.base)
	if e != NoExpr {
		return e
	}
	if len(s.own) == cap(s.own) {
		s.growNodes()
	}
	s.own = append(s.own, n)
	e = Expr(s.base + uint32(len(s.own)-1))
	s.index.insert(slot, n.hash, e)
	return e
}

// mayBeShared reports whether the parent can hold n: not if a part of n is the
// child's own.
func (s *Store) mayBeShared(n *Node) bool {
	switch n.Kind {
	case App, Lambda, Pi:
		return n.A < s.base && n.B < s.base
	case Let:
		return n.A < s.base && n.B < s.base && n.C < s.base
	case Proj:
		return n.C < s.base
	case Sort:
		return n.A < s.levelBase
	case Const:
		return n.A < s.nameBase && n.B < s.listBase
	case FVar:
		return n.B < s.base
	case NatLit:
		return n.C == 0 || n.A < s.natBase
	}
	return true
}

func (s *Store) growNodes() {
	c := max(1024, 2*cap(s.own))
	if cap(s.own) > 1<<20 {
		c = cap(s.own) + cap(s.own)/2
	}
	if uint64(s.base)+uint64(c) >= uint64(NoExpr) {
		panic(&LimitError{"2^32 terms"})
	}
	s.budget.Take(int64(c-cap(s.own)) * nodeSize)
	grown := make([]Node, len(s.own), c)
	copy(grown, s.own)
	s.own = grown
}

// pageSize is the size of a page of memory on most systems, in bytes.
const pageSize = 4 << 10

// exprIndex finds expressions by content: open addressing with linear probing,
// each slot holding a hash and a handle.
type exprIndex struct {
	slots   []uint64 // hash<<32 | handle+1; 0 is empty
	backing []uint64
	used    int
	budget  *Budget
}

func (x *exprIndex) init(size int, budget *Budget) {
	x.budget = budget
	budget.Take(int64(size) * 8)
	x.backing = make([]uint64, size)
	x.slots = x.backing
}

func (x *exprIndex) release() {
	x.budget.Take(-int64(len(x.backing)) * 8)
	x.backing, x.slots, x.used = nil, nil, 0
}

// reset empties the index and sizes it for about expect entries.
func (x *exprIndex) reset(expect int) {
	size := 1 << 10
	for size < 2*expect && size < len(x.backing) {
		size <<= 1
	}
	size = min(size, len(x.backing))
	x.slots = x.backing[:size]
	clear(x.slots)
	x.used = 0
}

func (n *Node) same(m *Node) bool {
	return n.A == m.A && n.B == m.B && n.C == m.C && n.Kind == m.Kind
}

func (x *exprIndex) find(n *Node, nodes []Node, base uint32) Expr {
	_, e := x.probe(n, nodes, base)
	return e
}

func (x *exprIndex) probe(n *Node, nodes []Node, base uint32) (int, Expr) {
	mask := uint32(len(x.slots) - 1)
	for i := n.hash & mask; ; i = (i + 1) & mask {
		slot := x.slots[i]
		if slot == 0 {
			return int(i), NoExpr
		}
		if uint32(slot>>32) == n.hash {
			e := uint32(slot) - 1
			if n.same(&nodes[e-base]) {
				return int(i), Expr(e)
			}
		}
	}
}

func (x *exprIndex) insert(slot int, hash uint32, e Expr) {
	x.slots[slot] = uint64(hash)<<32 | uint64(e+1)
	x.used++
	if 4*x.used > 3*len(x.slots) {
		x.grow()
	}
}

func (x *exprIndex) grow() {
	old := x.slots
	size := 2 * len(old)
	var fresh []uint64
	if size <= len(x.backing) {
		// The smaller table is a prefix of the larger one; move it aside.
		old = append([]uint64(nil), old...)
		fresh = x.backing[:size]
		clear(fresh)
	} else {
		x.budget.Take(int64(size-len(x.backing)) * 8)
		fresh = make([]uint64, size)
		// Looking for a free slot reads first. A fresh page that is read before
		// it is written is mapped twice, the second time at the cost of
		// interrupting all other cores.
		for i := 0; i < size; i += pageSize / 8 {
			fresh[i] = 0
		}
		x.backing = fresh
	}
	mask := uint32(size - 1)
	for _, slot := range old {
		if slot == 0 {
			continue
		}
		i := uint32(slot>>32) & mask
		for fresh[i] != 0 {
			i = (i + 1) & mask
		}
		fresh[i] = slot
	}
	x.slots = fresh
}
