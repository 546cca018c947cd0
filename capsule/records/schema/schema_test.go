package schema

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
)

type pet struct {
	Name  string   `json:"name"`
	Kind  string   `json:"kind"`
	Legs  int      `json:"legs"`
	Owner *string  `json:"owner"`
	Tags  []string `json:"tags,omitempty"`
}

var petSpec = Spec[pet]{
	Name: "pet", ID: "pet.v1", Title: "A pet", Limits: canon.Limits{Bytes: 1000, Depth: 3},
	Fields: Object{
		Required("name", String{Min: 1, Max: 4, Pattern: regexp.MustCompile(`^[a-z😀]+$`), Form: "lower-case letters"}),
		Required("kind", Enum{"cat", "dog"}),
		Required("legs", Integer{Min: 0, Max: 4}),
		Required("owner", Nullable{String{Max: 10}}),
		Optional("tags", Array{Min: 1, Max: 2, Unique: true, Items: String{Max: 5}}),
	},
	Rules: []Rule[pet]{{Text: "A cat has no owner.", Check: func(p pet) error {
		if p.Kind == "cat" && p.Owner != nil {
			return Violation("owner", "a cat has none, found %q", *p.Owner)
		}
		return nil
	}}},
}

func TestParseNamesTheFieldAndItsPlace(t *testing.T) {
	cases := []struct{ text, want string }{
		{`{"name":"tom","kind":"cat","legs":4,"owner":null,"tags":["a","b"]}`, ""},
		{`{"name":"","kind":"cat","legs":4,"owner":null}`, `pet.name: expected 1 to 4 characters, found "" (line 1, column 9)`},
		{"{\n \"name\":\"TOM\",\"kind\":\"cat\",\"legs\":4,\"owner\":null}", `pet.name: expected lower-case letters, found "TOM" (line 2, column 9)`},
		{`{"name":"😀😀","kind":"cat","legs":4,"owner":null}`, ""},
		{`{"name":"😀😀😀","kind":"cat","legs":4,"owner":null}`, "pet.name: expected 1 to 4 characters"},
		{`{"name":"tom","kind":"cow","legs":4,"owner":null}`, `pet.kind: expected one of cat, dog, found "cow"`},
		{`{"name":"tom","kind":7,"legs":4,"owner":null}`, "pet.kind: expected one of cat, dog, found 7"},
		{`{"name":"tom","kind":"cat","legs":5,"owner":null}`, "pet.legs: expected an integer in 0..4, found 5"},
		{`{"name":"tom","kind":"cat","legs":0.5,"owner":null}`, "pet.legs: expected an integer in 0..4, found 0.5"},
		{`{"name":"tom","kind":"cat","legs":true,"owner":null}`, "pet.legs: expected an integer in 0..4, found true"},
		{`{"name":"tom","kind":"cat","legs":4}`, "pet.owner: this field is required"},
		{`{"name":"tom","kind":"cat","legs":4,"owner":{}}`, "pet.owner: expected a string, found an object"},
		{`{"name":"tom","kind":"cat","legs":4,"owner":null,"Name":"x"}`, "pet.Name: this format has no such field"},
		{`{"name":"tom","kind":"cat","legs":4,"owner":null,"tags":[]}`, "pet.tags: expected 1 to 2 elements, found an array of 0"},
		{`{"name":"tom","kind":"cat","legs":4,"owner":null,"tags":["a","a"]}`, `pet.tags[1]: expected no repetition, found "a" again`},
		{`{"name":"tom","kind":"cat","legs":4,"owner":null,"tags":[null]}`, "pet.tags[0]: expected a string, found null"},
		{`{"name":"tom","kind":"cat","legs":4,"owner":null,"tags":{}}`, "pet.tags: expected an array, found an object"},
		{`{"name":"tom","kind":"cat","legs":4,"owner":"eve"}`, `pet.owner: a cat has none, found "eve"`},
		{`[]`, "pet: expected an object, found an array of 0"},
		{`{"a":[[[]]]}`, "nesting exceeds the limit of 3 levels"},
		{strings.Repeat(" ", 1001), "text of 1001 bytes exceeds the limit of 1000 bytes"},
		{`{"name":"tom",}`, "pet: line 1, column 15: expected a key"},
	}
	for _, c := range cases {
		_, err := petSpec.Parse([]byte(c.text))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("Parse(%s) = %v; want %q", c.text, err, c.want)
		}
	}
}

func TestWritingIsCheckedLikeReading(t *testing.T) {
	owner := "eve"
	if text, err := petSpec.Encode(pet{Name: "rex", Kind: "dog", Legs: 4, Owner: &owner}); err != nil || string(text) != `{"kind":"dog","legs":4,"name":"rex","owner":"eve"}`+"\n" {
		t.Errorf("Encode = %s, %v", text, err)
	}
	var field *FieldError
	if _, err := petSpec.Encode(pet{Name: "rex", Kind: "cow"}); !errors.As(err, &field) || field.Path != "pet.kind" || field.Line != 0 {
		t.Errorf("Encode of a cow: %v", err)
	}
	if _, err := petSpec.Digest(pet{Name: "tom", Kind: "cat", Owner: &owner}); !errors.As(err, &field) || field.Path != "pet.owner" {
		t.Errorf("Digest of a cat with an owner: %v", err)
	}
}

func TestCanonicalSpecsRefuseOtherSpellings(t *testing.T) {
	spec := petSpec
	spec.Canonical = true
	if _, err := spec.Parse([]byte(`{"kind":"dog","legs":4,"name":"rex","owner":null}` + "\n")); err != nil {
		t.Errorf("canonical text: %v", err)
	}
	for _, text := range []string{
		`{"kind":"dog","legs":4,"name":"rex","owner":null}`,
		`{"legs":4,"kind":"dog","name":"rex","owner":null}` + "\n",
		`{"kind":"dog","legs":4,"name":"rex", "owner":null}` + "\n",
		`{"kind":"dog","legs":4,"name":"re\u0078","owner":null}` + "\n",
	} {
		if _, err := spec.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), "not in canonical form") {
			t.Errorf("Parse(%s) = %v", text, err)
		}
	}
}

func TestEveryTypeChecksAndDescribesItself(t *testing.T) {
	cases := []struct {
		name        string
		of          Type
		good, bad   []string
		description string
	}{
		{"const", Const("a"), []string{`"a"`}, []string{`"b"`, "1", "null"}, `{"const":"a"}`},
		{"texts", Texts{"a", "b"}, []string{`["a","b"]`}, []string{`["b","a"]`, `["a"]`, `["a",1]`, `"a"`}, `{"const":["a","b"]}`},
		{"truth", Truth(false), []string{"false"}, []string{"true", "0", "null"}, `{"const":false}`},
		{"boolean", Boolean{}, []string{"true", "false"}, []string{"1", `"true"`}, `{"type":"boolean"}`},
		{"nothing", Nothing{}, []string{"null"}, []string{"false", "0"}, `{"type":"null"}`},
		{"anything", Anything{}, []string{"null", "[1]"}, nil, `{}`},
		{"any object", AnyObject{}, []string{`{"a":1}`}, []string{"[]", "null"}, `{"type":"object"}`},
		{"nullable", Nullable{Boolean{}}, []string{"null", "true"}, []string{"1"}, `{"anyOf":[{"type":"boolean"},{"type":"null"}]}`},
		{"integer", Integer{Min: -1, Max: 1}, []string{"-1", "1"}, []string{"2", "0.5", `"0"`}, `{"type":"integer","minimum":-1,"maximum":1}`},
		{"map", Map{Max: 1, Values: Boolean{}}, []string{"{}", `{"a":true}`}, []string{`{"a":1}`, `{"a":true,"b":true}`, "[]"}, `{"type":"object","maxProperties":1,"additionalProperties":{"type":"boolean"}}`},
		{"open", Open{Required("a", Boolean{}), Optional("b", Boolean{})}, []string{`{"a":true,"c":1}`}, []string{"{}", `{"a":1}`, `{"a":true,"b":1}`, "[]"},
			`{"type":"object","required":["a"],"properties":{"a":{"type":"boolean"},"b":{"type":"boolean"}}}`},
		{"digest", Digest, []string{`"sha256:` + strings.Repeat("0", 64) + `"`}, []string{`"sha256:` + strings.Repeat("G", 64) + `"`, `""`, `"` + strings.Repeat("0", 64) + `"`}, `{"$ref":"#/$defs/digest"}`},
		{"git object", GitObject, []string{`"` + strings.Repeat("a", 40) + `"`, `"` + strings.Repeat("a", 64) + `"`}, []string{`"` + strings.Repeat("a", 41) + `"`, `"` + strings.Repeat("A", 40) + `"`}, `{"$ref":"#/$defs/gitObject"}`},
		{"relative path", RelativePath,
			[]string{`"a"`, `"a/b.txt"`, `".a/..b/c..d/..."`, `"a b/ü"`},
			[]string{`""`, `"/a"`, `"a/"`, `"a//b"`, `"."`, `".."`, `"./a"`, `"a/.."`, `"a/../b"`, `"a/./b"`, `"a\\b"`, `"a\nb"`, `"a\u0000"`, `"a\u007f"`}, `{"$ref":"#/$defs/relativePath"}`},
	}
	for _, c := range cases {
		for _, text := range c.good {
			if err := c.of.check("x", parse(t, text)); err != nil {
				t.Errorf("%s refuses %s: %v", c.name, text, err)
			}
		}
		for _, text := range c.bad {
			if err := c.of.check("x", parse(t, text)); err == nil {
				t.Errorf("%s accepts %s", c.name, text)
			}
		}
		if text, err := canon.EncodeInOrder(c.of.describe(&definitions{})); err != nil || string(text) != c.description {
			t.Errorf("%s is described as %s, %v", c.name, text, err)
		}
	}
}

func parse(t *testing.T, text string) canon.Value {
	t.Helper()
	v, err := canon.ParseStrict([]byte(text), canon.RecordLimits)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestMessagesStayShort(t *testing.T) {
	long := strings.Repeat("x", 10000)
	for _, err := range []*FieldError{
		String{Max: 3}.check("x", canon.NewString(long)),
		Integer{Max: 1}.check("x", parse(t, "1"+strings.Repeat("0", 20))),
		Object{}.check("x", canon.NewObject(canon.Member{Key: long})),
	} {
		if err == nil || len(err.Error()) > 300 {
			t.Errorf("%v", err)
		}
	}
}
