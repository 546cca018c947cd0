package export

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// scanner reads JSON values from one line, strictly: no duplicate or unknown
// keys in the objects it is asked for, no trailing data, valid UTF-8 only. After
// the first error every method returns a zero value.
type scanner struct {
	buf []byte
	pos int
	err error
}

func (s *scanner) reset(line []byte) { *s = scanner{buf: line} }

func (s *scanner) fail(format string, args ...any) {
	if s.err == nil {
		s.err = malformed("column "+strconv.Itoa(s.pos+1)+": "+format, args...)
	}
}

func (s *scanner) blank() {
	for s.pos < len(s.buf) {
		switch s.buf[s.pos] {
		case ' ', '\t', '\r', '\n':
			s.pos++
		default:
			return
		}
	}
}

// peek returns the next byte that is not blank, or 0 at the end.
func (s *scanner) peek() byte {
	if s.pos < len(s.buf) && s.buf[s.pos] > ' ' {
		return s.buf[s.pos]
	}
	s.blank()
	if s.pos < len(s.buf) {
		return s.buf[s.pos]
	}
	return 0
}

func (s *scanner) expect(c byte) bool {
	if s.err != nil {
		return false
	}
	if s.peek() != c {
		s.fail("expected %q", c)
		return false
	}
	s.pos++
	return true
}

func (s *scanner) end() {
	if s.err == nil && s.peek() != 0 {
		s.fail("unexpected data after the value")
	}
}

// fields reads an object whose keys are among names, at most 32. It calls f with
// the position of each key in names; f must read the value. All keys but those
// in optional must be there.
func (s *scanner) fields(names []string, optional uint32, f func(i int)) {
	var seen uint32
	s.members(func(key []byte) {
		for i, n := range names {
			if string(key) == n {
				if seen&(1<<i) != 0 {
					s.fail("key %q comes twice", n)
				}
				seen |= 1 << i
				f(i)
				return
			}
		}
		if s.err == nil {
			s.err = unsupported("unknown key %.60q; this may be a newer format", key)
		}
	})
	if missing := (uint32(1)<<len(names) - 1) &^ (seen | optional); s.err == nil && missing != 0 {
		for i, n := range names {
			if missing&(1<<i) != 0 {
				s.fail("key %q is missing", n)
			}
		}
	}
}

// members calls f for each key of an object; f must read the value. The key is
// valid until the value is read.
func (s *scanner) members(f func(key []byte)) {
	if !s.expect('{') {
		return
	}
	if s.peek() == '}' {
		s.pos++
		return
	}
	for s.err == nil {
		key := s.rawString()
		if !s.expect(':') {
			return
		}
		f(key)
		if s.err != nil {
			return
		}
		if s.peek() == ',' {
			s.pos++
			continue
		}
		s.expect('}')
		return
	}
}

// elements calls f for each element of an array; f must read it.
func (s *scanner) elements(f func()) {
	if !s.expect('[') {
		return
	}
	if s.peek() == ']' {
		s.pos++
		return
	}
	for s.err == nil {
		f()
		if s.err != nil {
			return
		}
		if s.peek() == ',' {
			s.pos++
			continue
		}
		s.expect(']')
		return
	}
}

func (s *scanner) uint() uint64 {
	if s.err != nil {
		return 0
	}
	s.peek()
	start := s.pos
	var n uint64
	for s.pos < len(s.buf) && s.buf[s.pos] >= '0' && s.buf[s.pos] <= '9' {
		d := uint64(s.buf[s.pos] - '0')
		if n > (1<<64-1-d)/10 {
			s.fail("the number is too large")
			return 0
		}
		n = 10*n + d
		s.pos++
	}
	switch {
	case s.pos == start:
		s.fail("expected a natural number")
	case s.buf[start] == '0' && s.pos > start+1:
		s.fail("a number must not start with 0")
	case s.pos < len(s.buf) && (s.buf[s.pos] == '.' || s.buf[s.pos]|0x20 == 'e'):
		s.fail("expected a natural number")
	}
	return n
}

func (s *scanner) uints() []uint64 {
	var out []uint64
	s.elements(func() { out = append(out, s.uint()) })
	return out
}

func (s *scanner) bool() bool {
	if s.err != nil {
		return false
	}
	s.peek()
	switch rest := s.buf[s.pos:]; {
	case len(rest) >= 4 && string(rest[:4]) == "true":
		s.pos += 4
		return true
	case len(rest) >= 5 && string(rest[:5]) == "false":
		s.pos += 5
	default:
		s.fail("expected true or false")
	}
	return false
}

func (s *scanner) string() string { return string(s.rawString()) }

// rawString returns the content of a string; without escapes it is a part of
// the line.
func (s *scanner) rawString() []byte {
	if !s.expect('"') {
		return nil
	}
	start := s.pos
	ascii := true
	for ; s.pos < len(s.buf); s.pos++ {
		switch c := s.buf[s.pos]; {
		case c == '"':
			text := s.buf[start:s.pos]
			s.pos++
			if !ascii && !utf8.Valid(text) {
				s.fail("the string is not valid UTF-8")
			}
			return text
		case c == '\\':
			return s.escapedString(start)
		case c < 0x20:
			s.fail("control character in a string")
			return nil
		case c >= 0x80:
			ascii = false
		}
	}
	s.fail("the string does not end")
	return nil
}

func (s *scanner) escapedString(start int) []byte {
	out := append([]byte(nil), s.buf[start:s.pos]...)
	for s.pos < len(s.buf) {
		c := s.buf[s.pos]
		s.pos++
		switch {
		case c == '"':
			if !utf8.Valid(out) {
				s.fail("the string is not valid UTF-8")
			}
			return out
		case c < 0x20:
			s.fail("control character in a string")
			return nil
		case c != '\\':
			out = append(out, c)
			continue
		}
		if s.pos == len(s.buf) {
			break
		}
		c = s.buf[s.pos]
		s.pos++
		switch c {
		case '"', '\\', '/':
			out = append(out, c)
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			out = utf8.AppendRune(out, s.unicodeEscape())
		default:
			s.fail("unknown escape \\%c", c)
		}
		if s.err != nil {
			return nil
		}
	}
	s.fail("the string does not end")
	return nil
}

// unicodeEscape reads what follows \u, and the second half of a surrogate pair.
func (s *scanner) unicodeEscape() rune {
	r := s.hex4()
	if !utf16.IsSurrogate(r) {
		return r
	}
	if s.pos+1 < len(s.buf) && s.buf[s.pos] == '\\' && s.buf[s.pos+1] == 'u' {
		s.pos += 2
		if r = utf16.DecodeRune(r, s.hex4()); r != utf8.RuneError {
			return r
		}
	}
	s.fail("half a surrogate pair in a string")
	return 0
}

func (s *scanner) hex4() rune {
	if s.pos+4 > len(s.buf) {
		s.fail("expected four hexadecimal digits")
		return 0
	}
	n, err := strconv.ParseUint(string(s.buf[s.pos:s.pos+4]), 16, 16)
	if err != nil {
		s.fail("expected four hexadecimal digits")
	}
	s.pos += 4
	return rune(n)
}

// skip reads any value of bounded depth.
func (s *scanner) skip(depth int) {
	if depth == 0 {
		s.fail("a value is nested too deep")
	}
	if s.err != nil {
		return
	}
	switch c := s.peek(); {
	case c == '{':
		s.members(func([]byte) { s.skip(depth - 1) })
	case c == '[':
		s.elements(func() { s.skip(depth - 1) })
	case c == '"':
		s.rawString()
	case c == 't' || c == 'f':
		s.bool()
	case c == 'n' && len(s.buf) >= s.pos+4 && string(s.buf[s.pos:s.pos+4]) == "null":
		s.pos += 4
	default:
		s.number()
	}
}

func (s *scanner) number() {
	start := s.pos
	for s.pos < len(s.buf) {
		switch c := s.buf[s.pos]; {
		case c >= '0' && c <= '9', c == '-', c == '+', c == '.', c|0x20 == 'e':
			s.pos++
			continue
		}
		break
	}
	if _, err := strconv.ParseFloat(string(s.buf[start:s.pos]), 64); err != nil && s.pos == start {
		s.fail("expected a value")
	}
}
