package check

import (
	"math/big"

	"github.com/erdos1056/erdos1056/lean/export"
	"github.com/erdos1056/erdos1056/lean/term"
)

// noteLiterals records when the standard Nat or Bool comes into view.
func (c *checker) noteLiterals(i int, b *export.Block) {
	s, n := c.s, c.env.names
	if len(b.Types) != 1 || len(b.Types[0].Params) != 0 || len(b.Types[0].Ctors) != 2 ||
		b.Types[0].Type != s.Sort(s.Succ(term.Zero)) {
		return
	}
	t := b.Types[0]
	self := s.Const(t.Name, 0)
	first, second := c.env.byName[t.Ctors[0]].typ, c.env.byName[t.Ctors[1]].typ
	switch {
	case t.Name == n.nat && t.Ctors[0] == n.natZero && t.Ctors[1] == n.natSucc &&
		first == self && second == s.Pi(0, term.Default, self, self):
		c.env.natOrd = declOrdinal(i) + 1
	case t.Name == n.boolean && t.Ctors[0] == n.boolFalse && t.Ctors[1] == n.boolTrue &&
		first == self && second == self:
		c.env.boolOrd = declOrdinal(i) + 1
	}
}

// noteNatOp looks whether definition i is one of the operations on Nat that can
// be computed on literals. An operation is taken for what its name says only if
// the equations that determine it hold by definition, or if the definition with
// all it depends on is a known one. Otherwise it is unfolded like any other.
func (c *checker) noteNatOp(i int, d *export.Decl) {
	s := c.s
	text, _ := s.LastText(d.Name)
	if s.Parent(d.Name) != c.env.names.nat || len(d.Params) != 0 {
		return
	}
	for op := opAdd; op < numNatOps; op++ {
		if text != natOpNames[op] {
			continue
		}
		c.start(declOrdinal(i)+1, nil)
		c.withheld = op
		if c.env.natOrd < c.bound && c.try(func() bool { return c.holds(op, d) || knownArithmetic(c.env, op, d.Name) }) {
			c.env.natOps[d.Name] = op
		}
	}
}

// equationSteps bounds the search for the equations of an operation.
const equationSteps = 1 << 16

// try runs a search of bounded length. Limits and errors on the way count as a
// no.
func (c *checker) try(search func() bool) (ok bool) {
	limits := c.limits
	c.limits.Steps = equationSteps
	defer func() {
		c.limits = limits
		switch p := recover().(type) {
		case nil:
		case *Rejection, *term.LimitError:
			ok = false
		default:
			panic(p)
		}
	}()
	return search()
}

// holds reports whether the equations of an operation hold by definition.
func (c *checker) holds(op natOp, d *export.Decl) bool {
	s := c.s
	nat := s.Const(c.env.names.nat, 0)
	result := nat
	if op == opBeq || op == opBle {
		if c.env.boolOrd >= c.bound {
			return false
		}
		result = s.Const(c.env.names.boolean, 0)
	}
	if d.Type != s.Pi(0, term.Default, nat, s.Pi(0, term.Default, nat, result)) {
		return false
	}
	for _, e := range c.equations(op, s.Const(d.Name, 0)) {
		if !c.defeq(e[0], e[1]) {
			return false
		}
	}
	return len(c.equations(op, s.Const(d.Name, 0))) > 0
}

// equations returns pairs of terms, over variables x and y, that determine an
// operation f by recursion; none if the operation cannot be determined so.
func (c *checker) equations(op natOp, f term.Expr) [][2]term.Expr {
	s, names := c.s, c.env.names
	nat := s.Const(names.nat, 0)
	x, y := s.FVar(0, s.NameOf("x"), nat), s.FVar(1, s.NameOf("y"), nat)
	zero := s.Const(names.natZero, 0)
	succ := func(e term.Expr) term.Expr { return s.App(s.Const(names.natSucc, 0), e) }
	of := func(a, b term.Expr) term.Expr { return s.Apps(f, a, b) }
	use := func(n term.Name, want natOp, args ...term.Expr) term.Expr {
		if want != opNone && c.env.natOps[n] != want {
			reject("arithmetic", "%s is not known to be arithmetic", c.nameString(n))
		}
		return s.Apps(s.Const(n, 0), args...)
	}
	two := s.Nat(big.NewInt(2))
	yes, no := c.boolean(true), c.boolean(false)
	switch op {
	case opAdd:
		return [][2]term.Expr{{of(x, zero), x}, {of(x, succ(y)), succ(of(x, y))}}
	case opSub:
		pred := func(e term.Expr) term.Expr { return use(names.natPred, opNone, e) }
		return [][2]term.Expr{{pred(zero), zero}, {pred(succ(x)), x}, {of(x, zero), x}, {of(x, succ(y)), pred(of(x, y))}}
	case opMul:
		return [][2]term.Expr{{of(x, zero), zero}, {of(x, succ(y)), use(names.natAdd, opAdd, of(x, y), x)}}
	case opPow:
		return [][2]term.Expr{{of(x, zero), succ(zero)}, {of(x, succ(y)), use(names.natMul, opMul, of(x, y), x)}}
	case opBeq:
		return [][2]term.Expr{{of(zero, zero), yes}, {of(zero, succ(y)), no}, {of(succ(x), zero), no}, {of(succ(x), succ(y)), of(x, y)}}
	case opBle:
		return [][2]term.Expr{{of(zero, zero), yes}, {of(zero, succ(y)), yes}, {of(succ(x), zero), no}, {of(succ(x), succ(y)), of(x, y)}}
	case opShiftLeft:
		return [][2]term.Expr{{of(x, zero), x}, {of(x, succ(y)), of(use(names.natMul, opMul, two, x), y)}}
	case opShiftRight:
		return [][2]term.Expr{{of(x, zero), x}, {of(x, succ(y)), use(names.natDiv, opDiv, of(x, y), two)}}
	}
	return nil
}
