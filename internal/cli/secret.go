package cli

import (
	"context"
	"fmt"
	"os"

	"golang.org/x/term"
)

// Secret asks the terminal for a line that is not shown. An interruption ends the prompt and
// restores the terminal.
func (c *Call) Secret(ctx context.Context, prompt string) (string, error) {
	terminal, ok := c.Stdin.(*os.File)
	if !ok || !term.IsTerminal(int(terminal.Fd())) {
		return "", Usagef("%s is needed and standard input is no terminal", prompt)
	}
	fd := int(terminal.Fd())
	state, err := term.GetState(fd)
	if err != nil {
		return "", err
	}
	restore := func() { term.Restore(fd, state) }
	restoreTerminal.Store(&restore)
	defer restoreTerminal.Store(nil)
	fmt.Fprintf(c.Stderr, "%s: ", cleanLine(prompt))
	type answer struct {
		line []byte
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		line, err := term.ReadPassword(fd)
		answers <- answer{line, err}
	}()
	select {
	case <-ctx.Done():
		restore()
		fmt.Fprintln(c.Stderr)
		return "", context.Cause(ctx)
	case a := <-answers:
		fmt.Fprintln(c.Stderr)
		return string(a.line), a.err
	}
}
