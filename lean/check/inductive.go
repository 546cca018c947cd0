package check

import (
	"fmt"

	"github.com/erdos1056/erdos1056/lean/term"
)

// A family is a group of mutually inductive types to be checked: what of an
// inductive block defines something.
type family struct {
	params    []term.Name // universe parameters
	numParams int         // parameters shared by the types
	types     []familyType
}

type familyType struct {
	name  term.Name
	typ   term.Expr
	ctors []familyCtor
}

type familyCtor struct {
	name term.Name
	typ  term.Expr
}

// A recursor is what a family gives rise to for one of its types.
type recursor struct {
	name   term.Name
	params []term.Name
	typ    term.Expr
	info   recInfo
}

// familyChecker checks a family without nested occurrences and builds its
// recursors. The types, then the constructors, must be visible to c as
// constants when the corresponding steps run.
//
// Free variables have fixed levels: parameters first, then motives, minor
// premises, and from scratch on indices, major premises and fields.
type familyChecker struct {
	c      *checker
	f      *family
	levels term.Levels // the family's universe parameters as levels
	consts []term.Expr // the types as constants at these levels
	vars   []term.Expr // the parameters
	result term.Level  // the universe of the types

	numIndices []int
	fields     [][]int // number of fields by type and constructor
	scratch    uint32

	elim      term.Level // the universe motives live in
	elimParam term.Name  // its parameter, Anonymous when motives are propositions
	recLevels term.Levels
	recParams []term.Name
	motives   []term.Expr
	minors    [][]term.Expr
	indices   [][]term.Expr
	majors    []term.Expr
	rules     [][]recRule
	recNames  []term.Name
}

func newFamilyChecker(c *checker, f *family) *familyChecker {
	fc := &familyChecker{c: c, f: f}
	var ls []term.Level
	for _, p := range f.params {
		ls = append(ls, c.s.Param(p))
	}
	fc.levels = c.s.LevelList(ls)
	numCtors := 0
	for _, t := range f.types {
		fc.consts = append(fc.consts, c.s.Const(t.name, fc.levels))
		fc.recNames = append(fc.recNames, c.s.Str(t.name, "rec"))
		numCtors += len(t.ctors)
	}
	fc.scratch = uint32(f.numParams + len(f.types) + numCtors)
	return fc
}

// checkTypes checks the types' own types: they share parameters and universe.
func (fc *familyChecker) checkTypes() {
	c, s := fc.c, fc.c.s
	for i, t := range fc.f.types {
		c.sortOf(t.typ, true)
		typ := t.typ
		vars := fc.vars[:0:0]
		for k := 0; k < fc.f.numParams; k++ {
			n := *s.At(typ)
			if n.Kind != term.Pi {
				reject("inductive parameters", "%s declares %d parameters but its type has only %d arguments", c.nameString(t.name), fc.f.numParams, k)
			}
			dom := s.Instantiate(term.Expr(n.A), vars)
			if i == 0 {
				fc.vars = append(fc.vars, s.FVar(uint32(k), n.Name, dom))
			} else if !c.defeq(dom, term.Expr(s.At(fc.vars[k]).B)) {
				c.rejectTerms("inductive parameters", "the types of a mutual block have different parameters",
					"parameter", dom, "expected", term.Expr(s.At(fc.vars[k]).B))
			}
			vars = fc.vars[:k+1]
			typ = term.Expr(n.B)
		}
		typ = s.Instantiate(typ, fc.vars)
		indices, rest := fc.openIndices(typ)
		fc.numIndices = append(fc.numIndices, len(indices))
		if s.Kind(rest) != term.Sort {
			c.rejectTerms("inductive type", "the type of an inductive type must end in a sort", "found", rest)
		}
		l := term.Level(s.At(rest).A)
		if i == 0 {
			fc.result = l
		} else if !s.LevelEq(l, fc.result) {
			reject("inductive universe", "the types of a mutual block live in different universes: %s and %s", s.PrintLevel(fc.result), s.PrintLevel(l))
		}
	}
}

// open gives the leading binders of typ variables from level on.
func (fc *familyChecker) open(typ term.Expr, level uint32) ([]term.Expr, term.Expr) {
	s := fc.c.s
	var vars []term.Expr
	for n := *s.At(typ); n.Kind == term.Pi; n = *s.At(typ) {
		vars = append(vars, s.FVar(level, n.Name, s.Instantiate(term.Expr(n.A), vars)))
		level++
		typ = term.Expr(n.B)
	}
	return vars, s.Instantiate(typ, vars)
}

// openIndices gives the indices of a type variables. Here, unlike in the types
// of constructors, binders may come to light only by reduction.
func (fc *familyChecker) openIndices(typ term.Expr) ([]term.Expr, term.Expr) {
	s := fc.c.s
	var vars []term.Expr
	for {
		if s.Kind(typ) != term.Pi {
			typ = fc.c.whnf(typ)
		}
		n := *s.At(typ)
		if n.Kind != term.Pi {
			return vars, typ
		}
		v := s.FVar(fc.scratch+uint32(len(vars)), n.Name, term.Expr(n.A))
		vars = append(vars, v)
		typ = s.Instantiate1(term.Expr(n.B), v)
	}
}

// isTypeApp returns which of the family's types e is, applied to the family's
// parameters and to indices free of the family.
func (fc *familyChecker) isTypeApp(e term.Expr) (int, bool) {
	f, args := fc.c.s.Spine(e, nil)
	for i, k := range fc.consts {
		n, m := fc.c.s.At(f), fc.c.s.At(k)
		if n.Kind != term.Const || n.A != m.A {
			continue
		}
		if !fc.c.levelsEqual(term.Levels(n.B), fc.levels) || len(args) != fc.f.numParams+fc.numIndices[i] {
			return 0, false
		}
		for k, v := range fc.vars {
			if args[k] != v && !fc.c.defeq(args[k], v) {
				return 0, false
			}
		}
		for _, a := range args[fc.f.numParams:] {
			if fc.mentions(a) {
				return 0, false
			}
		}
		return i, true
	}
	return 0, false
}

// mentions reports whether a type of the family occurs in e.
func (fc *familyChecker) mentions(e term.Expr) bool {
	return mentions(fc.c.s, e, func(n term.Name) bool {
		for _, t := range fc.f.types {
			if t.name == n {
				return true
			}
		}
		return false
	})
}

// mentions reports whether a constant that is wanted occurs in e, as a constant
// or as the type of a projection.
func mentions(s *term.Store, e term.Expr, wanted func(term.Name) bool) bool {
	found := false
	s.Walk(e, map[term.Expr]bool{}, func(_ term.Expr, n *term.Node) bool {
		if (n.Kind == term.Const || n.Kind == term.Proj) && wanted(term.Name(n.A)) {
			found = true
		}
		return !found && n.Kind != term.FVar
	})
	return found
}

// checkCtors checks the constructors' types.
func (fc *familyChecker) checkCtors() {
	for i, t := range fc.f.types {
		var fields []int
		for _, k := range t.ctors {
			fields = append(fields, fc.checkCtor(i, k))
		}
		fc.fields = append(fc.fields, fields)
	}
}

func (fc *familyChecker) checkCtor(i int, k familyCtor) int {
	c, s := fc.c, fc.c.s
	name := c.nameString(k.name)
	c.sortOf(k.typ, true)
	typ := k.typ
	for j, v := range fc.vars {
		n := *s.At(typ)
		if n.Kind != term.Pi {
			reject("constructor parameters", "%s takes %d arguments, but its type has %d parameters", name, j, len(fc.vars))
		}
		dom := s.Instantiate(term.Expr(n.A), fc.vars[:j])
		if want := term.Expr(s.At(v).B); !c.defeq(dom, want) {
			c.rejectTerms("constructor parameters", name+" has other parameters than its type", "parameter", dom, "expected", want)
		}
		typ = term.Expr(n.B)
	}
	typ = s.Instantiate(typ, fc.vars)
	small := s.AlwaysZero(fc.result)
	count := 0
	for n := *s.At(typ); n.Kind == term.Pi; n = *s.At(typ) {
		dom := term.Expr(n.A)
		l := c.sortOf(dom, false)
		if !small && !s.LevelLeq(l, fc.result) {
			c.rejectTerms("universe of a field", fmt.Sprintf("field %d of %s lives in universe %s, above %s of its type",
				count+1, name, s.PrintLevel(l), s.PrintLevel(fc.result)), "field", dom)
		}
		fc.checkPositive(dom, name, count)
		typ = s.Instantiate1(term.Expr(n.B), s.FVar(fc.scratch+uint32(count), n.Name, dom))
		count++
	}
	if j, ok := fc.isTypeApp(typ); !ok || j != i {
		c.rejectTerms("constructor result", name+" does not build the type it belongs to", "result", typ)
	}
	return count
}

// checkPositive checks that the family occurs in a field's type only as the
// result of functions whose arguments are free of it.
func (fc *familyChecker) checkPositive(typ term.Expr, ctor string, field int) {
	c, s := fc.c, fc.c.s
	for level := fc.scratch + uint32(field); ; level++ {
		typ = c.whnf(typ)
		if !fc.mentions(typ) {
			return
		}
		n := *s.At(typ)
		if n.Kind != term.Pi {
			break
		}
		if fc.mentions(term.Expr(n.A)) {
			c.rejectTerms("positivity", fmt.Sprintf("field %d of %s takes an argument in which the type being defined occurs", field+1, ctor), "argument", term.Expr(n.A))
		}
		typ = s.Instantiate1(term.Expr(n.B), s.FVar(level, n.Name, term.Expr(n.A)))
	}
	if _, ok := fc.isTypeApp(typ); !ok {
		c.rejectTerms("positivity", fmt.Sprintf("field %d of %s is no valid occurrence of the type being defined", field+1, ctor), "field", typ)
	}
}

// recursive returns the binders and the type applied, if a field of this type is
// a recursive one.
func (fc *familyChecker) recursive(typ term.Expr, level uint32) (xs []term.Expr, app term.Expr, which int, ok bool) {
	c, s := fc.c, fc.c.s
	typ = c.whnf(typ)
	for n := *s.At(typ); n.Kind == term.Pi; n = *s.At(typ) {
		x := s.FVar(level, n.Name, term.Expr(n.A))
		level++
		xs = append(xs, x)
		typ = c.whnf(s.Instantiate1(term.Expr(n.B), x))
	}
	which, ok = fc.isTypeApp(typ)
	return xs, typ, which, ok
}

// largeElimination reports whether motives may live in any universe. A type that
// may be a proposition allows it only if proofs cannot be told apart by doing
// so: it has no constructor, or one whose fields are proofs or occur in the
// result type.
func (fc *familyChecker) largeElimination() bool {
	c, s := fc.c, fc.c.s
	if s.NeverZero(fc.result) || s.LevelLeq(s.Succ(term.Zero), fc.result) {
		return true
	}
	if len(fc.f.types) > 1 || len(fc.f.types[0].ctors) > 1 {
		return false
	}
	if len(fc.f.types[0].ctors) == 0 {
		return true
	}
	fields, result := fc.openCtor(fc.f.types[0].ctors[0])
	_, args := s.Spine(result, nil)
	for _, v := range fields {
		if s.AlwaysZero(c.sortOf(term.Expr(s.At(v).B), false)) {
			continue
		}
		found := false
		for _, a := range args {
			found = found || a == v
		}
		if !found {
			return false
		}
	}
	return true
}

// openCtor gives the fields of a constructor variables.
func (fc *familyChecker) openCtor(k familyCtor) (fields []term.Expr, result term.Expr) {
	typ := k.typ
	for range fc.vars {
		typ = term.Expr(fc.c.s.At(typ).B)
	}
	return fc.open(fc.c.s.Instantiate(typ, fc.vars), fc.scratch)
}

// buildRecursors derives the recursor of each type.
func (fc *familyChecker) buildRecursors() []recursor {
	fc.chooseElimination()
	for i := range fc.f.types {
		fc.addMotive(i)
	}
	position := uint32(fc.f.numParams + len(fc.f.types))
	for i := range fc.f.types {
		var minors []term.Expr
		for j := range fc.f.types[i].ctors {
			minors = append(minors, fc.minor(i, j, position))
			position++
		}
		fc.minors = append(fc.minors, minors)
	}
	for i := range fc.f.types {
		var rules []recRule
		for j := range fc.f.types[i].ctors {
			rules = append(rules, fc.rule(i, j))
		}
		fc.rules = append(fc.rules, rules)
	}
	var out []recursor
	for i := range fc.f.types {
		out = append(out, fc.recursor(i))
	}
	return out
}

func (fc *familyChecker) chooseElimination() {
	s := fc.c.s
	fc.recParams = fc.f.params
	if fc.largeElimination() {
		fc.elimParam = freshParam(s, fc.f.params)
		fc.elim = s.Param(fc.elimParam)
		fc.recParams = append([]term.Name{fc.elimParam}, fc.f.params...)
	}
	var ls []term.Level
	for _, p := range fc.recParams {
		ls = append(ls, s.Param(p))
	}
	fc.recLevels = s.LevelList(ls)
}

// freshParam returns the first of u, u_1, u_2, ... that is not among params.
func freshParam(s *term.Store, params []term.Name) term.Name {
	for i := 0; ; i++ {
		text := "u"
		if i > 0 {
			text = fmt.Sprintf("u_%d", i)
		}
		n := s.NameOf(text)
		used := false
		for _, p := range params {
			used = used || p == n
		}
		if !used {
			return n
		}
	}
}

func (fc *familyChecker) addMotive(i int) {
	s := fc.c.s
	typ := fc.f.types[i].typ
	for range fc.vars {
		typ = term.Expr(s.At(typ).B)
	}
	indices, _ := fc.openIndices(s.Instantiate(typ, fc.vars))
	self := s.Apps(s.Apps(fc.consts[i], fc.vars...), indices...)
	major := s.FVar(fc.scratch+uint32(len(indices)), s.NameOf("t"), self)
	name := "motive"
	if len(fc.f.types) > 1 {
		name = fmt.Sprintf("motive_%d", i+1)
	}
	motive := s.Pis(append(indices[:len(indices):len(indices)], major), s.Sort(fc.elim))
	fc.motives = append(fc.motives, s.FVar(uint32(fc.f.numParams+i), s.NameOf(name), motive))
	fc.indices = append(fc.indices, indices)
	fc.majors = append(fc.majors, major)
}

// minor returns the premise for a constructor: given fields, and a proof of the
// motive for each recursive field, the motive holds for the constructor.
func (fc *familyChecker) minor(i, j int, position uint32) term.Expr {
	s := fc.c.s
	k := fc.f.types[i].ctors[j]
	fields, result := fc.openCtor(k)
	level := fc.scratch + uint32(len(fields))
	all := append([]term.Expr(nil), fields...)
	for _, u := range fields {
		xs, app, which, ok := fc.recursive(term.Expr(s.At(u).B), level)
		if !ok {
			continue
		}
		level += uint32(len(xs))
		ih := s.Pis(xs, s.App(fc.applyMotive(which, app), s.Apps(u, xs...)))
		all = append(all, s.FVar(level, hypothesisName(s, s.At(u).Name), ih))
		level++
	}
	built := s.Apps(s.Apps(s.Const(k.name, fc.levels), fc.vars...), fields...)
	typ := s.Pis(all, s.App(fc.applyMotive(i, result), built))
	last, _ := s.LastText(k.name)
	return s.FVar(position, s.NameOf(last), typ)
}

func hypothesisName(s *term.Store, field term.Name) term.Name {
	text, _ := s.LastText(field)
	return s.Str(s.Parent(field), text+"_ih")
}

// applyMotive applies the motive of a type to the indices in app.
func (fc *familyChecker) applyMotive(which int, app term.Expr) term.Expr {
	_, args := fc.c.s.Spine(app, nil)
	return fc.c.s.Apps(fc.motives[which], args[fc.f.numParams:]...)
}

// premises returns parameters, motives and minor premises, in order.
func (fc *familyChecker) premises() []term.Expr {
	all := append([]term.Expr(nil), fc.vars...)
	all = append(all, fc.motives...)
	for _, m := range fc.minors {
		all = append(all, m...)
	}
	return all
}

// rule returns what the recursor of type i does to constructor j: it applies the
// minor premise to the fields and to the recursor of each recursive field.
func (fc *familyChecker) rule(i, j int) recRule {
	s := fc.c.s
	k := fc.f.types[i].ctors[j]
	fields, _ := fc.openCtor(k)
	premises := fc.premises()
	level := fc.scratch + uint32(len(fields))
	body := s.Apps(fc.minors[i][j], fields...)
	for _, u := range fields {
		xs, app, which, ok := fc.recursive(term.Expr(s.At(u).B), level)
		if !ok {
			continue
		}
		level += uint32(len(xs))
		_, args := s.Spine(app, nil)
		call := s.Apps(s.Const(fc.recNames[which], fc.recLevels), premises...)
		call = s.App(s.Apps(call, args[fc.f.numParams:]...), s.Apps(u, xs...))
		body = s.App(body, s.Lambdas(xs, call))
	}
	return recRule{ctor: k.name, numFields: len(fields), rhs: s.Lambdas(append(premises, fields...), body)}
}

func (fc *familyChecker) recursor(i int) recursor {
	s := fc.c.s
	indices, major := fc.indices[i], fc.majors[i]
	binders := append(fc.premises(), indices...)
	typ := s.Pis(append(binders, major), s.App(s.Apps(fc.motives[i], indices...), major))
	numMinors := 0
	for _, m := range fc.minors {
		numMinors += len(m)
	}
	return recursor{
		name: fc.recNames[i], params: fc.recParams, typ: typ,
		info: recInfo{
			induct: fc.f.types[i].name, numParams: fc.f.numParams, numMotives: len(fc.motives),
			numMinors: numMinors, numIndices: len(indices), rules: fc.rules[i], k: fc.ruleK(),
		},
	}
}

// ruleK reports whether the family is a single proposition with one constructor
// without fields, so that every proof of it may count as the constructor.
func (fc *familyChecker) ruleK() bool {
	return len(fc.f.types) == 1 && len(fc.f.types[0].ctors) == 1 &&
		fc.fields[0][0] == 0 && fc.c.s.AlwaysZero(fc.result)
}
