package export

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/erdos1056/erdos1056/lean/term"
)

const meta = `{"meta":{"exporter":{"name":"lean4export","version":"3.1.0"},"format":{"version":"3.1.0"},"lean":{"githash":"0","version":"4.29.0"}}}` + "\n"

func read(text string) (*File, error) {
	return Read(strings.NewReader(text), term.NewStore(nil), Limits{})
}

func TestReadTakesEveryKindOfRecord(t *testing.T) {
	f, err := read(meta + `{"in":1,"str":{"pre":0,"str":"a\u0009\"\ud83d\ude00"}}
{"num":{"i":7,"pre":1},"in":2}
{"il":1,"succ":0}
{"il":2,"param":1}
{"max":[1,2],"il":3}
{"il":4,"imax":[3,2]}
{"ie":0,"sort":4}
{"ie":1,"bvar":0}
{"const":{"name":2,"us":[1,2]},"ie":2}
{"app":{"fn":1,"arg":2},"ie":3}
{"ie":4,"lam":{"binderInfo":"implicit","body":3,"name":1,"type":0}}
{"ie":5,"forallE":{"binderInfo":"strictImplicit","body":3,"name":1,"type":0}}
{"ie":6,"letE":{"body":3,"name":1,"nondep":true,"type":0,"value":2}}
{"ie":7,"proj":{"idx":2,"struct":3,"typeName":1}}
{"ie":8,"natVal":"123456789012345678901234567890"}
{"ie":9,"strVal":"∀\n"}
{"ie":10,"mdata":{"data":{"a":[1,-2.5e3,null,{"b":true}]},"expr":9}}

{"axiom":{"name":1,"levelParams":[1],"type":0,"isUnsafe":false}}
{"def":{"name":1,"levelParams":[],"type":0,"value":4,"hints":{"regular":3},"safety":"safe","all":[1]}}
{"def":{"name":1,"levelParams":[],"type":0,"value":4,"hints":"abbrev","safety":"partial","all":[]}}
{"thm":{"name":1,"levelParams":[],"type":0,"value":4,"all":[1]}}
{"opaque":{"name":1,"levelParams":[],"type":0,"value":4,"all":[1]}}
{"quot":{"name":1,"levelParams":[],"type":0,"kind":"lift"}}
{"inductive":{"types":[{"name":1,"levelParams":[],"type":0,"numParams":1,"numIndices":2,"all":[1],"ctors":[2],"numNested":0,"isRec":true,"isUnsafe":false,"isReflexive":false}],"ctors":[{"name":2,"levelParams":[],"type":0,"induct":1,"cidx":0,"numParams":1,"numFields":3,"isUnsafe":false}],"recs":[{"name":2,"levelParams":[],"type":0,"all":[1],"numParams":1,"numIndices":2,"numMotives":1,"numMinors":1,"rules":[{"ctor":2,"nfields":3,"rhs":0}],"k":true,"isUnsafe":false}]}}
`)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, d := range f.Decls {
		kinds = append(kinds, d.Kind.String())
	}
	if got := strings.Join(kinds, ","); got != "axiom,definition,definition,theorem,opaque,quotient constant,inductive type" {
		t.Errorf("declarations: %s", got)
	}
	if d := f.Decls[1]; d.Line != 21 || d.Hint != (Hint{HintRegular, 3}) || d.Unsafe {
		t.Errorf("the definition is %+v", d)
	}
	if !f.Decls[2].Unsafe || f.Decls[5].Quot != QuotLift {
		t.Error("a safety or a kind of quotient constant was misread")
	}
	b := f.Decls[6].Block
	if b.Types[0].NumIndices != 2 || b.Ctors[0].NumFields != 3 || !b.Recs[0].K || b.Recs[0].Rules[0].NumFields != 3 || !b.Types[0].Recursive {
		t.Errorf("the block is %+v", b)
	}
	if f.Meta.Lean != "4.29.0" || f.Meta.Exporter != "lean4export" {
		t.Errorf("the origin is %+v", f.Meta)
	}
}

func TestReadTakesIndicesWithGapsAndOutOfOrder(t *testing.T) {
	f, err := read(meta + `{"in":4000000000,"str":{"pre":0,"str":"u"}}
{"il":9,"param":4000000000}
{"il":3,"succ":9}
{"ie":70000,"sort":3}
{"ie":2,"sort":9}
{"axiom":{"name":4000000000,"levelParams":[4000000000],"type":70000,"isUnsafe":false}}
`)
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Store.Print(f.Decls[0].Type, term.Format{}); got != "Type u" {
		t.Errorf("the type is %s", got)
	}
}

func TestReadRefusesBrokenFilesWithLineAndReason(t *testing.T) {
	for _, c := range []struct {
		name   string
		text   string // after the meta line
		reason Reason
		want   string
	}{
		{"no JSON", `hello`, Malformed, `expected '{'`},
		{"an unfinished object", `{"in":1`, Malformed, `expected '}'`},
		{"data after the object", `{"il":1,"succ":0} x`, Malformed, "unexpected data"},
		{"a number with a sign", `{"il":1,"succ":-1}`, Malformed, "natural number"},
		{"a fraction", `{"il":1,"succ":0.5}`, Malformed, "natural number"},
		{"a leading zero", `{"il":1,"succ":00}`, Malformed, "must not start with 0"},
		{"a number above 64 bits", `{"il":1,"succ":99999999999999999999}`, Malformed, "too large"},
		{"a string for a number", `{"il":1,"succ":"0"}`, Malformed, "natural number"},
		{"an unknown kind", `{"foo":1}`, Unsupported, `unknown kind of record "foo"`},
		{"an unknown key", `{"in":1,"str":{"pre":0,"str":"a","x":1}}`, Unsupported, `unknown key "x"`},
		{"a missing key", `{"in":1,"str":{"pre":0}}`, Malformed, `"str" is missing`},
		{"a key twice", `{"in":1,"str":{"pre":0,"pre":0,"str":"a"}}`, Malformed, "comes twice"},
		{"two kinds", `{"in":1,"str":{"pre":0,"str":"a"},"num":{"pre":0,"i":1}}`, Malformed, "two kinds"},
		{"two indices", `{"in":1,"il":1,"str":{"pre":0,"str":"a"}}`, Malformed, "two indices"},
		{"no kind", `{"in":1}`, Malformed, "without a kind"},
		{"the wrong index space", `{"il":1,"str":{"pre":0,"str":"a"}}`, Malformed, `index space "il", expected "in"`},
		{"a declaration with an index", `{"ie":1,"axiom":{"name":0,"levelParams":[],"type":0}}`, Malformed, "is not defined"},
		{"a forward reference", `{"il":1,"succ":2}`, Malformed, "level 2 is not defined"},
		{"a reference to itself", `{"il":1,"succ":1}`, Malformed, "level 1 is not defined"},
		{"an index defined twice", `{"il":1,"succ":0}` + "\n" + `{"il":1,"succ":0}`, Malformed, "defined twice"},
		{"the anonymous name redefined", `{"in":0,"str":{"pre":0,"str":"a"}}`, Malformed, "name 0 is defined twice"},
		{"an index above 32 bits", `{"il":4294967296,"succ":0}`, Malformed, "above"},
		{"a bound variable above the limit", `{"ie":0,"bvar":4294967295}`, Malformed, "de Bruijn"},
		{"three levels in a max", `{"il":1,"max":[0,0,0]}`, Malformed, "two levels"},
		{"a literal with a sign", `{"ie":0,"natVal":"-1"}`, Malformed, "decimal digits"},
		{"an empty literal", `{"ie":0,"natVal":""}`, Malformed, "decimal digits"},
		{"a literal with a blank", `{"ie":0,"natVal":" 1"}`, Malformed, "decimal digits"},
		{"half a surrogate", `{"ie":0,"strVal":"\ud800"}`, Malformed, "surrogate"},
		{"invalid UTF-8", "{\"ie\":0,\"strVal\":\"\xff\"}", Malformed, "UTF-8"},
		{"an unknown escape", `{"ie":0,"strVal":"\q"}`, Malformed, "unknown escape"},
		{"a control character", "{\"ie\":0,\"strVal\":\"\x01\"}", Malformed, "control character"},
		{"an unfinished string", `{"ie":0,"strVal":"a`, Malformed, "does not end"},
		{"an unknown binder", `{"ie":0,"sort":0}` + "\n" + `{"ie":1,"lam":{"name":0,"type":0,"body":0,"binderInfo":"x"}}`, Malformed, "binder annotation"},
		{"a definition without hints", `{"ie":0,"sort":0}` + "\n" + `{"def":{"name":0,"levelParams":[],"type":0,"value":0,"safety":"safe","all":[]}}`, Malformed, "hints"},
		{"an axiom with a value", `{"ie":0,"sort":0}` + "\n" + `{"axiom":{"name":0,"levelParams":[],"type":0,"value":0}}`, Malformed, "no value"},
		{"an unknown safety", `{"ie":0,"sort":0}` + "\n" + `{"def":{"name":0,"levelParams":[],"type":0,"value":0,"hints":"opaque","safety":"maybe","all":[]}}`, Malformed, "safety"},
		{"a block without types", `{"inductive":{"types":[],"ctors":[],"recs":[]}}`, Malformed, "without types"},
		{"metadata nested too deep", `{"ie":0,"sort":0}` + "\n" + `{"ie":1,"mdata":{"expr":0,"data":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}}`, Malformed, "nested too deep"},
	} {
		_, err := read(meta + c.text + "\n")
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%s: error %v", c.name, err)
			continue
		}
		if line := 2 + strings.Count(c.text, "\n"); e.Line != line || e.Reason != c.reason || !strings.Contains(e.Msg, c.want) {
			t.Errorf("%s: line %d, reason %d, %q; expected line %d, reason %d, %q", c.name, e.Line, e.Reason, e.Msg, line, c.reason, c.want)
		}
	}
}

func TestReadNamesTheVersionItDoesNotRead(t *testing.T) {
	for text, want := range map[string]string{
		"":              "empty",
		"0.1.2\n":       `"0.1.2"`,
		"3.0.0\n":       `"3.0.0"`,
		"1 #NS 0 Nat\n": "without a version line",
		"PK\x03\x04\n":  "neither a version nor a meta record",
		`{"a":1}`:       `no "meta"`,
		`{"meta":{"exporter":{"version":"3.0.0"},"lean":{"version":"4.27.0-rc1"}}}`: `exporter "3.0.0", Lean "4.27.0-rc1"`,
		`{"meta":{"format":{"version":"3.2.0"}}}`:                                   `"3.2.0"`,
		`{"meta":{"format":{"version":"4.0.0"}}}`:                                   `"4.0.0"`,
	} {
		_, err := read(text)
		var e *Error
		if !errors.As(err, &e) || e.Reason != Unsupported || !strings.Contains(e.Msg, want) {
			t.Errorf("%.40q: error %v, expected %q", text, err, want)
		}
	}
	for _, version := range []string{"3.1.0", "3.1.9", "3.0.0"} {
		if _, err := read(`{"meta":{"format":{"version":"` + version + `"}}}`); err != nil {
			t.Errorf("an empty export of format %s: %v", version, err)
		}
	}
}

func TestTextExportsAreOrderedByNeed(t *testing.T) {
	// The axiom comes before the type it is about, and the constructor after
	// what it needs.
	f, err := read(`2.0.0
1 #NS 0 T
2 #NS 1 mk
3 #NS 0 ax
4 #NS 0 U
1 #US 0
0 #ES 1
1 #EC 1
2 #EC 4
3 #EP #BD 0 2 1
#AX 3 1
#IND 1 0 0 0 0 0 0 1 1 1 2
#IND 4 0 0 0 0 0 0 1 4 0
#CTOR 2 3 1 0 0 1
`)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range f.Decls {
		names = append(names, f.Store.NameString(d.Name))
	}
	if got := strings.Join(names, " "); got != "U T ax" {
		t.Errorf("the order is %s, expected U T ax", got)
	}
	for _, c := range []struct{ text, want string }{
		{"#IND 1 0 0 0 0 0 0 1 1 1 2\n", "lacks types or constructors"},
		{"#CTOR 2 0 1 0 0 0\n", "belongs to no inductive type"},
		{"#IND 1 0 0 0 0 0 0 1 1 0\n#CTOR 2 0 1 0 0 0\n", "not named by its type"},
		{"#IND 1 0 0 0 0 0 0 1 2 0\n", "not a member of its own block"},
		{"#IND 1 0 2 0 0 0 0 1 1 0\n", "flag is 2"},
		{"#IND 1 0 0 0 0 0 0 99 1\n", "ends too early"},
		{"#DEF 1 0 0 X\n", "unknown hint"},
		{"#DEF 1 0\n", "#DEF needs"},
		{"#QUOT 1 0\n", "none of the four"},
		{"#FOO 1 0\n", "unknown declaration"},
		{"7 #FOO 1\n", "unknown record"},
		{"7 #EA 0\n", "needs 2 fields"},
		{"7 #EA 0 x\n", "expected a number"},
		{"7 #ELS 4\n", "hexadecimal"},
		{"7 #ELS ff\n", "valid UTF-8"},
		{"7\n", "expected an index"},
		{"#REC 1 0 1 1 0 0 1 0 0 0\n", "belongs to no inductive type"},
	} {
		_, err := read("2.0.0\n1 #NS 0 T\n2 #NS 1 mk\n0 #ES 0\n" + c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, expected %q", c.text, err, c.want)
		}
	}
}

func TestReadTakesGzipAndTellsBrokenInputFromBrokenFiles(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, meta)
	z.Close()
	f, err := Read(bytes.NewReader(b.Bytes()), term.NewStore(nil), Limits{})
	if err != nil || f.Bytes != int64(b.Len()) || f.Lines != 1 {
		t.Errorf("gzip: %+v, %v", f, err)
	}
	var e *Error
	if _, err := Read(bytes.NewReader(b.Bytes()[:b.Len()-9]), term.NewStore(nil), Limits{}); err == nil || errors.As(err, &e) {
		t.Errorf("a truncated gzip file: error %v, expected an I/O error", err)
	}
	broken := errors.New("broken")
	if _, err := Read(io.MultiReader(strings.NewReader(meta), iotest.ErrReader(broken)), term.NewStore(nil), Limits{}); !errors.Is(err, broken) {
		t.Errorf("error %v, expected the reader's", err)
	}
}

func TestReadIsBounded(t *testing.T) {
	limit := func(r io.Reader, store *term.Store, limits Limits) error {
		_, err := Read(r, store, limits)
		var e *Error
		if errors.As(err, &e) && e.Reason == Limit {
			return nil
		}
		return errors.New("no limit was reported")
	}
	long := meta + strings.Repeat(" ", 1<<20) + "\n"
	if err := limit(strings.NewReader(long), term.NewStore(nil), Limits{MaxLine: 1 << 19}); err != nil {
		t.Errorf("a long line: %v", err)
	}
	if err := limit(strings.NewReader(strings.Repeat(meta, 1000)), term.NewStore(nil), Limits{MaxBytes: 1000}); err == nil {
		t.Error("a second meta record was taken") // malformed comes first
	}
	if err := limit(strings.NewReader(meta+strings.Repeat("\n", 10_000)), term.NewStore(nil), Limits{MaxBytes: 1000}); err != nil {
		t.Errorf("a long file: %v", err)
	}
	var many strings.Builder
	many.WriteString(meta)
	for i := range 100_000 {
		many.WriteString(`{"ie":` + itoa(i) + `,"bvar":` + itoa(i) + "}\n")
	}
	if err := limit(strings.NewReader(many.String()), term.NewStore(term.NewBudget(1<<20)), Limits{}); err != nil {
		t.Errorf("many terms: %v", err)
	}
	// Indices that leave gaps, small or large, take memory without making terms.
	for _, gap := range []int{maxGap, 3 * maxGap} {
		many.Reset()
		many.WriteString(meta)
		for i := range 40_000 {
			many.WriteString(`{"in":` + itoa((i+1)*gap) + `,"str":{"pre":0,"str":"a"}}` + "\n")
		}
		if err := limit(strings.NewReader(many.String()), term.NewStore(term.NewBudget(1<<20)), Limits{}); err != nil {
			t.Errorf("indices with gaps of %d: %v", gap, err)
		}
	}
	many.Reset()
	many.WriteString(meta + `{"ie":0,"sort":0}` + "\n")
	many.WriteString(strings.Repeat(`{"axiom":{"name":0,"levelParams":[],"type":0}}`+"\n", 10_000))
	if err := limit(strings.NewReader(many.String()), term.NewStore(term.NewBudget(1<<20)), Limits{}); err != nil {
		t.Errorf("many declarations: %v", err)
	}
	digits := meta + `{"ie":0,"natVal":"` + strings.Repeat("9", maxDigits+1) + `"}` + "\n"
	if err := limit(strings.NewReader(digits), term.NewStore(nil), Limits{}); err != nil {
		t.Errorf("a long number: %v", err)
	}
}

func itoa(n int) string { return string(appendInt(nil, n)) }

func appendInt(b []byte, n int) []byte {
	if n >= 10 {
		b = appendInt(b, n/10)
	}
	return append(b, byte('0'+n%10))
}

func TestWriteAndReadAreInverse(t *testing.T) {
	for _, name := range []string{
		"ansatz/lex-prelude.ndjson.gz", "lean4export/ndjson-v3.0.0/Nat.add_succ.7e89abb.ndjson",
		"inductive-models/inductive-models/nest_mutual_cycle.ndjson", "vow-tutorial/repro/postcond.ndjson",
	} {
		r, err := os.Open(filepath.Join("../../testdata/lean", name))
		if err != nil {
			t.Fatal(err)
		}
		store := term.NewStore(nil)
		f, err := Read(r, store, Limits{})
		r.Close()
		if err != nil {
			t.Fatal(err)
		}
		var first, second bytes.Buffer
		if err := Write(&first, store, f.Meta, f.Decls); err != nil {
			t.Fatal(err)
		}
		g, err := Read(bytes.NewReader(first.Bytes()), store, Limits{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		// Both share a store: equal terms have equal handles.
		for i := range f.Decls {
			a, b := f.Decls[i], g.Decls[i]
			if a.Name != b.Name || a.Type != b.Type || a.Value != b.Value || a.Kind != b.Kind || a.Hint != b.Hint || (a.Block == nil) != (b.Block == nil) {
				t.Errorf("%s: declaration %d became %+v from %+v", name, i, b, a)
			}
		}
		if err := Write(&second, store, g.Meta, g.Decls); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("%s: a second round differs (%v)", name, err)
		}
	}
}

// Long literals are read in parts.
func TestLongLiteralsAreReadExactly(t *testing.T) {
	for _, digits := range []int{1, 4096, 4097, 8191, 100_001} {
		n := new(big.Int).Exp(big.NewInt(7), big.NewInt(int64(digits)), nil)
		n.Mul(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits/3)), nil)) // zeros at the end
		f, err := read(meta + `{"ie":0,"natVal":"` + n.String() + `"}` + "\n" + `{"axiom":{"name":0,"levelParams":[],"type":0}}`)
		if err != nil {
			t.Fatal(err)
		}
		if f.Store.NatValue(f.Decls[0].Type).Cmp(n) != 0 {
			t.Errorf("a literal of %d digits is misread", len(n.String()))
		}
	}
}

// FuzzRead compares the two ways to read a line, and reading with writing. Fuzz it
// with -fuzzminimizetime 1x: its goroutines make coverage vary from run to run.
func FuzzRead(f *testing.F) {
	f.Add([]byte(meta + `{"in":1,"str":{"pre":0,"str":"a"}}` + "\n"))
	f.Add([]byte("2.0.0\n1 #NS 0 T\n0 #ES 0\n#IND 1 0 0 0 0 0 0 1 1 0\n#AX 1 0\n"))
	for _, name := range []string{"vow-tutorial/tests/good/tutorial/032_andType.ndjson", "nanoda-test-resources/debug/Sexpr/export", "lean4export/ndjson-v3.0.0/Nat.add_succ.7e89abb.ndjson"} {
		data, err := os.ReadFile(filepath.Join("../../testdata/lean", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if got, want := outcome(data), outcome(respaced(data)); bytes.HasPrefix(data, []byte("{")) && got != want {
			t.Errorf("taken apart it is %.200q, by the scanner %.200q", got, want)
		}
		store := term.NewStore(term.NewBudget(64 << 20))
		file, err := Read(bytes.NewReader(data), store, Limits{MaxBytes: 1 << 24})
		if err != nil {
			return
		}
		for _, d := range file.Decls {
			if d.Block != nil && d.Block.Partial {
				return // text exports lack recursors
			}
		}
		var b bytes.Buffer
		if err := Write(&b, store, file.Meta, file.Decls); err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		if _, err := Read(&b, term.NewStore(nil), Limits{}); err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
	})
}
