package check

import (
	"github.com/erdos1056/erdos1056/lean/export"
	"github.com/erdos1056/erdos1056/lean/term"
)

// A constKind says what a constant is.
type constKind uint8

const (
	axiomConst constKind = iota
	definitionConst
	theoremConst
	opaqueConst
	quotConst
	inductiveConst
	ctorConst
	recConst
)

// A constant is a name with a meaning.
type constant struct {
	kind   constKind
	name   term.Name
	ord    ordinal
	params []term.Name
	typ    term.Expr
	value  term.Expr // of definitions, theorems and opaques
	hint   export.Hint
	quot   export.QuotKind
	ind    *inductiveInfo
	ctor   *ctorInfo
	rec    *recInfo
}

// An ordinal orders constants by the point from which on they may be used: four
// steps for each declaration, of which types of a block take the first, its
// constructors the second and its recursors the third. A checker with bound b
// sees the constants below b only, so that nothing can refer to itself or to
// what comes later, whatever is checked at the same time.
type ordinal uint64

func declOrdinal(i int) ordinal { return 4 * ordinal(i) }

// inductiveInfo holds what was derived about an inductive type.
type inductiveInfo struct {
	numParams  int
	numIndices int
	ctors      []term.Name
	block      []term.Name // all types of its mutual block, in order
	recursive  bool        // a field mentions a type of the block
}

// ctorInfo holds what was derived about a constructor.
type ctorInfo struct {
	induct    term.Name
	numParams int
	numFields int
}

// recInfo holds the regenerated recursor of an inductive type.
type recInfo struct {
	induct     term.Name
	numParams  int
	numMotives int
	numMinors  int
	numIndices int
	rules      []recRule
	k          bool
}

type recRule struct {
	ctor      term.Name
	numFields int
	rhs       term.Expr // closed: fun params motives minors fields => ...
}

// majorIndex is the position of the argument a recursor eliminates.
func (r *recInfo) majorIndex() int {
	return r.numParams + r.numMotives + r.numMinors + r.numIndices
}

// structure reports whether values of the type are determined by their fields:
// one constructor, no indices, not recursive.
func (i *inductiveInfo) structure() bool {
	return len(i.ctors) == 1 && i.numIndices == 0 && !i.recursive
}

// An environment holds the constants of a file.
type environment struct {
	store  *term.Store
	byName []*constant // by name handle
	names  wellKnown
	// natOrd is where Nat, with the standard constructors, comes into view.
	natOrd ordinal
	// boolOrd is the same for Bool.
	boolOrd ordinal
	// natOps are the operations proved to be the arithmetic they are named for.
	natOps map[term.Name]natOp
	// doubtful are operations that Lean computes and that were not recognised,
	// although they may be what their name says.
	doubtful map[term.Name]bool
	// opaqueStrings is set if a string literal comes before what it is made of.
	opaqueStrings bool
}

const never ordinal = 1<<64 - 1

func newEnvironment(s *term.Store) *environment {
	env := &environment{store: s, names: findNames(s), natOrd: never, boolOrd: never, natOps: map[term.Name]natOp{}, doubtful: map[term.Name]bool{}}
	env.byName = make([]*constant, s.NameCount())
	return env
}

// add makes c known. It reports false if the name is taken.
func (env *environment) add(c *constant) bool {
	for int(c.name) >= len(env.byName) {
		env.byName = append(env.byName, nil)
	}
	if env.byName[c.name] != nil {
		return false
	}
	env.byName[c.name] = c
	return true
}

// forget removes the constants from an ordinal on.
func (env *environment) forget(from ordinal) {
	for i, k := range env.byName {
		if k != nil && k.ord >= from {
			env.byName[i] = nil
		}
	}
}

// wellKnown holds the names with a meaning to the kernel.
type wellKnown struct {
	nat, natZero, natSucc              term.Name
	boolean, boolTrue, boolFalse       term.Name
	str, strMk, strOfList              term.Name
	char, charOfNat                    term.Name
	list, listNil, listCons            term.Name
	eq, eqRefl                         term.Name
	quot, quotMk, quotLift, quotInd    term.Name
	eagerReduce, reduceBool, reduceNat term.Name
	natAdd, natMul, natPred, natSub    term.Name
	natDiv, natBle                     term.Name
}

func findNames(s *term.Store) wellKnown {
	n := s.NameOf
	return wellKnown{
		nat: n("Nat"), natZero: n("Nat", "zero"), natSucc: n("Nat", "succ"),
		boolean: n("Bool"), boolTrue: n("Bool", "true"), boolFalse: n("Bool", "false"),
		str: n("String"), strMk: n("String", "mk"), strOfList: n("String", "ofList"),
		char: n("Char"), charOfNat: n("Char", "ofNat"),
		list: n("List"), listNil: n("List", "nil"), listCons: n("List", "cons"),
		eq: n("Eq"), eqRefl: n("Eq", "refl"),
		quot: n("Quot"), quotMk: n("Quot", "mk"), quotLift: n("Quot", "lift"), quotInd: n("Quot", "ind"),
		eagerReduce: n("eagerReduce"),
		reduceBool:  n("Lean", "reduceBool"), reduceNat: n("Lean", "reduceNat"),
		natAdd: n("Nat", "add"), natMul: n("Nat", "mul"), natPred: n("Nat", "pred"), natSub: n("Nat", "sub"),
		natDiv: n("Nat", "div"),
		natBle: n("Nat", "ble"),
	}
}
