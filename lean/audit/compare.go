package audit

import (
	"fmt"

	"github.com/erdos1056/erdos1056/lean/export"
	"github.com/erdos1056/erdos1056/lean/term"
)

// Compare compares a constant with that of the same name in a trusted file that
// shares the store, and returns the differences. Compared are types, and of
// everything that these mention, down to the ground: definitions and opaque
// constants with their values, inductive types with their constructors, axioms
// and quotient constants; theorems only by what they state. The comparison is
// syntactic, up to the names of bound variables and universe parameters.
func Compare(found, trusted *Index, n term.Name) []Problem {
	c := comparison{s: found.file.Store, found: found, trusted: trusted, seen: map[term.Name]bool{}}
	c.queue = []term.Name{n}
	for len(c.queue) > 0 && len(c.problems) < maxProblems {
		n := c.queue[0]
		c.queue = c.queue[1:]
		if !c.seen[n] {
			c.seen[n] = true
			c.compare(n)
		}
	}
	return c.problems
}

// maxProblems bounds the differences looked for.
const maxProblems = 20

type comparison struct {
	s              *term.Store
	found, trusted *Index
	seen           map[term.Name]bool
	queue          []term.Name
	problems       []Problem
}

func (c *comparison) differ(n term.Name, msg, expected, found string) {
	c.problems = append(c.problems, Problem{c.s.NameString(n), msg, expected, found})
}

func (c *comparison) compare(n term.Name) {
	have, want := c.found.Decl(n), c.trusted.Decl(n)
	switch {
	case want == nil:
		c.differ(n, "the challenge does not declare this constant", "", "")
		return
	case have == nil:
		c.differ(n, "the file does not declare this constant", "", "")
		return
	case have.Kind != want.Kind && !(have.Kind == export.Theorem && want.Kind == export.Axiom && len(c.seen) == 1):
		c.differ(n, "the constant is of another kind than in the challenge", want.Kind.String(), have.Kind.String())
		return
	}
	if have.Kind == export.Inductive {
		c.compareBlocks(n, have.Block, want.Block)
		return
	}
	if !c.sameParams(n, have.Params, want.Params) {
		return
	}
	c.compareTerms(n, "type", have.Type, c.rename(want.Type, want.Params, have.Params))
	if have.Kind == export.Definition || have.Kind == export.Opaque {
		c.compareTerms(n, "value", have.Value, c.rename(want.Value, want.Params, have.Params))
	}
}

func (c *comparison) sameParams(n term.Name, have, want []term.Name) bool {
	if len(have) != len(want) {
		c.differ(n, "the numbers of universe parameters differ", fmt.Sprint(len(want)), fmt.Sprint(len(have)))
		return false
	}
	return true
}

func (c *comparison) rename(e term.Expr, from, to []term.Name) term.Expr {
	levels := make([]term.Level, len(to))
	same := true
	for i, p := range to {
		levels[i] = c.s.Param(p)
		same = same && p == from[i]
	}
	if same {
		return e
	}
	return c.s.SubstLevels(e, from, levels)
}

func (c *comparison) compareBlocks(n term.Name, have, want *export.Block) {
	if len(have.Types) != len(want.Types) || len(have.Ctors) != len(want.Ctors) {
		c.differ(n, "the numbers of types and constructors differ",
			fmt.Sprintf("%d types, %d constructors", len(want.Types), len(want.Ctors)),
			fmt.Sprintf("%d types, %d constructors", len(have.Types), len(have.Ctors)))
		return
	}
	for i, t := range have.Types {
		w := want.Types[i]
		if t.Name != w.Name || t.NumParams != w.NumParams || len(t.Ctors) != len(w.Ctors) {
			c.differ(n, "the types of the block differ in name, parameters or constructors", c.s.NameString(w.Name), c.s.NameString(t.Name))
			return
		}
		if !c.sameParams(t.Name, t.Params, w.Params) {
			return
		}
		for j := range t.Ctors {
			if t.Ctors[j] != w.Ctors[j] {
				c.differ(t.Name, "the names of constructors differ", c.s.NameString(w.Ctors[j]), c.s.NameString(t.Ctors[j]))
				return
			}
		}
		c.compareTerms(t.Name, "type", t.Type, c.rename(w.Type, w.Params, t.Params))
	}
	byName := map[term.Name]export.Constructor{}
	for _, k := range want.Ctors {
		byName[k.Name] = k
	}
	for _, k := range have.Ctors {
		w, ok := byName[k.Name]
		if !ok {
			c.differ(k.Name, "the challenge has no such constructor", "", "")
			return
		}
		if c.sameParams(k.Name, k.Params, w.Params) {
			c.compareTerms(k.Name, "type", k.Type, c.rename(w.Type, w.Params, k.Params))
		}
	}
}

// compareTerms compares two terms and, if they are equal, goes on to what they
// mention.
func (c *comparison) compareTerms(n term.Name, part string, have, want term.Expr) {
	if have != want {
		a, b := c.firstDifference(have, want)
		c.differ(n, "the "+part+" differs from the challenge's", c.s.Print(b, term.Format{}), c.s.Print(a, term.Format{}))
		return
	}
	for _, i := range c.found.mentions([]term.Expr{have}) {
		d := &c.found.file.Decls[i]
		c.queue = append(c.queue, d.Name)
	}
	c.s.Walk(have, map[term.Expr]bool{}, func(_ term.Expr, m *term.Node) bool {
		if m.Kind == term.Const || m.Kind == term.Proj {
			if c.found.Decl(term.Name(m.A)) == nil {
				c.queue = append(c.queue, term.Name(m.A))
			}
		}
		if m.Kind == term.NatLit {
			c.queueArithmetic()
		}
		return true
	})
}

// queueArithmetic has the operations that are computed on literals compared, as
// far as both files have them.
func (c *comparison) queueArithmetic() {
	for _, op := range []string{"add", "sub", "mul", "pow", "div", "mod", "gcd", "beq", "ble", "land", "lor", "xor", "shiftLeft", "shiftRight"} {
		n := c.s.NameOf("Nat", op)
		if c.found.Decl(n) != nil && c.trusted.Decl(n) != nil {
			c.queue = append(c.queue, n)
		}
	}
}

// firstDifference descends into two different terms as long as exactly one of
// their parts differs.
func (c *comparison) firstDifference(a, b term.Expr) (term.Expr, term.Expr) {
	for {
		m, n := *c.s.At(a), *c.s.At(b)
		if m.Kind != n.Kind {
			return a, b
		}
		var parts [][2]uint32
		switch m.Kind {
		case term.App, term.Lambda, term.Pi:
			parts = [][2]uint32{{m.A, n.A}, {m.B, n.B}}
		case term.Let:
			parts = [][2]uint32{{m.A, n.A}, {m.B, n.B}, {m.C, n.C}}
		case term.Proj:
			if m.A != n.A || m.B != n.B {
				return a, b
			}
			parts = [][2]uint32{{m.C, n.C}}
		default:
			return a, b
		}
		next := -1
		for i, p := range parts {
			if p[0] != p[1] {
				if next >= 0 {
					return a, b
				}
				next = i
			}
		}
		a, b = term.Expr(parts[next][0]), term.Expr(parts[next][1])
	}
}
