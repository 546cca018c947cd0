package term

// LevelLeq reports whether l <= m for every assignment of natural numbers to
// the parameters. The answer is exact.
//
// Parameters that decide whether an imax is zero are split into the cases zero
// and successor. What is left are maxima of constants and of parameters plus
// offsets, where l <= m holds exactly if each part of l is below a part of m.
func (s *Store) LevelLeq(l, m Level) bool {
	if l == m || l == Zero {
		return true
	}
	fuel := maxLevelWork
	return s.leq(s.simplify(l), s.simplify(m), &fuel)
}

// maxLevelWork bounds the nodes of levels looked at in one comparison. Levels as
// they occur take some hundred.
const maxLevelWork = 1 << 22

// LevelEq reports whether l = m for every assignment of the parameters.
func (s *Store) LevelEq(l, m Level) bool {
	return l == m || s.LevelLeq(l, m) && s.LevelLeq(m, l)
}

// AlwaysZero reports whether l is zero for every assignment of the parameters.
func (s *Store) AlwaysZero(l Level) bool { return s.LevelLeq(l, Zero) }

// simplify resolves every max and imax that needs no case distinction.
func (s *Store) simplify(l Level) Level {
	n := *s.level(l)
	switch n.kind {
	case LevelSucc:
		return s.Succ(s.simplify(Level(n.a)))
	case LevelMax:
		return s.SimpMax(s.simplify(Level(n.a)), s.simplify(Level(n.b)))
	case LevelIMax:
		return s.SimpIMax(s.simplify(Level(n.a)), s.simplify(Level(n.b)))
	}
	return l
}

func (s *Store) leq(l, m Level, fuel *int) bool {
	work := int(s.level(l).size) + int(s.level(m).size)
	s.Work += int64(work)
	if *fuel -= work; *fuel < 0 {
		panic(&LimitError{"a universe constraint needs too many case distinctions"})
	}
	if l == m || l == Zero {
		return true
	}
	var left, right maximum
	p, blocked := s.flatten(l, 0, &left)
	if !blocked {
		p, blocked = s.flatten(m, 0, &right)
	}
	if !blocked {
		return left.below(&right)
	}
	param := []Name{p}
	for _, value := range []Level{Zero, s.Succ(s.Param(p))} {
		v := []Level{value}
		if !s.leq(s.SubstLevel(l, param, v), s.SubstLevel(m, param, v), fuel) {
			return false
		}
	}
	return true
}

// A maximum is the level max(constant, p + offset, ...).
type maximum struct {
	constant int
	params   []offsetParam
}

type offsetParam struct {
	param  Name
	offset int
}

func (x *maximum) below(y *maximum) bool {
	bound := y.constant
	for _, q := range y.params {
		bound = max(bound, q.offset)
	}
	if x.constant > bound {
		return false
	}
	for _, p := range x.params {
		found := false
		for _, q := range y.params {
			if p.param == q.param && p.offset <= q.offset {
				found = true
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}

// flatten adds the parts of l + k to out. If an imax stands in the way it
// returns a parameter whose being zero or not decides it.
func (s *Store) flatten(l Level, k int, out *maximum) (Name, bool) {
	n := *s.level(l)
	switch n.kind {
	case LevelZero:
		out.constant = max(out.constant, k)
	case LevelSucc:
		base, i := s.peel(l)
		return s.flatten(base, k+i, out)
	case LevelParam:
		out.params = append(out.params, offsetParam{Name(n.a), k})
	case LevelMax:
		if p, blocked := s.flatten(Level(n.a), k, out); blocked {
			return p, true
		}
		return s.flatten(Level(n.b), k, out)
	case LevelIMax:
		return s.deciding(Level(n.b)), true
	}
	return 0, false
}

// deciding returns a parameter that l, a simplified level neither zero nor
// known to be positive, depends on.
func (s *Store) deciding(l Level) Name {
	for {
		n := s.level(l)
		switch n.kind {
		case LevelParam:
			return Name(n.a)
		case LevelMax:
			l = Level(n.a)
		case LevelIMax:
			l = Level(n.b)
		default:
			panic("term: a simplified imax does not depend on a parameter")
		}
	}
}
