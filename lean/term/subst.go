package term

// Instantiate replaces the loose bound variables of e: the last of values takes
// the place of de Bruijn index 0, the last but one that of index 1, and so on.
// Further loose variables are lowered by len(values). The values must have no
// loose bound variables themselves.
func (s *Store) Instantiate(e Expr, values []Expr) Expr {
	if s.At(e).Loose == 0 || len(values) == 0 {
		return e
	}
	for _, v := range values {
		if s.At(v).Loose > 0 {
			panic("term: a value to be substituted has loose bound variables")
		}
	}
	return s.instantiate(s.startMemo(), e, 0, values)
}

// Instantiate1 replaces de Bruijn index 0.
func (s *Store) Instantiate1(e, value Expr) Expr {
	v := [1]Expr{value}
	return s.Instantiate(e, v[:])
}

func (s *Store) instantiate(m *memo, e Expr, offset uint32, values []Expr) Expr {
	n := s.At(e)
	if n.Loose <= offset {
		return e
	}
	if n.Kind == BVar {
		i := n.A - offset
		if k := uint32(len(values)); i < k {
			return values[k-1-i]
		}
		return s.BVar(n.A - uint32(len(values)))
	}
	key := memoKey(e, offset)
	if r, ok := m.get(key); ok {
		return r
	}
	s.enter()
	node := *n // the slice that n points into may move
	var r Expr
	switch node.Kind {
	case App:
		f := s.instantiate(m, Expr(node.A), offset, values)
		r = s.App(f, s.instantiate(m, Expr(node.B), offset, values))
	case Lambda, Pi:
		t := s.instantiate(m, Expr(node.A), offset, values)
		r = s.binder(node.Kind, node.Name, node.Info, t, s.instantiate(m, Expr(node.B), offset+1, values))
	case Let:
		t := s.instantiate(m, Expr(node.A), offset, values)
		v := s.instantiate(m, Expr(node.B), offset, values)
		r = s.Let(node.Name, t, v, s.instantiate(m, Expr(node.C), offset+1, values))
	case Proj:
		r = s.Proj(Name(node.A), node.B, s.instantiate(m, Expr(node.C), offset, values))
	default:
		panic("term: loose bound variable in a leaf")
	}
	s.leave()
	m.put(key, r, s.budget)
	return r
}

// Abstract replaces free variables of e by bound variables: the last of fvars
// becomes de Bruijn index 0, the last but one index 1, and so on. The levels of
// fvars must increase, and e must have no loose bound variables.
func (s *Store) Abstract(e Expr, fvars []Expr) Expr {
	if len(fvars) == 0 {
		return e
	}
	low := s.At(fvars[0]).A
	if s.At(e).FVars <= low {
		return e
	}
	if s.At(e).Loose > 0 {
		panic("term: abstraction over a term with loose bound variables")
	}
	for i := 1; i < len(fvars); i++ {
		if s.At(fvars[i]).A <= s.At(fvars[i-1]).A {
			panic("term: the levels of abstracted variables do not increase")
		}
	}
	return s.abstract(s.startMemo(), e, 0, low, fvars)
}

func (s *Store) abstract(m *memo, e Expr, offset, low uint32, fvars []Expr) Expr {
	n := s.At(e)
	if n.FVars <= low {
		return e
	}
	if n.Kind == FVar {
		for i := len(fvars) - 1; i >= 0; i-- {
			if fvars[i] == e {
				return s.BVar(offset + uint32(len(fvars)-1-i))
			}
		}
		return e
	}
	key := memoKey(e, offset)
	if r, ok := m.get(key); ok {
		return r
	}
	s.enter()
	node := *n
	var r Expr
	switch node.Kind {
	case App:
		f := s.abstract(m, Expr(node.A), offset, low, fvars)
		r = s.App(f, s.abstract(m, Expr(node.B), offset, low, fvars))
	case Lambda, Pi:
		t := s.abstract(m, Expr(node.A), offset, low, fvars)
		r = s.binder(node.Kind, node.Name, node.Info, t, s.abstract(m, Expr(node.B), offset+1, low, fvars))
	case Let:
		t := s.abstract(m, Expr(node.A), offset, low, fvars)
		v := s.abstract(m, Expr(node.B), offset, low, fvars)
		r = s.Let(node.Name, t, v, s.abstract(m, Expr(node.C), offset+1, low, fvars))
	case Proj:
		r = s.Proj(Name(node.A), node.B, s.abstract(m, Expr(node.C), offset, low, fvars))
	default:
		panic("term: free variable in a leaf")
	}
	s.leave()
	m.put(key, r, s.budget)
	return r
}

// Pis returns the function type that binds fvars, in order, over body. A
// variable's type may mention the variables before it.
func (s *Store) Pis(fvars []Expr, body Expr) Expr { return s.bind(Pi, fvars, body) }

// Lambdas returns the function that binds fvars, in order, over body.
func (s *Store) Lambdas(fvars []Expr, body Expr) Expr { return s.bind(Lambda, fvars, body) }

func (s *Store) bind(kind Kind, fvars []Expr, body Expr) Expr {
	e := s.Abstract(body, fvars)
	for i := len(fvars) - 1; i >= 0; i-- {
		n := *s.At(fvars[i])
		e = s.binder(kind, n.Name, n.Info, s.Abstract(Expr(n.B), fvars[:i]), e)
	}
	return e
}

// SubstLevels replaces universe parameters in e: params[i] becomes values[i].
func (s *Store) SubstLevels(e Expr, params []Name, values []Level) Expr {
	if !s.At(e).HasParam || len(params) == 0 {
		return e
	}
	return s.substLevels(s.startMemo(), e, params, values)
}

func (s *Store) substLevels(m *memo, e Expr, params []Name, values []Level) Expr {
	n := s.At(e)
	if !n.HasParam {
		return e
	}
	switch n.Kind {
	case Sort:
		return s.Sort(s.SubstLevel(Level(n.A), params, values))
	case Const:
		return s.Const(Name(n.A), s.substList(Levels(n.B), params, values))
	}
	key := memoKey(e, 0)
	if r, ok := m.get(key); ok {
		return r
	}
	s.enter()
	node := *n
	var r Expr
	switch node.Kind {
	case FVar:
		r = s.FVar(node.A, node.Name, s.substLevels(m, Expr(node.B), params, values))
	case App:
		f := s.substLevels(m, Expr(node.A), params, values)
		r = s.App(f, s.substLevels(m, Expr(node.B), params, values))
	case Lambda, Pi:
		t := s.substLevels(m, Expr(node.A), params, values)
		r = s.binder(node.Kind, node.Name, node.Info, t, s.substLevels(m, Expr(node.B), params, values))
	case Let:
		t := s.substLevels(m, Expr(node.A), params, values)
		v := s.substLevels(m, Expr(node.B), params, values)
		r = s.Let(node.Name, t, v, s.substLevels(m, Expr(node.C), params, values))
	case Proj:
		r = s.Proj(Name(node.A), node.B, s.substLevels(m, Expr(node.C), params, values))
	}
	s.leave()
	m.put(key, r, s.budget)
	return r
}

func (s *Store) substList(h Levels, params []Name, values []Level) Levels {
	var buf [8]Level
	out := buf[:0]
	for _, l := range s.LevelSlice(h) {
		out = append(out, s.SubstLevel(l, params, values))
	}
	return s.LevelList(out)
}

// Replace rebuilds e from the outside in: where f returns a term other than
// NoExpr that term is taken, elsewhere the parts are rebuilt. f sees subterms
// with their loose bound variables and must return terms without any, or with
// the same ones.
func (s *Store) Replace(e Expr, f func(Expr) Expr) Expr {
	done := map[Expr]Expr{}
	var visit func(Expr) Expr
	visit = func(e Expr) Expr {
		if r, ok := done[e]; ok {
			return r
		}
		s.enter()
		defer s.leave()
		r := f(e)
		if r == NoExpr {
			n := *s.At(e)
			switch n.Kind {
			case App:
				r = s.App(visit(Expr(n.A)), visit(Expr(n.B)))
			case Lambda, Pi:
				r = s.binder(n.Kind, n.Name, n.Info, visit(Expr(n.A)), visit(Expr(n.B)))
			case Let:
				r = s.Let(n.Name, visit(Expr(n.A)), visit(Expr(n.B)), visit(Expr(n.C)))
			case Proj:
				r = s.Proj(Name(n.A), n.B, visit(Expr(n.C)))
			default:
				r = e
			}
		}
		done[e] = r
		return r
	}
	return visit(e)
}

// Walk calls f once for every subterm of e, parents before children; if f
// returns false the children of that subterm are left out. seen holds the terms
// already visited and can be shared between calls.
func (s *Store) Walk(e Expr, seen map[Expr]bool, f func(Expr, *Node) bool) {
	stack := []Expr{e}
	for len(stack) > 0 {
		e := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[e] {
			continue
		}
		seen[e] = true
		n := s.At(e)
		if !f(e, n) {
			continue
		}
		switch n.Kind {
		case App, Lambda, Pi:
			stack = append(stack, Expr(n.B), Expr(n.A))
		case Let:
			stack = append(stack, Expr(n.C), Expr(n.B), Expr(n.A))
		case Proj:
			stack = append(stack, Expr(n.C))
		case FVar:
			stack = append(stack, Expr(n.B))
		}
	}
}

// Copy brings a term of another store with the same parent, or of a child, into
// s, names, levels and literals included.
func (s *Store) Copy(from *Store, e Expr) Expr {
	c := copier{to: s, from: from, done: map[Expr]Expr{}}
	return c.expr(e)
}

// CopyName brings a name of a child into s.
func (s *Store) CopyName(from *Store, n Name) Name {
	c := copier{to: s, from: from}
	return c.name(n)
}

type copier struct {
	to, from *Store
	done     map[Expr]Expr
}

func (c *copier) name(n Name) Name {
	if uint32(n) < c.from.nameBase {
		return n
	}
	node := *c.from.name(n)
	node.parent = c.name(node.parent)
	return c.to.internName(node)
}

func (c *copier) level(l Level) Level {
	if uint32(l) < c.from.levelBase {
		return l
	}
	c.to.enter()
	defer c.to.leave()
	n := *c.from.level(l)
	switch n.kind {
	case LevelSucc:
		return c.to.Succ(c.level(Level(n.a)))
	case LevelMax:
		return c.to.Max(c.level(Level(n.a)), c.level(Level(n.b)))
	case LevelIMax:
		return c.to.IMax(c.level(Level(n.a)), c.level(Level(n.b)))
	case LevelParam:
		return c.to.Param(c.name(Name(n.a)))
	}
	return l
}

func (c *copier) expr(e Expr) Expr {
	if uint32(e) < c.from.base {
		return e
	}
	if r, ok := c.done[e]; ok {
		return r
	}
	c.to.enter()
	defer c.to.leave()
	n := *c.from.At(e)
	var r Expr
	switch n.Kind {
	case BVar:
		r = c.to.BVar(n.A)
	case FVar:
		r = c.to.FVar(n.A, c.name(n.Name), c.expr(Expr(n.B)))
	case Sort:
		r = c.to.Sort(c.level(Level(n.A)))
	case Const:
		var ls []Level
		for _, l := range c.from.LevelSlice(Levels(n.B)) {
			ls = append(ls, c.level(l))
		}
		r = c.to.Const(c.name(Name(n.A)), c.to.LevelList(ls))
	case App:
		r = c.to.App(c.expr(Expr(n.A)), c.expr(Expr(n.B)))
	case Lambda, Pi:
		r = c.to.binder(n.Kind, c.name(n.Name), n.Info, c.expr(Expr(n.A)), c.expr(Expr(n.B)))
	case Let:
		r = c.to.Let(c.name(n.Name), c.expr(Expr(n.A)), c.expr(Expr(n.B)), c.expr(Expr(n.C)))
	case Proj:
		r = c.to.Proj(c.name(Name(n.A)), n.B, c.expr(Expr(n.C)))
	case NatLit:
		r = c.to.Nat(c.from.NatValue(e))
	case StrLit:
		r = c.to.StrLit(c.from.StrValue(e))
	}
	c.done[e] = r
	return r
}
