package check

import "github.com/erdos1056/erdos1056/lean/term"

// check returns the type of e after checking that e is well-typed.
func (c *checker) check(e term.Expr) term.Expr { return c.inferType(e, true) }

// infer returns the type of e, which must be known to be well-typed.
func (c *checker) infer(e term.Expr) term.Expr { return c.inferType(e, false) }

func (c *checker) inferType(e term.Expr, check bool) term.Expr {
	s := c.s
	n := s.At(e)
	switch n.Kind {
	case term.Sort:
		if check && n.HasParam {
			c.needParams(term.Level(n.A))
		}
		return s.Sort(s.Succ(term.Level(n.A)))
	case term.FVar:
		return term.Expr(n.B)
	case term.NatLit:
		if c.env.natOrd >= c.bound {
			reject("literal", "a natural number literal needs the standard type Nat before it")
		}
		return s.Const(c.env.names.nat, 0)
	case term.StrLit:
		c.needStrings()
		return s.Const(c.env.names.str, 0)
	case term.BVar:
		reject("loose variable", "a bound variable has no binder")
	}
	if t, ok := c.checked.get(e); ok {
		return t
	}
	if !check {
		if t, ok := c.inferred.get(e); ok {
			return t
		}
	}
	c.enter()
	var t term.Expr
	switch n.Kind {
	case term.Const:
		if check && n.HasParam {
			for _, l := range s.LevelSlice(term.Levels(n.B)) {
				c.needParams(l)
			}
		}
		t = c.constType(e)
	case term.App:
		t = c.inferApp(e, check)
	case term.Lambda:
		t = c.inferLambda(e, check)
	case term.Pi:
		t = c.inferPi(e, check)
	case term.Let:
		t = c.inferLet(e, check)
	case term.Proj:
		t = c.inferProj(e, check)
	}
	c.leave()
	if check {
		c.checked.put(e, t)
	} else {
		c.inferred.put(e, t)
	}
	return t
}

// needParams rejects if l has a parameter that the declaration does not declare.
func (c *checker) needParams(l term.Level) {
	switch a, b := c.s.LevelArgs(l); c.s.LevelKind(l) {
	case term.LevelSucc:
		c.needParams(a)
	case term.LevelMax, term.LevelIMax:
		if c.levels[l] {
			return
		}
		c.needParams(a)
		c.needParams(b)
		c.levels[l] = true
	case term.LevelParam:
		n := c.s.LevelParamName(l)
		for _, p := range c.params {
			if p == n {
				return
			}
		}
		reject("universe parameter", "the universe parameter %s is not declared", c.nameString(n))
	}
}

// constType returns the type of a constant at its levels.
func (c *checker) constType(e term.Expr) term.Expr {
	if t, ok := c.types.get(e); ok {
		return t
	}
	n := c.s.At(e)
	k := c.lookup(term.Name(n.A))
	if k == nil {
		if int(n.A) < len(c.env.byName) && c.env.byName[n.A] != nil {
			reject("unknown constant", "%s is used before its declaration is complete", c.nameString(term.Name(n.A)))
		}
		reject("unknown constant", "%s is not declared before its use", c.nameString(term.Name(n.A)))
	}
	levels := c.s.LevelSlice(term.Levels(n.B))
	if len(levels) != len(k.params) {
		reject("universe levels", "%s takes %d universe levels, found %d", c.nameString(k.name), len(k.params), len(levels))
	}
	t := c.s.SubstLevels(k.typ, k.params, levels)
	c.types.put(e, t)
	return t
}

func (c *checker) inferApp(e term.Expr, check bool) term.Expr {
	s := c.s
	var buf [12]term.Expr
	f, args := s.Spine(e, buf[:0])
	t := c.inferType(f, check)
	done := 0 // arguments already put into t
	for i, a := range args {
		n := s.At(t)
		if n.Kind != term.Pi {
			t = c.whnf(s.Instantiate(t, args[done:i]))
			done = i
			if n = s.At(t); n.Kind != term.Pi {
				c.rejectTerms("application", "a term that is no function is applied to an argument",
					"function", s.Apps(f, args[:i]...), "of type", t, "argument", a)
			}
		}
		body := term.Expr(n.B)
		if check {
			c.checkArgument(f, args, i, s.Instantiate(term.Expr(n.A), args[done:i]))
		}
		t = body
	}
	return s.Instantiate(t, args[done:])
}

// checkArgument checks that argument i of f has the type the function expects.
func (c *checker) checkArgument(f term.Expr, args []term.Expr, i int, want term.Expr) {
	have := c.inferType(args[i], true)
	if have == want {
		return
	}
	eager := c.eager
	if c.isEager(args[i]) {
		c.eager = true
	}
	ok := c.defeq(have, want)
	c.eager = eager
	if !ok {
		c.rejectTerms("application", "an argument has another type than the function expects",
			"function", c.s.Apps(f, args[:i]...), "argument", args[i], "of type", have, "expected", want)
	}
}

// isEager reports whether e is an application of eagerReduce, which asks for
// open terms to be evaluated while its type is compared.
func (c *checker) isEager(e term.Expr) bool {
	n := c.s.At(c.s.Head(e))
	return n.Kind == term.Const && term.Name(n.A) == c.env.names.eagerReduce && c.s.ArgCount(e) == 2
}

// inferLambda opens all leading binders at once.
func (c *checker) inferLambda(e term.Expr, check bool) term.Expr {
	s := c.s
	var buf, nodes [8]term.Expr
	vars, binders := buf[:0], nodes[:0]
	level := s.FVarRange(e)
	body := e
	for n := s.At(body); n.Kind == term.Lambda; n = s.At(body) {
		name, rest := n.Name, term.Expr(n.B)
		dom := s.Instantiate(term.Expr(n.A), vars)
		if check {
			c.sortOf(dom, true)
		}
		binders = append(binders, body)
		vars = append(vars, s.FVar(level, name, dom))
		level++
		body = rest
	}
	t := c.inferType(s.Instantiate(body, vars), check)
	t = s.Abstract(t, vars)
	for i := len(binders) - 1; i >= 0; i-- {
		n := s.At(binders[i])
		t = s.Pi(n.Name, n.Info, term.Expr(n.A), t)
	}
	return t
}

func (c *checker) inferPi(e term.Expr, check bool) term.Expr {
	s := c.s
	var buf [8]term.Expr
	var lbuf [8]term.Level
	vars, levels := buf[:0], lbuf[:0]
	level := s.FVarRange(e)
	body := e
	for n := s.At(body); n.Kind == term.Pi; n = s.At(body) {
		name, rest := n.Name, term.Expr(n.B)
		dom := s.Instantiate(term.Expr(n.A), vars)
		levels = append(levels, c.sortOf(dom, check))
		vars = append(vars, s.FVar(level, name, dom))
		level++
		body = rest
	}
	l := c.sortOf(s.Instantiate(body, vars), check)
	for i := len(levels) - 1; i >= 0; i-- {
		l = s.SimpIMax(levels[i], l)
	}
	return s.Sort(l)
}

// sortOf returns the level of the universe that the type e lives in.
func (c *checker) sortOf(e term.Expr, check bool) term.Level {
	t := c.inferType(e, check)
	n := c.s.At(t)
	if n.Kind != term.Sort {
		if n = c.s.At(c.whnf(t)); n.Kind != term.Sort {
			c.rejectTerms("type", "a type was expected", "found", e, "of type", t)
		}
	}
	return term.Level(n.A)
}

func (c *checker) inferLet(e term.Expr, check bool) term.Expr {
	s := c.s
	var buf [8]term.Expr
	values := buf[:0]
	for {
		n := s.At(e)
		if n.Kind != term.Let {
			return c.inferType(s.Instantiate(e, values), check)
		}
		typ, value, body := term.Expr(n.A), term.Expr(n.B), term.Expr(n.C)
		v := s.Instantiate(value, values)
		if check {
			t := s.Instantiate(typ, values)
			c.sortOf(t, true)
			if have := c.inferType(v, true); !c.defeq(have, t) {
				c.rejectTerms("let", "the value of a let has another type than declared",
					"value", v, "of type", have, "declared", t)
			}
		}
		values = append(values, v)
		e = body
	}
}

func (c *checker) inferProj(e term.Expr, check bool) term.Expr {
	s := c.s
	n := *s.At(e)
	name, idx, structure := term.Name(n.A), int(n.B), term.Expr(n.C)
	t := c.whnf(c.inferType(structure, check))
	var buf [12]term.Expr
	f, args := s.Spine(t, buf[:0])
	fn := *s.At(f)
	if fn.Kind != term.Const || term.Name(fn.A) != name {
		c.rejectTerms("projection", "the projected term is not of type "+c.nameString(name), "term", structure, "of type", t)
	}
	ind := c.lookup(name)
	if ind == nil || ind.kind != inductiveConst || len(ind.ind.ctors) != 1 {
		reject("projection", "%s is not an inductive type with one constructor", c.nameString(name))
	}
	if len(args) != ind.ind.numParams+ind.ind.numIndices {
		reject("projection", "%s is applied to %d arguments, expected %d", c.nameString(name), len(args), ind.ind.numParams+ind.ind.numIndices)
	}
	ctor := c.lookup(ind.ind.ctors[0])
	if ctor == nil || idx >= ctor.ctor.numFields {
		reject("projection", "%s has no field %d", c.nameString(name), idx)
	}
	prop := s.AlwaysZero(c.sortOf(t, false))
	r := c.constType(s.Const(ctor.name, term.Levels(fn.B)))
	r = c.applyPis(r, args[:ind.ind.numParams])
	for i := 0; ; i++ {
		if s.Kind(r) != term.Pi {
			r = c.whnf(r)
		}
		n := *s.At(r)
		if n.Kind != term.Pi {
			reject("projection", "the constructor of %s has fewer than %d fields", c.nameString(name), idx+1)
		}
		dom, body := term.Expr(n.A), term.Expr(n.B)
		if prop && (i == idx || s.Loose(body) > 0) && !c.isProp(dom) {
			c.rejectTerms("projection", "data cannot be projected out of a proof", "proof", structure, "of", t, "field", dom)
		}
		if i == idx {
			return dom
		}
		r = s.Instantiate1(body, s.Proj(name, uint32(i), structure))
	}
}

// applyPis returns the type of a term of type t applied to args, without
// looking at the arguments' types.
func (c *checker) applyPis(t term.Expr, args []term.Expr) term.Expr {
	done := 0
	for i := range args {
		n := c.s.At(t)
		if n.Kind != term.Pi {
			t = c.whnf(c.s.Instantiate(t, args[done:i]))
			done = i
			if n = c.s.At(t); n.Kind != term.Pi {
				c.rejectTerms("application", "a function type was expected", "found", t)
			}
		}
		t = term.Expr(n.B)
	}
	return c.s.Instantiate(t, args[done:])
}

// isProp reports whether the type t is a proposition.
func (c *checker) isProp(t term.Expr) bool {
	return c.s.AlwaysZero(c.sortOf(t, false))
}
