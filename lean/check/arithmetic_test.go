package check

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/lean/export"
	"github.com/erdos1056/erdos1056/lean/term"
)

// initMedium returns a real export with more declarations after it.
func initMedium(t *testing.T, more string) *export.File {
	t.Helper()
	r, err := os.Open("../../testdata/lean/ansatz/init-medium.ndjson.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, err := export.Read(r, term.NewStore(nil), export.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	f.Decls = append(f.Decls, readInto(t, f.Store, more)...)
	return f
}

func TestRealDefinitionsOfArithmeticAreRecognised(t *testing.T) {
	const xor = `def Nat.xor : Nat → Nat → Nat := Nat.bitwise (fun (a b : Bool) =>
		Bool.rec.{1} (fun (a : Bool) => Bool) b (Bool.rec.{1} (fun (b : Bool) => Bool) Bool.true Bool.false b) a) `
	var text strings.Builder
	text.WriteString(xor)
	for i, c := range []struct {
		op          string
		a, b, value string
	}{
		{"add", "123456789123456789123456789", "1", "123456789123456789123456790"},
		{"sub", "5", "7", "0"}, {"sub", "10000000000000000000000", "1", "9999999999999999999999"},
		{"mul", "4294967296", "4294967296", "18446744073709551616"},
		{"pow", "2", "100", "1267650600228229401496703205376"}, {"pow", "0", "0", "1"},
		{"div", "1000000000000000000001", "7", "142857142857142857143"}, {"div", "7", "0", "0"}, {"div", "3", "4", "0"},
		{"mod", "1000000000000000000001", "7", "0"}, {"mod", "7", "0", "7"}, {"mod", "0", "5", "0"},
		{"gcd", "1000000007000000000000", "24", "8"}, {"gcd", "0", "5", "5"},
		{"land", "12", "10", "8"}, {"lor", "12", "10", "14"}, {"xor", "12", "10", "6"},
		{"shiftLeft", "3", "70", "3541774862152233910272"}, {"shiftRight", "3541774862152233910272", "70", "3"},
	} {
		fmt.Fprintf(&text, "theorem t%d : Eq.{1} Nat (Nat.%s %s %s) %s := Eq.refl.{1} Nat %s\n", i, c.op, c.a, c.b, c.value, c.value)
	}
	r, err := Check(context.Background(), initMedium(t, text.String()), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != Accept {
		t.Error(r.Failure.describe())
	}
	if len(r.NatOps) != int(numNatOps)-1 {
		t.Errorf("recognised are %v", r.NatOps)
	}
}

// Numbers that would take long to compute, or more memory than a checker has, are not computed.
func TestArithmeticBeyondItsBoundsIsDeclined(t *testing.T) {
	for number, why := range map[string]string{
		"(Nat.pow (Nat.pow 2 16000000) 70)": "more than 2^30 bits",
		"(Nat.gcd (Nat.pow 2 5000000) 3)":   "more than 2^22 bits",
	} {
		f := initMedium(t, fmt.Sprintf("theorem t : Eq.{1} Nat %s 1 := Eq.refl.{1} Nat 1", number))
		r, err := Check(context.Background(), f, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != Decline || r.Failure.Rule != ruleLimit || !strings.Contains(r.Failure.Msg, why) {
			t.Errorf("%s: %v, %s; want a decline that says %q", number, r.Verdict, r.Failure.describe(), why)
		}
	}
}

// One that is not right in all its values is not recognised.
func TestFalseDefinitionsOfArithmeticAreNotRecognised(t *testing.T) {
	for name, text := range map[string]string{
		"Nat.xor":  `def Nat.xor : Nat → Nat → Nat := Nat.bitwise (fun (a b : Bool) => Bool.rec.{1} (fun (a : Bool) => Bool) b Bool.true a)`,
		"Nat.log2": `def Nat.log2 : Nat → Nat := fun (n : Nat) => n`,
	} {
		r, err := Check(context.Background(), initMedium(t, text), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != Accept || slices.Contains(r.NatOps, name) {
			t.Errorf("%s: %v, recognised %v", name, r.Verdict, r.NatOps)
		}
	}
	// A change to what gcd depends on changes what gcd is.
	f := initMedium(t, "")
	for i := range f.Decls {
		if d := &f.Decls[i]; f.Store.NameString(d.Name) == "Nat.gcd" {
			d.Value = readInto(t, f.Store, `def x : Nat → Nat → Nat := fun (m n : Nat) => Nat.gcd._unary (PSigma.mk.{1, 1} Nat (fun (x : Nat) => Nat) n m)`)[0].Value
			f.Decls = f.Decls[:i+1]
			break
		}
	}
	f.Decls = append(f.Decls, readInto(t, f.Store, `theorem t : Eq.{1} Nat (Nat.gcd 4 6) 2 := Eq.refl.{1} Nat 2`)...)
	r, err := Check(context.Background(), f, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(r.NatOps, "Nat.gcd") {
		t.Errorf("recognised %v", r.NatOps)
	}
}

// Division by a loop that adds or compares something else is none.
func TestFalseDivisionsAreNotRecognised(t *testing.T) {
	good := initMedium(t, "")
	s := good.Store
	loop := declaration(good, "Nat.div.go")
	decLe, decEq := s.Const(s.NameOf("Nat", "decLe"), 0), s.Const(s.NameOf("Nat", "decEq"), 0)
	for name, swap := range map[string][2]term.Expr{
		"nothing changed":           {s.SmallNat(99), s.SmallNat(99)},
		"the quotient grows by two": {s.SmallNat(1), s.SmallNat(2)},
		"the comparison is another": {decLe, decEq},
	} {
		changed := *loop
		changed.Value = s.Replace(loop.Value, func(e term.Expr) term.Expr {
			if e == swap[0] {
				return swap[1]
			}
			return term.NoExpr
		})
		// All before the loop, the loop, and the division that uses it.
		f := &export.File{Store: s, Decls: slices.Clone(good.Decls)}
		at := slices.IndexFunc(f.Decls, func(d export.Decl) bool { return d.Name == loop.Name })
		f.Decls = append(append(f.Decls[:at:at], changed), *declaration(good, "Nat.div"))
		r, err := Check(context.Background(), f, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Contains(r.NatOps, "Nat.div"); got != (name == "nothing changed") {
			t.Errorf("%s: recognised %v", name, r.NatOps)
		}
	}
}
