package export

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"

	"github.com/erdos1056/erdos1056/lean/term"
)

// Read reads one export, plain or gzip, and adds its terms to store. On an
// error other than an I/O error it returns an *Error. After an error a read of r
// may still be under way.
func Read(r io.Reader, store *term.Store, limits Limits) (f *File, err error) {
	if limits.MaxLine == 0 {
		limits.MaxLine = DefaultLine
	}
	if limits.MaxBytes == 0 {
		limits.MaxBytes = 64 << 30
	}
	limits.MaxLine = min(limits.MaxLine, math.MaxInt32)
	in := &digester{r: r, sum: sha256.New()}
	raw := bufio.NewReaderSize(in, 1<<16)
	source := io.Reader(raw)
	if magic, _ := raw.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		if source, err = gzip.NewReader(raw); err != nil {
			return nil, fmt.Errorf("reading gzip: %w", err)
		}
	}
	feed := feedLines(&lineReader{r: bufio.NewReaderSize(source, 1<<18), limits: limits})
	defer feed.stop()

	b := newBuilder(&File{Store: store})
	defer func() {
		p := recover()
		var limit *term.LimitError
		if e, ok := p.(error); ok && errors.As(e, &limit) {
			f, err = nil, &Error{Limit, b.line, limit.What}
		} else if p != nil {
			panic(p)
		}
	}()
	if err := b.read(feed); err != nil {
		var e *Error
		if errors.As(err, &e) && e.Line == 0 {
			e.Line = max(1, b.line)
		}
		return nil, err
	}
	// The digest covers what follows a compressed stream, too. The feed has come
	// to its end and reads no more.
	if _, err := io.Copy(io.Discard, raw); err != nil {
		return nil, err
	}
	f = b.file
	f.SHA256 = hex.EncodeToString(in.sum.Sum(nil))
	f.Bytes = in.n
	f.Lines = b.line
	return f, nil
}

// read takes all lines of a file.
func (b *builder) read(feed *lineFeed) error {
	var parse func([]byte) error
	for {
		batch := <-feed.full
		rest := batch.text
		for i := range batch.lines {
			l := &batch.lines[i]
			b.line++
			var text []byte
			text, rest = rest[:l.text], rest[l.text:]
			var err error
			switch {
			case parse == nil:
				parse, err = b.firstLine(text)
			case l.form != unknownForm:
				err = b.define(l, text)
			case len(bytes.TrimSpace(text)) > 0:
				err = parse(text)
			}
			if err != nil {
				return err
			}
		}
		switch {
		case batch.err == io.EOF && parse == nil:
			return unsupported("the file is empty; expected a lean4export file")
		case batch.err == io.EOF:
			return b.finish()
		case batch.err != nil:
			return batch.err
		}
		feed.empty <- batch // there is room for all batches
	}
}

// firstLine checks the version and returns what reads the lines that follow.
func (b *builder) firstLine(text []byte) (func([]byte) error, error) {
	if len(text) > 0 && text[0] == '{' {
		j := &jsonReader{builder: b}
		return j.record, j.meta(text)
	}
	b.text = true
	b.file.Meta.Format = "2.0.0"
	t := &textReader{builder: b, rules: indexMap{what: "rule", store: b.store}}
	return t.record, textVersion(text)
}

// malformed and unsupported make errors whose line is filled in by the caller.
func malformed(format string, args ...any) error {
	return &Error{Reason: Malformed, Msg: fmt.Sprintf(format, args...)}
}

func unsupported(format string, args ...any) error {
	return &Error{Reason: Unsupported, Msg: fmt.Sprintf(format, args...)}
}

type digester struct {
	r   io.Reader
	sum hash.Hash
	n   int64
}

func (d *digester) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	d.sum.Write(p[:n])
	d.n += int64(n)
	return n, err
}
