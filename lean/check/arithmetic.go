package check

import (
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
// the laws that determine it hold by definition, or if the definition with
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
		if c.env.natOrd < c.bound && c.try(func() bool { return c.holds(op, d) || c.known(op, d) }) {
			c.env.natOps[d.Name] = op
		} else if !op.structural() {
			c.env.doubtful[d.Name] = true
		}
	}
	if text == "log2" {
		c.env.doubtful[d.Name] = true
	}
}

// structural reports whether every version of Lean defines the operation by
// plain recursion, so that one for which the laws fail is another operation.
// The definitions of the others differ between versions.
func (op natOp) structural() bool {
	switch op {
	case opDiv, opMod, opGcd, opLand, opLor, opXor, opShiftRight:
		return false
	}
	return true
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
	laws := c.laws(op, s.Const(d.Name, 0))
	for _, l := range laws {
		c.forget()
		c.withheld = op
		c.assumed = l.given
		if !c.defeq(l.left, l.right) {
			return false
		}
	}
	return len(laws) > 0
}

// A law is an equation over variables, to hold by definition whenever the given
// comparisons have the given results.
type law struct {
	left, right term.Expr
	given       []comparison
}

// A comparison assigns a result to Nat.ble a b.
type comparison struct {
	a, b   term.Expr
	result bool
}

// laws returns laws over variables x and y that determine an operation f by
// recursion; none if the operation cannot be determined so.
func (c *checker) laws(op natOp, f term.Expr) []law {
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
	two := s.SmallNat(2)
	yes, no := c.boolean(true), c.boolean(false)
	switch op {
	case opAdd:
		return []law{{left: of(x, zero), right: x}, {left: of(x, succ(y)), right: succ(of(x, y))}}
	case opSub:
		pred := func(e term.Expr) term.Expr { return use(names.natPred, opNone, e) }
		return []law{{left: pred(zero), right: zero}, {left: pred(succ(x)), right: x},
			{left: of(x, zero), right: x}, {left: of(x, succ(y)), right: pred(of(x, y))}}
	case opMul:
		return []law{{left: of(x, zero), right: zero}, {left: of(x, succ(y)), right: use(names.natAdd, opAdd, of(x, y), x)}}
	case opPow:
		return []law{{left: of(x, zero), right: succ(zero)}, {left: of(x, succ(y)), right: use(names.natMul, opMul, of(x, y), x)}}
	case opBeq:
		return []law{{left: of(zero, zero), right: yes}, {left: of(zero, succ(y)), right: no},
			{left: of(succ(x), zero), right: no}, {left: of(succ(x), succ(y)), right: of(x, y)}}
	case opBle:
		return []law{{left: of(zero, zero), right: yes}, {left: of(zero, succ(y)), right: yes},
			{left: of(succ(x), zero), right: no}, {left: of(succ(x), succ(y)), right: of(x, y)}}
	case opShiftLeft:
		return []law{{left: of(x, zero), right: x}, {left: of(x, succ(y)), right: of(use(names.natMul, opMul, two, x), y)}}
	case opShiftRight:
		return []law{{left: of(x, zero), right: x}, {left: of(x, succ(y)), right: use(names.natDiv, opDiv, of(x, y), two)}}
	case opDiv, opMod:
		use(names.natBle, opBle)
		use(names.natSub, opSub)
		if op == opDiv {
			return c.divisionLaws(of, s.NameOf("Nat", "div", "go"))
		}
		return c.remainderLaws(of, s.NameOf("Nat", "modCore", "go"))
	}
	return nil
}

// divisionLaws determine division by way of its loop, which subtracts y from x
// as often as the fuel allows. For 1 <= y and x < fuel the last two laws make
// the loop the quotient of x and y, by induction on the fuel.
func (c *checker) divisionLaws(of func(a, b term.Expr) term.Expr, loop term.Name) []law {
	l := c.loopTerms(loop)
	positive := func(b bool) comparison { return comparison{l.one, l.y, b} }
	fits := func(b bool) comparison { return comparison{l.y, l.x, b} }
	return []law{
		{of(l.x, l.y), l.zero, []comparison{positive(false)}},
		{of(l.x, l.y), l.run(l.succ(l.x), l.x), []comparison{positive(true)}},
		{l.run(l.succ(l.fuel), l.x), l.zero, []comparison{fits(false)}},
		{l.run(l.succ(l.fuel), l.x), l.succ(l.run(l.fuel, l.rest)), []comparison{fits(true)}},
	}
}

// remainderLaws do the same for the remainder.
func (c *checker) remainderLaws(of func(a, b term.Expr) term.Expr, loop term.Name) []law {
	l := c.loopTerms(loop)
	next := l.succ(l.x)
	positive := func(b bool) comparison { return comparison{l.one, l.y, b} }
	fits := func(x term.Expr, b bool) comparison { return comparison{l.y, x, b} }
	return []law{
		{of(l.zero, l.y), l.zero, nil},
		{of(next, l.y), next, []comparison{fits(next, false)}},
		{of(next, l.y), next, []comparison{fits(next, true), positive(false)}},
		{of(next, l.y), l.run(l.succ(next), next), []comparison{fits(next, true), positive(true)}},
		{l.run(l.succ(l.fuel), l.x), l.x, []comparison{fits(l.x, false)}},
		{l.run(l.succ(l.fuel), l.x), l.run(l.fuel, l.rest), []comparison{fits(l.x, true)}},
	}
}

// loopTerms holds what the laws about a division loop are made of.
type loopTerms struct {
	c               *checker
	loop            term.Name
	x, y, fuel      term.Expr // variables
	zero, one, rest term.Expr
}

func (c *checker) loopTerms(loop term.Name) *loopTerms {
	s, names := c.s, c.env.names
	nat := s.Const(names.nat, 0)
	l := &loopTerms{c: c, loop: loop, zero: s.Const(names.natZero, 0),
		x: s.FVar(0, s.NameOf("x"), nat), y: s.FVar(1, s.NameOf("y"), nat), fuel: s.FVar(2, s.NameOf("fuel"), nat)}
	l.one = l.succ(l.zero)
	l.rest = s.Apps(s.Const(names.natSub, 0), l.x, l.y)
	return l
}

func (l *loopTerms) succ(e term.Expr) term.Expr {
	return l.c.s.App(l.c.s.Const(l.c.env.names.natSucc, 0), e)
}

// run returns the loop at the given fuel and x. Its type is that of
// go (y : Nat) (hy : 0 < y) (fuel x : Nat) (h : x < fuel); the proofs, which make
// no difference, are variables.
func (l *loopTerms) run(fuel, x term.Expr) term.Expr {
	s := l.c.s
	e := s.Const(l.loop, 0)
	t := l.c.constType(e)
	for i, arg := range []term.Expr{l.y, term.NoExpr, fuel, x, term.NoExpr} {
		n := *s.At(t)
		if n.Kind != term.Pi {
			reject("arithmetic", "%s has another type than expected", l.c.nameString(l.loop))
		}
		dom := term.Expr(n.A)
		switch {
		case arg == term.NoExpr:
			arg = s.FVar(uint32(3+i), s.NameOf("h"), dom)
		case dom != s.Const(l.c.env.names.nat, 0):
			reject("arithmetic", "%s has another type than expected", l.c.nameString(l.loop))
		}
		e = s.App(e, arg)
		t = s.Instantiate1(term.Expr(n.B), arg)
	}
	return e
}

// assumption returns the assumed result of e, if e is a comparison about which
// something is assumed, or NoExpr.
func (c *checker) assumption(e term.Expr) term.Expr {
	s := c.s
	n := s.At(e)
	if n.Kind != term.App || s.ArgCount(e) != 2 {
		return term.NoExpr
	}
	if f := s.At(s.Head(e)); f.Kind != term.Const || term.Name(f.A) != c.env.names.natBle {
		return term.NoExpr
	}
	_, args := s.Spine(e, nil)
	for _, k := range c.assumed {
		if c.defeq(args[0], k.a) && c.defeq(args[1], k.b) {
			return c.boolean(k.result)
		}
	}
	return term.NoExpr
}
