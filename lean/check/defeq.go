package check

import (
	"github.com/erdos1056/erdos1056/lean/export"
	"github.com/erdos1056/erdos1056/lean/term"
)

// An answer of a test that may not decide.
type answer int8

const (
	unknown answer = iota
	yes
	no
)

func answerOf(b bool) answer {
	if b {
		return yes
	}
	return no
}

// defeq reports whether a and b, two well-typed terms, are definitionally equal.
// A negative answer says only that equality was not found.
//
// Positive results are remembered by pair. They are not closed under
// transitivity: the algorithm's equality is not transitive, and a closure would
// make answers depend on the order of questions.
func (c *checker) defeq(a, b term.Expr) bool {
	if a == b {
		return true
	}
	switch c.quick(a, b) {
	case yes:
		return true
	case no:
		return false
	}
	if c.equal.has(a, b) {
		return true
	}
	c.enter()
	r := c.defeqFull(a, b)
	c.leave()
	if r {
		c.equal.add(a, b)
	}
	return r
}

// quick decides the cases in which the heads of both terms cannot reduce.
func (c *checker) quick(a, b term.Expr) answer {
	if a == b {
		return yes
	}
	x, y := c.s.At(a), c.s.At(b)
	if x.Kind != y.Kind {
		return unknown
	}
	switch x.Kind {
	case term.Sort:
		return answerOf(c.s.LevelEq(term.Level(x.A), term.Level(y.A)))
	case term.NatLit, term.StrLit:
		return no // equal literals have equal handles
	case term.Lambda, term.Pi:
		if c.equal.has(a, b) {
			return yes
		}
		c.enter()
		r := c.defeqBinders(a, b)
		c.leave()
		if r {
			c.equal.add(a, b)
		}
		return answerOf(r)
	}
	return unknown
}

// defeqBinders compares two lambdas or two function types, as many binders at
// once as both have.
func (c *checker) defeqBinders(a, b term.Expr) bool {
	s := c.s
	kind := s.Kind(a)
	var buf [8]term.Expr
	vars := buf[:0]
	level := max(s.FVarRange(a), s.FVarRange(b))
	for {
		x, y := *s.At(a), *s.At(b)
		if x.Kind != kind || y.Kind != kind {
			break
		}
		dom := s.Instantiate(term.Expr(x.A), vars)
		if x.A != y.A {
			if !c.defeq(dom, s.Instantiate(term.Expr(y.A), vars)) {
				return false
			}
		}
		vars = append(vars, s.FVar(level, x.Name, dom))
		level++
		a, b = term.Expr(x.B), term.Expr(y.B)
	}
	return c.defeq(s.Instantiate(a, vars), s.Instantiate(b, vars))
}

func (c *checker) defeqFull(a, b term.Expr) bool {
	s := c.s
	if c.isBoolTrue(b) && (s.FVarRange(a) == 0 || c.eager) && c.whnf(a) == b {
		return true
	}
	x, y := c.whnfCheap(a), c.whnfCheap(b)
	if x != a || y != b {
		if r := c.quick(x, y); r != unknown {
			return r == yes
		}
	}
	if r := c.proofIrrelevance(x, y); r != unknown {
		return r == yes
	}
	x, y, r := c.lazyDelta(x, y)
	if r != unknown {
		return r == yes
	}
	m, n := *s.At(x), *s.At(y)
	switch {
	case m.Kind == term.Const && n.Kind == term.Const && m.A == n.A:
		if c.levelsEqual(term.Levels(m.B), term.Levels(n.B)) {
			return true
		}
	case m.Kind == term.Proj && n.Kind == term.Proj && m.A == n.A && m.B == n.B:
		if c.lazyProjection(term.Expr(m.C), term.Expr(n.C), int(m.B)) {
			return true
		}
	}
	if p, q := c.whnfCore(x), c.whnfCore(y); p != x || q != y {
		return c.defeq(p, q)
	}
	if m.Kind == term.App && n.Kind == term.App && c.defeqApp(x, y) {
		return true
	}
	if c.functionEta(x, y) || c.functionEta(y, x) {
		return true
	}
	if c.structureEta(x, y) || c.structureEta(y, x) {
		return true
	}
	if r := c.stringExpansion(x, y); r != unknown {
		return r == yes
	}
	return c.unitLike(x, y)
}

func (c *checker) isBoolTrue(e term.Expr) bool {
	n := c.s.At(e)
	return n.Kind == term.Const && term.Name(n.A) == c.env.names.boolTrue
}

func (c *checker) levelsEqual(a, b term.Levels) bool {
	if a == b {
		return true
	}
	x, y := c.s.LevelSlice(a), c.s.LevelSlice(b)
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if !c.s.LevelEq(x[i], y[i]) {
			return false
		}
	}
	return true
}

// proofIrrelevance decides terms that are proofs: they are equal if they prove
// the same.
func (c *checker) proofIrrelevance(a, b term.Expr) answer {
	switch c.s.Kind(a) {
	case term.Sort, term.Pi, term.NatLit, term.StrLit:
		return unknown
	}
	t := c.infer(a)
	if !c.isProp(t) {
		return unknown
	}
	return answerOf(c.defeq(t, c.infer(b)))
}

// lazyDelta unfolds definitions at the heads of a and b, step by step, the one
// defined later first, until the terms are seen to be equal or different or
// neither side unfolds.
func (c *checker) lazyDelta(a, b term.Expr) (term.Expr, term.Expr, answer) {
	for {
		if r := c.natOffset(a, b); r != unknown {
			return a, b, r
		}
		if c.eager || c.s.FVarRange(a) == 0 && c.s.FVarRange(b) == 0 {
			if v := c.reduceNat(a); v != term.NoExpr {
				return a, b, answerOf(c.defeq(v, b))
			}
			if v := c.reduceNat(b); v != term.NoExpr {
				return a, b, answerOf(c.defeq(a, v))
			}
		}
		var r answer
		var moved bool
		a, b, r, moved = c.deltaStep(a, b)
		if r != unknown || !moved {
			return a, b, r
		}
		c.step()
	}
}

// deltaStep unfolds one or both sides and compares quickly. moved tells whether
// anything could be unfolded.
func (c *checker) deltaStep(a, b term.Expr) (term.Expr, term.Expr, answer, bool) {
	s := c.s
	da, db := c.delta(a), c.delta(b)
	switch {
	case da == nil && db == nil:
		return a, b, unknown, false
	case db == nil:
		if p := c.stuckProjection(b); p != term.NoExpr {
			b = p
		} else {
			a = c.whnfCheap(c.unfold(a))
		}
	case da == nil:
		if p := c.stuckProjection(a); p != term.NoExpr {
			a = p
		} else {
			b = c.whnfCheap(c.unfold(b))
		}
	default:
		switch order := compareHints(da, db); {
		case order > 0:
			a = c.whnfCheap(c.unfold(a))
		case order < 0:
			b = c.whnfCheap(c.unfold(b))
		default:
			if da == db && s.Kind(a) == term.App && s.Kind(b) == term.App &&
				da.kind == definitionConst && da.hint.Kind == export.HintRegular && !c.apart.has(a, b) {
				if c.defeqSpine(a, b) {
					return a, b, yes, true
				}
				c.apart.add(a, b)
			}
			a, b = c.whnfCheap(c.unfold(a)), c.whnfCheap(c.unfold(b))
		}
	}
	return a, b, c.quick(a, b), true
}

// stuckProjection tries to reduce a term that is stuck on a projection by full
// evaluation of the structure.
func (c *checker) stuckProjection(e term.Expr) term.Expr {
	if c.s.Kind(c.s.Head(e)) != term.Proj {
		return term.NoExpr
	}
	if r := c.whnfCore(e); r != e {
		return r
	}
	return term.NoExpr
}

// defeqSpine compares applications of constants argument by argument.
func (c *checker) defeqSpine(a, b term.Expr) bool {
	s := c.s
	if s.ArgCount(a) != s.ArgCount(b) {
		return false
	}
	f, g := s.At(s.Head(a)), s.At(s.Head(b))
	return c.levelsEqual(term.Levels(f.B), term.Levels(g.B)) && c.defeqArgs(a, b)
}

func (c *checker) defeqArgs(a, b term.Expr) bool {
	var buf, bbuf [12]term.Expr
	_, x := c.s.Spine(a, buf[:0])
	_, y := c.s.Spine(b, bbuf[:0])
	for i := range x {
		if !c.defeq(x[i], y[i]) {
			return false
		}
	}
	return true
}

func (c *checker) defeqApp(a, b term.Expr) bool {
	if c.s.ArgCount(a) != c.s.ArgCount(b) {
		return false
	}
	return c.defeq(c.s.Head(a), c.s.Head(b)) && c.defeqArgs(a, b)
}

// lazyProjection compares field idx of two structures, unfolding the structures
// step by step rather than evaluating them.
func (c *checker) lazyProjection(a, b term.Expr, idx int) bool {
	for {
		var r answer
		var moved bool
		a, b, r, moved = c.deltaStep(a, b)
		if r == yes {
			return true
		}
		if r == unknown && moved {
			c.step()
			continue
		}
		if x := c.projectCtor(a, idx); x != term.NoExpr {
			if y := c.projectCtor(b, idx); y != term.NoExpr {
				return c.defeq(x, y)
			}
		}
		return c.defeq(a, b)
	}
}

// functionEta compares a lambda with a function that is none.
func (c *checker) functionEta(a, b term.Expr) bool {
	s := c.s
	if s.Kind(a) != term.Lambda || s.Kind(b) == term.Lambda {
		return false
	}
	t := c.whnf(c.infer(b))
	n := *s.At(t)
	if n.Kind != term.Pi {
		return false
	}
	return c.defeq(a, s.Lambda(n.Name, n.Info, term.Expr(n.A), s.App(b, s.BVar(0))))
}

// structureEta compares a with a constructor of a structure applied to all its
// fields: the fields must be the projections of a.
func (c *checker) structureEta(a, b term.Expr) bool {
	s := c.s
	k, _ := c.head(b)
	if k == nil || k.kind != ctorConst {
		return false
	}
	var buf [12]term.Expr
	_, args := s.Spine(b, buf[:0])
	if len(args) != k.ctor.numParams+k.ctor.numFields {
		return false
	}
	ind := c.lookup(k.ctor.induct)
	if ind == nil || !ind.ind.structure() || !c.defeq(c.infer(a), c.infer(b)) {
		return false
	}
	for i := 0; i < k.ctor.numFields; i++ {
		if !c.defeq(s.Proj(ind.name, uint32(i), a), args[k.ctor.numParams+i]) {
			return false
		}
	}
	return true
}

// unitLike compares two terms of a structure type without fields.
func (c *checker) unitLike(a, b term.Expr) bool {
	t := c.whnf(c.infer(a))
	k, _ := c.head(t)
	if k == nil || k.kind != inductiveConst || !k.ind.structure() {
		return false
	}
	ctor := c.lookup(k.ind.ctors[0])
	return ctor != nil && ctor.ctor.numFields == 0 && c.defeq(t, c.infer(b))
}
