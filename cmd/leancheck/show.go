package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/lean"
)

// shower writes progress and reports, for people or as JSON lines.
type shower struct {
	*cli.Call
	terminal bool
	start    time.Time

	mu    sync.Mutex
	last  time.Time
	drawn bool
}

func newShower(c *cli.Call) *shower {
	s := &shower{Call: c, start: time.Now()}
	s.last = s.start
	if f, ok := c.Stderr.(*os.File); ok {
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
	if s.terminal && !s.JSON {
		every = time.Second / 4
	}
	if time.Since(s.last) < every {
		return
	}
	s.last = time.Now()
	if s.JSON {
		s.Line(map[string]any{"type": "progress", "declaration": p.Declaration, "of": p.Of, "name": p.Name})
		return
	}
	text := fmt.Sprintf("%3d %%  declaration %s of %s  %s", 100*p.Declaration/p.Of, cli.Thousands(p.Declaration), cli.Thousands(p.Of), cli.Clean(p.Name))
	if s.terminal {
		s.drawn = true
		fmt.Fprintf(s.Stderr, "\r\x1b[K%s", shorten(text, 78))
		return
	}
	fmt.Fprintln(s.Stderr, text)
}

func (s *shower) report(r *lean.Report) error {
	if s.drawn {
		fmt.Fprint(s.Stderr, "\r\x1b[K")
	}
	if s.JSON {
		return s.Line(r)
	}
	_, err := io.WriteString(s.Stdout, cli.Clean(r.Text(time.Since(s.start))))
	return err
}

func shorten(text string, width int) string {
	runes := []rune(text)
	if len(runes) > width {
		return string(runes[:width-1]) + "…"
	}
	return text
}
