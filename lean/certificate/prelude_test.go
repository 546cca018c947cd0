package certificate

import (
	"bytes"
	"compress/gzip"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/erdos1056/erdos1056/lean/audit"
	"github.com/erdos1056/erdos1056/lean/export"
	"github.com/erdos1056/erdos1056/lean/term"
)

var update = flag.Bool("update", false, "rewrite prelude.ndjson.gz")

// preludeRoots are the constants of the core library that definitions.src uses.
var preludeRoots = []string{
	"True", "And", "Exists", "Eq", "Bool", "Nat", "List",
	"Nat.add", "Nat.mul", "Nat.sub", "Nat.mod", "Nat.beq", "Nat.ble",
	"Eq.symm", "Eq.trans", "congrArg", "Nat.add_assoc", "Nat.mul_one",
}

// The prelude is what the roots rest on, cut out of an export of Lean's core
// library as it is.
func TestPreludeIsPartOfTheCoreLibrary(t *testing.T) {
	r, err := os.Open(filepath.Join("../../testdata/lean/ansatz/init-medium.ndjson.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, err := export.Read(r, term.NewStore(nil), export.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	env := audit.NewIndex(f)
	var roots []term.Name
	for _, text := range preludeRoots {
		n, _ := f.Store.ParseName(text)
		roots = append(roots, n)
	}
	var want bytes.Buffer
	if err := export.Write(&want, f.Store, f.Meta, env.Needed(roots...)); err != nil {
		t.Fatal(err)
	}
	if *update {
		var b bytes.Buffer
		z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
		z.Write(want.Bytes())
		z.Close()
		if err := os.WriteFile("prelude.ndjson.gz", b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		prelude = b.Bytes()
	}
	z, err := gzip.NewReader(bytes.NewReader(prelude))
	if err != nil {
		t.Fatal(err)
	}
	var have bytes.Buffer
	if _, err := have.ReadFrom(z); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have.Bytes(), want.Bytes()) {
		t.Error("prelude.ndjson.gz is not what the core library has; run the test with -update")
	}
}
