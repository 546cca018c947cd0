package check

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/erdos1056/erdos1056/lean/export"
	"github.com/erdos1056/erdos1056/lean/source"
	"github.com/erdos1056/erdos1056/lean/term"
)

// Attacks that have led some checker to a proof of False, or would: each is a
// file made by hand, and is refused for the right reason.
func TestPitfalls(t *testing.T) {
	for _, c := range []struct {
		name, rule, msg, text string
		change                change
	}{
		{name: "unfolding with the wrong number of universe levels", rule: "universe levels", msg: "takes 1",
			text: `def T.{u} : Type (u+1) := Type u  theorem t : T.{0, 0} := True.intro`},
		{name: "a constructor said to have no fields looks like a unit", rule: "constructor", msg: "has 1 fields",
			text: `inductive Box 0 : Type | mk : Nat → Box
				theorem t : Eq.{1} Box (Box.mk 0) (Box.mk 1) := Eq.refl.{1} Box (Box.mk 0)`,
			change: func(f *export.File) { declaration(f, "Box").Block.Ctors[0].NumFields = 0 }},
		{name: "a rule that swaps the minor premises", rule: "recursor", msg: "rule of Bool.rec",
			text: `theorem t : True := True.intro`,
			change: func(f *export.File) {
				r := &declaration(f, "Bool").Block.Recs[0]
				r.Rules[0].RHS, r.Rules[1].RHS = r.Rules[1].RHS, r.Rules[0].RHS
			}},
		{name: "a recursor without induction hypothesis", rule: "recursor", msg: "another type",
			text: ``,
			change: func(f *export.File) {
				n := declaration(f, "Nat").Block.Recs
				n[0].Type = readTerm(t, f.Store, `∀ (m : Nat → Sort u) (z : m Nat.zero) (s : ∀ (n : Nat), m (Nat.succ n)) (n : Nat), m n`)
			}},
		{name: "rule K on the natural numbers", rule: "recursor", msg: "rule K",
			text:   `theorem t : True := True.intro`,
			change: func(f *export.File) { declaration(f, "Nat").Block.Recs[0].K = true }},
		{name: "a surplus recursor", rule: "recursor", msg: "no recursor of this block",
			text: ``,
			change: func(f *export.File) {
				b := declaration(f, "False").Block
				r := b.Recs[0]
				r.Name = f.Store.NameOf("anything")
				r.Type = readTerm(t, f.Store, `∀ (p : Prop), p`)
				b.Recs = append(b.Recs, r)
			}},
		{name: "an orphan constructor", rule: "constructor", msg: "belongs to none",
			text: ``,
			change: func(f *export.File) {
				b := declaration(f, "False").Block
				b.Ctors = append(b.Ctors, export.Constructor{Name: f.Store.NameOf("False", "intro"), Induct: b.Types[0].Name, Type: f.Store.Const(b.Types[0].Name, 0)})
			}},
		{name: "a constructor of another type", rule: "constructor", msg: "not described",
			text: ``,
			change: func(f *export.File) {
				b := declaration(f, "Bool").Block
				b.Ctors[0].Induct = f.Store.NameOf("Nat")
			}},
		{name: "a recursor of a type that has none", rule: "unknown constant", msg: "Nat.rec_1",
			text: `theorem t : ∀ (p : Prop), p := Nat.rec_1`},
		{name: "large elimination of a Prop-valued Bool", rule: "recursor", msg: "universe parameters",
			text: `inductive B 0 : Prop | t : B | f : B`, change: claimLarge("B")},
		{name: "a level compared without its offset around imax", rule: "definition",
			text: `def T.{u, v} : Sort (imax u v + 1) := Sort (imax u (v+1))`},
		{name: "imax taken for max", rule: "definition",
			text: `def T.{u, v} : Sort (imax u v + 1) := Sort (max u v)`},
		{name: "a field whose universe is too high only where imax is zero", rule: "universe of a field", msg: "field 1",
			text: `inductive T.{u} 1 : ∀ (α : Sort u), Sort (imax 1 u) | mk : ∀ (α : Sort u), Nat → T.{u} α`},
		{name: "rule K applied to a proof of another equation", rule: "theorem",
			text: `theorem t : ∀ (h : Eq.{1} Nat 0 1), Eq.{1} Nat (Eq.rec.{1, 1} Nat 0 (fun (k : Nat) (h : Eq.{1} Nat 0 k) => Nat) 5 1 h) 5 :=
				fun (h : Eq.{1} Nat 0 1) => Eq.refl.{1} Nat 5`},
		{name: "a projection out of a type with two constructors", rule: "projection", msg: "one constructor",
			text: `theorem t : ∀ (p q : Prop), Or p q → p := fun (p q : Prop) (h : Or p q) => proj Or 0 h`},
		{name: "a projection whose structure is inferred but not checked", rule: "application",
			text: `theorem t : False := proj And 0 (And.intro False False True.intro True.intro)`},
		{name: "a projection under the name of another structure", rule: "projection", msg: "not of type B",
			text: `inductive A 0 : Type | mk : Nat → A  inductive B 0 : Type | mk : False → B
				theorem t : False := proj B 0 (A.mk 0)`},
		{name: "data out of an existential", rule: "projection", msg: "data",
			text: `inductive Ex 1 : (Nat → Prop) → Prop | intro : ∀ (p : Nat → Prop) (n : Nat), p n → Ex p
				def first : ∀ (p : Nat → Prop), Ex p → Nat := fun (p : Nat → Prop) (h : Ex p) => proj Ex 0 h`},
		{name: "a proof about data out of an existential", rule: "projection", msg: "data",
			text: `inductive Ex 1 : (Nat → Prop) → Prop | intro : ∀ (p : Nat → Prop) (n : Nat), p n → Ex p
				theorem t : ∀ (p : Nat → Prop) (h : Ex p), True := fun (p : Nat → Prop) (h : Ex p) => (fun (x : p (proj Ex 0 h)) => True.intro) (proj Ex 1 h)`},
		{name: "a Prop in disguise eliminates into data", rule: "recursor", msg: "universe parameters",
			text: `def P : Type := Prop  inductive B 0 : P | t : B | f : B`, change: claimLarge("B")},
		{name: "an inductive type whose universe is stuck", rule: "inductive type", msg: "end in a sort",
			text: `axiom stuck : Nat → Type  inductive T 0 : Type | mk : T`,
			change: func(f *export.File) {
				declaration(f, "T").Block.Types[0].Type = readTerm(t, f.Store, `∀ (n : Nat), stuck n`)
				declaration(f, "T").Block.Types[0].NumIndices = 1
			}},
		{name: "an ill-typed parameter that the nesting type drops", rule: "application",
			text: `inductive Drop 1 : Type → Type | mk : ∀ (α : Type), Drop α
				inductive T 0 : Type | mk : Drop ((fun (x : False) => T) True.intro) → T`},
		{name: "a name of the auxiliary types", rule: "reserved name", msg: "_nested",
			text: `inductive _nested.Tree_1 0 : Type  inductive Tree 0 : Type | node : List.{0} Tree → Tree`},
		{name: "a theorem that proves itself", rule: "unknown constant", msg: "not declared before its use",
			text: `theorem t : False := t`},
		{name: "an opaque constant that defines itself", rule: "unknown constant", msg: "not declared before its use",
			text: `opaque t : False := t`},
		{name: "an opaque constant that is not checked", rule: "definition",
			text: `opaque t : False := True.intro  theorem u : False := t`},
		{name: "an axiom of a type that is none", rule: "type", text: `axiom t : True.intro`},
		{name: "a theorem whose statement is data", rule: "theorem", msg: "must be a proposition",
			text: `theorem t : Nat := 0  theorem u : Eq.{1} Nat t t := Eq.refl.{1} Nat t`},
		{name: "a bogus proof", rule: "theorem", msg: "the proof's type", text: `theorem t : Eq.{1} Nat 2 3 := Eq.refl.{1} Nat 2`},
		{name: "a literal where zero and successor are exchanged", rule: "literal", msg: "standard type Nat",
			text: `def x : Nat := 1`,
			change: func(f *export.File) {
				replaceBlock(t, f, "Nat", `inductive Nat 0 : Type | succ : Nat → Nat | zero : Nat`)
				f.Decls = slices.DeleteFunc(f.Decls, func(d export.Decl) bool {
					return strings.HasPrefix(f.Store.NameString(d.Name), "Nat.")
				})
			}},
		{name: "a literal of a Nat that is an axiom", rule: "literal", msg: "standard type Nat",
			text: `def x : Nat := 1`,
			change: func(f *export.File) {
				f.Decls = readInto(t, f.Store, `axiom Nat : Type  def x : Nat := 1`)
			}},
		{name: "a comparison with true and false exchanged", rule: "theorem",
			text: `theorem t : Eq.{1} Bool (Nat.ble 3 2) Bool.true := Eq.refl.{1} Bool Bool.true`,
			change: func(f *export.File) {
				f.Decls = append(f.Decls[:len(f.Decls)-1:len(f.Decls)-1], append(readInto(t, f.Store, bleSource), f.Decls[len(f.Decls)-1])...)
				replaceBlock(t, f, "Bool", `inductive Bool 0 : Type | true : Bool | false : Bool`)
			}},
		{name: "a string literal of an empty type", rule: "literal", msg: "String",
			text: `inductive String 0 : Type  theorem t : False := String.rec.{0} (fun (s : String) => False) "a"`},
		{name: "a string literal whose characters depend on it", rule: "theorem",
			text: `inductive Char 0 : Type | a : Char | b : Char
				inductive String 0 : Type | mk : List.{0} Char → String
				def first : String → Char := fun (s : String) => String.rec.{1} (fun (s : String) => Char) (fun (l : List.{0} Char) =>
					List.rec.{1, 0} Char (fun (l : List.{0} Char) => Char) Char.a (fun (c : Char) (l : List.{0} Char) (r : Char) => c) l) s
				def other : Char → Char := fun (c : Char) => Char.rec.{1} (fun (c : Char) => Char) Char.b Char.a c
				def Char.ofNat : Nat → Char := fun (n : Nat) => other (first "x")
				theorem t : Eq.{1} Char (first "x") (other (first "x")) := Eq.refl.{1} Char (first "x")`},
		{name: "a quotient without equality", rule: "quotient", msg: "needs the constant Quot",
			text: ``,
			change: func(f *export.File) {
				s := f.Store
				f.Decls = append(f.Decls, export.Decl{Kind: export.Quotient, Quot: export.QuotInd, Name: s.NameOf("Quot", "ind"),
					Params: []term.Name{s.NameOf("u")}, Type: s.Sort(term.Zero)})
			}},
		{name: "proof irrelevance for what only looks like a proposition", rule: "theorem",
			text: `theorem t.{u} : ∀ (α : Sort u) (a b : α), Eq.{u} α a b := fun (α : Sort u) (a b : α) => Eq.refl.{u} α a`},
		{name: "unit eta for a type that may have members", rule: "theorem",
			text: `inductive E 1 : Nat → Type | mk : ∀ (n : Nat), Nat → E n
				theorem t : ∀ (x y : E 0), Eq.{1} (E 0) x y := fun (x y : E 0) => Eq.refl.{1} (E 0) x`},
		{name: "structure eta for an indexed type", rule: "theorem",
			text: `inductive F 0 : Nat → Type | mk : F 0
				theorem t : ∀ (x y : F 0), Eq.{1} (F 0) x y := fun (x y : F 0) => Eq.refl.{1} (F 0) x`},
	} {
		t.Run(c.name, func(t *testing.T) {
			changes := []change{}
			if c.change != nil {
				changes = append(changes, c.change)
			}
			rejects(t, c.rule, c.msg, c.text, changes...)
		})
	}
}

const bleSource = `def Nat.ble : Nat → Nat → Bool := fun (m : Nat) =>
	Nat.rec.{1} (fun (m : Nat) => Nat → Bool) (fun (n : Nat) => Bool.true)
		(fun (m : Nat) (below : Nat → Bool) (n : Nat) => Nat.rec.{1} (fun (n : Nat) => Bool) Bool.false (fun (n : Nat) (r : Bool) => below n) n) m `

// The same comparison is computed where Bool is the standard one.
func TestComparisonsOfTheStandardBoolAreComputed(t *testing.T) {
	accepts(t, bleSource+`theorem t : Eq.{1} Bool (Nat.ble 1000000 1000001) Bool.true := Eq.refl.{1} Bool Bool.true`)
}

func readTerm(t testing.TB, s *term.Store, text string) term.Expr {
	t.Helper()
	// A definition, so that the universe parameter u is known.
	d := readInto(t, s, `axiom x.{u} : `+text)
	return d[0].Type
}

func replaceBlock(t testing.TB, f *export.File, name, text string) {
	t.Helper()
	g := readSource(t, "")
	g.Store = f.Store
	g.Decls = readInto(t, f.Store, text)
	deriveRecursors(g)
	*declaration(f, name) = g.Decls[0]
}

func TestPoint15DeepTermsAreDeclinedNotCrashedOn(t *testing.T) {
	deep := func(depth int, grow func(s *term.Store, e term.Expr) term.Expr, start func(s *term.Store) term.Expr) []byte {
		f := readSource(t, core)
		deriveRecursors(f)
		e := start(f.Store)
		for range depth {
			e = grow(f.Store, e)
		}
		nat := f.Store.Const(f.Store.NameOf("Nat"), 0)
		f.Decls = append(f.Decls, export.Decl{Kind: export.Definition, Name: f.Store.NameOf("deep"), Type: nat, Value: e})
		var b bytes.Buffer
		if err := export.Write(&b, f.Store, export.Meta{}, f.Decls); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	zero := func(s *term.Store) term.Expr { return s.Const(s.NameOf("Nat", "zero"), 0) }
	succ := func(s *term.Store, e term.Expr) term.Expr { return s.App(s.Const(s.NameOf("Nat", "succ"), 0), e) }
	let := func(s *term.Store, e term.Expr) term.Expr {
		nat := s.Const(s.NameOf("Nat"), 0)
		return s.Let(0, nat, e, s.BVar(0))
	}
	redex := func(s *term.Store, e term.Expr) term.Expr {
		nat := s.Const(s.NameOf("Nat"), 0)
		return s.App(s.Lambda(0, 0, nat, s.BVar(0)), e)
	}
	for name, grow := range map[string]func(*term.Store, term.Expr) term.Expr{"applications": succ, "lets": let, "redexes": redex} {
		if r := checkExport(t, deep(1000, grow, zero), Options{}); r.Verdict != Accept {
			t.Errorf("1000 %s: %v: %s", name, r.Verdict, r.Failure.describe())
		}
		if r := checkExport(t, deep(400_000, grow, zero), Options{}); r.Verdict != Decline || r.Failure.Rule != ruleLimit {
			t.Errorf("400000 %s: %v, expected decline by a limit", name, r.Verdict)
		}
	}
	// The successors of a large literal are counted down one by one.
	data := exportOf(t, core+`theorem t : Eq.{1} Nat (Nat.rec.{1} (fun (n : Nat) => Nat) 0 (fun (n r : Nat) => Nat.succ r) 100000000) 5 := Eq.refl.{1} Nat 5`)
	if r := checkExport(t, data, Options{}); r.Verdict != Decline || r.Failure.Rule != ruleLimit {
		t.Errorf("a deep recursion: %v, expected decline by a limit", r.Verdict)
	}
}

func TestLimitsAreDeclinesNotVerdicts(t *testing.T) {
	// Ackermann's function, which no limit lets finish.
	data := exportOf(t, core+`
		def ack : Nat → Nat → Nat := fun (m : Nat) => Nat.rec.{1} (fun (m : Nat) => Nat → Nat) Nat.succ
			(fun (m : Nat) (f : Nat → Nat) (n : Nat) => Nat.rec.{1} (fun (n : Nat) => Nat) (f 1) (fun (n r : Nat) => f r) n) m
		theorem t : Eq.{1} Nat (ack 4 3) 0 := Eq.refl.{1} Nat 0`)
	for name, opts := range map[string]Options{
		"steps":  {Limits: Limits{Steps: 100_000}},
		"depth":  {Limits: Limits{Depth: 200}},
		"memory": {Budget: term.NewBudget(8 << 20)},
	} {
		r := checkExport(t, data, opts)
		if r.Verdict != Decline || r.Failure.Rule != ruleLimit {
			t.Errorf("%s: %v, expected decline by a limit", name, r.Verdict)
		}
	}
}

func TestCancellationIsNoVerdict(t *testing.T) {
	f := readSource(t, core)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r, err := Check(ctx, f, Options{}); err != context.Canceled {
		t.Errorf("result %v, error %v; expected the context's error", r, err)
	}
}

func TestResultsDoNotDependOnThreads(t *testing.T) {
	// Several failures: the first in file order is reported, whichever thread
	// comes upon it when.
	var text strings.Builder
	text.WriteString(core)
	for i := range 200 {
		fmt.Fprintf(&text, "theorem good%d : True := True.intro\n", i)
		if i%17 == 16 {
			fmt.Fprintf(&text, "theorem bad%d : False := True.intro\n", i)
		}
	}
	data := exportOf(t, text.String())
	want := checkExport(t, data, Options{Threads: 1})
	if want.Failure == nil || want.Failure.Name != "bad16" {
		t.Fatalf("the first failure is %+v, expected bad16", want.Failure)
	}
	for threads := 2; threads <= 16; threads *= 2 {
		for range 5 {
			r := checkExport(t, data, Options{Threads: threads})
			if r.Verdict != want.Verdict || r.Failure.describe() != want.Failure.describe() {
				t.Fatalf("%d threads: %s, expected %s", threads, r.Failure.describe(), want.Failure.describe())
			}
		}
	}
}

// What has no type need not have a normal form. These terms reduce in circles, at
// the same size, so that no bound on memory or depth would end it.
func TestTermsWithoutTypeAreRejectedBeforeTheyAreReducedForever(t *testing.T) {
	const circle = `(fun (f a b : Nat) => f f b a) (fun (f a b : Nat) => f f b a) 0 1`
	claim := func(part func(r *export.Recursor) *term.Expr) change {
		return func(f *export.File) {
			e, err := source.ParseTerm(f.Store, circle)
			if err != nil {
				t.Fatal(err)
			}
			*part(&f.Decls[len(f.Decls)-1].Block.Recs[0]) = e
		}
	}
	for _, c := range []struct {
		name, text, want string
		changes          []change
	}{
		{"in a proof", `def loop : Nat := ` + circle + `
			theorem t : Eq.{1} Nat loop 5 := Eq.refl.{1} Nat 5`, "loop: ", nil},
		{"in the type of an inductive type", `def loop : Type 1 := ` + circle + `
			inductive T 0 : loop`, "loop: ", nil},
		{"in the type of a field", `def loop : Type := ` + circle + `
			inductive T 0 : Type | mk : loop → T`, "loop: ", nil},
		{"in a recursor of the file", `inductive T 0 : Type | mk : T`, "T: recursor: ",
			[]change{claim(func(r *export.Recursor) *term.Expr { return &r.Type })}},
		{"in a rule of the file", `inductive T 0 : Type | mk : T`, "T: recursor: ",
			[]change{claim(func(r *export.Recursor) *term.Expr { return &r.Rules[0].RHS })}},
	} {
		data := exportOf(t, core+c.text, c.changes...)
		for _, threads := range []int{1, 2, 7} {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			f, err := export.Read(bytes.NewReader(data), term.NewStore(nil), export.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			r, err := Check(ctx, f, Options{Threads: threads})
			cancel()
			if err != nil || r.Verdict != Reject || !strings.HasPrefix(r.Failure.describe(), c.want) {
				t.Errorf("%s, %d threads: %v, %+v", c.name, threads, err, r)
			}
		}
	}
}

// A block that takes long to check is put off until all before it is judged, and
// then checked in full.
func TestLongBlocksAreCheckedAfterWhatTheyRestOn(t *testing.T) {
	const long = core + `
		def ack : Nat → Nat → Nat := fun (m : Nat) => Nat.rec.{1} (fun (m : Nat) => Nat → Nat) Nat.succ
			(fun (m : Nat) (f : Nat → Nat) (n : Nat) => Nat.rec.{1} (fun (n : Nat) => Nat) (f 1) (fun (n r : Nat) => f r) n) m
		inductive T 0 : Type
		  | mk : Eq.{0} (Eq.{1} Nat (ack 3 9) 4093) (Eq.refl.{1} Nat 4093) (Eq.refl.{1} Nat 4093) → T
		theorem t : True := True.intro
		theorem last : %s := True.intro`
	for statement, want := range map[string]Verdict{"True": Accept, "False": Reject} {
		data := exportOf(t, fmt.Sprintf(long, statement))
		if r := checkExport(t, data, Options{Threads: 2}); r.Verdict != want || want == Reject && r.Failure.Name != "last" {
			t.Errorf("%s: %v, %+v", statement, r.Verdict, r.Failure)
		}
	}
}

// A fault of the checker must never look like a verdict.
func TestFaultsAreDeclined(t *testing.T) {
	f := readSource(t, core+`theorem a : True := True.intro`)
	last := len(f.Decls) - 1
	r, err := Check(context.Background(), f, Options{Threads: 1, Progress: func(i int) {
		if i == last {
			f.Decls[last].Value = term.NoExpr - 1 // no term has this handle
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != Decline || r.Failure.Rule != ruleInternal {
		t.Errorf("%v, expected decline as internal", r.Verdict)
	}
}
