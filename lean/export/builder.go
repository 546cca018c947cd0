package export

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/erdos1056/erdos1056/lean/term"
)

// builder turns the records of a file, whose indices may come in any order and
// with gaps, into terms of the store and declarations of the file.
type builder struct {
	file   *File
	store  *term.Store
	line   int // being read, from 1
	names  indexMap
	levels indexMap
	exprs  indexMap
	text   bool         // the text format, in which declarations come in any order
	blocks []*openBlock // of the text format, whose lines come apart
	member map[term.Name]*openBlock
}

func newBuilder(f *File) *builder {
	b := &builder{file: f, store: f.Store, member: map[term.Name]*openBlock{}}
	b.names = indexMap{what: "name", store: b.store, dense: []uint32{1}}
	b.levels = indexMap{what: "level", store: b.store, dense: []uint32{1}}
	b.exprs = indexMap{what: "expression", store: b.store}
	return b
}

// An indexMap maps the indices of a file to handles. Indices that follow the
// others closely are kept in a slice, stray ones in a map.
type indexMap struct {
	what   string
	store  *term.Store // is charged for the memory
	dense  []uint32    // handle+1; 0 is undefined
	sparse map[uint64]uint32
}

// maxIndex bounds the indices of a file.
const maxIndex = 1<<32 - 2

const (
	maxGap      = 16 // indices left out that are kept in the slice
	sparseEntry = 48 // bytes of an index in the map, about
)

// grow makes room for n indices in the slice.
func (m *indexMap) grow(n uint64) {
	if n <= uint64(cap(m.dense)) {
		return
	}
	c := max(n, uint64(cap(m.dense))*3/2, 1<<10)
	m.store.Charge(4 * int64(c-uint64(cap(m.dense))))
	grown := make([]uint32, len(m.dense), c)
	copy(grown, m.dense)
	m.dense = grown
}

func (m *indexMap) find(i uint64) (uint32, bool) {
	if i < uint64(len(m.dense)) && m.dense[i] != 0 {
		return m.dense[i] - 1, true
	}
	h, ok := m.sparse[i]
	return h, ok
}

func (m *indexMap) get(i uint64) (uint32, error) {
	if h, ok := m.find(i); ok {
		return h, nil
	}
	return 0, malformed("%s %d is not defined before its use", m.what, i)
}

func (m *indexMap) define(i uint64, handle uint32) error {
	if i > maxIndex {
		return malformed("%s index %d is above %d", m.what, i, uint64(maxIndex))
	}
	if _, ok := m.find(i); ok {
		return malformed("%s %d is defined twice", m.what, i)
	}
	switch n := uint64(len(m.dense)); {
	case i == n:
		m.grow(i + 1)
		m.dense = append(m.dense, handle+1)
	case i < n:
		m.dense[i] = handle + 1
	case i < n+maxGap:
		m.grow(i + 1)
		for uint64(len(m.dense)) < i {
			m.dense = append(m.dense, 0)
		}
		m.dense = append(m.dense, handle+1)
	default:
		m.store.Charge(sparseEntry)
		if m.sparse == nil {
			m.sparse = map[uint64]uint32{}
		}
		m.sparse[i] = handle
	}
	return nil
}

func (b *builder) name(i uint64) (term.Name, error) {
	h, err := b.names.get(i)
	return term.Name(h), err
}

func (b *builder) level(i uint64) (term.Level, error) {
	h, err := b.levels.get(i)
	return term.Level(h), err
}

func (b *builder) expr(i uint64) (term.Expr, error) {
	h, err := b.exprs.get(i)
	return term.Expr(h), err
}

func (b *builder) nameList(is []uint64) ([]term.Name, error) {
	out := make([]term.Name, 0, len(is))
	for _, i := range is {
		n, err := b.name(i)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

func (b *builder) levelList(is []uint64) (term.Levels, error) {
	out := make([]term.Level, 0, 8)
	for _, i := range is {
		l, err := b.level(i)
		if err != nil {
			return 0, err
		}
		out = append(out, l)
	}
	return b.store.LevelList(out), nil
}

func (b *builder) defineExpr(i uint64, e term.Expr) error { return b.exprs.define(i, uint32(e)) }

func (b *builder) constExpr(name uint64, levels []uint64) (term.Expr, error) {
	n, err := b.name(name)
	if err != nil {
		return 0, err
	}
	us, err := b.levelList(levels)
	if err != nil {
		return 0, err
	}
	return b.store.Const(n, us), nil
}

func (b *builder) appExpr(fn, arg uint64) (term.Expr, error) {
	f, err := b.expr(fn)
	if err != nil {
		return 0, err
	}
	a, err := b.expr(arg)
	if err != nil {
		return 0, err
	}
	return b.store.App(f, a), nil
}

// binderExpr returns a function or, for kind Pi, a function type.
func (b *builder) binderExpr(kind term.Kind, info term.BinderInfo, name, typ, body uint64) (term.Expr, error) {
	n, err := b.name(name)
	if err != nil {
		return 0, err
	}
	t, err := b.expr(typ)
	if err != nil {
		return 0, err
	}
	e, err := b.expr(body)
	if err != nil {
		return 0, err
	}
	if kind == term.Lambda {
		return b.store.Lambda(n, info, t, e), nil
	}
	return b.store.Pi(n, info, t, e), nil
}

// nat reads a literal written in decimal digits.
func (b *builder) nat(digits string) (term.Expr, error) {
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, malformed("a natural number literal must consist of decimal digits")
	}
	if len(digits) > maxDigits {
		return 0, &Error{Reason: Limit, Msg: fmt.Sprintf("a natural number literal has more than %d digits", maxDigits)}
	}
	return b.store.Nat(parseNat(digits)), nil
}

// maxDigits bounds the length of a literal.
const maxDigits = 1 << 22

// parseNat reads decimal digits. The library takes quadratic time for them, so
// long ones are halved.
func parseNat(digits string) *big.Int {
	if len(digits) <= 1<<12 {
		n, _ := new(big.Int).SetString(digits, 10)
		return n
	}
	low := len(digits) / 2
	high, rest := parseNat(digits[:len(digits)-low]), parseNat(digits[len(digits)-low:])
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(low)), nil)
	return rest.Add(rest, high.Mul(high, power))
}

func (b *builder) bvar(i uint64) (term.Expr, error) {
	if i > term.MaxBVar {
		return 0, malformed("de Bruijn index %d is above %d", i, term.MaxBVar)
	}
	return b.store.BVar(uint32(i)), nil
}

func (b *builder) count(n uint64, what string) (uint32, error) {
	if n > maxIndex {
		return 0, malformed("%s %d is above %d", what, n, uint64(maxIndex))
	}
	return uint32(n), nil
}

// declBytes is the memory that a declaration takes, about, with its part of the
// growing list and what the checker knows of it.
const declBytes = 400

func (b *builder) declare(d Decl) {
	d.Line = b.line
	b.store.Charge(declBytes + 4*int64(len(d.Params)))
	b.file.Decls = append(b.file.Decls, d)
}

func (b *builder) declareBlock(block *Block) error {
	if len(block.Types) == 0 {
		return malformed("an inductive block without types")
	}
	d := Decl{Kind: Inductive, Name: block.Types[0].Name, Params: block.Types[0].Params, Block: block}
	for _, t := range block.Types {
		d.Unsafe = d.Unsafe || t.Unsafe
	}
	for _, c := range block.Ctors {
		d.Unsafe = d.Unsafe || c.Unsafe
	}
	for _, r := range block.Recs {
		d.Unsafe = d.Unsafe || r.Unsafe
	}
	b.declare(d)
	return nil
}

// An openBlock gathers the types, constructors and recursors of a block that
// stand on lines of their own.
type openBlock struct {
	block   *Block
	members []term.Name // the types, in order
	missing int         // types and constructors still to come
	at      int         // index of the declaration
}

func (b *builder) addType(t InductiveType, members []term.Name) error {
	if !slices.Contains(members, t.Name) {
		return malformed("type %s is not a member of its own block", b.store.NameString(t.Name))
	}
	o := b.member[t.Name]
	if o == nil {
		o = &openBlock{block: &Block{Partial: true}, members: members, missing: len(members)}
		o.at = len(b.file.Decls)
		b.blocks = append(b.blocks, o)
		for _, m := range members {
			if b.member[m] == nil {
				b.member[m] = o
			}
		}
		b.declare(Decl{Kind: Inductive, Name: members[0], Params: t.Params, Block: o.block})
	}
	if !slices.Equal(o.members, members) {
		return malformed("the types of a mutual block name different members")
	}
	for _, have := range o.block.Types {
		if have.Name == t.Name {
			return malformed("type %s is declared twice", b.store.NameString(t.Name))
		}
	}
	o.block.Types = append(o.block.Types, t)
	o.missing += len(t.Ctors) - 1
	return b.closeBlock(o)
}

func (b *builder) addConstructor(c Constructor) error {
	o := b.member[c.Induct]
	if o == nil {
		return malformed("constructor %s belongs to no inductive type before it", b.store.NameString(c.Name))
	}
	claimed := false
	for _, t := range o.block.Types {
		claimed = claimed || slices.Contains(t.Ctors, c.Name)
	}
	for _, have := range o.block.Ctors {
		if have.Name == c.Name {
			return malformed("constructor %s is declared twice", b.store.NameString(c.Name))
		}
	}
	if !claimed {
		return malformed("constructor %s is not named by its type", b.store.NameString(c.Name))
	}
	o.block.Ctors = append(o.block.Ctors, c)
	o.missing--
	return b.closeBlock(o)
}

func (b *builder) addRecursor(r Recursor, members []term.Name) error {
	if len(members) == 0 {
		return malformed("recursor %s names no type", b.store.NameString(r.Name))
	}
	o := b.member[members[0]]
	if o == nil || !slices.Equal(o.members, members) {
		return malformed("recursor %s belongs to no inductive type before it", b.store.NameString(r.Name))
	}
	o.block.Recs = append(o.block.Recs, r)
	return nil
}

// closeBlock puts the types in order when the last piece has come.
func (b *builder) closeBlock(o *openBlock) error {
	if o.missing > 0 {
		return nil
	}
	sorted := make([]InductiveType, 0, len(o.members))
	for _, m := range o.members {
		for _, t := range o.block.Types {
			if t.Name == m {
				sorted = append(sorted, t)
			}
		}
	}
	o.block.Types = sorted
	b.file.Decls[o.at].Params = sorted[0].Params
	return nil
}

func (b *builder) finish() error {
	for _, o := range b.blocks {
		if o.missing > 0 {
			return malformed("the block of %s lacks types or constructors", b.store.NameString(o.members[0]))
		}
	}
	if b.text {
		return b.order()
	}
	return nil
}
