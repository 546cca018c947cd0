package export

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/lean/term"
)

// respaced returns an export in which no line is spelled as the exporter does:
// each ends with a blank. The scanner alone reads it.
func respaced(data []byte) []byte { return bytes.ReplaceAll(data, []byte("\n"), []byte(" \n")) }

var column = regexp.MustCompile(`column \d+: `)

// outcome describes all that reading gives but what identifies the bytes.
func outcome(data []byte) string {
	store := term.NewStore(nil)
	f, err := Read(bytes.NewReader(data), store, Limits{})
	if err != nil {
		return column.ReplaceAllString(err.Error(), "")
	}
	var b strings.Builder
	fmt.Fprintln(&b, f.Lines, store.ExprCount(), store.NameCount())
	for _, d := range f.Decls {
		if d.Block != nil {
			fmt.Fprintf(&b, "%+v ", *d.Block)
			d.Block = nil
		}
		fmt.Fprintf(&b, "%+v\n", d)
	}
	return b.String()
}

func TestLinesTakenApartAreReadAsByTheScanner(t *testing.T) {
	count := 0
	err := filepath.WalkDir("../../testdata/lean", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.HasSuffix(path, ".gz") {
			z, err := gzip.NewReader(bytes.NewReader(data))
			if err != nil {
				return err
			}
			if data, err = io.ReadAll(z); err != nil {
				return err
			}
		}
		if !bytes.HasPrefix(data, []byte(`{"meta"`)) {
			return nil
		}
		count++
		if got, want := outcome(data), outcome(respaced(data)); got != want {
			t.Errorf("%s: taken apart it is %.200q, by the scanner %.200q", path, got, want)
		}
		return nil
	})
	if err != nil || count < 150 {
		t.Errorf("%d files were read; error %v", count, err)
	}
}

// Each line is changed in one byte, in all ways that could matter.
func TestLinesAlmostSpelledAsByTheExporterAreReadAsByTheScanner(t *testing.T) {
	const before = meta + `{"in":1,"str":{"pre":0,"str":"a"}}
{"il":1,"param":1}
{"ie":0,"sort":0}
{"ie":1,"bvar":3}
`
	const after = "\n" + `{"axiom":{"name":1,"levelParams":[],"type":1,"isUnsafe":false}}` + "\n"
	known := map[form]int{}
	for _, line := range []string{
		`{"app":{"arg":1,"fn":0},"ie":22}`,
		`{"forallE":{"binderInfo":"default","body":1,"name":1,"type":0},"ie":22}`,
		`{"ie":22,"lam":{"binderInfo":"instImplicit","body":1,"name":0,"type":0}}`,
		`{"ie":22,"lam":{"binderInfo":"strictImplicit","body":1,"name":0,"type":0}}`,
		`{"const":{"name":1,"us":[]},"ie":2}`,
		`{"const":{"name":1,"us":[1,0]},"ie":2}`,
		`{"const":{"name":1,"us":[1,0,1]},"ie":2}`,
		`{"in":2,"num":{"i":10,"pre":1}}`,
		`{"in":2,"str":{"pre":1,"str":"∀b"}}`,
		`{"in":2,"str":{"pre":1,"str":"\u2200\n"}}`,
	} {
		variants := []string{line}
		for i := range len(line) {
			variants = append(variants, line[:i]+line[i+1:])
			for _, c := range "0129\"{}[],:\\x- \x01\t\xff" {
				variants = append(variants, line[:i]+string([]byte{byte(c)})+line[i+1:], line[:i]+string([]byte{byte(c)})+line[i:])
			}
		}
		for _, v := range variants {
			l, _ := lexLine([]byte(v))
			known[l.form]++
			if l.form == unknownForm {
				continue // is left to the scanner
			}
			if got, want := outcome([]byte(before+v+after)), outcome([]byte(before+v+" "+after)); got != want {
				t.Errorf("%q: taken apart it is %q, by the scanner %q", v, got, want)
			}
		}
	}
	for f := unknownForm; f <= piForm; f++ {
		if known[f] < 10 {
			t.Errorf("form %d came %d times only", f, known[f])
		}
	}
}

func TestErrorsNameTheirLineWhereverBatchesEnd(t *testing.T) {
	const lines = 2*batchLines + 10
	good := make([]string, 0, lines)
	good = append(good, strings.TrimSuffix(meta, "\n"), `{"ie":0,"sort":0}`)
	for i := len(good); i < lines; i++ {
		switch {
		case i%7 == 0:
			good = append(good, fmt.Sprintf(`{"in":%d,"str":{"pre":0,"str":"%s"}}`, i, strings.Repeat("x", i%150)))
		case i%5 == 0:
			good = append(good, "")
		default:
			good = append(good, fmt.Sprintf(`{"app":{"arg":0,"fn":0},"ie":%d}`, i))
		}
	}
	if _, err := read(strings.Join(good, "\n")); err != nil {
		t.Fatal(err)
	}
	for at := 2; at < lines; at++ {
		if at%batchLines > 12 && at%batchLines < batchLines-3 && at%97 != 0 {
			continue
		}
		for _, c := range []struct{ line, want string }{
			{`{"app":{"arg":0,"fn":9000000},"ie":9}`, "expression 9000000 is not defined"},
			{`{"app":{"arg":0,"fn":0},"ie":0}`, "expression 0 is defined twice"},
			{`{"app":{"arg":0,"fn":0},"ie":9`, "expected '}'"},
			{`nonsense`, "expected '{'"},
		} {
			broken := append([]string(nil), good...)
			broken[at] = c.line
			broken[lines-1] = "a later error"
			_, err := read(strings.Join(broken, "\n"))
			if e, ok := err.(*Error); !ok || e.Line != at+1 && at != lines-1 || !strings.Contains(e.Msg, c.want) && at != lines-1 {
				t.Fatalf("%s in line %d: error %v", c.line, at+1, err)
			}
		}
	}
}
