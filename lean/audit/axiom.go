package audit

import (
	"github.com/erdos1056/erdos1056/lean/export"
	"github.com/erdos1056/erdos1056/lean/term"
)

// permission decides which axioms a target may rest on.
type permission struct {
	env       *Index
	challenge *Index // may be nil
	names     map[term.Name]bool
}

// judge returns why axiom n is not permitted, or nil. A permitted name is not
// enough: the axiom must be the genuine one, or the challenge's.
func (p *permission) judge(n term.Name) *Problem {
	s := p.env.file.Store
	d := p.env.Decl(n)
	problem := &Problem{Constant: s.NameString(n), Found: s.Print(d.Type, term.Format{})}
	if !p.names[n] {
		problem.Msg = "the target rests on an axiom that is not permitted"
		return problem
	}
	g := genuine{s: s, env: p.env}
	want, about, ok := g.axiom(n, d.Params)
	if !ok {
		if p.challenge == nil {
			problem.Msg = "nothing is known of the type this axiom should have; only the three standard axioms can be permitted without a challenge"
			return problem
		}
		c := p.challenge.Decl(n)
		if c == nil || c.Kind != export.Axiom {
			problem.Msg = "the challenge does not declare this axiom"
			return problem
		}
		if differences := Compare(p.env, p.challenge, n); len(differences) > 0 {
			return &differences[0]
		}
		return nil
	}
	if d.Type != want {
		problem.Msg = "the axiom has a permitted name, but another type than the axiom of that name"
		if want != term.NoExpr {
			problem.Expected = s.Print(want, term.Format{})
		}
		return problem
	}
	for _, q := range about {
		if !g.constant(q) {
			return &Problem{Constant: s.NameString(n), Msg: "the axiom is about " + s.NameString(q) + ", which is not the standard one here"}
		}
	}
	return nil
}

// genuine knows the axioms of Lean's core library and what they are about.
type genuine struct {
	s   *term.Store
	env *Index
}

// axiom returns the type that a standard axiom must have with the given universe
// parameters, and the constants it is about. ok is false for other names; the
// type is NoExpr if the number of parameters is wrong.
//
//	propext : {a b : Prop} → (a ↔ b) → a = b
//	Classical.choice : {α : Sort u} → Nonempty α → α
//	Quot.sound : {α : Sort u} → {r : α → α → Prop} → {a b : α} → r a b → Quot.mk r a = Quot.mk r b
func (g *genuine) axiom(n term.Name, params []term.Name) (typ term.Expr, about []term.Name, ok bool) {
	s := g.s
	name := s.NameOf
	prop := s.Sort(term.Zero)
	levels := 1
	switch n {
	case name("propext"):
		levels = 0
	case name("Classical", "choice"), name("Quot", "sound"):
	default:
		return 0, nil, false
	}
	if len(params) != levels {
		return term.NoExpr, nil, true
	}
	if levels == 0 {
		a, b := s.FVar(0, 0, prop), s.FVar(1, 0, prop)
		one := s.LevelList([]term.Level{s.Succ(term.Zero)})
		body := g.arrow(s.Apps(s.Const(name("Iff"), 0), a, b), s.Apps(s.Const(name("Eq"), one), prop, a, b))
		return s.Pis([]term.Expr{a, b}, body), []term.Name{name("Iff"), name("Eq")}, true
	}
	u := s.Param(params[0])
	us := s.LevelList([]term.Level{u})
	alpha := s.FVar(0, 0, s.Sort(u))
	if n == name("Classical", "choice") {
		body := g.arrow(s.App(s.Const(name("Nonempty"), us), alpha), alpha)
		return s.Pis([]term.Expr{alpha}, body), []term.Name{name("Nonempty")}, true
	}
	r := s.FVar(1, 0, g.arrow(alpha, g.arrow(alpha, prop)))
	a, b := s.FVar(2, 0, alpha), s.FVar(3, 0, alpha)
	quot := s.Apps(s.Const(name("Quot"), us), alpha, r)
	mk := s.Apps(s.Const(name("Quot", "mk"), us), alpha, r)
	body := g.arrow(s.Apps(r, a, b), s.Apps(s.Const(name("Eq"), us), quot, s.App(mk, a), s.App(mk, b)))
	return s.Pis([]term.Expr{alpha, r, a, b}, body), []term.Name{name("Eq"), name("Quot"), name("Quot", "mk")}, true
}

func (g *genuine) arrow(a, b term.Expr) term.Expr { return g.s.Pi(0, term.Default, a, b) }

// constant reports whether a constant that axioms are about is the standard one.
// The quotient constants are always standard once they are declared as such,
// because the checker compares their types.
func (g *genuine) constant(n term.Name) bool {
	s := g.s
	d := g.env.Decl(n)
	if d == nil {
		return false
	}
	name := s.NameOf
	if n == name("Quot") || n == name("Quot", "mk") {
		return d.Kind == export.Quotient
	}
	if d.Kind != export.Inductive || len(d.Block.Types) != 1 || d.Block.Types[0].Name != n || len(d.Block.Ctors) != 1 {
		return false
	}
	t, c := d.Block.Types[0], d.Block.Ctors[0]
	prop := s.Sort(term.Zero)
	if n == name("Iff") {
		a, b := s.FVar(0, 0, prop), s.FVar(1, 0, prop)
		iff := s.Apps(s.Const(n, 0), a, b)
		return len(t.Params) == 0 && t.NumParams == 2 && c.Name == s.Str(n, "intro") &&
			t.Type == s.Pis([]term.Expr{a, b}, prop) &&
			c.Type == s.Pis([]term.Expr{a, b}, g.arrow(g.arrow(a, b), g.arrow(g.arrow(b, a), iff)))
	}
	if len(t.Params) != 1 {
		return false
	}
	u := s.Param(t.Params[0])
	us := s.LevelList([]term.Level{u})
	alpha := s.FVar(0, 0, s.Sort(u))
	a, b := s.FVar(1, 0, alpha), s.FVar(2, 0, alpha)
	switch n {
	case name("Eq"):
		return t.NumParams == 2 && c.Name == s.Str(n, "refl") &&
			t.Type == s.Pis([]term.Expr{alpha, a, b}, prop) &&
			c.Type == s.Pis([]term.Expr{alpha, a}, s.Apps(s.Const(n, us), alpha, a, a))
	case name("Nonempty"):
		return t.NumParams == 1 && c.Name == s.Str(n, "intro") &&
			t.Type == s.Pis([]term.Expr{alpha}, prop) &&
			c.Type == s.Pis([]term.Expr{alpha, a}, s.App(s.Const(n, us), alpha))
	}
	return false
}
