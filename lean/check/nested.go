package check

import (
	"fmt"

	"github.com/erdos1056/erdos1056/lean/term"
)

// maxAuxiliary bounds the auxiliary types of a nested block.
const maxAuxiliary = 1 << 10

// unnesting turns a family in which a type occurs as the parameter of another
// inductive type, as in List Tree, into one without: each such application gets
// an auxiliary type with the constructors of the outer type, and joins the
// family.
type unnesting struct {
	c     *checker
	f     *family // grows
	own   int     // types of the original family
	vars  []term.Expr
	aux   []auxiliary
	level term.Levels
}

type auxiliary struct {
	name term.Name
	app  term.Expr // the application it stands for, over the variables
	ctor map[term.Name]term.Name
}

// unnest returns the enlarged family, or nil if nothing is nested.
func unnest(c *checker, f *family, vars []term.Expr, levels term.Levels) *unnesting {
	u := &unnesting{c: c, own: len(f.types), vars: vars, level: levels,
		f: &family{params: f.params, numParams: f.numParams, types: append([]familyType(nil), f.types...)}}
	for i := 0; i < len(u.f.types); i++ {
		t := u.f.types[i]
		ctors := make([]familyCtor, len(t.ctors))
		for j, k := range t.ctors {
			ctors[j] = familyCtor{k.name, u.rewrite(k.typ)}
		}
		u.f.types[i].ctors = ctors
	}
	if len(u.aux) == 0 {
		return nil
	}
	return u
}

// rewrite replaces nested applications in the type of a constructor.
func (u *unnesting) rewrite(typ term.Expr) term.Expr {
	s := u.c.s
	body := u.strip(typ, term.Pi)
	replaced := s.Replace(body, u.replaceNested)
	if replaced == body {
		return typ
	}
	return s.Pis(u.vars, replaced)
}

// strip puts the parameters into the leading binders of e.
func (u *unnesting) strip(e term.Expr, kind term.Kind) term.Expr {
	s := u.c.s
	for range u.vars {
		if s.Kind(e) != kind {
			reject("constructor parameters", "a constructor has fewer arguments than its type has parameters")
		}
		e = term.Expr(s.At(e).B)
	}
	return s.Instantiate(e, u.vars)
}

func (u *unnesting) inFamily(n term.Name) bool {
	for _, t := range u.f.types {
		if t.name == n {
			return true
		}
	}
	return false
}

func (u *unnesting) replaceNested(e term.Expr) term.Expr {
	s := u.c.s
	if s.Kind(e) != term.App {
		return term.NoExpr
	}
	outer, f := u.c.head(e)
	if outer == nil || outer.kind != inductiveConst || u.inFamily(outer.name) {
		return term.NoExpr
	}
	_, args := s.Spine(e, nil)
	n := outer.ind.numParams
	if len(args) < n {
		return term.NoExpr
	}
	nested, loose := false, false
	for _, a := range args[:n] {
		nested = nested || mentions(s, a, u.inFamily)
		loose = loose || s.Loose(a) > 0
	}
	if !nested {
		return term.NoExpr
	}
	if loose {
		u.c.rejectTerms("nested occurrence", "the parameters of a nested occurrence depend on local variables", "found", e)
	}
	app := s.Apps(f, args[:n]...)
	return s.Apps(s.Apps(s.Const(u.auxiliaryFor(outer, f, app, args[:n]), u.level), u.vars...), args[n:]...)
}

// auxiliaryFor returns the name of the auxiliary type for app, after adding the
// whole block of the outer type to the family if need be.
func (u *unnesting) auxiliaryFor(outer *constant, f, app term.Expr, args []term.Expr) term.Name {
	s := u.c.s
	for _, a := range u.aux {
		if a.app == app {
			return a.name
		}
	}
	levels := term.Levels(s.At(f).B)
	result := term.Anonymous
	for _, n := range outer.ind.block {
		member := u.c.lookup(n)
		if member == nil || len(u.aux) >= maxAuxiliary {
			panic(&term.LimitError{What: fmt.Sprintf("a nested block needs more than %d auxiliary types", maxAuxiliary)})
		}
		name := s.FreshName(u.f.types[0].name, fmt.Sprintf("_nested_%d", len(u.aux)+1))
		a := auxiliary{name: name, app: s.Apps(s.Const(n, levels), args...), ctor: map[term.Name]term.Name{}}
		t := familyType{name: name, typ: u.instance(member, levels, args)}
		for _, k := range member.ind.ctors {
			ctor := u.c.lookup(k)
			if ctor == nil {
				reject("nested occurrence", "%s is not complete", u.c.nameString(n))
			}
			text, _ := s.LastText(k)
			fresh := s.FreshName(name, text)
			a.ctor[fresh] = k
			t.ctors = append(t.ctors, familyCtor{fresh, u.instance(ctor, levels, args)})
		}
		u.f.types = append(u.f.types, t)
		u.aux = append(u.aux, a)
		if n == outer.name {
			result = name
		}
	}
	return result
}

// instance returns the type of a constant at the given levels and parameters,
// abstracted over the parameters of the family.
func (u *unnesting) instance(k *constant, levels term.Levels, args []term.Expr) term.Expr {
	s := u.c.s
	t := u.c.constType(s.Const(k.name, levels))
	for range args {
		if s.Kind(t) != term.Pi {
			reject("nested occurrence", "%s has fewer arguments than parameters", u.c.nameString(k.name))
		}
		t = term.Expr(s.At(t).B)
	}
	return s.Pis(u.vars, s.Instantiate(t, args))
}

// restore replaces the auxiliary types and constructors in e, which starts with
// binders of the given kind for the parameters, by what they stand for.
func (u *unnesting) restore(e term.Expr, kind term.Kind) term.Expr {
	s := u.c.s
	body := s.Replace(u.strip(e, kind), u.restoreApp)
	if kind == term.Pi {
		return s.Pis(u.vars, body)
	}
	return s.Lambdas(u.vars, body)
}

func (u *unnesting) restoreApp(e term.Expr) term.Expr {
	s := u.c.s
	f := s.Head(e)
	n := s.At(f)
	if n.Kind != term.Const {
		return term.NoExpr
	}
	name := term.Name(n.A)
	for _, a := range u.aux {
		original := a.app
		if k, ok := a.ctor[name]; ok {
			g, args := s.Spine(a.app, nil)
			original = s.Apps(s.Const(k, term.Levels(s.At(g).B)), args...)
		} else if name != a.name {
			continue
		}
		_, args := s.Spine(e, nil)
		if len(args) < len(u.vars) {
			reject("nested occurrence", "an auxiliary type is not applied to the parameters")
		}
		for i, v := range u.vars {
			if args[i] != v {
				reject("nested occurrence", "an auxiliary type is not applied to the parameters")
			}
		}
		for i, x := range args {
			args[i] = s.Replace(x, u.restoreApp)
		}
		return s.Apps(original, args[len(u.vars):]...)
	}
	return term.NoExpr
}

// auxiliaryRec is the last component of the name of the recursor of auxiliary
// type k, counted from 1, below the first type of the block.
func auxiliaryRec(k int) string { return fmt.Sprintf("rec_%d", k) }
