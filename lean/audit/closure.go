package audit

import (
	"slices"
	"strings"

	"github.com/erdos1056/erdos1056/lean/export"
	"github.com/erdos1056/erdos1056/lean/term"
)

// An Index finds the declarations of a file by the names they declare.
type Index struct {
	file     *export.File
	at       map[term.Name]int // constants, constructors and recursors to declarations
	needs    [][]int           // declarations mentioned, once looked for
	literals literalNames
}

// literalNames are constants that literals stand for or reduce to.
type literalNames struct{ nat, str []term.Name }

// NewIndex returns an index of f. Where a name is declared twice, which the
// checker rejects, the first counts.
func NewIndex(f *export.File) *Index {
	x := &Index{file: f, at: map[term.Name]int{}, needs: make([][]int, len(f.Decls))}
	note := func(n term.Name, i int) {
		if _, ok := x.at[n]; !ok {
			x.at[n] = i
		}
	}
	for i := range f.Decls {
		d := &f.Decls[i]
		note(d.Name, i)
		if d.Block == nil {
			continue
		}
		for _, t := range d.Block.Types {
			note(t.Name, i)
		}
		for _, c := range d.Block.Ctors {
			note(c.Name, i)
		}
		for _, r := range d.Block.Recs {
			note(r.Name, i)
		}
	}
	n := f.Store.NameOf
	x.literals.nat = []term.Name{n("Nat")}
	x.literals.str = []term.Name{n("Nat"), n("String"), n("String", "ofList"), n("Char"), n("Char", "ofNat"), n("List")}
	return x
}

// Decl returns the declaration that declares n, or nil.
func (x *Index) Decl(n term.Name) *export.Decl {
	if i, ok := x.find(n); ok {
		return &x.file.Decls[i]
	}
	return nil
}

// find returns the declaration that declares n. Text exports may leave
// recursors out, which the checker knows all the same: T.rec, T.rec_1, ....
func (x *Index) find(n term.Name) (int, bool) {
	if i, ok := x.at[n]; ok {
		return i, true
	}
	s := x.file.Store
	if text, _ := s.LastText(n); text != "rec" && !strings.HasPrefix(text, "rec_") {
		return 0, false
	}
	i, ok := x.at[s.Parent(n)]
	return i, ok && x.file.Decls[i].Block != nil && x.file.Decls[i].Block.Partial
}

// Axioms returns the axioms of the file, in file order.
func (x *Index) Axioms() []term.Name {
	var out []term.Name
	for _, d := range x.file.Decls {
		if d.Kind == export.Axiom {
			out = append(out, d.Name)
		}
	}
	return out
}

// Closure returns the axioms, in file order, that n rests on, and the number of
// constants it rests on, itself included. The closure goes through types and
// values alike, proofs and the types of axioms included; an inductive type
// stands for its whole block with constructors and recursors; a projection
// mentions its structure type, and a literal what it stands for.
func (x *Index) Closure(n term.Name) (axioms []term.Name, constants int) {
	for _, d := range x.Needed(n) {
		constants++
		if d.Block != nil {
			constants += len(d.Block.Types) + len(d.Block.Ctors) + len(d.Block.Recs) - 1
		}
		if d.Kind == export.Axiom {
			axioms = append(axioms, d.Name)
		}
	}
	return axioms, constants
}

// Needed returns the declarations that the given constants rest on, in file
// order.
func (x *Index) Needed(names ...term.Name) []export.Decl {
	seen := map[int]bool{}
	var todo, found []int
	visit := func(i int) {
		if !seen[i] {
			seen[i] = true
			todo = append(todo, i)
			found = append(found, i)
		}
	}
	for _, n := range names {
		if i, ok := x.find(n); ok {
			visit(i)
		}
	}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, j := range x.mentioned(i) {
			visit(j)
		}
	}
	slices.Sort(found)
	out := make([]export.Decl, len(found))
	for k, i := range found {
		out[k] = x.file.Decls[i]
	}
	return out
}

// mentioned returns the declarations that declaration i mentions.
func (x *Index) mentioned(i int) []int {
	if x.needs[i] == nil {
		x.needs[i] = x.mentions(partsOf(&x.file.Decls[i]))
	}
	return x.needs[i]
}

// partsOf returns the expressions of a declaration.
func partsOf(d *export.Decl) []term.Expr {
	var out []term.Expr
	switch d.Kind {
	case export.Inductive:
		for _, t := range d.Block.Types {
			out = append(out, t.Type)
		}
		for _, c := range d.Block.Ctors {
			out = append(out, c.Type)
		}
		for _, r := range d.Block.Recs {
			out = append(out, r.Type)
			for _, rule := range r.Rules {
				out = append(out, rule.RHS)
			}
		}
		return out
	case export.Definition, export.Theorem, export.Opaque:
		out = append(out, d.Value)
	}
	return append(out, d.Type)
}

func (x *Index) mentions(parts []term.Expr) []int {
	out := []int{}
	have := map[int]bool{}
	add := func(n term.Name) {
		if j, ok := x.find(n); ok && !have[j] {
			have[j] = true
			out = append(out, j)
		}
	}
	seen := map[term.Expr]bool{}
	for _, e := range parts {
		x.file.Store.Walk(e, seen, func(_ term.Expr, n *term.Node) bool {
			switch n.Kind {
			case term.Const, term.Proj:
				add(term.Name(n.A))
			case term.NatLit:
				for _, n := range x.literals.nat {
					add(n)
				}
			case term.StrLit:
				for _, n := range x.literals.str {
					add(n)
				}
			}
			return true
		})
	}
	return out
}
