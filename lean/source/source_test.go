package source

import (
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/lean/export"
	"github.com/erdos1056/erdos1056/lean/term"
)

func TestTermsAreReadAsPrinted(t *testing.T) {
	for _, text := range []string{
		"∀ (p : Prop), p → p",
		"fun (x : Nat) => Nat.succ x",
		"(Nat → Nat) → Nat",
		"let x := 3; x",
		`f "a\nb" 12 (g h)`,
		"∀ (x : Nat), Eq Nat x «a b».c",
	} {
		s := term.NewStore(nil)
		written := strings.Replace(text, "let x := 3", "let x : Nat := 3", 1)
		e, err := ParseTerm(s, written)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := s.Print(e, term.Format{}); got != text {
			t.Errorf("%s is read as %s", text, got)
		}
	}
}

func TestLaterBindersSeeEarlierOnes(t *testing.T) {
	s := term.NewStore(nil)
	a, err := ParseTerm(s, "fun (A : Prop) (x y : A) => x")
	if err != nil {
		t.Fatal(err)
	}
	b, err := ParseTerm(s, "fun (A : Prop) => fun (x : A) => fun (z : A) => x")
	if err != nil {
		t.Fatal(err)
	}
	if a != b {
		t.Errorf("%s and %s differ", s.Print(a, term.Format{}), s.Print(b, term.Format{}))
	}
}

func TestDeclarationsAreRead(t *testing.T) {
	s := term.NewStore(nil)
	decls, err := Parse(s, `
-- A comment.
def a.{u, v} : Sort (max u (imax v 1) + 2) := Sort (max u (imax v 1) + 1)
def b : Nat := a
abbrev c : Nat := 1
theorem d : True := True.intro
opaque e : Nat := 1
axiom f : False
mutual
  inductive T.{u} 1 : Type u → Nat → Type u | leaf : ∀ (α : Type u), T.{u} α 0
  inductive S.{u} 1 : Type u → Type u
end`)
	if err != nil {
		t.Fatal(err)
	}
	if len(decls) != 7 || len(decls[0].Params) != 2 || decls[1].Hint.Height != 2 || decls[2].Hint.Kind != export.HintAbbrev {
		t.Errorf("read %+v", decls)
	}
	b := decls[6].Block
	if len(b.Types) != 2 || b.Types[0].NumParams != 1 || b.Types[0].NumIndices != 1 || s.NameString(b.Ctors[0].Name) != "T.leaf" || b.Ctors[0].NumFields != 0 {
		t.Errorf("the block is %+v", b)
	}
}

func TestErrorsNameTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"def":                       "line 1: unexpected end",
		"\n\ndef a = 1":             `line 3: unexpected character '='`,
		"def a : Nat":               `expected ":="`,
		"foo":                       "expected a declaration",
		"axiom a : (Nat":            `expected ")"`,
		"axiom a : fun (x : Nat) x": `expected "=>"`,
		"axiom a : )":               "expected a term",
		`axiom a : "x`:              "a string does not end",
		"inductive T : Type":        "number of parameters",
		"axiom a : " + strings.Repeat("(", 20_000): "nested more than",
		"axiom a : proj S x y":                     "number of a field",
		"axiom a : f.{u+x}":                        "small number",
	} {
		if _, err := Parse(term.NewStore(nil), text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: error %v, expected %q", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("def a.{u} : ∀ (x : Sort u), x → x := fun (x : Sort u) (y : x) => y")
	f.Add("inductive T 0 : Type | mk : T theorem t : let x : Nat := 1; True := proj And 0 h")
	f.Fuzz(func(t *testing.T, text string) {
		Parse(term.NewStore(nil), text) // must not fail otherwise than by an error
	})
}
