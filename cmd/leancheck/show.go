package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
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
	fmt.Fprint(s.out, r.Text(time.Since(s.start)))
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
