package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/erdos1056/erdos1056/lean"
)

// shower writes progress and reports, for people or as JSON lines.
type shower struct {
	json     bool
	out, err io.Writer
	terminal bool
	start    time.Time

	mu    sync.Mutex
	last  time.Time
	drawn bool
}

func newShower(json bool, out, err io.Writer) *shower {
	s := &shower{json: json, out: out, err: err, start: time.Now()}
	s.last = s.start
	if f, ok := err.(*os.File); ok {
		s.terminal = term.IsTerminal(int(f.Fd()))
	}
	return s
}

// progress is drawn in place on a terminal, and is a line now and then
// elsewhere. Short checks show none.
func (s *shower) progress(p lean.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	every := 10 * time.Second
	if s.terminal && !s.json {
		every = time.Second / 4
	}
	if time.Since(s.last) < every {
		return
	}
	s.last = time.Now()
	if s.json {
		s.line(map[string]any{"type": "progress", "declaration": p.Declaration, "of": p.Of, "name": p.Name})
		return
	}
	text := fmt.Sprintf("%3d %%  declaration %s of %s  %s", 100*p.Declaration/p.Of, group(p.Declaration), group(p.Of), p.Name)
	if s.terminal {
		s.drawn = true
		fmt.Fprintf(s.err, "\r\x1b[K%s", shorten(text, 78))
		return
	}
	fmt.Fprintln(s.err, text)
}

func (s *shower) line(v any) {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain data always marshals
	}
	fmt.Fprintf(s.out, "%s\n", text)
}

func (s *shower) report(r *lean.Report) {
	if s.drawn {
		fmt.Fprint(s.err, "\r\x1b[K")
	}
	if s.json {
		s.line(r)
		return
	}
	switch {
	case r.Verdict == "accept":
		s.accepted(r)
	case r.Failure != nil:
		s.failed(r)
	default:
		fmt.Fprintf(s.out, "rejected: target %s\n", r.Audit.Target)
		for _, p := range r.Audit.Problems {
			fmt.Fprintf(s.out, "  %s\n", strings.ReplaceAll(p.String(), "\n", "\n  "))
		}
	}
}

func (s *shower) accepted(r *lean.Report) {
	origin := "format " + r.Input.Format
	if r.Input.Lean != "" {
		origin = fmt.Sprintf("Lean %.40q, ", r.Input.Lean) + origin
	}
	fmt.Fprintf(s.out, "accepted: %s constants (%s theorems) from %s; ", group(r.Constants), group(r.Theorems), origin)
	if a := r.Audit; a != nil {
		fmt.Fprintf(s.out, "%s rests on %s; %.1f s\n", a.Target, listAxioms(a.Axioms, func(i int) string { return a.Axioms[i].Name }), time.Since(s.start).Seconds())
		fmt.Fprintf(s.out, "  statement: %s\n", a.Statement)
		if !a.Compared {
			fmt.Fprintln(s.out, "  the statement was not compared; --challenge FILE does that")
		}
		if len(a.Unused) > 0 {
			fmt.Fprintf(s.out, "  axioms declared but not used: %s\n", strings.Join(a.Unused, ", "))
		}
		return
	}
	fmt.Fprintf(s.out, "axioms declared: %s; %.1f s\n", listAxioms(r.Axioms, func(i int) string { return r.Axioms[i].Name }), time.Since(s.start).Seconds())
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

func (s *shower) failed(r *lean.Report) {
	word := map[string]string{"reject": "rejected", "decline": "declined"}[r.Verdict]
	f := r.Failure
	if f.Name == "" {
		fmt.Fprintf(s.out, "%s: line %d: %s\n", word, f.Line, f.Msg)
		return
	}
	fmt.Fprintf(s.out, "%s: %s %s at line %d: %s\n", word, f.Kind, f.Name, f.Line, f.Msg)
	width := 0
	for _, t := range f.Terms {
		width = max(width, len(t.Label))
	}
	for _, t := range f.Terms {
		fmt.Fprintf(s.out, "  %-*s %s\n", width+1, t.Label+":", t.Text)
	}
}

// group writes a number with its digits in groups of three.
func group(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + " " + text[i:]
	}
	return text
}

func shorten(text string, width int) string {
	runes := []rune(text)
	if len(runes) > width {
		return string(runes[:width-1]) + "…"
	}
	return text
}
