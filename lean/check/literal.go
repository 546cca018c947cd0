package check

import (
	"math/big"
	"unicode/utf8"

	"github.com/erdos1056/erdos1056/lean/term"
)

// A natOp is an operation on natural numbers that is computed on literals
// directly.
type natOp uint8

const (
	opNone natOp = iota
	opAdd
	opSub
	opMul
	opPow
	opDiv
	opMod
	opGcd
	opBeq
	opBle
	opLand
	opLor
	opXor
	opShiftLeft
	opShiftRight
	numNatOps
)

var natOpNames = [numNatOps]string{
	opAdd: "add", opSub: "sub", opMul: "mul", opPow: "pow", opDiv: "div", opMod: "mod", opGcd: "gcd",
	opBeq: "beq", opBle: "ble", opLand: "land", opLor: "lor", opXor: "xor",
	opShiftLeft: "shiftLeft", opShiftRight: "shiftRight",
}

// maxExponent bounds exponents and shift distances; greater ones are left to
// unfolding, as in Lean.
const maxExponent = 1 << 24

// natLit returns the value of a literal or of Nat.zero, or nil.
func (c *checker) natLit(e term.Expr) *big.Int {
	n := c.s.At(e)
	switch {
	case n.Kind == term.NatLit:
		return c.s.NatValue(e)
	case n.Kind == term.Const && term.Name(n.A) == c.env.names.natZero && c.env.natOrd < c.bound:
		return new(big.Int)
	}
	return nil
}

// natCtor turns a literal into Nat.zero, or Nat.succ of the literal before.
func (c *checker) natCtor(e term.Expr) term.Expr {
	v := c.s.NatValue(e)
	if v.Sign() == 0 {
		return c.s.Const(c.env.names.natZero, 0)
	}
	return c.s.App(c.s.Const(c.env.names.natSucc, 0), c.s.Nat(new(big.Int).Sub(v, big.NewInt(1))))
}

// natPred returns the predecessor of a positive literal or of Nat.succ x, or
// NoExpr.
func (c *checker) natPred(e term.Expr) term.Expr {
	n := c.s.At(e)
	switch n.Kind {
	case term.NatLit:
		if c.s.NatValue(e).Sign() > 0 {
			return term.Expr(c.s.At(c.natCtor(e)).B)
		}
	case term.App:
		f := c.s.At(term.Expr(n.A))
		if f.Kind == term.Const && term.Name(f.A) == c.env.names.natSucc && c.env.natOrd < c.bound {
			return term.Expr(n.B)
		}
	}
	return term.NoExpr
}

// natOffset compares literals and successors.
func (c *checker) natOffset(a, b term.Expr) answer {
	if x := c.natPred(a); x != term.NoExpr {
		if y := c.natPred(b); y != term.NoExpr {
			return answerOf(c.defeq(x, y))
		}
		return unknown
	}
	if x := c.natLit(a); x != nil && x.Sign() == 0 {
		if y := c.natLit(b); y != nil && y.Sign() == 0 {
			return yes
		}
	}
	return unknown
}

// reduceNat computes an operation whose arguments evaluate to literals, or
// returns NoExpr.
func (c *checker) reduceNat(e term.Expr) term.Expr {
	s := c.s
	n := s.At(e)
	if n.Kind != term.App || (n.FVars > 0 && !c.eager) {
		return term.NoExpr
	}
	second := term.Expr(n.B)
	f := s.At(term.Expr(n.A))
	if f.Kind == term.Const {
		if term.Name(f.A) != c.env.names.natSucc || c.env.natOrd >= c.bound {
			c.noteDoubt(term.Name(f.A))
			return term.NoExpr
		}
		v := c.natLit(c.whnf(second))
		if v == nil {
			return term.NoExpr
		}
		return s.Nat(new(big.Int).Add(v, big.NewInt(1)))
	}
	if f.Kind != term.App {
		return term.NoExpr
	}
	first := term.Expr(f.B)
	g := s.At(term.Expr(f.A))
	if g.Kind != term.Const {
		return term.NoExpr
	}
	op := c.env.natOps[term.Name(g.A)]
	if op == opNone {
		c.noteDoubt(term.Name(g.A))
		return term.NoExpr
	}
	if op == c.withheld || g.B != 0 || c.lookup(term.Name(g.A)) == nil {
		return term.NoExpr
	}
	x := c.natLit(c.whnf(first))
	if x == nil {
		return term.NoExpr
	}
	y := c.natLit(c.whnf(second))
	if y == nil {
		return term.NoExpr
	}
	return c.compute(op, x, y)
}

// noteDoubt remembers that an operation was met which Lean would compute. If the
// declaration fails later, that may be for want of the result.
func (c *checker) noteDoubt(n term.Name) {
	if c.env.doubtful[n] {
		c.doubt = n
	}
}

func (c *checker) compute(op natOp, x, y *big.Int) term.Expr {
	s := c.s
	c.chargeNat(op, x, y)
	z := new(big.Int)
	switch op {
	case opAdd:
		z.Add(x, y)
	case opSub:
		if x.Cmp(y) > 0 {
			z.Sub(x, y)
		}
	case opMul:
		z.Mul(x, y)
	case opPow:
		if !y.IsUint64() || y.Uint64() > maxExponent {
			return term.NoExpr
		}
		z.Exp(x, y, nil)
	case opDiv:
		if y.Sign() > 0 {
			z.Quo(x, y)
		}
	case opMod:
		if y.Sign() == 0 {
			return s.Nat(x)
		}
		z.Rem(x, y)
	case opGcd:
		z.GCD(nil, nil, x, y)
	case opBeq:
		return c.boolean(x.Cmp(y) == 0)
	case opBle:
		return c.boolean(x.Cmp(y) <= 0)
	case opLand:
		z.And(x, y)
	case opLor:
		z.Or(x, y)
	case opXor:
		z.Xor(x, y)
	case opShiftLeft:
		if !y.IsUint64() || y.Uint64() > maxExponent {
			return term.NoExpr
		}
		z.Lsh(x, uint(y.Uint64()))
	case opShiftRight:
		if !y.IsUint64() {
			return s.Nat(z)
		}
		z.Rsh(x, uint(min(y.Uint64(), 1<<40)))
	}
	return s.Nat(z)
}

// Bounds on the size of a computed number and of those whose greatest common
// divisor is computed, which takes quadratic time. One computation takes no more
// than some seconds or, at the bound, minutes, and cannot be interrupted.
const (
	maxNatBits = 1 << 30
	maxGcdBits = 1 << 22
)

// chargeNat counts the work of an operation on large numbers, and bounds the
// size of its result.
func (c *checker) chargeNat(op natOp, x, y *big.Int) {
	bits := int64(max(x.BitLen(), y.BitLen()))
	switch op {
	case opMul:
		bits = int64(x.BitLen()) + int64(y.BitLen())
	case opPow:
		if y.IsUint64() && y.Uint64() <= maxExponent {
			bits = int64(x.BitLen()) * max(1, y.Int64())
		}
	case opShiftLeft:
		if y.IsUint64() && y.Uint64() <= maxExponent {
			bits = int64(x.BitLen()) + y.Int64()
		}
	}
	switch {
	case bits > maxNatBits:
		panic(&term.LimitError{What: "a computed number has more than 2^30 bits"})
	case op == opGcd && bits > maxGcdBits:
		panic(&term.LimitError{What: "the greatest common divisor of numbers of more than 2^22 bits"})
	}
	if bits > 1<<12 {
		c.steps += bits >> 12
		c.poll()
		// The result counts against the budget before it is made.
		c.limits.budget.Take(bits / 8)
		c.limits.budget.Take(-bits / 8)
	}
}

func (c *checker) boolean(b bool) term.Expr {
	if b {
		return c.s.Const(c.env.names.boolTrue, 0)
	}
	return c.s.Const(c.env.names.boolFalse, 0)
}

// stringCtor turns a string literal into the function that makes strings applied
// to the list of its characters, which is what a literal stands for. An opaque
// literal stays as it is.
func (c *checker) stringCtor(e term.Expr) term.Expr {
	if c.strings() != stringsFull {
		return e
	}
	s := c.s
	text := s.StrValue(e)
	runes := make([]rune, 0, utf8.RuneCountInString(text))
	for _, r := range text {
		runes = append(runes, r)
	}
	return s.App(s.Const(c.stringMaker(), 0), c.charList(runes))
}

// stringMaker returns the function from lists of characters to strings:
// String.mk where that is a constructor, as in older libraries, and
// String.ofList otherwise.
func (c *checker) stringMaker() term.Name {
	if k := c.lookup(c.env.names.strMk); k != nil && k.kind == ctorConst {
		return c.env.names.strMk
	}
	return c.env.names.strOfList
}

func (c *checker) charList(runes []rune) term.Expr {
	s := c.s
	zero := s.LevelList([]term.Level{term.Zero})
	char := s.Const(c.env.names.char, 0)
	ofNat := s.Const(c.env.names.charOfNat, 0)
	cons := s.App(s.Const(c.env.names.listCons, zero), char)
	list := s.App(s.Const(c.env.names.listNil, zero), char)
	for i := len(runes) - 1; i >= 0; i-- {
		list = s.Apps(cons, s.App(ofNat, s.SmallNat(uint64(runes[i]))), list)
	}
	return list
}

// A stringState says what string literals mean to a declaration.
type stringState uint8

const (
	stringsUnknown stringState = iota
	stringsNone                // nothing: they are rejected
	stringsOpaque              // some strings, not known which
	stringsFull                // lists of characters
)

// strings determines what string literals mean. They are opaque if only part of
// what they are made of is declared, as in text exports, which omit Char.ofNat.
// Once a declaration has used opaque literals they stay opaque in the whole
// file: what is declared later could depend on them.
func (c *checker) strings() stringState {
	if c.stringState == stringsUnknown {
		c.stringState = stringsNone
		names := c.env.names
		maker := c.lookup(c.stringMaker())
		str := c.s.Const(names.str, 0)
		makes := func(runes []rune) bool {
			return c.defeq(c.check(c.s.App(c.s.Const(maker.name, 0), c.charList(runes))), str)
		}
		if maker != nil && c.lookup(names.str) != nil && c.lookup(names.char) != nil && c.lookup(names.listNil) != nil {
			switch {
			case c.lookup(names.charOfNat) != nil && c.lookup(names.listCons) != nil && c.env.natOrd < c.bound:
				if makes([]rune{'a'}) {
					c.stringState = stringsFull
				}
			case makes(nil):
				c.stringState = stringsOpaque
			}
		}
		if c.stringState == stringsFull && c.env.opaqueStrings {
			c.stringState = stringsOpaque
		}
	}
	return c.stringState
}

// needStrings rejects if string literals mean nothing.
func (c *checker) needStrings() {
	if c.strings() == stringsNone {
		reject("literal", "a string literal needs the type String, with %s, before it", c.nameString(c.stringMaker()))
	}
}

// stringExpansion compares a string literal with a string made from a list.
func (c *checker) stringExpansion(a, b term.Expr) answer {
	for range 2 {
		if c.s.Kind(a) == term.StrLit && c.s.Kind(b) == term.App && c.strings() == stringsFull {
			if k, _ := c.head(b); k != nil && k.name == c.stringMaker() {
				return answerOf(c.defeq(c.stringCtor(a), b))
			}
		}
		a, b = b, a
	}
	return unknown
}
