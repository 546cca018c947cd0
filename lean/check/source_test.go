package check

import (
	"bytes"
	"context"
	"math/big"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/erdos1056/erdos1056/lean/export"
	"github.com/erdos1056/erdos1056/lean/source"
	"github.com/erdos1056/erdos1056/lean/term"
)

// core declares what most tests need, as Lean's core library does.
const core = `
inductive True 0 : Prop | intro : True
inductive False 0 : Prop
def Not : Prop → Prop := fun (p : Prop) => p → False
inductive And 2 : Prop → Prop → Prop
  | intro : ∀ (a b : Prop), a → b → And a b
inductive Or 2 : Prop → Prop → Prop
  | inl : ∀ (a b : Prop), a → Or a b
  | inr : ∀ (a b : Prop), b → Or a b
inductive Iff 2 : Prop → Prop → Prop
  | intro : ∀ (a b : Prop), (a → b) → (b → a) → Iff a b
inductive Eq.{u} 2 : ∀ (α : Sort u), α → α → Prop
  | refl : ∀ (α : Sort u) (a : α), Eq.{u} α a a
inductive Nonempty.{u} 1 : Sort u → Prop
  | intro : ∀ (α : Sort u), α → Nonempty.{u} α
inductive Bool 0 : Type | false : Bool | true : Bool
inductive Nat 0 : Type | zero : Nat | succ : Nat → Nat
inductive Prod.{u, v} 2 : Type u → Type v → Type (max u v)
  | mk : ∀ (α : Type u) (β : Type v), α → β → Prod.{u, v} α β
inductive List.{u} 1 : Type u → Type u
  | nil : ∀ (α : Type u), List.{u} α
  | cons : ∀ (α : Type u), α → List.{u} α → List.{u} α
def Nat.add : Nat → Nat → Nat := fun (m n : Nat) =>
  Nat.rec.{1} (fun (k : Nat) => Nat) m (fun (k : Nat) (r : Nat) => Nat.succ r) n
def Nat.mul : Nat → Nat → Nat := fun (m n : Nat) =>
  Nat.rec.{1} (fun (k : Nat) => Nat) Nat.zero (fun (k : Nat) (r : Nat) => Nat.add r m) n
`

// A change is made to a parsed file before it is written as an export.
type change func(f *export.File)

// exportOf writes declarations given as source as an NDJSON export, with the
// recursors that the checker derives for the blocks that hold.
func exportOf(t testing.TB, text string, changes ...change) []byte {
	t.Helper()
	f := &export.File{Store: term.NewStore(nil)}
	var err error
	if f.Decls, err = source.Parse(f.Store, text); err != nil {
		t.Fatal(err)
	}
	deriveRecursors(f)
	for _, c := range changes {
		c(f)
	}
	var b bytes.Buffer
	if err := export.Write(&b, f.Store, export.Meta{}, f.Decls); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// deriveRecursors fills in the recursors of all blocks before the first that
// does not hold.
func deriveRecursors(f *export.File) {
	r := &run{file: f, opts: Options{Threads: 1, Limits: Limits{Depth: 1 << 16}}, stop: new(atomic.Bool), env: newEnvironment(f.Store)}
	r.firstFailure.Store(int64(len(f.Decls)))
	for r.declare() {
		r.judge()
	}
	for _, k := range r.env.byName {
		if k == nil || k.kind != recConst {
			continue
		}
		b := f.Decls[k.ord/4].Block
		claim := export.Recursor{Name: k.name, Params: k.params, Type: k.typ, K: k.rec.k,
			NumParams: uint32(k.rec.numParams), NumIndices: uint32(k.rec.numIndices),
			NumMotives: uint32(k.rec.numMotives), NumMinors: uint32(k.rec.numMinors)}
		for _, rule := range k.rec.rules {
			claim.Rules = append(claim.Rules, export.Rule{Ctor: rule.ctor, NumFields: uint32(rule.numFields), RHS: rule.rhs})
		}
		b.Recs = append(b.Recs, claim)
	}
}

func checkExport(t testing.TB, data []byte, opts Options) *Result {
	t.Helper()
	f, err := export.Read(bytes.NewReader(data), term.NewStore(opts.Budget), export.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Check(context.Background(), f, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func accepts(t *testing.T, text string, changes ...change) {
	t.Helper()
	if r := checkExport(t, exportOf(t, core+text, changes...), Options{}); r.Verdict != Accept {
		t.Errorf("%v, expected accept: %s", r.Verdict, r.Failure.describe())
	}
}

// rejects checks that a file is rejected by the given rule, with a message that
// contains msg.
func rejects(t *testing.T, rule, msg, text string, changes ...change) {
	t.Helper()
	r := checkExport(t, exportOf(t, core+text, changes...), Options{})
	if r.Verdict != Reject {
		t.Errorf("%v, expected reject by rule %q", r.Verdict, rule)
		return
	}
	if r.Failure.Rule != rule || !strings.Contains(r.Failure.Msg, msg) {
		t.Errorf("rejected by %s, expected rule %q with %q", r.Failure.describe(), rule, msg)
	}
}

func (f *Failure) describe() string {
	text := f.Name + ": " + f.Rule + ": " + f.Msg
	for _, x := range f.Terms {
		text += "\n  " + x.Label + ": " + x.Text
	}
	return text
}

// declaration returns the declaration of a name.
func declaration(f *export.File, name string) *export.Decl {
	for i := range f.Decls {
		if f.Store.NameString(f.Decls[i].Name) == name {
			return &f.Decls[i]
		}
	}
	panic("no declaration " + name)
}

func readSource(t testing.TB, text string) *export.File {
	t.Helper()
	f := &export.File{Store: term.NewStore(nil)}
	f.Decls = readInto(t, f.Store, text)
	return f
}

func readInto(t testing.TB, s *term.Store, text string) []export.Decl {
	t.Helper()
	decls, err := source.Parse(s, text)
	if err != nil {
		t.Fatal(err)
	}
	return decls
}

type bigInt = big.Int

func number(digits string) *bigInt {
	n, ok := new(bigInt).SetString(digits, 10)
	if !ok {
		panic(digits)
	}
	return n
}
