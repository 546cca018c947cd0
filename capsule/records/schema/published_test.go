package schema_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/erdos1056/erdos1056/capsule/records/canopus/mission"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/profile"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/record"
	"github.com/erdos1056/erdos1056/capsule/records/cuecrux/declaration"
	"github.com/erdos1056/erdos1056/capsule/records/internal/vectors"
	"github.com/erdos1056/erdos1056/capsule/records/keys"
	"github.com/erdos1056/erdos1056/capsule/records/schema"
)

var update = flag.Bool("update", false, "write docs/schemas anew from the tables")

const published = "../../../docs/schemas"

func documents() []schema.Document {
	return slices.Concat(mission.Documents, profile.Documents, record.Documents, keys.Documents, declaration.Documents)
}

func TestPublishedSchemasAreThoseOfTheTables(t *testing.T) {
	names := map[string]bool{}
	for _, d := range documents() {
		name := d.FormatID() + ".json"
		if names[name] {
			t.Errorf("two formats are called %s", d.FormatID())
		}
		names[name] = true
		text, err := d.JSONSchema()
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(published, name)
		if *update {
			if err := os.WriteFile(path, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if found, err := os.ReadFile(path); err != nil || !bytes.Equal(found, text) {
			t.Errorf("%s is not the table's schema (%v); run: go test ./capsule/records/schema -update", path, err)
		}
	}
	entries, err := os.ReadDir(published)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !names[entry.Name()] {
			t.Errorf("%s belongs to no table", filepath.Join(published, entry.Name()))
		}
	}
}

func compile(t *testing.T, id string) *jsonschema.Schema {
	t.Helper()
	compiled, err := jsonschema.NewCompiler().Compile(filepath.Join(published, id+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

func accepts(t *testing.T, s *jsonschema.Schema, data []byte) bool {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(v) == nil
}

// An independent validator must never refuse what the tables accept, and must
// refuse on its own what no rule beyond the schema is needed for.
func TestSchemasAgreeWithTheTables(t *testing.T) {
	cases := []struct {
		format, id string
		refused    int // by the schema alone
		parse      func([]byte) error
	}{
		{"mission", "canopus.mission.v1", 37, func(data []byte) error { _, err := mission.SpecV1.Parse(data); return err }},
		{"profile", "canopus.profile.v2", 10, func(data []byte) error { _, err := profile.Original.Parse(data); return err }},
		{"candidate", "canopus.candidate.v0", 12, func(data []byte) error { _, err := record.CandidateSpec.Parse(data); return err }},
		{"run", "canopus.run.v1", 6, func(data []byte) error { _, err := record.RunV1Spec.Parse(data); return err }},
		{"failure", "canopus.failure.v0", 6, func(data []byte) error { _, err := record.FailureSpec.Parse(data); return err }},
		{"engine-output", "canopus.engine-output.v0", 4, func(data []byte) error { _, err := record.EngineOutputSpec.Parse(data); return err }},
	}
	for _, c := range cases {
		compiled := compile(t, c.id)
		refused := 0
		for _, m := range vectors.Mutations(t, c.format) {
			bySchema, byTable := accepts(t, compiled, m.Document), c.parse(m.Document) == nil
			if byTable && !bySchema {
				t.Errorf("%s %q: the table accepts it, the schema does not", c.format, m.Name)
			}
			if !bySchema {
				refused++
			}
		}
		if refused < c.refused {
			t.Errorf("%s: the schema alone refuses %d mutations; want at least %d", c.format, refused, c.refused)
		}
	}
}

func TestEverySchemaCompiles(t *testing.T) {
	for _, d := range documents() {
		compile(t, d.FormatID())
	}
}

func TestPageListsEveryStricterCase(t *testing.T) {
	page, err := os.ReadFile("../../../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	for format, cases := range vectors.Stricter {
		for name, why := range cases {
			if row := fmt.Sprintf("| %s | %s | %s |\n", format, name, why); !bytes.Contains(page, []byte(row)) {
				t.Errorf("docs/formats.md lacks the row %s", row)
			}
		}
	}
}
