package check

import (
	"github.com/erdos1056/erdos1056/lean/export"
	"github.com/erdos1056/erdos1056/lean/term"
)

// whnf reduces e until its head can reduce no further.
func (c *checker) whnf(e term.Expr) term.Expr {
	switch c.s.Kind(e) {
	case term.Sort, term.Pi, term.Lambda, term.NatLit, term.StrLit, term.FVar:
		return e
	}
	if r, ok := c.whnfs.get(e); ok {
		return r
	}
	c.enter()
	r := e
	for {
		r = c.whnfCore(r)
		if v := c.reduceNat(r); v != term.NoExpr {
			r = v
			break
		}
		if c.assumed != nil {
			if v := c.assumption(r); v != term.NoExpr {
				r = v
				break
			}
		}
		next := c.unfold(r)
		if next == term.NoExpr {
			break
		}
		c.step()
		r = next
	}
	c.leave()
	c.whnfs.put(e, r)
	return r
}

// whnfCore is whnf without unfolding definitions at the head.
func (c *checker) whnfCore(e term.Expr) term.Expr { return c.reduceCore(e, false) }

// whnfCheap is whnfCore, but it does not unfold definitions to find the
// constructor below a projection either.
func (c *checker) whnfCheap(e term.Expr) term.Expr { return c.reduceCore(e, true) }

func (c *checker) reduceCore(e term.Expr, cheap bool) term.Expr {
	s := c.s
	switch s.Kind(e) {
	case term.App, term.Let, term.Proj:
	case term.BVar:
		reject("loose variable", "a bound variable has no binder")
	default:
		return e
	}
	cache := &c.cores
	if cheap {
		cache = &c.cheap
	}
	if r, ok := cache.get(e); ok {
		return r
	}
	c.enter()
	r := e
	for {
		next := c.stepCore(r, cheap)
		if next == r {
			break
		}
		c.step()
		r = next
	}
	c.leave()
	cache.put(e, r)
	return r
}

// stepCore does one reduction at the head, or returns e.
func (c *checker) stepCore(e term.Expr, cheap bool) term.Expr {
	s := c.s
	n := s.At(e)
	switch n.Kind {
	case term.Let:
		return s.Instantiate1(term.Expr(n.C), term.Expr(n.B))
	case term.Proj:
		idx, structure := int(n.B), term.Expr(n.C)
		if cheap {
			structure = c.reduceCore(structure, true)
		} else {
			structure = c.whnf(structure)
		}
		if r := c.projectCtor(structure, idx); r != term.NoExpr {
			return r
		}
	case term.App:
		var buf [12]term.Expr
		f, args := s.Spine(e, buf[:0])
		switch s.Kind(f) {
		case term.Lambda:
			return c.beta(f, args)
		case term.Let, term.Proj:
			if g := c.reduceCore(f, cheap); g != f {
				return c.beta(g, args)
			}
		case term.Const:
			return c.reduceConst(e, f, args, cheap)
		}
	}
	return e
}

// beta applies f to args, putting arguments into f as long as it is a lambda.
func (c *checker) beta(f term.Expr, args []term.Expr) term.Expr {
	s := c.s
	k := 0
	body := f
	for k < len(args) {
		n := s.At(body)
		if n.Kind != term.Lambda {
			break
		}
		body = term.Expr(n.B)
		k++
	}
	return s.Apps(s.Instantiate(body, args[:k]), args[k:]...)
}

// projectCtor returns field idx if structure is a constructor application.
func (c *checker) projectCtor(structure term.Expr, idx int) term.Expr {
	s := c.s
	if s.Kind(structure) == term.StrLit {
		structure = c.whnf(c.stringCtor(structure))
	}
	var buf [12]term.Expr
	f, args := s.Spine(structure, buf[:0])
	n := s.At(f)
	if n.Kind != term.Const {
		return term.NoExpr
	}
	k := c.lookup(term.Name(n.A))
	if k == nil || k.kind != ctorConst {
		return term.NoExpr
	}
	if i := k.ctor.numParams + idx; i < len(args) {
		return args[i]
	}
	return term.NoExpr
}

// reduceConst reduces an application of a recursor or quotient constant.
func (c *checker) reduceConst(e, f term.Expr, args []term.Expr, cheap bool) term.Expr {
	n := c.s.At(f)
	k := c.lookup(term.Name(n.A))
	if k == nil {
		return e
	}
	r := term.NoExpr
	switch k.kind {
	case recConst:
		r = c.reduceRec(k, f, args)
	case quotConst:
		r = c.reduceQuot(k, args)
	}
	if r == term.NoExpr {
		return e
	}
	return r
}

// valueOf returns the value of a constant that can be unfolded, at the levels of
// f, or NoExpr.
func (c *checker) valueOf(f term.Expr) term.Expr {
	if v, ok := c.values.get(f); ok {
		return v
	}
	v := term.NoExpr
	n := c.s.At(f)
	if k := c.lookup(term.Name(n.A)); k != nil && (k.kind == definitionConst || k.kind == theoremConst) {
		if levels := c.s.LevelSlice(term.Levels(n.B)); len(levels) == len(k.params) {
			v = c.s.SubstLevels(k.value, k.params, levels)
		}
	}
	c.values.put(f, v)
	return v
}

// unfold replaces the constant at the head of e by its value, or returns NoExpr.
func (c *checker) unfold(e term.Expr) term.Expr {
	s := c.s
	n := s.At(e)
	if n.Kind == term.Const {
		return c.valueOf(e)
	}
	if n.Kind != term.App || s.Kind(s.Head(e)) != term.Const {
		return term.NoExpr
	}
	var buf [12]term.Expr
	f, args := s.Spine(e, buf[:0])
	v := c.valueOf(f)
	if v == term.NoExpr {
		return term.NoExpr
	}
	return c.beta(v, args)
}

// delta returns the definition or theorem at the head of e, or nil.
func (c *checker) delta(e term.Expr) *constant {
	f := c.s.Head(e)
	n := c.s.At(f)
	if n.Kind != term.Const {
		return nil
	}
	if c.valueOf(f) == term.NoExpr {
		return nil
	}
	return c.lookup(term.Name(n.A))
}

// compareHints returns a positive number if a should be unfolded before b, a
// negative one for the reverse, and 0 if both should be unfolded.
func compareHints(a, b *constant) int {
	rank := func(k *constant) int64 {
		switch {
		case k.kind == theoremConst:
			return -1
		case k.hint.Kind == export.HintAbbrev:
			return 1 << 33
		case k.hint.Kind == export.HintRegular:
			return int64(k.hint.Height)
		}
		return -1
	}
	x, y := rank(a), rank(b)
	switch {
	case x > y:
		return 1
	case x < y:
		return -1
	}
	return 0
}
