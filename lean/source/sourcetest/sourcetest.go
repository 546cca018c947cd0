// Package sourcetest makes exports for tests from the language of package source.
package sourcetest

import (
	"bytes"
	"testing"

	"github.com/erdos1056/erdos1056/lean/export"
	"github.com/erdos1056/erdos1056/lean/source"
	"github.com/erdos1056/erdos1056/lean/term"
)

// Export returns the declarations of a text, none of them inductive types, as an export.
func Export(t testing.TB, text string) []byte {
	t.Helper()
	store := term.NewStore(nil)
	decls, err := source.Parse(store, text)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := export.Write(&b, store, export.Meta{}, decls); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
