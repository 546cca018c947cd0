package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"unicode"

	"github.com/erdos1056/erdos1056/internal/disk"
)

// A Call is what a verb is given besides its flags.
type Call struct {
	Args           []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	JSON           bool // --json
}

// Line prints an object as a line of JSON, with what is not printable escaped.
func (c *Call) Line(object any) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(object); err != nil {
		return err
	}
	var line bytes.Buffer
	for _, r := range text.String() {
		if r > unicode.MaxASCII && !unicode.IsPrint(r) {
			for _, unit := range utf16Units(r) {
				fmt.Fprintf(&line, `\u%04x`, unit)
			}
			continue
		}
		line.WriteRune(r)
	}
	_, err := c.Stdout.Write(line.Bytes())
	return err
}

// Print prints a line of results. Foreign text in it cannot end the line.
func (c *Call) Print(format string, args ...any) error {
	_, err := fmt.Fprintln(c.Stdout, cleanLine(fmt.Sprintf(format, args...)))
	return err
}

// Result prints a result: the object with --json, else a line of text.
func (c *Call) Result(object any, format string, args ...any) error {
	if c.JSON {
		return c.Line(object)
	}
	return c.Print(format, args...)
}

// Say prints a line for people on standard error.
func (c *Call) Say(format string, args ...any) {
	fmt.Fprintln(c.Stderr, cleanLine(fmt.Sprintf(format, args...)))
}

// Input returns standard input as a reader that an interruption ends.
func (c *Call) Input(ctx context.Context) io.Reader { return &interruptibleReader{ctx, c.Stdin} }

type interruptibleReader struct {
	ctx  context.Context
	from io.Reader
}

// Read leaves a read behind that has not ended when the context does.
func (r *interruptibleReader) Read(into []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	buffer, done := make([]byte, len(into)), make(chan result, 1)
	go func() {
		n, err := r.from.Read(buffer)
		done <- result{n, err}
	}()
	select {
	case <-r.ctx.Done():
		return 0, context.Cause(r.ctx)
	case read := <-done:
		return copy(into, buffer[:read.n]), read.err
	}
}

// Output writes a file, in place of the one that may be there; "-" stands for standard
// output.
func (c *Call) Output(path string, data []byte) error {
	if path == Stdout {
		_, err := c.Stdout.Write(data)
		return err
	}
	return disk.Replace(path, data, 0o644)
}

// Stdout is the file name that stands for standard output.
const Stdout = "-"

// CheckOutput reports whether Output can be expected to succeed.
func CheckOutput(path string) error {
	if path == Stdout {
		return nil
	}
	return disk.CheckReplaceable(path)
}

// checked remembers the first failure of a writer, so that no verb can miss it.
type checked struct {
	writer io.Writer
	err    error
}

func (w *checked) Write(data []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.writer.Write(data)
	w.err = err
	return n, err
}
