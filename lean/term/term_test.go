package term

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPoint01EqualContentHasOneHandle(t *testing.T) {
	s := NewStore(nil)
	nat := s.Const(s.NameOf("Nat"), 0)
	f := s.Lambda(s.NameOf("x"), Default, nat, s.BVar(0))
	g := s.Lambda(s.NameOf("y"), Implicit, nat, s.BVar(0))
	if f != g {
		t.Error("terms that differ in the names of bound variables have different handles")
	}
	if s.NameOf("a", "b") == s.NameOf("a.b") || s.Num(0, 1) == s.NameOf("1") {
		t.Error("names are told apart by their printed form")
	}
	if s.Nat(big.NewInt(5)) != s.SmallNat(5) {
		t.Error("one number has two literals")
	}
	huge := new(big.Int).Lsh(big.NewInt(3), 200)
	if s.Nat(huge) != s.Nat(new(big.Int).Set(huge)) || s.Nat(huge) == s.Nat(new(big.Int).Add(huge, big.NewInt(1))) {
		t.Error("large literals are not told apart by value")
	}
}

func TestPoint01LooseRangesDoNotSaturate(t *testing.T) {
	s := NewStore(nil)
	for _, i := range []uint32{0, 1 << 16, 1<<20 - 1, MaxBVar} {
		if got := s.Loose(s.BVar(i)); got != i+1 {
			t.Errorf("the loose range of variable %d is %d", i, got)
		}
	}
	prop := s.Sort(Zero)
	e := s.BVar(100_000)
	for range 100_000 {
		e = s.Lambda(0, Default, prop, e)
	}
	if s.Loose(e) != 1 {
		t.Errorf("one variable should be left, the loose range is %d", s.Loose(e))
	}
	if s.Loose(s.Lambda(0, Default, prop, e)) != 0 {
		t.Error("a closed term has loose variables")
	}
}

func TestChildrenShareAndDoNotDisturbTheirParent(t *testing.T) {
	s := NewStore(nil)
	nat := s.Const(s.NameOf("Nat"), 0)
	before := s.ExprCount()
	a, b := s.Child(), s.Child()
	if a.Const(a.NameOf("Nat"), 0) != nat {
		t.Error("a child makes a term that its parent has")
	}
	e := a.App(nat, a.SmallNat(7))
	if s.ExprCount() != before {
		t.Error("a child changed its parent")
	}
	back := s.Copy(a, e)
	if s.Print(back, Format{}) != a.Print(e, Format{}) {
		t.Errorf("the copy is %s, the term %s", s.Print(back, Format{}), a.Print(e, Format{}))
	}
	b.Reset()
	if b.App(nat, b.SmallNat(7)) != back {
		t.Error("after a reset a child does not see what its parent got")
	}
}

// slowInstantiate is Instantiate without memo, ranges and sharing.
func slowInstantiate(s *Store, e Expr, offset uint32, values []Expr) Expr {
	n := *s.At(e)
	part := func(x uint32, under uint32) Expr { return slowInstantiate(s, Expr(x), offset+under, values) }
	switch n.Kind {
	case BVar:
		k := uint32(len(values))
		switch {
		case n.A < offset:
			return e
		case n.A < offset+k:
			return values[k-1-(n.A-offset)]
		}
		return s.BVar(n.A - k)
	case App:
		return s.App(part(n.A, 0), part(n.B, 0))
	case Lambda:
		return s.Lambda(n.Name, n.Info, part(n.A, 0), part(n.B, 1))
	case Pi:
		return s.Pi(n.Name, n.Info, part(n.A, 0), part(n.B, 1))
	case Let:
		return s.Let(n.Name, part(n.A, 0), part(n.B, 0), part(n.C, 1))
	case Proj:
		return s.Proj(Name(n.A), n.B, part(n.C, 0))
	}
	return e
}

func randomExpr(s *Store, rng *rand.Rand, depth int) Expr {
	if depth == 0 {
		switch rng.IntN(4) {
		case 0:
			return s.Sort(Zero)
		case 1:
			return s.SmallNat(rng.Uint64N(3))
		}
		return s.BVar(uint32(rng.IntN(6)))
	}
	sub := func() Expr { return randomExpr(s, rng, depth-1-rng.IntN(depth)) }
	switch rng.IntN(6) {
	case 0:
		return s.Lambda(0, Default, sub(), sub())
	case 1:
		return s.Pi(0, Default, sub(), sub())
	case 2:
		return s.Let(0, sub(), sub(), sub())
	case 3:
		return s.Proj(s.NameOf("S"), 1, sub())
	}
	return s.App(sub(), sub())
}

func TestInstantiateIsSubstitutionAndAbstractUndoesIt(t *testing.T) {
	s := NewStore(nil)
	rng := rand.New(rand.NewPCG(1, 2))
	typ := s.Sort(Zero)
	vars := []Expr{s.FVar(3, 0, typ), s.FVar(4, 0, typ), s.FVar(9, 0, typ)}
	for range 2000 {
		e := randomExpr(s, rng, 8)
		r := s.Instantiate(e, vars)
		if want := slowInstantiate(s, e, 0, vars); r != want {
			t.Fatalf("%s became %s, expected %s", s.Print(e, Format{}), s.Print(r, Format{}), s.Print(want, Format{}))
		}
		if s.Loose(e) <= 3 && s.Abstract(r, vars) != e {
			t.Fatalf("abstraction of %s gives %s, expected %s", s.Print(r, Format{}), s.Print(s.Abstract(r, vars), Format{}), s.Print(e, Format{}))
		}
	}
}

func TestInstantiateKeepsSharing(t *testing.T) {
	s := NewStore(nil)
	e := s.BVar(0)
	for range 200 { // 2^200 nodes as a tree
		e = s.App(e, e)
	}
	before := s.ExprCount()
	s.Instantiate1(e, s.Sort(Zero))
	if n := s.ExprCount() - before; n > 400 {
		t.Errorf("%d terms were made for 200 shared ones", n)
	}
}

func TestDepthAndMemoryAreBounded(t *testing.T) {
	limited := func(work func()) (hit bool) {
		defer func() {
			var limit *LimitError
			if p := recover(); p != nil {
				err, ok := p.(error)
				hit = ok && errors.As(err, &limit)
			}
		}()
		work()
		return false
	}
	s := NewStore(nil)
	s.MaxDepth = 1000
	e := s.BVar(0)
	for range 2000 {
		e = s.App(s.Sort(Zero), e)
	}
	if !limited(func() { s.Instantiate1(e, s.Sort(Zero)) }) {
		t.Error("a term deeper than the limit was instantiated")
	}
	small := NewStore(NewBudget(1 << 20))
	if !limited(func() {
		for i := range uint32(1 << 20) {
			small.BVar(i)
		}
	}) {
		t.Error("the budget of one MiB was enough for 32")
	}
	if !limited(func() {
		l := s.Param(s.NameOf("u"))
		for range 40 {
			l = s.Max(l, s.Succ(l))
		}
	}) {
		t.Error("a level of 2^40 parts was made")
	}
}

// value computes a level under an assignment.
func value(s *Store, l Level, of map[Name]int) int {
	a, b := s.LevelArgs(l)
	switch s.LevelKind(l) {
	case LevelSucc:
		return value(s, a, of) + 1
	case LevelMax:
		return max(value(s, a, of), value(s, b, of))
	case LevelIMax:
		if y := value(s, b, of); y > 0 {
			return max(value(s, a, of), y)
		}
		return 0
	case LevelParam:
		return of[s.LevelParamName(l)]
	}
	return 0
}

func randomLevel(s *Store, rng *rand.Rand, params []Name, depth int) Level {
	if depth == 0 {
		if rng.IntN(4) == 0 {
			return Zero
		}
		return s.Param(params[rng.IntN(len(params))])
	}
	sub := func() Level { return randomLevel(s, rng, params, depth-1-rng.IntN(depth)) }
	switch rng.IntN(4) {
	case 0:
		return s.Max(sub(), sub())
	case 1, 2:
		return s.IMax(sub(), sub())
	}
	return s.Succ(sub())
}

// For levels of this size, all assignments up to 8 decide a comparison: beyond
// the greatest offset nothing changes any more.
func TestPoint05LevelsAreOrderedByAllAssignments(t *testing.T) {
	s := NewStore(nil)
	params := []Name{s.NameOf("u"), s.NameOf("v")}
	rng := rand.New(rand.NewPCG(5, 5))
	equal := 0
	for range 3000 {
		l, m := randomLevel(s, rng, params, 5), randomLevel(s, rng, params, 5)
		leq, zero, positive := true, true, true
		for u := range 9 {
			for v := range 9 {
				of := map[Name]int{params[0]: u, params[1]: v}
				x, y := value(s, l, of), value(s, m, of)
				leq = leq && x <= y
				zero = zero && x == 0
				positive = positive && x > 0
				if got := value(s, s.simplify(l), of); got != x {
					t.Fatalf("%s simplifies to %s", s.PrintLevel(l), s.PrintLevel(s.simplify(l)))
				}
			}
		}
		if got := s.LevelLeq(l, m); got != leq {
			t.Fatalf("%s <= %s: %t, expected %t", s.PrintLevel(l), s.PrintLevel(m), got, leq)
		}
		if s.AlwaysZero(l) != zero {
			t.Fatalf("%s is always zero: %t", s.PrintLevel(l), !zero)
		}
		if s.NeverZero(l) && !positive {
			t.Fatalf("%s is not positive", s.PrintLevel(l))
		}
		if s.LevelEq(l, m) {
			equal++
		}
	}
	if equal < 20 {
		t.Errorf("only %d pairs of equal levels were seen", equal)
	}
}

// A level of n parameters under imax takes 2^n cases.
func TestLevelsOfManyCasesAreALimit(t *testing.T) {
	s := NewStore(nil)
	build := func(n int) (l, m Level) {
		for i := range n {
			p := s.Param(s.Num(s.NameOf("u"), uint64(i)))
			l, m = s.Max(l, s.IMax(s.Succ(Zero), p)), s.Max(s.IMax(s.Succ(Zero), p), m)
		}
		return l, m
	}
	if l, m := build(8); !s.LevelEq(l, m) {
		t.Error("equal levels are not found equal")
	}
	defer func() {
		if _, ok := recover().(*LimitError); !ok {
			t.Error("no limit was reached")
		}
	}()
	l, m := build(40)
	s.LevelEq(l, m)
}

func TestNamesPrintWithoutAmbiguity(t *testing.T) {
	s := NewStore(nil)
	for _, c := range []struct {
		name Name
		want string
	}{
		{s.NameOf("Nat", "add"), "Nat.add"},
		{s.NameOf("Nat.add"), "«Nat.add»"},
		{s.NameOf("a\nb"), `«a\u{a}b»`},
		{s.NameOf("a»b"), `«a\u{bb}b»`},
		{s.NameOf("\x1b[31m"), `«\u{1b}[31m»`},
		{s.NameOf("a\u202eb"), `«a\u{202e}b»`},
		{s.NameOf(""), "«»"},
		{s.Num(s.NameOf("x"), 3), "x.3"},
		{s.NameOf("x", "3"), "x.«3»"},
		{s.NameOf("x₁", "y'"), "x₁.y'"},
		{Anonymous, "[anonymous]"},
	} {
		if got := s.NameString(c.name); got != c.want {
			t.Errorf("printed %q, expected %q", got, c.want)
		}
		if n, ok := s.ParseName(c.want); ok && n != c.name && !strings.Contains(c.want, `\`) && c.name != Anonymous {
			t.Errorf("%q is read as %s", c.want, s.NameString(n))
		}
	}
	for _, bad := range []string{"", "a..b", ".a", "a.", "«a", "«a»b"} {
		if n, ok := s.ParseName(bad); ok {
			t.Errorf("%q is read as %s", bad, s.NameString(n))
		}
	}
}

// A file that names a thing once can have it printed as often as it likes.
func TestLongNamesArePrintedShort(t *testing.T) {
	s := NewStore(nil)
	deep, wide := s.NameOf("first"), s.NameOf(strings.Repeat("é", 100_000)+"end", "last")
	for range 100_000 {
		deep = s.Str(deep, "a")
	}
	for n, end := range map[Name]string{deep: ".a.a", wide: "éend.last"} {
		got := s.NameString(n)
		if len(got) > maxNamePrinted+20 || !strings.HasPrefix(got, "⋯") || !strings.HasSuffix(got, end) || !utf8.ValidString(got) {
			t.Errorf("%d bytes: %q", len(got), got)
		}
		if full := s.FullName(n); len(full) < 200_000 {
			t.Errorf("in full it has %d bytes", len(full))
		}
	}
	if root, ok := s.Root(deep); !ok || root != "first" {
		t.Errorf("the first component is %q", root)
	}
	child := s.Child()
	if root, _ := child.Root(child.NameOf("first", "new", "b")); root != "first" {
		t.Errorf("the first component in a child is %q", root)
	}
	if root, _ := child.Root(child.NameOf("other", "new")); root != "other" {
		t.Errorf("the first component in a child is %q", root)
	}
}

func TestPrintIsShortAndReadable(t *testing.T) {
	s := NewStore(nil)
	nat := s.Const(s.NameOf("Nat"), 0)
	prop := s.Sort(Zero)
	x, p := s.NameOf("x"), s.NameOf("p")
	for want, e := range map[string]Expr{
		"Nat → Prop":             s.Pi(0, Default, nat, prop),
		"(Nat → Prop) → Prop":    s.Pi(0, Default, s.Pi(0, Default, nat, prop), prop),
		"∀ (p : Prop), p → p":    s.Pi(p, Default, prop, s.Pi(0, Default, s.BVar(0), s.BVar(1))),
		"∀ {p : Prop}, p":        s.Pi(p, Implicit, prop, s.BVar(0)),
		"fun (x : Nat) => x":     s.Lambda(x, Default, nat, s.BVar(0)),
		"Nat (Nat 3) Type":       s.Apps(nat, s.App(nat, s.SmallNat(3)), s.Sort(s.Succ(Zero))),
		"let x := 3; x.2":        s.Let(x, nat, s.SmallNat(3), s.Proj(s.NameOf("S"), 1, s.BVar(0))),
		"Sort (imax u (v + 1))":  s.Sort(s.IMax(s.Param(s.NameOf("u")), s.Succ(s.Param(s.NameOf("v"))))),
		`"a\nb"`:                 s.StrLit("a\nb"),
		"⟨a number of 301 bits⟩": s.Nat(new(big.Int).Lsh(big.NewInt(1), 300)),
	} {
		if _, got := 0, s.Print(s.App(nat, e), Format{}); got != "Nat "+want && got != "Nat ("+want+")" {
			t.Errorf("printed %q, expected %q", got, want)
		}
	}
	e := nat
	for range 10_000 {
		e = s.App(e, e)
	}
	if got := s.Print(e, Format{}); len(got) > 1000 {
		t.Errorf("%d bytes were printed", len(got))
	}
}
