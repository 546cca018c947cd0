package check

import (
	"github.com/erdos1056/erdos1056/lean/export"
	"github.com/erdos1056/erdos1056/lean/term"
)

// reduceRec applies a recursor to a constructor, or returns NoExpr.
func (c *checker) reduceRec(k *constant, f term.Expr, args []term.Expr) term.Expr {
	s := c.s
	rec := k.rec
	at := rec.majorIndex()
	if at >= len(args) {
		return term.NoExpr
	}
	levels := s.LevelSlice(term.Levels(s.At(f).B))
	if len(levels) != len(k.params) {
		return term.NoExpr
	}
	major := args[at]
	if rec.k {
		major = c.nullaryCtor(rec, major)
	}
	major = c.whnf(major)
	switch s.Kind(major) {
	case term.NatLit:
		major = c.natCtor(major)
	case term.StrLit:
		major = c.whnf(c.stringCtor(major))
	}
	major = c.expandStructure(rec.induct, major)
	var buf [12]term.Expr
	g, fields := s.Spine(major, buf[:0])
	gn := s.At(g)
	if gn.Kind != term.Const {
		return term.NoExpr
	}
	for i := range rec.rules {
		rule := &rec.rules[i]
		if rule.ctor != term.Name(gn.A) {
			continue
		}
		if rule.numFields > len(fields) {
			return term.NoExpr
		}
		// For nested types the constructor's parameters differ from the
		// recursor's; the fields are always the last arguments.
		fields = fields[len(fields)-rule.numFields:]
		key := ruleKey{f, i}
		rhs, ok := c.rules[key]
		if !ok {
			rhs = s.SubstLevels(rule.rhs, k.params, levels)
			c.rules[key] = rhs
		}
		var all [24]term.Expr
		in := append(all[:0], args[:rec.numParams+rec.numMotives+rec.numMinors]...)
		in = append(in, fields...)
		in = append(in, args[at+1:]...)
		return c.beta(rhs, in)
	}
	return term.NoExpr
}

// nullaryCtor turns a term of a type with rule K, whatever it is, into the only
// constructor, provided that the types agree.
func (c *checker) nullaryCtor(rec *recInfo, major term.Expr) term.Expr {
	s := c.s
	t := c.whnf(c.infer(major))
	var buf [12]term.Expr
	f, args := s.Spine(t, buf[:0])
	n := s.At(f)
	if n.Kind != term.Const || term.Name(n.A) != rec.induct || len(args) < rec.numParams {
		return major
	}
	levels := term.Levels(n.B)
	ctor := s.Apps(s.Const(rec.rules[0].ctor, levels), args[:rec.numParams]...)
	if !c.defeq(t, c.infer(ctor)) {
		return major
	}
	return ctor
}

// expandStructure turns a term of a structure type that is no proposition into
// the constructor applied to the term's projections. Constructor applications
// stay as they are.
func (c *checker) expandStructure(induct term.Name, e term.Expr) term.Expr {
	s := c.s
	ind := c.lookup(induct)
	if ind == nil || !ind.ind.structure() {
		return e
	}
	if k, _ := c.head(e); k != nil && k.kind == ctorConst {
		return e
	}
	t := c.whnf(c.infer(e))
	var buf [12]term.Expr
	f, args := s.Spine(t, buf[:0])
	n := *s.At(f)
	if n.Kind != term.Const || term.Name(n.A) != induct || len(args) < ind.ind.numParams || c.isProp(t) {
		return e
	}
	ctor := c.lookup(ind.ind.ctors[0])
	if ctor == nil {
		return e
	}
	r := s.Apps(s.Const(ctor.name, term.Levels(n.B)), args[:ind.ind.numParams]...)
	for i := 0; i < ctor.ctor.numFields; i++ {
		r = s.App(r, s.Proj(induct, uint32(i), e))
	}
	return r
}

// reduceQuot computes Quot.lift f h (Quot.mk r a) and Quot.ind h (Quot.mk r a),
// or returns NoExpr.
func (c *checker) reduceQuot(k *constant, args []term.Expr) term.Expr {
	var major int
	const function = 3
	switch k.quot {
	case export.QuotLift:
		major = 5
	case export.QuotInd:
		major = 4
	default:
		return term.NoExpr
	}
	if major >= len(args) {
		return term.NoExpr
	}
	s := c.s
	var buf [8]term.Expr
	f, in := s.Spine(c.whnf(args[major]), buf[:0])
	n := s.At(f)
	if n.Kind != term.Const || len(in) != 3 {
		return term.NoExpr
	}
	if mk := c.lookup(term.Name(n.A)); mk == nil || mk.kind != quotConst || mk.quot != export.QuotMk {
		return term.NoExpr
	}
	return s.Apps(s.App(args[function], in[2]), args[major+1:]...)
}
