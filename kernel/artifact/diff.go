package artifact

import (
	"fmt"
	"strings"
)

// A Difference is the first line in which two artifacts differ. Line counts from 1.
type Difference struct {
	Line            int
	Field           string
	Expected, Found string
}

func (d *Difference) Error() string {
	return fmt.Sprintf("artifact differs at line %d (%s): expected %s, found %s", d.Line, d.Field, d.Expected, d.Found)
}

// Diff compares a text with the expected one and returns the first line that
// differs, or nil where the bytes are equal.
func Diff(expected, found []byte) *Difference {
	want, got := lines(expected), lines(found)
	for i := 0; i < max(len(want), len(got)); i++ {
		var w, g string
		if i < len(want) {
			w = want[i]
		}
		if i < len(got) {
			g = got[i]
		}
		if w != g {
			return difference(i, w, g)
		}
	}
	return nil
}

// lines splits after every newline, so that a missing last newline is a difference.
func lines(b []byte) []string {
	return strings.SplitAfter(string(b), "\n")
}

func difference(i int, want, got string) *Difference {
	d := &Difference{Line: i + 1, Field: "end", Expected: quote(want), Found: quote(got)}
	if i >= len(fields) {
		return d
	}
	d.Field = fields[i]
	prefix := d.Field + "="
	w, wok := strings.CutPrefix(strings.TrimSuffix(want, "\n"), prefix)
	g, gok := strings.CutPrefix(strings.TrimSuffix(got, "\n"), prefix)
	if wok && gok && w != g {
		d.Expected, d.Found = shorten(w), shorten(g)
	}
	return d
}

// shorten shows a plain value as it is and anything else quoted.
func shorten(s string) string {
	if q := quote(s); s == "" || len(s)+2 != len(q) {
		return q
	}
	return s
}
