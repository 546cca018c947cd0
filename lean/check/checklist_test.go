package check

import (
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/lean/export"
	"github.com/erdos1056/erdos1056/lean/term"
)

// The tests of this file are named after the points of the checklist in
// docs/proofs.md. Point 1 is in package term, 22 to 24 in package audit, 25 in
// package elaborate.

func TestPoint02DeclarationsSeeOnlyWhatIsBeforeThem(t *testing.T) {
	accepts(t, `theorem a : True := True.intro  theorem b : True := a`)
	rejects(t, "unknown constant", "not declared before its use", `theorem a : False := a`)
	rejects(t, "unknown constant", "not declared before its use", `theorem a : False := b  theorem b : False := a`)
	rejects(t, "unknown constant", "not declared before its use", `def loop : Nat := Nat.succ loop`)
	rejects(t, "unknown constant", "", `
		inductive T 0 : Type | mk : (∀ (x : T), T.rec.{1} (fun (y : T) => Type) Nat x) → T`)
	rejects(t, "unknown constant", "", `inductive T 0 : Eq.{2} Type Nat T → Type | mk : T`)
}

func TestPoint03NamesAndParametersAreDeclaredOnce(t *testing.T) {
	rejects(t, "name clash", "", `def a : Nat := 0  theorem a : True := True.intro`)
	rejects(t, "name clash", "", `def T.mk : Nat := 0  inductive T 0 : Type | mk : T`)
	rejects(t, "name clash", "", `def T.rec : Nat := 0  inductive T 0 : Type | mk : T`)
	rejects(t, "name clash", "", `inductive T 0 : Type | rec : T`)
	rejects(t, "universe parameter", "twice", `def a.{u, u} : Type (u+1) := Type u`)
	for _, kind := range []string{"def", "opaque"} {
		rejects(t, "universe parameter", "not declared", kind+` a.{u} : Type (u+1) := Sort v`)
		rejects(t, "universe levels", "takes 1", kind+` a : Eq Nat 0 0 := Eq.refl.{1} Nat 0`)
		rejects(t, "unknown constant", "not declared", kind+` a : Nat := nothing`)
	}
	rejects(t, "universe parameter", "not declared", `axiom a : Sort u`)
	for _, name := range []string{"d", "o", "t"} {
		loose := func(f *export.File) { d := declaration(f, name); d.Value = f.Store.BVar(0) }
		rejects(t, "loose variable", "", `def d : Nat := 0  opaque o : Nat := 0  theorem t : True := True.intro`, loose)
	}
	rejects(t, "loose variable", "", `axiom a : Prop`, func(f *export.File) { declaration(f, "a").Type = f.Store.BVar(70_000) })
}

func TestPoint04EachKindOfDeclarationHasItsRule(t *testing.T) {
	accepts(t, `axiom a : ∀ (p : Prop), p  def b : Nat := 0  opaque c : Nat := b  theorem d : True := a True`)
	rejects(t, "type", "", `axiom a : Nat.zero`)
	rejects(t, "definition", "", `def a : Nat := True.intro`)
	rejects(t, "definition", "", `opaque a : Nat := True.intro`)
	rejects(t, "theorem", "the proof's type", `theorem a : Or False False := True.intro`)
	rejects(t, "theorem", "must be a proposition", `theorem a : Nat := 0`)
	// The type is checked before its sort is looked at.
	rejects(t, "application", "", `theorem a : True True := True.intro`)
	r := checkExport(t, exportOf(t, core+`def a : Nat := 0`, func(f *export.File) { declaration(f, "a").Unsafe = true }), Options{})
	if r.Verdict != Decline {
		t.Errorf("an unsafe declaration: %v, expected decline", r.Verdict)
	}
}

func TestPoint05LevelsAreComparedByMeaning(t *testing.T) {
	accepts(t, `def a.{u, v} : Sort (max u v + 1) := Sort (max v u)`)
	accepts(t, `def a.{u} : Type (imax 1 u) := Sort u`)
	accepts(t, `def a.{u} : Sort (imax u 1 + 1) := Sort (max u 1)`)
	rejects(t, "definition", "", `def a.{u} : Type (imax 2 u) := Sort u`)
	rejects(t, "definition", "", `def a.{u, v} : Type (max u v) := Sort (imax u v)`)
	rejects(t, "definition", "", `def a.{u} : Type u := Sort (max 1 u)`)
	accepts(t, `def a.{u} : Type (max 1 u) := Sort (max 1 u)`)
}

func TestPoint06InferenceFollowsTheTypingRules(t *testing.T) {
	accepts(t, `def a.{u} : ∀ (α : Sort u), α → α := fun (α : Sort u) (x : α) => x`)
	accepts(t, `def a.{u, v} : Sort (imax u v + 1) → Prop := fun (x : Sort (imax u v + 1)) => True
		def b.{u, v} : Prop := a.{u, v} (∀ (α : Sort u), Sort v)`,
		func(f *export.File) { f.Decls = f.Decls[:len(f.Decls)-1] })
	rejects(t, "application", "no function", `def a : Nat := 0 0`)
	rejects(t, "application", "another type", `def a : Nat := Nat.succ True.intro`)
	rejects(t, "let", "", `def a : Nat := let x : Nat := True.intro; 0`)
	rejects(t, "type", "", `def a : Nat := (fun (x : 0) => 0) 0`)
	rejects(t, "type", "", `axiom a : ∀ (x : 0), True`)
	accepts(t, `theorem a : let T : Prop := True; T := True.intro`)
	accepts(t, `theorem a : Eq.{1} Nat (let x : Nat := 1; Nat.succ x) 2 := Eq.refl.{1} Nat 2`)
}

func TestPoint07ProjectionsAreOfStructuresAndOutOfPropOnlyProofs(t *testing.T) {
	const S = `inductive S 0 : Type | mk : Nat → Nat → S  inductive R 0 : Type | mk : Nat → R `
	accepts(t, S+`def a : S → Nat := fun (s : S) => proj S 1 s`)
	rejects(t, "projection", "no field 2", S+`def a : S → Nat := fun (s : S) => proj S 2 s`)
	rejects(t, "projection", "not of type", S+`def a : S → Nat := fun (s : S) => proj R 0 s`)
	rejects(t, "projection", "one constructor", `def a : Nat → Nat := fun (n : Nat) => proj Nat 0 n`)
	rejects(t, "application", "", S+`def a : Nat := proj S 0 (S.mk True.intro 0)`)
	accepts(t, `theorem a : ∀ (p q : Prop), And p q → q := fun (p q : Prop) (h : And p q) => proj And 1 h`)
	rejects(t, "projection", "data", `def a : Nonempty.{1} Nat → Nat := fun (h : Nonempty.{1} Nat) => proj Nonempty 0 h`)
	// A sort that is zero only after evaluation counts as Prop.
	rejects(t, "projection", "data", `
		inductive P 0 : Sort (imax 1 0) | mk : Nat → P
		def a : P → Nat := fun (h : P) => proj P 0 h`)
}

func TestPoint08WhnfReducesBetaZetaProjectionsAndRecursors(t *testing.T) {
	rfl := func(lhs, rhs string) string {
		return `theorem a : Eq.{1} Nat (` + lhs + `) (` + rhs + `) := Eq.refl.{1} Nat (` + rhs + `)`
	}
	accepts(t, rfl(`(fun (x y z : Nat) => y) 1 2 3`, `2`))
	accepts(t, rfl(`let f : Nat → Nat := fun (x : Nat) => Nat.succ x; f 1`, `2`))
	accepts(t, rfl(`proj Prod 1 (Prod.mk.{0, 0} Nat Nat 1 2)`, `2`))
	accepts(t, rfl(`Bool.rec.{1} (fun (b : Bool) => Nat) 1 2 Bool.true`, `2`))
	accepts(t, rfl(`Bool.rec.{1} (fun (b : Bool) => Nat → Nat) (fun (x : Nat) => 0) Nat.succ Bool.true 4`, `5`))
	rejects(t, "theorem", "", rfl(`Bool.rec.{1} (fun (b : Bool) => Nat) 1 2 Bool.true`, `1`))
}

func TestPoint09DefinitionsAndTheoremsUnfoldOpaquesAndAxiomsDoNot(t *testing.T) {
	accepts(t, `def two : Nat := 2  theorem a : Eq.{1} Nat two 2 := Eq.refl.{1} Nat 2`)
	rejects(t, "theorem", "", `opaque two : Nat := 2  theorem a : Eq.{1} Nat two 2 := Eq.refl.{1} Nat 2`)
	rejects(t, "theorem", "", `axiom two : Nat  theorem a : Eq.{1} Nat two 2 := Eq.refl.{1} Nat 2`)
	// A proof that computes: the recursor of Eq reduces once the theorem unfolds.
	accepts(t, `
		theorem same : Eq.{1} Nat 0 0 := Eq.refl.{1} Nat 0
		def cast : Nat → Nat := fun (n : Nat) => Eq.rec.{1, 1} Nat 0 (fun (k : Nat) (h : Eq.{1} Nat 0 k) => Nat) n 0 same
		theorem a : Eq.{1} Nat (cast 3) 3 := Eq.refl.{1} Nat 3`)
}

func TestPoint10RecursorsReduceOnWhatIsAConstructorInDisguise(t *testing.T) {
	// Rule K: a proof of a = a counts as refl, one of a = b does not.
	const castTo = `def cast : ∀ (a b : Nat), Eq.{1} Nat a b → Nat := fun (a b : Nat) (h : Eq.{1} Nat a b) =>
		Eq.rec.{1, 1} Nat a (fun (k : Nat) (h : Eq.{1} Nat a k) => Nat) 7 b h `
	accepts(t, castTo+`theorem t : ∀ (a : Nat) (h : Eq.{1} Nat a a), Eq.{1} Nat (cast a a h) 7 :=
		fun (a : Nat) (h : Eq.{1} Nat a a) => Eq.refl.{1} Nat 7`)
	rejects(t, "theorem", "", castTo+`theorem t : ∀ (a b : Nat) (h : Eq.{1} Nat a b), Eq.{1} Nat (cast a b h) 7 :=
		fun (a b : Nat) (h : Eq.{1} Nat a b) => Eq.refl.{1} Nat 7`)
	// A literal counts as successor of the literal before.
	accepts(t, `theorem t : Eq.{1} Nat (Nat.rec.{1} (fun (n : Nat) => Nat) 0 (fun (n r : Nat) => n) 1000000000000000000000) 999999999999999999999 :=
		Eq.refl.{1} Nat 999999999999999999999`)
	// A structure counts as its constructor applied to projections.
	accepts(t, `theorem t : ∀ (p : Prod.{0, 0} Nat Nat), Eq.{1} Nat
		(Prod.rec.{1, 0, 0} Nat Nat (fun (q : Prod.{0, 0} Nat Nat) => Nat) (fun (x y : Nat) => y) p) (proj Prod 1 p) :=
		fun (p : Prod.{0, 0} Nat Nat) => Eq.refl.{1} Nat (proj Prod 1 p)`)
}

func TestPoint11ArithmeticIsComputedOnlyIfItIsArithmetic(t *testing.T) {
	r := checkExport(t, exportOf(t, core), Options{})
	if got := strings.Join(r.NatOps, " "); got != "Nat.add Nat.mul" {
		t.Errorf("computed operations are %q, expected those declared", got)
	}
	accepts(t, `theorem a : Eq.{1} Nat (Nat.mul 123456789012345678901234567890 1000000007) 123456789876543203225792704691358025236788890 := Eq.refl.{1} Nat 123456789876543203225792704691358025236788890`,
		func(f *export.File) {
			// The product is written by the test, not by hand.
			d := declaration(f, "a")
			s := f.Store
			product := s.Nat(new(bigInt).Mul(number("123456789012345678901234567890"), number("1000000007")))
			n := *s.At(d.Type)
			d.Type = s.App(term.Expr(n.A), product)
			d.Value = s.App(term.Expr(s.At(d.Value).A), product)
		})
	rejects(t, "theorem", "", `theorem a : Eq.{1} Nat (Nat.add 2 2) 5 := Eq.refl.{1} Nat 5`)
	// An operation that is not what its name says is unfolded like any other.
	const fake = `def Nat.sub : Nat → Nat → Nat := fun (m n : Nat) => 7 `
	accepts(t, fake+`theorem a : Eq.{1} Nat (Nat.sub 5 3) 7 := Eq.refl.{1} Nat 7`)
	rejects(t, "theorem", "", fake+`theorem a : Eq.{1} Nat (Nat.sub 5 3) 2 := Eq.refl.{1} Nat 2`)
	// Where definitions differ between versions of Lean, one that is not known
	// may be right: it is unfolded, and failure is no refutation.
	const late = `def Nat.gcd : Nat → Nat → Nat := fun (m n : Nat) => Nat.rec.{1} (fun (k : Nat) => Nat) n (fun (k r : Nat) => 1) m `
	r = checkExport(t, exportOf(t, core+late+`theorem a : Eq.{1} Nat (Nat.gcd 4 6) 2 := Eq.refl.{1} Nat 2`), Options{})
	if r.Verdict != Decline || !strings.Contains(r.Failure.Msg, "Nat.gcd is none that is known") {
		t.Errorf("%v, expected a decline for want of Nat.gcd", r.Verdict)
	}
	accepts(t, late+`theorem a : Eq.{1} Nat (Nat.gcd 4 6) 1 := Eq.refl.{1} Nat 1`)
}

func TestPoint12EagerReductionAndCompiledCode(t *testing.T) {
	const natives = `opaque Lean.reduceBool : Bool → Bool := fun (b : Bool) => b `
	data := exportOf(t, core+natives+`theorem a : Eq.{1} Bool (Lean.reduceBool Bool.true) Bool.true := Eq.refl.{1} Bool Bool.true`)
	r := checkExport(t, data, Options{})
	if r.Verdict != Decline || r.Failure.Rule != ruleUnsupported {
		t.Errorf("%v, expected a proof by compiled code to be declined", r.Verdict)
	}
	accepts(t, `
		def eagerReduce.{u} : ∀ (α : Sort u), α → α := fun (α : Sort u) (a : α) => a
		theorem t : ∀ (p : Prop), p → (Eq.{1} Nat (Nat.add 1000000 1000000) 2000000 → p) → p :=
			fun (p : Prop) (h : p) (k : Eq.{1} Nat (Nat.add 1000000 1000000) 2000000 → p) =>
				k (eagerReduce.{0} (Eq.{1} Nat 2000000 2000000) (Eq.refl.{1} Nat 2000000))`)
}

func TestPoint13EqualityByEtaProofsAndUnits(t *testing.T) {
	eq := func(typ, vars, a, b string) string {
		return `theorem t : ∀ ` + vars + `, Eq.{1} (` + typ + `) (` + a + `) (` + b + `) := fun ` + vars + ` => Eq.refl.{1} (` + typ + `) (` + a + `)`
	}
	accepts(t, eq(`Nat → Nat`, `(f : Nat → Nat)`, `f`, `fun (x : Nat) => f x`))
	accepts(t, eq(`Prod.{0,0} Nat Nat`, `(p : Prod.{0,0} Nat Nat)`, `p`, `Prod.mk.{0,0} Nat Nat (proj Prod 0 p) (proj Prod 1 p)`))
	rejects(t, "theorem", "", eq(`Prod.{0,0} Nat Nat`, `(p : Prod.{0,0} Nat Nat)`, `p`, `Prod.mk.{0,0} Nat Nat (proj Prod 1 p) (proj Prod 0 p)`))
	const unit = `inductive Unit 0 : Type | mk : Unit `
	accepts(t, unit+eq(`Unit`, `(x y : Unit)`, `x`, `y`))
	rejects(t, "theorem", "", eq(`Bool`, `(x y : Bool)`, `x`, `y`))
	// Two proofs of one proposition are equal, two members of a type are not.
	const set = `inductive Sub 0 : Type | mk : ∀ (n : Nat), Eq.{1} Nat n n → Sub `
	accepts(t, set+eq(`Sub`, `(h k : Eq.{1} Nat 3 3)`, `Sub.mk 3 h`, `Sub.mk 3 k`))
	rejects(t, "theorem", "", eq(`Nat → Nat`, `(f g : Nat → Nat)`, `f`, `fun (x : Nat) => g x`))
	// A recursive structure has no eta.
	rejects(t, "theorem", "", `inductive W 0 : Type | mk : (Nat → W) → W `+eq(`W`, `(x : W)`, `x`, `W.mk (proj W 0 x)`))
}

func TestPoint14EqualityIsRememberedByPairs(t *testing.T) {
	set := newPairSet(nil)
	set.add(1, 2)
	set.add(2, 3)
	if !set.has(2, 1) || !set.has(3, 2) {
		t.Error("a remembered pair is not found in either order")
	}
	if set.has(1, 3) {
		t.Error("remembered pairs are closed under transitivity")
	}
	for i := term.Expr(0); i < 10_000; i += 2 {
		set.add(i, i+1)
	}
	for i := term.Expr(0); i < 10_000; i += 2 {
		if !set.has(i, i+1) || set.has(i+1, i+2) && i != 0 && i != 2 {
			t.Fatalf("pair %d is wrong after growth", i)
		}
	}
}

func TestPoint16InductiveTypesAreWellFormed(t *testing.T) {
	for _, c := range []struct{ rule, msg, text string }{
		{"inductive parameters", "declares 1 parameters", `inductive T 1 : Type`},
		{"inductive type", "end in a sort", `inductive T 0 : Nat → Nat`},
		{"type", "", `inductive T 0 : Nat.zero`},
		{"constructor parameters", "other parameters", `inductive T 1 : Type → Type | mk : ∀ (α : Prop), T Nat`},
		{"constructor parameters", "fewer arguments", `inductive T 1 : Prop → Type | mk : T True`},
		{"constructor result", "", `inductive T 1 : Prop → Type | mk : ∀ (p : Prop), T True`},
		{"constructor result", "", `inductive T 0 : Type | mk : Nat`},
		{"constructor result", "", `inductive T 0 : Type  inductive S 0 : Type | mk : T`},
		{"universe of a field", "field 1", `inductive T 0 : Type | mk : Type → T`},
		{"universe of a field", "field 1", `inductive T.{u} 0 : Sort (imax 2 u) | mk : Type → T.{u}`},
		{"positivity", "argument", `inductive T 0 : Type | mk : (T → Nat) → T`},
		{"positivity", "argument", `inductive T 0 : Type | mk : ((Nat → T) → Nat) → T`},
		{"positivity", "valid occurrence", `inductive T 0 : Prop → Type | mk : T (∀ (x : T True), True) → T True`},
		{"constructor result", "", `inductive T 0 : Type → Type | mk : T (T Nat)`},
		{"inductive universe", "different universes", `mutual inductive A 0 : Type | a : A  inductive B 0 : Prop | b : B end`},
		{"inductive parameters", "different parameters", `mutual inductive A 1 : Prop → Type  inductive B 1 : Nat → Type end`},
		{"name clash", "", `inductive T 0 : Type | mk : T | mk : T`},
	} {
		rejects(t, c.rule, c.msg, c.text)
	}
	accepts(t, `inductive T 0 : Prop | mk : Type → (Nat → T) → T`)
	accepts(t, `def Fn : Type → Type := fun (α : Type) => Nat → α  inductive T 0 : Type | leaf : T | node : Fn T → T`)
	// Occurrences that vanish on reduction are none.
	accepts(t, `def drop : Type → Type := fun (α : Type) => Nat  inductive T 0 : Type | mk : drop T → T`)
	// The type of the constructor itself must show its binders.
	rejects(t, "constructor result", "", `def Ty : Type → Type := fun (α : Type) => α → α  inductive T 0 : Type | mk : Ty T`)
}

func TestPoint17NestedTypesAreCheckedThroughWhatTheyNestIn(t *testing.T) {
	accepts(t, `inductive Tree 0 : Type | node : List.{0} Tree → Tree
		def size : Tree → Nat := fun (t : Tree) => Tree.rec.{1} (fun (t : Tree) => Nat) (fun (l : List.{0} Tree) => Nat)
			(fun (l : List.{0} Tree) (n : Nat) => Nat.succ n) 0 (fun (t : Tree) (l : List.{0} Tree) (m n : Nat) => Nat.add m n) t
		theorem t : Eq.{1} Nat (size (Tree.node (List.cons.{0} Tree (Tree.node (List.nil.{0} Tree)) (List.nil.{0} Tree)))) 2 := Eq.refl.{1} Nat 2`)
	// Positive on its face, negative in what it nests in.
	rejects(t, "positivity", "", `inductive Neg 1 : Type → Type | mk : ∀ (α : Type), (α → False) → Neg α
		inductive T 0 : Type | mk : Neg T → T`)
	// A parameter that the outer type ignores must be well-typed all the same.
	rejects(t, "application", "", `inductive Box 1 : Type → Type | mk : ∀ (α : Type), Box α
		inductive T 0 : Type | mk : Box (T T) → T`)
	rejects(t, "nested occurrence", "local", `inductive T 0 : Nat → Type | mk : ∀ (n : Nat), List.{0} (T n) → T n`)
	rejects(t, "reserved name", "_nested", `inductive _nested.T_1 0 : Type | mk : _nested.T_1`)
	rejects(t, "reserved name", "_nested", `def _nested.x : Nat := 0`)
}

func TestPoint18LargeEliminationOnlyWhereProofsCannotTell(t *testing.T) {
	large := func(text, name string) bool {
		f := readSource(t, text)
		deriveRecursors(f)
		return len(declaration(f, name).Block.Recs[0].Params) > len(declaration(f, name).Params)
	}
	for _, c := range []struct {
		text string
		want bool
	}{
		{`inductive T 0 : Type | a : T | b : T`, true},
		{`inductive T 0 : Prop`, true},
		{`inductive T 0 : Prop | a : T`, true},
		{`inductive T 0 : Prop | a : T | b : T`, false},
		{`inductive T 0 : Prop | a : Nat → T`, false},
		{`inductive T 0 : Nat → Prop | a : ∀ (n : Nat), T n`, true},
		{`inductive T 0 : Nat → Prop | a : ∀ (n : Nat), T (Nat.succ n)`, false},
		{`inductive T 0 : Prop | a : True → T`, true},
		{`inductive T.{u} 0 : Sort u | a : T.{u} | b : T.{u}`, false},
		{`inductive T.{u} 0 : Sort (imax 1 u) | a : T.{u} | b : T.{u}`, false},
		{`inductive T.{u} 0 : Sort (max 1 u) | a : T.{u} | b : T.{u}`, true},
		{`mutual inductive T 0 : Prop | a : T  inductive S 0 : Prop | b : S end`, false},
	} {
		if got := large(core+c.text, "T"); got != c.want {
			t.Errorf("%s: large elimination is %t, expected %t", c.text, got, c.want)
		}
	}
	// What the file claims does not count.
	rejects(t, "recursor", "universe parameters", `inductive B 0 : Prop | t : B | f : B`, claimLarge("B"))
	rejects(t, "recursor", "universe parameters", `inductive B.{v} 0 : Sort v | t : B.{v} | f : B.{v}`, claimLarge("B"))
	rejects(t, "recursor", "universe parameters", `inductive B.{v} 0 : Sort (imax 1 v) | t : B.{v} | f : B.{v}`, claimLarge("B"))
}

// claimLarge adds a universe parameter to the recursor of a type.
func claimLarge(name string) change {
	return func(f *export.File) {
		r := &declaration(f, name).Block.Recs[0]
		r.Params = append([]term.Name{f.Store.NameOf("u")}, r.Params...)
	}
}

func TestPoint19RuleKNeedsAPropositionWithOneBareConstructor(t *testing.T) {
	for _, c := range []struct {
		text string
		want bool
	}{
		{`inductive T 0 : Prop | a : T`, true},
		{`inductive T.{u} 2 : ∀ (α : Sort u), α → α → Prop | a : ∀ (α : Sort u) (x : α), T.{u} α x x`, true},
		{`inductive T 0 : Prop | a : True → T`, false},
		{`inductive T 0 : Type | a : T`, false},
		{`inductive T.{u} 0 : Sort u | a : T.{u}`, false},
		{`inductive T 0 : Sort (imax 1 0) | a : T`, true},
		{`inductive T 0 : Prop | a : T | b : T`, false},
	} {
		f := readSource(t, core+c.text)
		deriveRecursors(f)
		if got := declaration(f, "T").Block.Recs[0].K; got != c.want {
			t.Errorf("%s: rule K is %t, expected %t", c.text, got, c.want)
		}
		rejects(t, "recursor", "rule K", c.text, func(f *export.File) {
			r := &declaration(f, "T").Block.Recs[0]
			r.K = !r.K
		})
	}
	rejects(t, "recursor", "rule K", ``, func(f *export.File) { declaration(f, "Nat").Block.Recs[0].K = true })
}

func TestPoint20RecursorsOfTheFileAreComparedWithThoseDerived(t *testing.T) {
	rec := func(change func(f *export.File, r *export.Recursor)) change {
		return func(f *export.File) { change(f, &declaration(f, "Nat").Block.Recs[0]) }
	}
	for _, c := range []struct {
		msg    string
		change change
	}{
		{"parameters", rec(func(_ *export.File, r *export.Recursor) { r.NumParams++ })},
		{"indices", rec(func(_ *export.File, r *export.Recursor) { r.NumIndices++ })},
		{"motives", rec(func(_ *export.File, r *export.Recursor) { r.NumMotives, r.NumMinors = 2, 1 })},
		{"minor premises", rec(func(_ *export.File, r *export.Recursor) { r.NumMinors++ })},
		{"rules", rec(func(_ *export.File, r *export.Recursor) { r.Rules = r.Rules[:1] })},
		{"fields", rec(func(_ *export.File, r *export.Recursor) { r.Rules[1].NumFields = 0 })},
		{"is for", rec(func(_ *export.File, r *export.Recursor) {
			r.Rules[0].Ctor, r.Rules[1].Ctor = r.Rules[1].Ctor, r.Rules[0].Ctor
		})},
		{"rule of", rec(func(_ *export.File, r *export.Recursor) { r.Rules[0].RHS = r.Rules[1].RHS })},
		{"another type", rec(func(f *export.File, r *export.Recursor) { r.Type = f.Store.Sort(term.Zero) })},
		{"no recursor of this block", rec(func(f *export.File, r *export.Recursor) { r.Name = f.Store.NameOf("Nat", "rec_1") })},
		{"missing", func(f *export.File) { declaration(f, "Nat").Block.Recs = nil }},
		{"no recursor of this block", func(f *export.File) {
			b := declaration(f, "Nat").Block
			extra := b.Recs[0]
			extra.Name = f.Store.NameOf("Nat", "rec_1")
			b.Recs = append(b.Recs, extra)
		}},
		{"declared twice", func(f *export.File) {
			b := declaration(f, "Nat").Block
			b.Recs = append(b.Recs, b.Recs[0])
		}},
	} {
		rejects(t, "recursor", c.msg, ``, c.change)
	}
	// The names of universe parameters make no difference.
	accepts(t, ``, rec(func(f *export.File, r *export.Recursor) {
		v := f.Store.NameOf("v")
		levels := []term.Level{f.Store.Param(v)}
		r.Type = f.Store.SubstLevels(r.Type, r.Params, levels)
		for i := range r.Rules {
			r.Rules[i].RHS = f.Store.SubstLevels(r.Rules[i].RHS, r.Params, levels)
		}
		r.Params = []term.Name{v}
	}))
}

func TestPoint21QuotientConstantsHaveTheirFixedTypes(t *testing.T) {
	quotients := func(f *export.File) {
		c := newChecker(newEnvironment(f.Store), Limits{Depth: 1 << 10}, nil)
		s := f.Store
		for kind, name := range []term.Name{s.NameOf("Quot"), s.NameOf("Quot", "mk"), s.NameOf("Quot", "lift"), s.NameOf("Quot", "ind")} {
			params := []term.Name{s.NameOf("u")}
			if export.QuotKind(kind) == export.QuotLift {
				params = append(params, s.NameOf("v"))
			}
			d := export.Decl{Kind: export.Quotient, Name: name, Params: params, Quot: export.QuotKind(kind)}
			d.Type = s.Copy(c.s, c.quotType(d.Quot, params))
			c.s.Reset()
			f.Decls = append(f.Decls, d)
		}
	}
	parse := func(text string) change {
		return func(f *export.File) { f.Decls = append(f.Decls, readInto(t, f.Store, text)...) }
	}
	lifted := `theorem t : ∀ (r : Nat → Nat → Prop) (f : Nat → Nat) (h : ∀ (a b : Nat), r a b → Eq.{1} Nat (f a) (f b)),
		Eq.{1} Nat (Quot.lift.{1, 1} Nat r Nat f h (Quot.mk.{1} Nat r 5)) (f 5) :=
		fun (r : Nat → Nat → Prop) (f : Nat → Nat) (h : ∀ (a b : Nat), r a b → Eq.{1} Nat (f a) (f b)) => Eq.refl.{1} Nat (f 5)`
	accepts(t, ``, quotients, parse(lifted))
	accepts(t, ``, quotients, parse(`theorem t : ∀ (r : Nat → Nat → Prop), True := fun (r : Nat → Nat → Prop) =>
		Quot.ind.{1} Nat r (fun (q : Quot.{1} Nat r) => True) (fun (a : Nat) => True.intro) (Quot.mk.{1} Nat r 5)`))
	for i, name := range []string{"Quot", "Quot.mk", "Quot.lift", "Quot.ind"} {
		rejects(t, "quotient", "another type", ``, quotients, func(f *export.File) {
			declaration(f, name).Type = f.Store.Sort(f.Store.Succ(term.Zero))
		})
		rejects(t, "quotient", "must be named", ``, quotients, func(f *export.File) {
			f.Decls[len(f.Decls)-4+i].Name = f.Store.NameOf("Fake")
		})
	}
	rejects(t, "quotient", "standard equality", ``, quotients, func(f *export.File) {
		for i := range f.Decls {
			if d := &f.Decls[i]; f.Store.NameString(d.Name) == "Eq" {
				*d = export.Decl{Kind: export.Axiom, Name: d.Name, Params: d.Params, Type: d.Block.Types[0].Type}
			}
		}
	})
}
