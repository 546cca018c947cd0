package conformance

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const testdata = "../../../../testdata/cuecrux/"

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(testdata + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestGeneratedSchemaEqualsThePublishedOne(t *testing.T) {
	generated, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	published := readFile(t, "pack.conformance.v1.schema.json")
	if !bytes.Equal(generated, published) {
		t.Fatalf("generated schema differs from the published document:\n%s", generated)
	}
}

// schemaDocument returns the generated schema as decoded JSON.
func schemaDocument(t *testing.T) map[string]any {
	t.Helper()
	text, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	var document map[string]any
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	return document
}

func TestSchemaUsesOnlyKeywordsThatTheTagsCanState(t *testing.T) {
	supported := []string{
		"$ref", "type", "additionalProperties", "description", "required", "properties", "items",
		"const", "enum", "pattern", "minLength", "minimum", "maximum", "minItems", "maxItems",
	}
	var walk func(path string, schema map[string]any)
	walk = func(path string, schema map[string]any) {
		for keyword, value := range schema {
			if !slices.Contains(supported, keyword) {
				t.Errorf("%s: keyword %q", path, keyword)
			}
			switch keyword {
			case "properties":
				for name, property := range value.(map[string]any) {
					walk(path+"."+name, property.(map[string]any))
				}
			case "items":
				walk(path+"[]", value.(map[string]any))
			}
		}
	}
	document := schemaDocument(t)
	walk("", map[string]any{"properties": document["properties"]})
	for name, definition := range document["$defs"].(map[string]any) {
		walk(name, definition.(map[string]any))
	}
}

func TestEveryDefinitionIsReferredToAndEveryReferenceResolves(t *testing.T) {
	text, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	definitions := schemaDocument(t)["$defs"].(map[string]any)
	for name := range definitions {
		if !bytes.Contains(text, []byte(`"$ref": "#/$defs/`+name+`"`)) {
			t.Errorf("the definition %s is not used", name)
		}
	}
	for _, part := range strings.Split(string(text), `"$ref": "#/$defs/`)[1:] {
		if name, _, _ := strings.Cut(part, `"`); definitions[name] == nil {
			t.Errorf("the reference to %s does not resolve", name)
		}
	}
}

// TestSchemaAndRulesAgree changes the reference block in ways that the schema
// can see, and expects schema and code to give one verdict.
func TestSchemaAndRulesAgree(t *testing.T) {
	compiler := jsonschema.NewCompiler()
	text, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := compiler.AddResource("block", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("block")
	if err != nil {
		t.Fatal(err)
	}
	manifest := string(readFile(t, reference))
	for _, tc := range []struct {
		name, from, to string
		accepted       bool
	}{
		{"unchanged", "", "", true},
		{"unknown operation", `"operation": "write"`, `"operation": "delete"`, false},
		{"unknown invariant", `"kind": "deterministic_replay"`, `"kind": "custom"`, false},
		{"unknown receipt", `"receipt_kind": "dispatch"`, `"receipt_kind": "email"`, false},
		{"unknown migration", `"kind": "supersede_facts"`, `"kind": "rewrite"`, false},
		{"rate above one", `"max_contradiction_rate_ppm": 0`, `"max_contradiction_rate_ppm": 1000001`, false},
		{"zero bound", `"max_tokens_per_call": 512`, `"max_tokens_per_call": 0`, false},
		{"fraction", `"max_tokens_per_call": 512`, `"max_tokens_per_call": 512.5`, false},
		{"digest in upper case", `"sha256": "d9e`, `"sha256": "D9E`, false},
		{"version of two parts", `"min_daemon_version": "0.5.0"`, `"min_daemon_version": "0.5"`, false},
		{"field missing", `"rollback_safe": true`, `"rollback": true`, false},
		{"empty case id", `"case_id": "remember-note"`, `"case_id": ""`, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			changed := strings.Replace(manifest, tc.from, tc.to, 1)
			whole, err := jsonschema.UnmarshalJSON(strings.NewReader(changed))
			if err != nil {
				t.Fatal(err)
			}
			bySchema := schema.Validate(whole.(map[string]any)["conformance"])
			m, _, byCode := Read([]byte(changed))
			if byCode == nil {
				byCode = m.Validate()
			}
			if (bySchema == nil) != tc.accepted || (byCode == nil) != tc.accepted {
				t.Errorf("schema: %v; code: %v; want acceptance %v", bySchema, byCode, tc.accepted)
			}
		})
	}
}
