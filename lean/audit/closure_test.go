package audit

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/lean/export"
	"github.com/erdos1056/erdos1056/lean/term"
)

const vectors = "../../testdata/lean"

func load(t *testing.T, store *term.Store, name string) *export.File {
	t.Helper()
	r, err := os.Open(filepath.Join(vectors, name))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, err := export.Read(r, store, export.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The axiom closures of init-medium were computed by an independent script.
func TestClosuresOfInitMediumAreThoseOfTheOracle(t *testing.T) {
	f := load(t, term.NewStore(nil), "ansatz/init-medium.ndjson.gz")
	env := NewIndex(f)
	byName := map[string]term.Name{}
	for n := range env.at {
		byName[strings.Join(f.Store.Components(n), ".")] = n
	}
	r, err := os.Open(filepath.Join(vectors, "ansatz/init-medium.axioms.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	lines := bufio.NewScanner(r)
	lines.Scan() // header
	count := 0
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "\t")
		n, ok := byName[fields[0]]
		if !ok {
			t.Errorf("%s is not in the file", fields[0])
			continue
		}
		count++
		axioms, size := env.Closure(n)
		var names []string
		for _, a := range axioms {
			names = append(names, strings.Join(f.Store.Components(a), "."))
		}
		want := map[string]bool{}
		for _, a := range strings.FieldsFunc(fields[2], func(r rune) bool { return r == ',' }) {
			want[a] = true
		}
		if len(names) != len(want) {
			t.Errorf("%s rests on %v, the oracle says %s", fields[0], names, fields[2])
		}
		for _, a := range names {
			if !want[a] {
				t.Errorf("%s rests on %v, the oracle says %s", fields[0], names, fields[2])
			}
		}
		if oracle, _ := strconv.Atoi(fields[3]); oracle != size {
			t.Errorf("the closure of %s has %d constants, the oracle says %d", fields[0], size, oracle)
		}
	}
	if count != len(byName) {
		t.Errorf("the oracle lists %d constants, the file has %d", count, len(byName))
	}
}
