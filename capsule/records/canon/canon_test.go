package canon

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/gowebpki/jcs"

	"github.com/erdos1056/erdos1056/internal/digest"
)

// The file holds what the original program printed for each input text.
func TestEncodeEqualsTheOriginalOnEdgeCases(t *testing.T) {
	data, err := os.ReadFile("../../../testdata/canopus/original-tool-output/canonical-edge.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Input         string        `json:"input"`
		CanonicalJSON string        `json:"canonical_json"`
		CanonicalJCS  string        `json:"canonical_jcs"`
		ContentDigest digest.Digest `json:"content_digest"`
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) != 14 {
		t.Fatalf("expected 14 cases, found %d", len(cases))
	}
	for _, c := range cases {
		doc, err := Parse([]byte(c.Input), RecordLimits)
		if err != nil {
			t.Errorf("%s: %v", c.Input, err)
			continue
		}
		text, err := Encode(doc.Root)
		if err != nil || string(text) != c.CanonicalJCS {
			t.Errorf("Encode(%s) = %s, %v; want %s", c.Input, text, err, c.CanonicalJCS)
		}
		line, err := EncodeLine(doc.Root)
		if err != nil || string(line) != c.CanonicalJSON {
			t.Errorf("EncodeLine(%s) = %s, %v; want %s", c.Input, line, err, c.CanonicalJSON)
		}
		if digest, err := ContentDigest(doc.Root); err != nil || digest != c.ContentDigest {
			t.Errorf("ContentDigest(%s) = %s, %v; want %s", c.Input, digest, err, c.ContentDigest)
		}
		if found, err := ProtocolDigest(doc.Root); err != nil || found != digest.Of([]byte(c.CanonicalJCS)) {
			t.Errorf("ProtocolDigest(%s) = %s, %v", c.Input, found, err)
		}
	}
}

func TestParseStrictRefusesWithPosition(t *testing.T) {
	cases := []struct{ name, text, want string }{
		{"duplicate key", "{\"a\":1,\n \"a\":2}", `line 2, column 2: key "a" occurs twice in one object`},
		{"duplicate key spelled differently", `{"a":1,"\u0061":2}`, `line 1, column 8: key "a" occurs twice`},
		{"prototype key", `{"x":{"__proto__":1}}`, `line 1, column 7: key "__proto__" is not allowed`},
		{"prototype key escaped", `{"__prot\u006f__":1}`, `line 1, column 2: key "__proto__" is not allowed`},
		{"byte order mark", "\ufeff{}", "line 1, column 1: the text starts with a byte order mark"},
		{"invalid UTF-8", "[\"a\xff\"]", "line 1, column 4: byte 0xff is not valid UTF-8"},
		{"surrogate as UTF-8", "[\"\xed\xa0\x80\"]", "line 1, column 3: byte 0xed is not valid UTF-8"},
		{"trailing data", "{}\n{}", "line 2, column 1: expected the end of the text after the value, found '{'"},
		{"lone high surrogate", `["\ud83dx"]`, `line 1, column 3: \ud83d is half of a surrogate pair`},
		{"lone low surrogate", `["\ude00"]`, `line 1, column 3: \ude00 is half of a surrogate pair`},
		{"two high surrogates", `["\ud83d\ud83d"]`, `\ud83d is half of a surrogate pair`},
		{"fraction spelled", `[1.0]`, "line 1, column 2: number 1.0 must be spelled 1"},
		{"exponent spelled", `[1E2]`, "number 1E2 must be spelled 100"},
		{"negative zero", `[-0]`, "number -0 must be spelled 0"},
		{"lost precision", `[9007199254740993]`, "number 9007199254740993 must be spelled 9007199254740992"},
		{"infinite", `[1e999]`, "number 1e999 is too great for a double"},
		{"leading zero", `[01]`, "a number needs digits without a leading zero"},
		{"no digits after point", `[1.]`, "a number needs digits after its decimal point"},
		{"no exponent digits", `[1e+]`, "a number needs digits in its exponent"},
		{"plus sign", `[+1]`, "expected a JSON value, found '+'"},
		{"NaN", `[NaN]`, "expected a JSON value, found 'N'"},
		{"empty text", "", "line 1, column 1: expected a JSON value, found the end of the text"},
		{"only blanks", " \n ", "line 2, column 2: expected a JSON value, found the end of the text"},
		{"open string", `"abc`, "line 1, column 1: the string is not closed"},
		{"open string after escape", `"a\n`, "line 1, column 1: the string is not closed"},
		{"raw newline in string", "\"a\nb\"", "control character U+000A must be escaped"},
		{"raw newline after escape", "\"\\ta\nb\"", "control character U+000A must be escaped"},
		{"unknown escape", `"\x41"`, "unknown escape in a string"},
		{"short unicode escape", `"\u00`, "unknown escape in a string"},
		{"bad hexadecimal digit", `"\u00g0"`, "unknown escape in a string"},
		{"comma at the end of an array", `[1,]`, "expected a JSON value, found ']'"},
		{"comma at the end of an object", `{"a":1,}`, "expected a key in double quotes, found '}'"},
		{"missing comma", `[1 2]`, "expected ',' or ']' in an array, found '2'"},
		{"missing comma in object", `{"a":1 "b":2}`, `expected ',' or '}' in an object, found '"'`},
		{"missing colon", `{"a" 1}`, "expected ':' after a key, found '1'"},
		{"single quotes", `{'a':1}`, `expected a key in double quotes, found '\''`},
		{"comment", `{/**/}`, "expected a key in double quotes, found '/'"},
	}
	for _, c := range cases {
		_, err := ParseStrict([]byte(c.text), RecordLimits)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: ParseStrict(%q) = %v; want an error with %q", c.name, c.text, err, c.want)
		}
	}
}

func TestParseReportsWhatOnlyStrictReadingRefuses(t *testing.T) {
	doc, err := Parse([]byte(`{"a":1.0,"__proto__":"\ud800","a":[2]}`), RecordLimits)
	if err != nil {
		t.Fatal(err)
	}
	want := []IrregularityKind{NumberSpelling, PrototypeKey, LoneSurrogate, DuplicateKey}
	for i, irregularity := range doc.Irregularities {
		if i >= len(want) || irregularity.Kind != want[i] {
			t.Errorf("irregularity %d: %+v", i, irregularity)
		}
	}
	if len(doc.Irregularities) != len(want) {
		t.Errorf("expected %d irregularities, found %d", len(want), len(doc.Irregularities))
	}
	if text, _ := Encode(doc.Root); string(text) != `{"a":[2]}` {
		t.Errorf("encoded %s", text)
	}
}

func TestLimitsAreReportedAsLimits(t *testing.T) {
	var limit *LimitError
	if _, err := Parse([]byte("[[[]]]"), Limits{Bytes: 100, Depth: 2}); !errors.As(err, &limit) {
		t.Errorf("depth 3 of 2: %v", err)
	}
	if _, err := Parse([]byte("[[]]"), Limits{Bytes: 100, Depth: 2}); err != nil {
		t.Errorf("depth 2 of 2: %v", err)
	}
	if _, err := Parse([]byte("[[]]"), Limits{Bytes: 3, Depth: 2}); !errors.As(err, &limit) {
		t.Errorf("4 bytes of 3: %v", err)
	}
	deep := strings.Repeat("[", 1<<20)
	if _, err := Parse([]byte(deep), RecordLimits); !errors.As(err, &limit) {
		t.Errorf("a million brackets: %v", err)
	}
	repeated := "{" + strings.Repeat(`"a":1,`, 1000) + `"a":1}`
	if doc, err := Parse([]byte(repeated), RecordLimits); err != nil || len(doc.Irregularities) != 100 {
		t.Errorf("a thousand repetitions: %d irregularities, %v", len(doc.Irregularities), err)
	}
}

func TestNumbersPrintAsECMAScriptPrintsThem(t *testing.T) {
	cases := map[float64]string{
		0: "0", math.Copysign(0, -1): "0", 1: "1", -1: "-1", 100: "100", 0.1: "0.1", -103.3: "-103.3",
		1e20: "100000000000000000000", 1e21: "1e+21", 1.5e300: "1.5e+300", 123456789012345680000: "123456789012345680000",
		1e-6: "0.000001", 1e-7: "1e-7", 1.25e-9: "1.25e-9", 5e-324: "5e-324", math.MaxFloat64: "1.7976931348623157e+308",
		9007199254740993: "9007199254740992", 1.0 / 3: "0.3333333333333333", 4.35: "4.35", 1e100: "1e+100",
	}
	for f, want := range cases {
		if got, err := FormatNumber(f); err != nil || got != want {
			t.Errorf("FormatNumber(%g) = %s, %v; want %s", f, got, err, want)
		}
	}
	for _, f := range []float64{math.Inf(1), math.Inf(-1), math.NaN()} {
		if got, err := FormatNumber(f); err == nil {
			t.Errorf("FormatNumber(%g) = %s; want an error", f, got)
		}
	}
}

func TestKeysSortByUTF16CodeUnits(t *testing.T) {
	ordered := []string{"", "a", "aa", "b", "é", "€", "\xed\xa0\x80", "\xed\xa0\xbd", "😀", "\xed\xb8\x80", "\ufb33", "\uffff"}
	for i, a := range ordered {
		for j, b := range ordered {
			if got := CompareUTF16(a, b); (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("CompareUTF16(%q, %q) = %d", a, b, got)
			}
		}
	}
	for s, want := range map[string]int{"": 0, "abc": 3, "é": 1, "😀": 2, "\xed\xa0\x80": 1} {
		if got := UTF16Length(s); got != want {
			t.Errorf("UTF16Length(%q) = %d; want %d", s, got, want)
		}
	}
}

func TestIntegerIsExactOrAbsent(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "-7": -7, "9007199254740991": MaxSafeInteger, "1E2": 100} {
		doc, _ := Parse([]byte(text), RecordLimits)
		if n, ok := doc.Root.Integer(); !ok || n != want {
			t.Errorf("Integer(%s) = %d, %t", text, n, ok)
		}
	}
	for _, text := range []string{"0.5", "9007199254740992", "-1e300", "1e999", `"1"`, "null", "true"} {
		doc, _ := Parse([]byte(text), RecordLimits)
		if n, ok := doc.Root.Integer(); ok {
			t.Errorf("Integer(%s) = %d; want none", text, n)
		}
	}
}

func TestOfKeepsEveryStringOrFails(t *testing.T) {
	type record struct {
		B string `json:"b"`
		A int    `json:"a"`
	}
	line, err := Marshal(record{"<&>\u2028\ufffd\x7f", 1})
	if want := "{\"a\":1,\"b\":\"<&>\u2028\ufffd\x7f\"}\n"; err != nil || string(line) != want {
		t.Errorf("Marshal = %q, %v; want %q", line, err, want)
	}
	if line, err := Marshal(record{B: `\ufffd`}); err != nil || string(line) != `{"a":0,"b":"\\ufffd"}`+"\n" {
		t.Errorf("Marshal of a backslash = %q, %v", line, err)
	}
	if line, err := Marshal(record{B: "\xff"}); err == nil {
		t.Errorf("Marshal of invalid UTF-8 = %q; want an error", line)
	}
}

func TestWithAndWithoutLeaveTheOriginalAlone(t *testing.T) {
	original := NewObject(Member{Key: "a", Value: NewInteger(1)}, Member{Key: "b", Value: NewString("x")})
	changed := original.With("a", NewArray(NewBool(true))).With("c", Value{}).Without("b")
	for v, want := range map[*Value]string{&original: `{"a":1,"b":"x"}`, &changed: `{"a":[true],"c":null}`} {
		if text, _ := Encode(*v); string(text) != want {
			t.Errorf("Encode = %s; want %s", text, want)
		}
	}
}

func TestEncodeInOrderKeepsTheMembersAsTheyWereInserted(t *testing.T) {
	doc, err := ParseStrict([]byte(` {"ok": true, "command": "<run>", "a": [{"z": 1, "b": "\u2028"}]}`), RecordLimits)
	if err != nil {
		t.Fatal(err)
	}
	text, err := EncodeInOrder(doc)
	if want := "{\"ok\":true,\"command\":\"<run>\",\"a\":[{\"z\":1,\"b\":\"\u2028\"}]}"; err != nil || string(text) != want {
		t.Errorf("EncodeInOrder = %s, %v; want %s", text, err, want)
	}
}

func TestRFC8785DiffersOnlyInIntegerKeys(t *testing.T) {
	doc, err := ParseStrict([]byte(`{"b":1,"a":{"10":1,"9":2,"😀":0.000001,"\ufb33":"\u000b"}}`), RecordLimits)
	if err != nil {
		t.Fatal(err)
	}
	ecma, _ := Encode(doc)
	standard, err := EncodeRFC8785(doc)
	if err != nil {
		t.Fatal(err)
	}
	if want := "{\"a\":{\"9\":2,\"10\":1,\"😀\":0.000001,\"\ufb33\":\"\\u000b\"},\"b\":1}"; string(ecma) != want {
		t.Errorf("Encode = %s; want %s", ecma, want)
	}
	if want := "{\"a\":{\"10\":1,\"9\":2,\"😀\":0.000001,\"\ufb33\":\"\\u000b\"},\"b\":1}"; string(standard) != want {
		t.Errorf("EncodeRFC8785 = %s; want %s", standard, want)
	}
}

// FuzzParse holds the reader to three promises: it never panics, its canonical
// text is a fixed point that strict reading accepts, and RFC 8785 (by another
// program) agrees wherever no key is an array index.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{"b":[1,2.5e-9,"\ud83d\ude00"],"a":null}`, `{"1":2,"01":3}`, `"\ud800"`, `[1e999]`, `{"a":1,"a":2}`, "\ufeff", `[[[[`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := Parse(data, Limits{Bytes: 1 << 16, Depth: 32})
		if err != nil {
			return
		}
		text, err := Encode(doc.Root)
		if err != nil {
			return
		}
		again, err := Parse(text, RecordLimits)
		if err != nil {
			t.Fatalf("canonical text %q does not parse: %v", text, err)
		}
		if second, _ := Encode(again.Root); string(second) != string(text) {
			t.Fatalf("canonical text %q is no fixed point: %q", text, second)
		}
		if len(doc.Irregularities) > 0 || hasIndexKey(doc.Root) || doc.Root.Kind() < Array {
			return
		}
		if _, err := ParseStrict(text, RecordLimits); err != nil {
			t.Fatalf("strict reading refuses canonical text %q: %v", text, err)
		}
		standard, err := jcs.Transform(data)
		if err != nil || string(standard) != string(text) {
			t.Fatalf("RFC 8785 gives %q, %v for %q; Encode gives %q", standard, err, data, text)
		}
	})
}

func hasIndexKey(v Value) bool {
	for _, m := range v.Members() {
		if _, ok := arrayIndex(m.Key); ok || hasIndexKey(m.Value) {
			return true
		}
	}
	for _, e := range v.Elements() {
		if hasIndexKey(e) {
			return true
		}
	}
	return false
}
