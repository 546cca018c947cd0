package check

import (
	"github.com/erdos1056/erdos1056/lean/export"
	"github.com/erdos1056/erdos1056/lean/term"
)

// addQuot checks one of the four constants of quotient types against its fixed
// type and makes it known.
func (c *checker) addQuot(i int, d *export.Decl) {
	c.start(declOrdinal(i), d.Params)
	want := [...]term.Name{c.env.names.quot, c.env.names.quotMk, c.env.names.quotLift, c.env.names.quotInd}[d.Quot]
	if d.Name != want {
		reject("quotient", "the constant must be named %s, found %s", c.nameString(want), c.nameString(d.Name))
	}
	numParams := 1
	if d.Quot == export.QuotLift {
		numParams = 2
	}
	if len(d.Params) != numParams {
		reject("quotient", "%s has %d universe parameters, expected %d", c.nameString(d.Name), len(d.Params), numParams)
	}
	if d.Quot == export.QuotLift && !c.standardEq() {
		reject("quotient", "quotients need the standard equality Eq before them")
	}
	if d.Quot != export.QuotType {
		if k := c.lookup(c.env.names.quot); k == nil || k.kind != quotConst {
			reject("quotient", "%s needs the constant Quot before it", c.nameString(d.Name))
		}
	}
	if d.Quot == export.QuotInd {
		if k := c.lookup(c.env.names.quotMk); k == nil || k.kind != quotConst {
			reject("quotient", "%s needs the constant Quot.mk before it", c.nameString(d.Name))
		}
	}
	if have := c.quotType(d.Quot, d.Params); have != d.Type {
		c.rejectTerms("quotient", c.nameString(d.Name)+" has another type than the quotient constant", "expected", have, "found", d.Type)
	}
	c.add(&constant{kind: quotConst, name: d.Name, ord: declOrdinal(i), params: d.Params, typ: d.Type, quot: d.Quot})
}

// quotType builds the type of a quotient constant:
//
//	Quot : {α : Sort u} → (α → α → Prop) → Sort u
//	Quot.mk : {α : Sort u} → (r : α → α → Prop) → α → Quot r
//	Quot.lift : {α : Sort u} → {r : α → α → Prop} → {β : Sort v} → (f : α → β) →
//	    (∀ a b : α, r a b → f a = f b) → Quot r → β
//	Quot.ind : {α : Sort u} → {r : α → α → Prop} → {β : Quot r → Prop} →
//	    (∀ a : α, β (Quot.mk r a)) → ∀ q : Quot r, β q
func (c *checker) quotType(kind export.QuotKind, params []term.Name) term.Expr {
	s := c.s
	u := s.Param(params[0])
	us := s.LevelList([]term.Level{u})
	none := term.Anonymous
	prop := s.Sort(term.Zero)
	arrow := func(a, b term.Expr) term.Expr { return s.Pi(none, term.Default, a, b) }
	alpha := s.FVar(0, none, s.Sort(u))
	r := s.FVar(1, none, arrow(alpha, arrow(alpha, prop)))
	quot := s.Apps(s.Const(c.env.names.quot, us), alpha, r)
	mk := s.Apps(s.Const(c.env.names.quotMk, us), alpha, r)
	a := s.FVar(3, none, alpha)
	switch kind {
	case export.QuotType:
		return s.Pis([]term.Expr{alpha, r}, s.Sort(u))
	case export.QuotMk:
		return s.Pis([]term.Expr{alpha, r}, arrow(alpha, quot))
	case export.QuotLift:
		v := s.Param(params[1])
		beta := s.FVar(2, none, s.Sort(v))
		f := s.FVar(3, none, arrow(alpha, beta))
		a, b := s.FVar(4, none, alpha), s.FVar(5, none, alpha)
		same := s.Apps(s.Const(c.env.names.eq, s.LevelList([]term.Level{v})), beta, s.App(f, a), s.App(f, b))
		sound := s.Pis([]term.Expr{a, b}, arrow(s.Apps(r, a, b), same))
		return s.Pis([]term.Expr{alpha, r, beta, f}, arrow(sound, arrow(quot, beta)))
	}
	beta := s.FVar(2, none, arrow(quot, prop))
	all := s.Pis([]term.Expr{a}, s.App(beta, s.App(mk, a)))
	q := s.FVar(3, none, quot)
	return s.Pis([]term.Expr{alpha, r, beta}, arrow(all, s.Pis([]term.Expr{q}, s.App(beta, q))))
}

// standardEq reports whether Eq is the equality that quotients are about:
// Eq : {α : Sort u} → α → α → Prop with the constructor Eq.refl : (a : α) → a = a.
func (c *checker) standardEq() bool {
	s := c.s
	k, refl := c.lookup(c.env.names.eq), c.lookup(c.env.names.eqRefl)
	if k == nil || refl == nil || k.kind != inductiveConst || refl.kind != ctorConst ||
		len(k.params) != 1 || len(k.ind.ctors) != 1 || k.ind.ctors[0] != refl.name {
		return false
	}
	u := s.Param(k.params[0])
	none := term.Anonymous
	alpha := s.FVar(0, none, s.Sort(u))
	a, b := s.FVar(1, none, alpha), s.FVar(2, none, alpha)
	eq := s.Const(k.name, s.LevelList([]term.Level{u}))
	return k.typ == s.Pis([]term.Expr{alpha, a, b}, s.Sort(term.Zero)) &&
		refl.typ == s.Pis([]term.Expr{alpha, a}, s.Apps(eq, alpha, a, a))
}
