package check

import (
	"bytes"
	"context"
	"math/rand/v2"
	"testing"

	"github.com/erdos1056/erdos1056/lean/export"
	"github.com/erdos1056/erdos1056/lean/term"
)

// programs declares functions and true equations between their values.
const programs = core + `
def Nat.pred : Nat → Nat := fun (n : Nat) => Nat.rec.{1} (fun (k : Nat) => Nat) Nat.zero (fun (k r : Nat) => k) n
def Nat.sub : Nat → Nat → Nat := fun (m n : Nat) => Nat.rec.{1} (fun (k : Nat) => Nat) m (fun (k r : Nat) => Nat.pred r) n
` + bleSource + `
def length : List.{0} Nat → Nat := fun (l : List.{0} Nat) =>
	List.rec.{1, 0} Nat (fun (l : List.{0} Nat) => Nat) 0 (fun (a : Nat) (l : List.{0} Nat) (r : Nat) => Nat.succ r) l
def sum : List.{0} Nat → Nat := fun (l : List.{0} Nat) =>
	List.rec.{1, 0} Nat (fun (l : List.{0} Nat) => Nat) 0 (fun (a : Nat) (l : List.{0} Nat) (r : Nat) => Nat.add a r) l
def l3 : List.{0} Nat := List.cons.{0} Nat 3 (List.cons.{0} Nat 4 (List.cons.{0} Nat 5 (List.nil.{0} Nat)))
def not : Bool → Bool := fun (b : Bool) => Bool.rec.{1} (fun (b : Bool) => Bool) Bool.true Bool.false b
def even : Nat → Bool := fun (n : Nat) => Nat.rec.{1} (fun (n : Nat) => Bool) Bool.true (fun (n : Nat) (r : Bool) => not r) n
def fact : Nat → Nat := fun (n : Nat) => Nat.rec.{1} (fun (n : Nat) => Nat) 1 (fun (n r : Nat) => Nat.mul (Nat.succ n) r) n
inductive Tree 0 : Type | leaf : Nat → Tree | node : List.{0} Tree → Tree
def weight : Tree → Nat := fun (t : Tree) => Tree.rec.{1} (fun (t : Tree) => Nat) (fun (l : List.{0} Tree) => Nat)
	(fun (n : Nat) => n) (fun (l : List.{0} Tree) (r : Nat) => r) 0 (fun (t : Tree) (l : List.{0} Tree) (m n : Nat) => Nat.add m n) t
def cast : ∀ (a b : Nat), Eq.{1} Nat a b → Nat → Nat := fun (a b : Nat) (h : Eq.{1} Nat a b) (n : Nat) =>
	Eq.rec.{1, 1} Nat a (fun (k : Nat) (h : Eq.{1} Nat a k) => Nat) n b h
theorem t1 : Eq.{1} Nat (Nat.add 20 22) 42 := Eq.refl.{1} Nat 42
theorem t2 : Eq.{1} Nat (length l3) 3 := Eq.refl.{1} Nat 3
theorem t3 : Eq.{1} Nat (sum l3) 12 := Eq.refl.{1} Nat 12
theorem t4 : Eq.{1} Bool (even 17) Bool.false := Eq.refl.{1} Bool Bool.false
theorem t5 : Eq.{1} Nat (fact 6) 720 := Eq.refl.{1} Nat 720
theorem t6 : Eq.{1} Nat (weight (Tree.node (List.cons.{0} Tree (Tree.leaf 4) (List.cons.{0} Tree (Tree.leaf 5) (List.nil.{0} Tree))))) 9 := Eq.refl.{1} Nat 9
theorem t7 : Eq.{1} Nat (cast 2 (Nat.add 1 1) (Eq.refl.{1} Nat 2) 8) 8 := Eq.refl.{1} Nat 8
theorem t8 : Eq.{1} (Prod.{0, 0} Nat Bool) (Prod.mk.{0, 0} Nat Bool (Nat.sub 9 5) (Nat.ble 9 5)) (Prod.mk.{0, 0} Nat Bool 4 Bool.false) :=
	Eq.refl.{1} (Prod.{0, 0} Nat Bool) (Prod.mk.{0, 0} Nat Bool 4 Bool.false)
theorem t9 : Eq.{1} Nat (proj Prod 0 (Prod.mk.{0, 0} Nat Nat (let x : Nat := 5; Nat.mul x x) 1)) 25 := Eq.refl.{1} Nat 25
`

// A mutator changes parsed exports at random places.
type mutator struct {
	f    *export.File
	next func(n int) int
	pool []term.Expr // closed subterms of the file
}

func newMutator(f *export.File, next func(n int) int) *mutator {
	m := &mutator{f: f, next: next}
	seen := map[term.Expr]bool{}
	visit := func(e term.Expr) {
		f.Store.Walk(e, seen, func(e term.Expr, n *term.Node) bool {
			if n.Loose == 0 {
				m.pool = append(m.pool, e)
			}
			return true
		})
	}
	for i := range f.Decls {
		for _, p := range m.terms(&f.Decls[i]) {
			visit(*p)
		}
	}
	return m
}

// terms returns the places of a declaration that hold terms.
func (m *mutator) terms(d *export.Decl) []*term.Expr {
	if d.Block == nil {
		out := []*term.Expr{&d.Type}
		if d.Kind != export.Axiom && d.Kind != export.Quotient {
			out = append(out, &d.Value)
		}
		return out
	}
	var out []*term.Expr
	for i := range d.Block.Types {
		out = append(out, &d.Block.Types[i].Type)
	}
	for i := range d.Block.Ctors {
		out = append(out, &d.Block.Ctors[i].Type)
	}
	for i := range d.Block.Recs {
		r := &d.Block.Recs[i]
		out = append(out, &r.Type)
		for j := range r.Rules {
			out = append(out, &r.Rules[j].RHS)
		}
	}
	return out
}

// counts returns the numbers of a block.
func (m *mutator) counts(b *export.Block) []*uint32 {
	var out []*uint32
	for i := range b.Types {
		out = append(out, &b.Types[i].NumParams, &b.Types[i].NumIndices)
	}
	for i := range b.Ctors {
		out = append(out, &b.Ctors[i].Index, &b.Ctors[i].NumParams, &b.Ctors[i].NumFields)
	}
	for i := range b.Recs {
		r := &b.Recs[i]
		out = append(out, &r.NumParams, &r.NumIndices, &r.NumMotives, &r.NumMinors)
		for j := range r.Rules {
			out = append(out, &r.Rules[j].NumFields)
		}
	}
	return out
}

// mutate makes one change. derived reports whether it concerns data that can be
// derived, so that any difference must be noticed.
func (m *mutator) mutate() (derived bool) {
	d := &m.f.Decls[m.next(len(m.f.Decls))]
	if d.Block != nil {
		switch m.next(4) {
		case 0:
			counts := m.counts(d.Block)
			c := counts[m.next(len(counts))]
			*c = uint32(int(*c) + 1 + m.next(2))
			return true
		case 1:
			r := &d.Block.Recs[m.next(len(d.Block.Recs))]
			r.K = !r.K
			return true
		}
	}
	places := m.terms(d)
	m.mutateTerm(places[m.next(len(places))])
	return false
}

// mutateTerm replaces one subterm, wherever it occurs in the term.
func (m *mutator) mutateTerm(place *term.Expr) {
	s := m.f.Store
	var parts []term.Expr
	s.Walk(*place, map[term.Expr]bool{}, func(e term.Expr, _ *term.Node) bool {
		parts = append(parts, e)
		return true
	})
	old := parts[m.next(len(parts))]
	n := *s.At(old)
	var fresh term.Expr
	switch kind := m.next(3); {
	case kind == 0 && n.Kind == term.BVar:
		fresh = s.BVar(uint32(m.next(4)))
	case kind == 0 && n.Kind == term.Sort:
		fresh = s.Sort(s.Succ(term.Level(n.A)))
	case kind == 1 && n.Kind == term.App && n.Loose == 0:
		fresh = s.App(term.Expr(n.A), m.pool[m.next(len(m.pool))])
	case kind == 2 && (n.Kind == term.Const):
		levels := append([]term.Level(nil), s.LevelSlice(term.Levels(n.B))...)
		if len(levels) > 0 {
			levels[m.next(len(levels))] = s.Succ(term.Zero)
		}
		fresh = s.Const(term.Name(n.A), s.LevelList(levels))
	default:
		fresh = m.pool[m.next(len(m.pool))]
	}
	*place = s.Replace(*place, func(e term.Expr) term.Expr {
		if e == old {
			return fresh
		}
		return term.NoExpr
	})
}

// tryMutation mutates the file in data and fails the test if the checker believes
// something false.
func tryMutation(t *testing.T, data []byte, next func(n int) int) (accepted bool, judged int) {
	t.Helper()
	read := func(data []byte) *export.File {
		f, err := export.Read(bytes.NewReader(data), term.NewStore(nil), export.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := read(data)
	m := newMutator(f, next)
	derived := m.mutate()
	var b bytes.Buffer
	if err := export.Write(&b, f.Store, f.Meta, f.Decls); err != nil {
		t.Fatal(err)
	}
	mutant := read(b.Bytes())
	r, err := Check(context.Background(), mutant, Options{Threads: 1, Limits: Limits{Steps: 1 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict == Decline && r.Failure.Rule == ruleInternal {
		t.Errorf("the checker failed: %s\n%s", r.Failure.describe(), b.Bytes())
	}
	if r.Verdict != Accept {
		return false, 0
	}
	if derived {
		t.Errorf("a changed count or rule K was not noticed:\n%s", b.Bytes())
	}
	wrong, judged := falseEquations(mutant)
	for _, name := range wrong {
		t.Errorf("the false theorem %s was accepted:\n%s", name, b.Bytes())
	}
	return true, judged
}

func TestInterpreterAgreesWithTheUnchangedPrograms(t *testing.T) {
	data := exportOf(t, programs)
	if r := checkExport(t, data, Options{}); r.Verdict != Accept {
		t.Fatal(r.Failure.describe())
	}
	f, err := export.Read(bytes.NewReader(data), term.NewStore(nil), export.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if wrong, judged := falseEquations(f); len(wrong) > 0 || judged != 9 {
		t.Errorf("the interpreter judges %d of 9 equations and finds %v false", judged, wrong)
	}
}

func TestMutatedExportsAreNotBelieved(t *testing.T) {
	data := exportOf(t, programs)
	rng := rand.New(rand.NewPCG(1056, 1))
	accepted, judged := 0, 0
	const mutants = 800
	for range mutants {
		ok, n := tryMutation(t, data, rng.IntN)
		if ok {
			accepted++
			judged += n
		}
		if t.Failed() {
			return
		}
	}
	// Harmless mutations exist: a definition may get another value of its type.
	if accepted == 0 || accepted > mutants/3 || judged < accepted*5 {
		t.Errorf("%d of %d mutants accepted, with %d equations judged", accepted, mutants, judged)
	}
}

func FuzzMutatedExport(f *testing.F) {
	data := exportOf(f, programs)
	f.Add([]byte("0123456789"))
	f.Fuzz(func(t *testing.T, choices []byte) {
		tryMutation(t, data, func(n int) int {
			if len(choices) < 2 {
				return 0
			}
			k := int(choices[0])<<8 | int(choices[1])
			choices = choices[2:]
			return k % n
		})
	})
}
