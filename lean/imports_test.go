package lean

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/erdos1056/erdos1056/"

// mayImport lists what the code of each package may import of this module. Lean
// proofs share nothing with the search and its capsules.
var mayImport = map[string][]string{
	"lean/term":              {},
	"lean/export":            {"lean/term"},
	"lean/source":            {"lean/term", "lean/export"},
	"lean/source/sourcetest": {"lean/term", "lean/export", "lean/source"},
	"lean/check":             {"lean/term", "lean/export"},
	"lean/audit":             {"lean/term", "lean/export"},
	"lean":                   {"lean/term", "lean/export", "lean/check", "lean/audit"},
	"lean/certificate":       {"lean/term", "lean/export", "lean/source"},
	"lean/elaborate":         {"lean"},
}

func TestImportsRunOneWay(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		pkg := filepath.ToSlash(filepath.Join("lean", filepath.Dir(path)))
		allowed, known := mayImport[pkg]
		if !known {
			t.Errorf("%s: package %s is not listed", path, pkg)
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range f.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if own, ok := strings.CutPrefix(name, module); ok && !slices.Contains(allowed, own) {
				t.Errorf("%s imports %s; it may import %v", path, own, allowed)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
