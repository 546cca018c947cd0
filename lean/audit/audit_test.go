package audit

import (
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/lean/export"
	"github.com/erdos1056/erdos1056/lean/source"
	"github.com/erdos1056/erdos1056/lean/term"
)

const core = `
inductive True 0 : Prop | intro : True
inductive False 0 : Prop
inductive Iff 2 : Prop → Prop → Prop | intro : ∀ (a b : Prop), (a → b) → (b → a) → Iff a b
inductive Eq.{u} 2 : ∀ (α : Sort u), α → α → Prop | refl : ∀ (α : Sort u) (a : α), Eq.{u} α a a
inductive Nonempty.{u} 1 : Sort u → Prop | intro : ∀ (α : Sort u), α → Nonempty.{u} α
inductive Nat 0 : Type | zero : Nat | succ : Nat → Nat
inductive Pair 0 : Type | mk : Nat → Nat → Pair
axiom propext : ∀ (a b : Prop), Iff a b → Eq.{1} Prop a b
axiom Classical.choice.{u} : ∀ (α : Sort u), Nonempty.{u} α → α
`

func parse(t *testing.T, s *term.Store, text string) *export.File {
	t.Helper()
	decls, err := source.Parse(s, text)
	if err != nil {
		t.Fatal(err)
	}
	return &export.File{Store: s, Decls: decls}
}

func problems(r *Report) string {
	var out []string
	for _, p := range r.Problems {
		out = append(out, p.String())
	}
	return strings.Join(out, "; ")
}

func TestPoint22ClosuresGoThroughTypesValuesAndProofs(t *testing.T) {
	for name, text := range map[string]string{
		"a type":                    `axiom bad : Prop  theorem t : bad → bad := fun (h : bad) => h`,
		"a proof":                   `axiom bad : False  theorem t : False := bad`,
		"a proof of a proof":        `axiom bad : False  theorem s : False := bad  theorem t : False := s`,
		"an opaque value":           `axiom bad : Nat  opaque o : Nat := bad  theorem t : Eq.{1} Nat o o := Eq.refl.{1} Nat o`,
		"the type of an axiom":      `axiom bad : Prop  axiom propext2 : bad  theorem t : bad := propext2`,
		"a constructor":             `axiom bad : Type  inductive T 0 : Type | mk : bad → T  theorem t : ∀ (x : T), Eq.{1} T x x := fun (x : T) => Eq.refl.{1} T x`,
		"a recursor's type":         `axiom bad : Type  inductive T 0 : Type | mk : bad → T  theorem t : ∀ (p : Prop), p → p := fun (p : Prop) (h : p) => (fun (x : ∀ (m : T → Prop), True) => h) (fun (m : T → Prop) => True.intro)`,
		"a projection":              `axiom bad : Type  inductive S 0 : Type | mk : bad → S  theorem t : True → True := fun (x : proj S 0 x) => x`,
		"what a literal stands for": `theorem t : Eq.{1} Nat 1 1 := Eq.refl.{1} Nat 1`,
	} {
		s := term.NewStore(nil)
		f := parse(t, s, core+text)
		if name == "what a literal stands for" {
			// Nat itself rests on an axiom here.
			f.Decls[5] = parse(t, s, `axiom bad : Type  inductive Nat 0 : Type | zero : Nat | succ : bad → Nat`).Decls[1]
			f.Decls = append(f.Decls, parse(t, s, `axiom bad : Type`).Decls...)
			f.Decls[len(f.Decls)-2].Type = parse(t, s, `axiom x : Eq.{1} True 1 1`).Decls[0].Type
			f.Decls[len(f.Decls)-2].Value = s.SmallNat(1)
		}
		r := Audit(f, "t", Options{Permit: append([]string{"propext2"}, Standard...)})
		found := false
		for _, a := range r.Axioms {
			found = found || a.Name == "bad"
		}
		if !found {
			t.Errorf("through %s: the closure has axioms %v, bad is missing", name, r.Axioms)
		}
	}
}

// Text exports leave out recursors; a term can use them all the same.
func TestPoint22ClosuresGoThroughRecursorsThatTheFileLeavesOut(t *testing.T) {
	for _, rec := range []string{"T.rec.{1}", "T.rec_2.{1}"} {
		f := parse(t, term.NewStore(nil), core+`axiom bad : Type  inductive T 0 : Type | mk : bad → T  theorem t : True := `+rec)
		f.Decls[len(f.Decls)-2].Block.Partial = true
		if r := Audit(f, "t", Options{}); !strings.Contains(problems(r), "bad: the target rests on an axiom") {
			t.Errorf("through %s: %s", rec, problems(r))
		}
	}
}

func TestPoint22UnusedAxiomsDoNotCountButAreListed(t *testing.T) {
	f := parse(t, term.NewStore(nil), core+`axiom bad : False  theorem t : True := True.intro`)
	r := Audit(f, "t", Options{})
	if len(r.Problems) > 0 || len(r.Axioms) > 0 || strings.Join(r.Unused, " ") != "propext Classical.choice bad" {
		t.Errorf("problems %s, axioms %v, unused %v", problems(r), r.Axioms, r.Unused)
	}
}

func TestPoint23AxiomsArePermittedByComponentsAndType(t *testing.T) {
	const use = `theorem t : ∀ (a b : Prop), Iff a b → Eq.{1} Prop a b := propext`
	noPropext := strings.Replace(core, "axiom propext : ∀ (a b : Prop), Iff a b → Eq.{1} Prop a b", "", 1)
	for _, c := range []struct {
		name, text, want string
		permit           []string
	}{
		{"the genuine axiom", core + use, "", Standard},
		{"not permitted", core + use, "not permitted", []string{"Quot.sound"}},
		{"nothing permitted", core + use, "not permitted", nil},
		{"another type", noPropext + `axiom propext : False  theorem t : False := propext`, "another type", Standard},
		{"too many universes", noPropext + `axiom propext.{u} : ∀ (a b : Prop), Iff a b → Eq.{1} Prop a b  theorem t : True → ∀ (a b : Prop), Iff a b → Eq.{1} Prop a b := fun (h : True) => propext.{0}`, "another type", Standard},
		{"one component with a dot", core + `axiom «Classical.choice» : False  theorem t : False := «Classical.choice»`, "not permitted", Standard},
		{"a line break in the name", core + "axiom «propext\\n» : False  theorem t : False := «propext\\n»", "not permitted", Standard},
		{"about another Iff", strings.Replace(core, "(a → b) → (b → a) → Iff a b", "(a → b) → Iff a b", 1) + use, "about Iff", Standard},
		{"about another Eq", strings.Replace(core, "(a : α), Eq.{u} α a a", "(a b : α), Eq.{u} α a b", 1) + use, "about Eq", Standard},
		{"choice about another Nonempty", strings.Replace(core, "α → Nonempty.{u} α", "Nonempty.{u} α", 1) + `theorem t : ∀ (p : Prop), Nonempty.{0} p → p := Classical.choice.{0}`, "about Nonempty", Standard},
		{"permitted, but of unknown type", core + `axiom mine : False  theorem t : False := mine`, "nothing is known", []string{"mine"}},
		{"sorry", core + `axiom sorryAx : ∀ (p : Prop), p  theorem t : False := sorryAx False`, "not permitted", Standard},
	} {
		r := Audit(parse(t, term.NewStore(nil), c.text), "t", Options{Permit: c.permit})
		if got := problems(r); (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: problems %q, expected %q", c.name, got, c.want)
		}
	}
}

func TestPoint23ChallengesVouchForOtherAxioms(t *testing.T) {
	const text = core + `axiom mine : Nat  theorem t : Eq.{1} Nat mine mine := Eq.refl.{1} Nat mine`
	s := term.NewStore(nil)
	r := Audit(parse(t, s, text), "t", Options{Permit: []string{"mine"}, Challenge: parse(t, s, text)})
	if len(r.Problems) > 0 {
		t.Errorf("problems: %s", problems(r))
	}
	s = term.NewStore(nil)
	r = Audit(parse(t, s, text), "t", Options{Permit: []string{"mine"}, Challenge: parse(t, s, core+`axiom mine : Prop  axiom t : Eq.{1} Prop mine mine`)})
	if !strings.Contains(problems(r), "mine: the type differs") {
		t.Errorf("problems: %s", problems(r))
	}
}

func TestPoint23PrintedNamesCannotDeceive(t *testing.T) {
	s := term.NewStore(nil)
	f := parse(t, s, core)
	n := s.NameOf("propext\naccepted")
	f.Decls = append(f.Decls, export.Decl{Kind: export.Axiom, Name: n, Type: s.Const(s.NameOf("False"), 0)})
	f.Decls = append(f.Decls, export.Decl{Kind: export.Theorem, Name: s.NameOf("t"), Type: s.Const(s.NameOf("False"), 0), Value: s.Const(n, 0)})
	r := Audit(f, "t", Options{Permit: Standard})
	if got := problems(r); !strings.Contains(got, `«propext\u{a}accepted»`) {
		t.Errorf("problems: %q", got)
	}
}

func TestPoint24StatementsAreComparedDownToTheGround(t *testing.T) {
	const defs = `
		def two : Nat := 2
		def Even : Nat → Prop := fun (n : Nat) => Eq.{1} Nat n two
		theorem helper : True := True.intro
		theorem t : Even 2 := Eq.refl.{1} Nat 2`
	change := func(old, new string) string {
		text := strings.Replace(core+defs, old, new, 1)
		if text == core+defs {
			t.Fatalf("%q is not there", old)
		}
		return text
	}
	for _, c := range []struct{ name, challenge, target, want string }{
		{"the same", core + defs, "t", ""},
		{"a hole for the proof", change("theorem t : Even 2 := Eq.refl.{1} Nat 2", "axiom t : Even 2"), "t", ""},
		{"another helper", change("theorem helper : True := True.intro", "theorem helper : True → True := fun (h : True) => h"), "t", ""},
		{"another statement", change("theorem t : Even 2", "theorem t : Even 3"), "t", "t: the type differs"},
		{"another definition behind it", change("def two : Nat := 2", "def two : Nat := 3"), "t", "two: the value differs"},
		{"another type of a definition", change("def Even : Nat → Prop", "def Even : ∀ (n : Nat), (fun (x : Type 1) => Prop) Type"), "t", "Even: the type differs"},
		{"an opaque for a definition", change("def two", "opaque two"), "t", "two: the constant is of another kind"},
		{"another constructor below", change("zero : Nat | succ : Nat → Nat", "zero : Nat | succ : Nat → Nat → Nat"), "t", "Nat.succ: the type differs"},
		{"another order of constructors", change("zero : Nat | succ : Nat → Nat", "succ : Nat → Nat | zero : Nat"), "t", "names of constructors differ"},
		{"a constant that the challenge lacks", change("def two : Nat := 2", ""), "t", "two: the challenge does not declare"},
		{"no such target there", core, "t", "t: the challenge does not declare"},
		{"no such target", core + defs, "u", "declares no constant"},
		{"a target that is no theorem", core + defs, "two", "must be a theorem"},
		{"a target that is a type", core + defs, "Nat", "must be a theorem"},
	} {
		s := term.NewStore(nil)
		challenge := parse(t, s, c.challenge)
		r := Audit(parse(t, s, core+defs), c.target, Options{Permit: Standard, Challenge: challenge})
		if got := problems(r); (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: problems %q, expected %q", c.name, got, c.want)
		}
	}
}

func TestPoint24ProjectionsNameTheirStructures(t *testing.T) {
	const defs = `inductive A 0 : Type | mk : Nat → A  inductive B 0 : Type | mk : Nat → B `
	s := term.NewStore(nil)
	have := parse(t, s, core+defs+`theorem t : ∀ (x : A), Eq.{1} Nat (proj A 0 x) (proj A 0 x) := fun (x : A) => Eq.refl.{1} Nat (proj A 0 x)`)
	want := parse(t, s, core+defs+`axiom t : ∀ (x : A), Eq.{1} Nat (proj B 0 x) (proj B 0 x)`)
	r := Audit(have, "t", Options{Challenge: want})
	if !strings.Contains(problems(r), "the type differs") {
		t.Errorf("problems: %s", problems(r))
	}
}

func TestUniverseParametersAreComparedByPosition(t *testing.T) {
	s := term.NewStore(nil)
	have := parse(t, s, core+`theorem t.{v} : ∀ (α : Sort v) (a : α), Eq.{v} α a a := Eq.refl.{v}`)
	want := parse(t, s, core+`axiom t.{u_1} : ∀ (α : Sort u_1) (a : α), Eq.{u_1} α a a`)
	if r := Audit(have, "t", Options{Challenge: want}); len(r.Problems) > 0 {
		t.Errorf("problems: %s", problems(r))
	}
	more := parse(t, s, core+`axiom t.{u, v} : ∀ (α : Sort u) (a : α), Eq.{u} α a a`)
	if r := Audit(have, "t", Options{Challenge: more}); !strings.Contains(problems(r), "numbers of universe parameters") {
		t.Errorf("problems: %s", problems(r))
	}
}

func TestDifferencesAreLocated(t *testing.T) {
	s := term.NewStore(nil)
	have := parse(t, s, core+`theorem t : ∀ (n : Nat), Eq.{1} Nat n (Nat.succ 3) := t`)
	want := parse(t, s, core+`axiom t : ∀ (n : Nat), Eq.{1} Nat n (Nat.succ 4)`)
	r := Audit(have, "t", Options{Challenge: want})
	if len(r.Problems) != 1 || r.Problems[0].Expected != "4" || r.Problems[0].Found != "3" {
		t.Errorf("the difference is shown as %+v", r.Problems)
	}
}

// The axioms of a real export are the genuine ones.
func TestStandardAxiomsOfInitMediumAreGenuine(t *testing.T) {
	f := load(t, term.NewStore(nil), "ansatz/init-medium.ndjson.gz")
	env := NewIndex(f)
	p := permission{env: env, names: map[term.Name]bool{}}
	for _, text := range Standard {
		n, _ := f.Store.ParseName(text)
		p.names[n] = true
		if problem := p.judge(n); problem != nil {
			t.Error(problem)
		}
	}
}
