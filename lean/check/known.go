package check

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"

	"github.com/erdos1056/erdos1056/lean/export"
	"github.com/erdos1056/erdos1056/lean/term"
)

// Digests of definitions by well-founded recursion, with all they depend on,
// whose laws do not hold by definition. They were taken from exports of Lean's
// core library: of a version of June 2025, where there are two, and of 4.29.0-rc2.
var (
	knownGcd = []string{
		"97ff3a7263cf1582ba62583d24afcb8dca633fe80737838761bc0d79c8aad2e9",
		"5333edd59b6fec0d113f241bc332835d51eb28bfd0a746a5779eb2d5a2e3e7ea",
	}
	knownBitwise = []string{"8f3afb94843149558051bca02a2d6661680328f385d2ee7a1bc80aee9c308b01"}
)

// known reports whether definition d is a known definition of op.
func (c *checker) known(op natOp, d *export.Decl) bool {
	switch op {
	case opGcd:
		return slices.Contains(knownGcd, definitionDigest(c.env, d.Name))
	case opLand:
		return c.isBitwise(d, func(a, b bool) bool { return a && b })
	case opLor:
		return c.isBitwise(d, func(a, b bool) bool { return a || b })
	case opXor:
		return c.isBitwise(d, func(a, b bool) bool { return a != b })
	}
	return false
}

// isBitwise reports whether d applies the known Nat.bitwise to a function with
// the given values.
func (c *checker) isBitwise(d *export.Decl, of func(a, b bool) bool) bool {
	s := c.s
	n := *s.At(d.Value)
	bitwise := s.NameOf("Nat", "bitwise")
	if n.Kind != term.App || c.env.boolOrd >= c.bound || c.lookup(bitwise) == nil ||
		term.Expr(n.A) != s.Const(bitwise, 0) || !slices.Contains(knownBitwise, definitionDigest(c.env, bitwise)) {
		return false
	}
	for _, a := range []bool{false, true} {
		for _, b := range []bool{false, true} {
			if !c.defeq(s.Apps(term.Expr(n.B), c.boolean(a), c.boolean(b)), c.boolean(of(a, b))) {
				return false
			}
		}
	}
	return true
}

// definitionDigest returns a digest of everything the meaning of constant n
// depends on: types, values and constructors of all constants reached, by name.
// Left out are proofs of theorems, because a proof has no bearing on a value,
// and the names of bound variables and universe parameters.
func definitionDigest(env *environment, n term.Name) string {
	d := digester{env: env, consts: map[term.Name][32]byte{}}
	sum := d.constant(n)
	return hex.EncodeToString(sum[:])
}

type digester struct {
	env    *environment
	consts map[term.Name][32]byte
	depth  int
}

// maxDigestDepth bounds recursion over terms and constants.
const maxDigestDepth = 1 << 16

func (d *digester) enter() {
	if d.depth++; d.depth > maxDigestDepth {
		panic(&term.LimitError{What: "a definition is nested too deep"})
	}
}

func (d *digester) constant(n term.Name) [32]byte {
	if sum, ok := d.consts[n]; ok {
		return sum
	}
	k := d.env.byName[n]
	if k == nil {
		return [32]byte{}
	}
	// Types, constructors and recursors of a block refer to each other; within
	// the block their names stand for them.
	name := sha256.Sum256([]byte(d.env.store.FullName(n)))
	d.consts[n] = name
	switch k.kind {
	case ctorConst:
		return d.partOf(k.ctor.induct, name)
	case recConst:
		return d.partOf(k.rec.induct, name)
	}
	e := exprDigester{digester: d, params: k.params, done: map[term.Expr][32]byte{}}
	h := sha256.New()
	h.Write(name[:])
	h.Write([]byte{byte(k.kind), byte(len(k.params))})
	sum := e.expr(k.typ)
	h.Write(sum[:])
	switch {
	case k.kind == definitionConst || k.kind == opaqueConst:
		sum := e.expr(k.value)
		h.Write(sum[:])
	case k.kind == inductiveConst:
		binary.Write(h, binary.LittleEndian, uint64(k.ind.numParams))
		for _, m := range k.ind.block {
			sum := d.constant(m)
			h.Write(sum[:])
		}
		for _, c := range k.ind.ctors {
			sum := sha256.Sum256([]byte(d.env.store.FullName(c)))
			h.Write(sum[:])
			if ctor := d.env.byName[c]; ctor != nil {
				sum = e.expr(ctor.typ)
				h.Write(sum[:])
			}
		}
	}
	sum = [32]byte(h.Sum(nil))
	d.consts[n] = sum
	return sum
}

// partOf returns the digest of a constant that an inductive type brings along.
func (d *digester) partOf(induct term.Name, name [32]byte) [32]byte {
	sum := d.constant(induct)
	return sha256.Sum256(append(sum[:], name[:]...))
}

// exprDigester digests the expressions of one constant.
type exprDigester struct {
	*digester
	params []term.Name
	done   map[term.Expr][32]byte
}

func (d *exprDigester) expr(e term.Expr) [32]byte {
	if sum, ok := d.done[e]; ok {
		return sum
	}
	d.enter()
	defer func() { d.depth-- }()
	s := d.env.store
	n := *s.At(e)
	buf := []byte{byte(n.Kind)}
	add := func(sum [32]byte) { buf = append(buf, sum[:]...) }
	switch n.Kind {
	case term.BVar:
		buf = binary.LittleEndian.AppendUint32(buf, n.A)
	case term.Sort:
		add(d.level(term.Level(n.A)))
	case term.Const:
		add(d.constant(term.Name(n.A)))
		for _, l := range s.LevelSlice(term.Levels(n.B)) {
			add(d.level(l))
		}
	case term.App, term.Lambda, term.Pi:
		add(d.expr(term.Expr(n.A)))
		add(d.expr(term.Expr(n.B)))
	case term.Let:
		add(d.expr(term.Expr(n.A)))
		add(d.expr(term.Expr(n.B)))
		add(d.expr(term.Expr(n.C)))
	case term.Proj:
		add(d.constant(term.Name(n.A)))
		buf = binary.LittleEndian.AppendUint32(buf, n.B)
		add(d.expr(term.Expr(n.C)))
	case term.NatLit:
		buf = append(buf, s.NatValue(e).Bytes()...)
	case term.StrLit:
		buf = append(buf, s.StrValue(e)...)
	}
	sum := sha256.Sum256(buf)
	d.done[e] = sum
	return sum
}

func (d *exprDigester) level(l term.Level) [32]byte {
	s := d.env.store
	kind := s.LevelKind(l)
	buf := []byte{byte(kind)}
	a, b := s.LevelArgs(l)
	switch kind {
	case term.LevelSucc:
		sum := d.level(a)
		buf = append(buf, sum[:]...)
	case term.LevelMax, term.LevelIMax:
		x, y := d.level(a), d.level(b)
		buf = append(append(buf, x[:]...), y[:]...)
	case term.LevelParam:
		i := slices.Index(d.params, s.LevelParamName(l))
		buf = binary.LittleEndian.AppendUint32(buf, uint32(i))
	}
	return sha256.Sum256(buf)
}
