package export

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
)

// lineReader cuts a stream into lines of bounded length.
type lineReader struct {
	r      *bufio.Reader
	limits Limits
	line   int
	total  int64
	long   []byte
}

// next returns the next line without its end; it is valid until the next call.
func (l *lineReader) next() ([]byte, error) {
	l.long = l.long[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		l.total += int64(len(part))
		if l.total > l.limits.MaxBytes {
			return nil, &Error{Limit, l.line + 1, fmt.Sprintf("the file is longer than %d bytes", l.limits.MaxBytes)}
		}
		if len(l.long)+len(part) > l.limits.MaxLine {
			return nil, &Error{Limit, l.line + 1, fmt.Sprintf("the line is longer than %d bytes", l.limits.MaxLine)}
		}
		switch {
		case err == bufio.ErrBufferFull:
			l.long = append(l.long, part...)
			continue
		case err == io.EOF && len(part) == 0 && len(l.long) == 0:
			return nil, io.EOF
		case err != nil && err != io.EOF:
			return nil, fmt.Errorf("reading line %d: %w", l.line+1, err)
		}
		l.line++
		if len(l.long) > 0 {
			l.long = append(l.long, part...)
			part = l.long
		}
		return bytes.TrimSuffix(bytes.TrimSuffix(part, []byte("\n")), []byte("\r")), nil
	}
}

// A batch holds consecutive lines, of which applications are taken apart.
type batch struct {
	lines []line
	text  []byte
	err   error // after the lines; io.EOF at the end
}

// A line is a piece of a batch's text, or an application.
type line struct {
	start, end int
	app        application
	isApp      bool
}

// An application is the content of the most frequent record.
type application struct{ fn, arg, index uint64 }

const (
	batchSize  = 1 << 18 // bytes of text after which a batch is handed on
	batchCount = 4
)

// A lineFeed reads, decompresses and cuts lines on a goroutine of its own while
// the lines before are made into terms.
type lineFeed struct {
	full  chan *batch
	empty chan *batch
	quit  chan struct{}
}

func feedLines(l *lineReader) *lineFeed {
	f := &lineFeed{full: make(chan *batch, batchCount), empty: make(chan *batch, batchCount), quit: make(chan struct{})}
	for range batchCount {
		f.empty <- &batch{}
	}
	go func() {
		for {
			var b *batch
			select {
			case b = <-f.empty:
			case <-f.quit:
				return
			}
			b.fill(l)
			f.full <- b // there is room for all batches
			if b.err != nil {
				return
			}
		}
	}()
	return f
}

// stop ends the goroutine after the read it is in. When it has handed on an
// error it has ended already.
func (f *lineFeed) stop() { close(f.quit) }

func (b *batch) fill(l *lineReader) {
	b.lines, b.text, b.err = b.lines[:0], b.text[:0], nil
	for len(b.text) < batchSize && len(b.lines) < batchSize/16 {
		text, err := l.next()
		if err != nil {
			b.err = err
			return
		}
		if app, ok := lexApplication(text); ok {
			b.lines = append(b.lines, line{app: app, isApp: true})
			continue
		}
		start := len(b.text)
		b.text = append(b.text, text...)
		b.lines = append(b.lines, line{start: start, end: len(b.text)})
	}
}

// lexApplication reads an application, as seven lines in ten of a real export
// are, if it is spelled exactly as the exporter does. It reports false for every
// other line, which is left to the scanner.
func lexApplication(text []byte) (application, bool) {
	c := cursor{rest: text, ok: true}
	var app application
	c.need(`{"app":{"arg":`)
	if !c.ok {
		return app, false
	}
	app.arg = c.number()
	c.need(`,"fn":`)
	app.fn = c.number()
	c.need(`},"ie":`)
	app.index = c.number()
	c.need("}")
	return app, c.ok && len(c.rest) == 0
}

// A cursor matches a line against a fixed spelling.
type cursor struct {
	rest []byte
	ok   bool
}

// need takes text, which must come next.
func (c *cursor) need(text string) {
	if len(c.rest) < len(text) || string(c.rest[:len(text)]) != text {
		c.ok = false
		return
	}
	c.rest = c.rest[len(text):]
}

// number takes a number of one to nine digits without leading zeros.
func (c *cursor) number() uint64 {
	n, i := uint64(0), 0
	for ; i < len(c.rest) && i < 10 && c.rest[i] >= '0' && c.rest[i] <= '9'; i++ {
		n = 10*n + uint64(c.rest[i]-'0')
	}
	c.ok = c.ok && i > 0 && i < 10 && (i == 1 || c.rest[0] != '0')
	c.rest = c.rest[i:]
	return n
}
