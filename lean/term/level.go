package term

// A Level is the handle of a universe level: zero, succ l, max l m, imax l m or
// a parameter. imax l m is zero if m is, and max l m otherwise. The zero Level
// is the level zero.
type Level uint32

// Zero is the level of Prop.
const Zero Level = 0

// A LevelKind says how a level is built.
type LevelKind uint8

// The kinds of levels.
const (
	LevelZero LevelKind = iota
	LevelSucc
	LevelMax
	LevelIMax
	LevelParam
)

type levelNode struct {
	kind     LevelKind
	hasParam bool
	size     uint32 // of the level written out as a tree
	a, b     uint32
}

// maxLevelSize bounds the size of a level written out as a tree, and with it
// the work of every traversal.
const maxLevelSize = 1 << 16

// Levels is the handle of a list of levels; the zero Levels is the empty list.
type Levels uint32

type levelsNode struct {
	off, len uint32
	hasParam bool
}

// Succ returns l + 1.
func (s *Store) Succ(l Level) Level {
	return s.internLevel(levelNode{kind: LevelSucc, hasParam: s.level(l).hasParam, a: uint32(l)})
}

// Max returns max l m, unsimplified.
func (s *Store) Max(l, m Level) Level {
	return s.internLevel(levelNode{kind: LevelMax, hasParam: s.level(l).hasParam || s.level(m).hasParam, a: uint32(l), b: uint32(m)})
}

// IMax returns imax l m, unsimplified.
func (s *Store) IMax(l, m Level) Level {
	return s.internLevel(levelNode{kind: LevelIMax, hasParam: s.level(l).hasParam || s.level(m).hasParam, a: uint32(l), b: uint32(m)})
}

// Param returns the universe parameter n.
func (s *Store) Param(n Name) Level {
	return s.internLevel(levelNode{kind: LevelParam, hasParam: true, a: uint32(n)})
}

// LevelKind returns how l is built.
func (s *Store) LevelKind(l Level) LevelKind { return s.level(l).kind }

// LevelArgs returns the arguments of a succ (the first), max or imax.
func (s *Store) LevelArgs(l Level) (Level, Level) {
	n := s.level(l)
	return Level(n.a), Level(n.b)
}

// LevelParamName returns the name of a parameter.
func (s *Store) LevelParamName(l Level) Name { return Name(s.level(l).a) }

// LevelHasParam reports whether a parameter occurs in l.
func (s *Store) LevelHasParam(l Level) bool { return s.level(l).hasParam }

func (s *Store) level(l Level) *levelNode {
	if uint32(l) < s.levelBase {
		return &s.parent.levels[l]
	}
	return &s.levels[uint32(l)-s.levelBase]
}

func (s *Store) internLevel(node levelNode) Level {
	size := uint32(1)
	switch node.kind {
	case LevelMax, LevelIMax:
		size += s.level(Level(node.a)).size + s.level(Level(node.b)).size
	case LevelSucc:
		size += s.level(Level(node.a)).size
	}
	if size > maxLevelSize {
		panic(&LimitError{"a universe level is too large"})
	}
	node.size = size
	if s.parent != nil {
		if l, ok := s.parent.levelIndex[node]; ok {
			return l
		}
	}
	if l, ok := s.levelIndex[node]; ok {
		return l
	}
	s.budget.Take(64)
	s.levels = append(s.levels, node)
	l := Level(s.levelBase + uint32(len(s.levels)-1))
	s.levelIndex[node] = l
	return l
}

// LevelList returns the list of the given levels.
func (s *Store) LevelList(ls []Level) Levels {
	if len(ls) == 0 {
		return 0
	}
	var buf [64]byte
	key := buf[:0]
	hasParam := false
	for _, l := range ls {
		key = append(key, byte(l), byte(l>>8), byte(l>>16), byte(l>>24))
		hasParam = hasParam || s.level(l).hasParam
	}
	if s.parent != nil {
		if h, ok := s.parent.levelsIndex[string(key)]; ok {
			return h
		}
	}
	if h, ok := s.levelsIndex[string(key)]; ok {
		return h
	}
	s.budget.Take(int64(96 + 2*len(key)))
	s.lists = append(s.lists, levelsNode{uint32(len(s.listData)), uint32(len(ls)), hasParam})
	s.listData = append(s.listData, ls...)
	h := Levels(s.listBase + uint32(len(s.lists)-1))
	s.levelsIndex[string(key)] = h
	return h
}

// LevelSlice returns the members of a list. The caller must not change it.
func (s *Store) LevelSlice(h Levels) []Level {
	if uint32(h) < s.listBase {
		n := s.parent.lists[h]
		return s.parent.listData[n.off : n.off+n.len : n.off+n.len]
	}
	n := s.lists[uint32(h)-s.listBase]
	return s.listData[n.off : n.off+n.len : n.off+n.len]
}

func (s *Store) levelsHaveParam(h Levels) bool {
	if uint32(h) < s.listBase {
		return s.parent.lists[h].hasParam
	}
	return s.lists[uint32(h)-s.listBase].hasParam
}

// SubstLevel replaces parameters by levels: params[i] becomes values[i]. The
// result is simplified lightly, keeping its meaning.
func (s *Store) SubstLevel(l Level, params []Name, values []Level) Level {
	n := *s.level(l)
	if !n.hasParam {
		return l
	}
	s.enter()
	defer s.leave()
	switch n.kind {
	case LevelSucc:
		return s.Succ(s.SubstLevel(Level(n.a), params, values))
	case LevelMax:
		return s.SimpMax(s.SubstLevel(Level(n.a), params, values), s.SubstLevel(Level(n.b), params, values))
	case LevelIMax:
		return s.SimpIMax(s.SubstLevel(Level(n.a), params, values), s.SubstLevel(Level(n.b), params, values))
	case LevelParam:
		for i, p := range params {
			if p == Name(n.a) {
				return values[i]
			}
		}
	}
	return l
}

// SimpMax returns a level equal to max l m for every assignment, in a simpler
// form where one is at hand.
func (s *Store) SimpMax(l, m Level) Level {
	switch {
	case l == m || m == Zero:
		return l
	case l == Zero:
		return m
	}
	if a, i := s.peel(l); true {
		if b, j := s.peel(m); a == b {
			if i >= j {
				return l
			}
			return m
		}
	}
	return s.Max(l, m)
}

// SimpIMax returns a level equal to imax l m for every assignment, in a simpler
// form where one is at hand.
func (s *Store) SimpIMax(l, m Level) Level {
	switch {
	case m == Zero || l == m:
		return m
	case s.NeverZero(m):
		return s.SimpMax(l, m)
	case l == Zero:
		return m
	}
	return s.IMax(l, m)
}

// peel splits l into a base that is no succ, and the number of succs on it.
func (s *Store) peel(l Level) (Level, int) {
	k := 0
	for s.level(l).kind == LevelSucc {
		l = Level(s.level(l).a)
		k++
	}
	return l, k
}

// NeverZero reports whether l is positive for every assignment of its
// parameters. It may miss this for levels that need a case distinction, and
// never claims it wrongly.
func (s *Store) NeverZero(l Level) bool {
	s.enter()
	defer s.leave()
	n := s.level(l)
	switch n.kind {
	case LevelSucc:
		return true
	case LevelMax:
		return s.NeverZero(Level(n.a)) || s.NeverZero(Level(n.b))
	case LevelIMax:
		return s.NeverZero(Level(n.b))
	}
	return false
}
