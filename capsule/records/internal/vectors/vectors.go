// Package vectors reads the published vectors of the original program for
// tests: valid documents, changes to them, and the original's verdicts.
package vectors

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
)

// Root is the folder of the vectors, seen from the package under test.
var Root = above("testdata/canopus")

// above returns the path of a folder of the module, for a program that runs in
// one of the module's folders.
func above(path string) string {
	for range 8 {
		if _, err := os.Stat(path); err == nil {
			break
		}
		path = filepath.Join("..", path)
	}
	return path
}

// Read returns a file of the vectors.
func Read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(Root, path))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Mutation is a change of a valid document with the original's verdict.
type Mutation struct {
	Name     string
	Document []byte // canonical text and a newline
	Accepted bool   // by the original
	Message  string // of the original; "" if it accepted
}

// Mutations returns the mutations of one format.
func Mutations(t testing.TB, format string) []Mutation {
	t.Helper()
	var mutations []Mutation
	lines := bufio.NewScanner(bytes.NewReader(Read(t, "derived/contract-mutations/"+format+".jsonl")))
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var line struct {
			Name, Base, Verdict string
			Error               string
			Ops                 []operation
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		base, _, _ := strings.Cut(line.Base, " ")
		doc, err := canon.ParseStrict(Read(t, base), canon.RecordLimits)
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range line.Ops {
			doc = op.apply(t, doc, op.Path)
		}
		text, err := canon.EncodeLine(doc)
		if err != nil {
			t.Fatal(err)
		}
		mutations = append(mutations, Mutation{line.Name, text, line.Verdict == "accept", line.Error})
	}
	if len(mutations) == 0 {
		t.Fatalf("no mutations of %s", format)
	}
	return mutations
}

type operation struct {
	Op    string
	Path  []any
	Value json.RawMessage
	Unit  string
	Count int
}

func (op operation) value(t testing.TB) canon.Value {
	if op.Op == "repeat" {
		return canon.NewString(strings.Repeat(op.Unit, op.Count))
	}
	v, err := canon.ParseStrict(op.Value, canon.RecordLimits)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (op operation) apply(t testing.TB, v canon.Value, path []any) canon.Value {
	last := len(path) == 1
	switch step := path[0].(type) {
	case string:
		if last && op.Op == "delete" {
			return v.Without(step)
		}
		if last {
			return v.With(step, op.value(t))
		}
		child, ok := v.Lookup(step)
		if !ok {
			t.Fatalf("no member %q", step)
		}
		return v.With(step, op.apply(t, child, path[1:]))
	case float64:
		elements := slices.Clone(v.Elements())
		elements[int(step)] = op.apply(t, elements[int(step)], path[1:])
		return canon.NewArray(elements...)
	default:
		t.Fatal(fmt.Errorf("step %v", step))
		return v
	}
}

// Stricter names the mutations that the original accepts and this module
// refuses, by format, with the reason. docs/formats.md has the same table.
var Stricter = map[string]map[string]string{
	"mission": {
		"allowed_paths a/": "a path with a final slash names a folder, never a file",
		"argv empty item":  "the original's own command runner refuses an empty argument later",
	},
	"run": {
		"schema v0 keeps observations": "a run of version 0 has no observations",
	},
	"engine-output": {
		"2 same path (parser only)": "two artifacts of one path cannot both be frozen; the original refuses them later",
	},
}

var field = regexp.MustCompile(`^([a-z_]+(?:\.[A-Za-z0-9_-]+(?:\[[0-9]+\])*)*)\.[A-Za-z0-9_-]+`)

// object returns the object of the field that a message of the original starts
// with, or "". Where several fields disagree, two readers may name either.
func object(message string) string {
	if found := field.FindStringSubmatch(message); found != nil {
		return found[1]
	}
	return ""
}

// Compare holds a parser to the original's verdicts: it refuses what the
// original refused, naming a field of the same object, and accepts what the original
// accepted unless the case is listed in Stricter.
func Compare(t *testing.T, format string, parse func(data []byte) error) {
	t.Helper()
	stricter := Stricter[format]
	seen := map[string]bool{}
	for _, m := range Mutations(t, format) {
		seen[m.Name] = true
		err := parse(m.Document)
		_, listed := stricter[m.Name]
		switch {
		case m.Accepted && !listed && err != nil:
			t.Errorf("%s %q: the original accepts it; found %v", format, m.Name, err)
		case m.Accepted && listed && err == nil:
			t.Errorf("%s %q: listed as stricter, but accepted", format, m.Name)
		case !m.Accepted && err == nil:
			t.Errorf("%s %q: the original says %q; accepted", format, m.Name, m.Message)
		case !m.Accepted && !strings.Contains(err.Error(), object(m.Message)):
			t.Errorf("%s %q: the original names a field of %q; found %v", format, m.Name, object(m.Message), err)
		case !m.Accepted && listed:
			t.Errorf("%s %q: listed as stricter, but the original refuses it too", format, m.Name)
		}
	}
	for name := range stricter {
		if !seen[name] {
			t.Errorf("%s: no mutation %q", format, name)
		}
	}
}
