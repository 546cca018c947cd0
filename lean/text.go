package lean

import (
	"fmt"
	"strings"
	"time"
)

// Text tells the verdict to people, in one or more lines. The time that the
// judgement took is named if it is not zero; without it, equal inputs under
// equal options have equal texts.
func (r *Report) Text(took time.Duration) string {
	switch {
	case r.Verdict == "accept":
		return r.accepted(took)
	case r.Failure != nil:
		return r.failed()
	}
	return r.refused()
}

// refused tells the problems of the audit, the first in the first line.
func (r *Report) refused() string {
	var b strings.Builder
	a := r.Audit
	for i, p := range a.Problems {
		text := p.String()
		if i == 0 {
			fmt.Fprintf(&b, "rejected: target %s: %s\n", a.Target, strings.TrimPrefix(text, a.Target+": "))
			continue
		}
		fmt.Fprintf(&b, "  %s\n", strings.ReplaceAll(text, "\n", "\n  "))
	}
	return b.String()
}

func (r *Report) accepted(took time.Duration) string {
	var b strings.Builder
	origin := "format " + r.Input.Format
	if r.Input.Lean != "" {
		origin = fmt.Sprintf("Lean %.40q, ", r.Input.Lean) + origin
	}
	seconds := ""
	if took != 0 {
		seconds = fmt.Sprintf("; %.1f s", took.Seconds())
	}
	fmt.Fprintf(&b, "accepted: %s constants (%s theorems) from %s; ", group(r.Constants), group(r.Theorems), origin)
	a := r.Audit
	if a == nil {
		fmt.Fprintf(&b, "axioms declared: %s%s\n", listAxioms(r.Axioms, func(i int) string { return r.Axioms[i].Name }), seconds)
		return b.String()
	}
	fmt.Fprintf(&b, "%s rests on %s%s\n", a.Target, listAxioms(a.Axioms, func(i int) string { return a.Axioms[i].Name }), seconds)
	fmt.Fprintf(&b, "  statement: %s\n", a.Statement)
	if !a.Compared {
		fmt.Fprintln(&b, "  the statement was not compared; --challenge FILE does that")
	}
	if len(a.Unused) > 0 {
		fmt.Fprintf(&b, "  axioms declared but not used: %s\n", strings.Join(a.Unused, ", "))
	}
	return b.String()
}

func listAxioms[T any](axioms []T, name func(int) string) string {
	if len(axioms) == 0 {
		return "none"
	}
	var names []string
	for i := range axioms {
		names = append(names, name(i))
	}
	return strings.Join(names, ", ")
}

func (r *Report) failed() string {
	var b strings.Builder
	word := map[string]string{"reject": "rejected", "decline": "declined"}[r.Verdict]
	f := r.Failure
	switch {
	case f.Line == 0:
		return fmt.Sprintf("%s: %s\n", word, f.Msg)
	case f.Name == "":
		return fmt.Sprintf("%s: line %d: %s\n", word, f.Line, f.Msg)
	}
	fmt.Fprintf(&b, "%s: %s %s at line %d: %s\n", word, f.Kind, f.Name, f.Line, f.Msg)
	width := 0
	for _, t := range f.Terms {
		width = max(width, len(t.Label))
	}
	for _, t := range f.Terms {
		fmt.Fprintf(&b, "  %-*s %s\n", width+1, t.Label+":", t.Text)
	}
	return b.String()
}

// group writes a number with its digits in groups of three.
func group(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + " " + text[i:]
	}
	return text
}
