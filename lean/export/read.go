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

	"github.com/erdos1056/erdos1056/lean/term"
)

// Read reads one export, plain or gzip, and adds its terms to store. On an
// error other than an I/O error it returns an *Error.
func Read(r io.Reader, store *term.Store, limits Limits) (f *File, err error) {
	if limits.MaxLine == 0 {
		limits.MaxLine = 256 << 20
	}
	if limits.MaxBytes == 0 {
		limits.MaxBytes = 64 << 30
	}
	in := &digester{r: r, sum: sha256.New()}
	lines := &lineReader{limits: limits}
	defer func() {
		var limit *term.LimitError
		if p := recover(); p != nil {
			if e, ok := p.(error); !ok || !errors.As(e, &limit) {
				panic(p)
			}
			f, err = nil, &Error{Limit, lines.line, limit.What}
		}
	}()
	raw := bufio.NewReaderSize(in, 1<<16)
	source := io.Reader(raw)
	if magic, _ := raw.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(raw)
		if err != nil {
			return nil, fmt.Errorf("reading gzip: %w", err)
		}
		source = z
	}
	ahead := readAhead(source)
	defer ahead.stop()
	lines.r = bufio.NewReaderSize(ahead, 1<<18)
	f = &File{Store: store}
	if err := readFile(f, lines); err != nil {
		return nil, err
	}
	// The digest covers what follows a compressed stream, too.
	if _, err := io.Copy(io.Discard, raw); err != nil {
		return nil, err
	}
	f.SHA256 = hex.EncodeToString(in.sum.Sum(nil))
	f.Bytes = in.n
	f.Lines = lines.line
	return f, nil
}

func readFile(f *File, lines *lineReader) error {
	first, err := lines.next()
	if err == io.EOF {
		return &Error{Unsupported, 1, "the file is empty; expected a lean4export file"}
	}
	if err != nil {
		return err
	}
	b := newBuilder(f)
	var parse func([]byte) error
	switch {
	case len(first) > 0 && first[0] == '{':
		j := &jsonReader{builder: b}
		if err := j.meta(first); err != nil {
			return lines.locate(err)
		}
		parse = j.record
	default:
		if err := textVersion(first); err != nil {
			return lines.locate(err)
		}
		f.Meta.Format = "2.0.0"
		b.text = true
		t := &textReader{builder: b}
		parse = t.record
	}
	for {
		line, err := lines.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		b.line = lines.line
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := parse(line); err != nil {
			return lines.locate(err)
		}
	}
	return lines.locate(b.finish())
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

// locate fills in the present line.
func (l *lineReader) locate(err error) error {
	var e *Error
	if errors.As(err, &e) && e.Line == 0 {
		e.Line = max(1, l.line)
	}
	return err
}
