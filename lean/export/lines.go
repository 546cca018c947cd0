package export

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
)

// A lineReader cuts a stream into lines of bounded length.
type lineReader struct {
	r      *bufio.Reader
	limits Limits
	line   int
	total  int64
	long   []byte
	json   bool // the first line is an object
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

// A batch holds consecutive lines, taken apart where that is possible, and the
// texts of those that have one, one after the other.
type batch struct {
	lines []line
	text  []byte
	err   error // after the lines; io.EOF at the end
}

// Batches pass from one core to another, which takes longer than filling them.
// They are small, so that those in use stay in the cache.
const (
	batchSize  = 1 << 15 // bytes of text after which a batch is handed on
	batchLines = 1 << 10 // or lines, if that comes first
	batchCount = 8
)

// A lineFeed reads, decompresses, cuts and takes apart lines on a goroutine of
// its own while the lines before are made into terms.
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

func (b *batch) fill(r *lineReader) {
	b.lines, b.text, b.err = b.lines[:0], b.text[:0], nil
	for len(b.text) < batchSize && len(b.lines) < batchLines {
		text, err := r.next()
		if err != nil {
			b.err = err
			return
		}
		var l line
		switch {
		case r.line == 1:
			r.json = bytes.HasPrefix(text, []byte("{"))
		case r.json:
			l, text = lexLine(text)
		}
		l.text = uint32(len(text))
		b.lines = append(b.lines, l)
		b.text = append(b.text, text...)
	}
}
