package canon

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits bounds what a reader accepts before it allocates anything for it.
type Limits struct {
	Bytes int // greatest size of the text
	Depth int // greatest number of arrays and objects around a value
}

// RecordLimits are the limits of every record of a run: 8 MiB, 64 levels.
var RecordLimits = Limits{Bytes: 8 << 20, Depth: 64}

// DocumentLimits are the limits of documents that people write (profiles,
// drafts, contracts): 1 MiB, 64 levels.
var DocumentLimits = Limits{Bytes: 1 << 20, Depth: 64}

// SyntaxError says where a text is not the JSON that was asked for.
type SyntaxError struct {
	Line, Column int // both from 1; the column counts bytes
	Problem      string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Problem)
}

// LimitError says that a text exceeds a limit of the reader. It is no verdict
// on the text.
type LimitError struct{ Problem string }

func (e *LimitError) Error() string { return e.Problem }

// IrregularityKind names a way in which two readers can understand one text
// differently.
type IrregularityKind string

// The irregularities that Parse reports.
const (
	DuplicateKey   IrregularityKind = "duplicate key"
	PrototypeKey   IrregularityKind = "key __proto__"
	LoneSurrogate  IrregularityKind = "lone surrogate"
	NumberSpelling IrregularityKind = "number spelling"
)

// Irregularity is one place where readers can disagree about a text that
// ECMAScript accepts.
type Irregularity struct {
	Kind         IrregularityKind
	Line, Column int
	Problem      string
}

// Document is a parsed text.
type Document struct {
	Root           Value
	Irregularities []Irregularity // in the order of the text
}

// ParseStrict reads one JSON text and refuses it, with its position, when it
// is not valid UTF-8, starts with a byte order mark, has anything after the
// value, exceeds the limits, or has any Irregularity.
func ParseStrict(data []byte, limits Limits) (Value, error) {
	doc, err := Parse(data, limits)
	if err != nil {
		return Value{}, err
	}
	if len(doc.Irregularities) > 0 {
		first := doc.Irregularities[0]
		return Value{}, &SyntaxError{first.Line, first.Column, first.Problem}
	}
	return doc.Root, nil
}

// Parse reads one JSON text as ECMAScript's JSON.parse does: of members with
// one key the last value stands, at the place of the first. What ParseStrict
// would refuse beyond JSON.parse is listed in the document.
func Parse(data []byte, limits Limits) (Document, error) {
	if len(data) > limits.Bytes {
		return Document{}, &LimitError{fmt.Sprintf("text of %d bytes exceeds the limit of %d bytes", len(data), limits.Bytes)}
	}
	p := parser{data: data, depthLimit: limits.Depth}
	if bytes.HasPrefix(data, []byte("\ufeff")) {
		return Document{}, p.fail(0, "the text starts with a byte order mark; save it without one")
	}
	if at := firstInvalidUTF8(data); at >= 0 {
		return Document{}, p.fail(at, "byte 0x%02x is not valid UTF-8", data[at])
	}
	p.skipBlanks()
	root, err := p.value(0)
	if err != nil {
		return Document{}, err
	}
	p.skipBlanks()
	if p.pos != len(data) {
		return Document{}, p.fail(p.pos, "expected the end of the text after the value, found %s", p.here())
	}
	return Document{Root: root, Irregularities: p.irregularities}, nil
}

func firstInvalidUTF8(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	at := 0
	for at < len(data) {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
	return -1
}

type parser struct {
	data           []byte
	pos            int
	depthLimit     int
	irregularities []Irregularity
	// refuseReplacement makes the escape \ufffd an error: encoding/json writes
	// that escape, and only it, for bytes that are not UTF-8.
	refuseReplacement bool
}

func (p *parser) position(at int) (line, column int) {
	before := p.data[:at]
	return 1 + bytes.Count(before, []byte{'\n'}), at - bytes.LastIndexByte(before, '\n')
}

func (p *parser) fail(at int, format string, args ...any) error {
	line, column := p.position(at)
	return &SyntaxError{line, column, fmt.Sprintf(format, args...)}
}

func (p *parser) report(at int, kind IrregularityKind, format string, args ...any) {
	// One text can repeat a key millions of times; the first hundred places
	// tell everything.
	if len(p.irregularities) >= 100 {
		return
	}
	line, column := p.position(at)
	p.irregularities = append(p.irregularities, Irregularity{kind, line, column, fmt.Sprintf(format, args...)})
}

// here describes the byte at the current position for a message.
func (p *parser) here() string {
	if p.pos >= len(p.data) {
		return "the end of the text"
	}
	r, _ := utf8.DecodeRune(p.data[p.pos:])
	return strconv.QuoteRune(r)
}

func (p *parser) skipBlanks() {
	for p.pos < len(p.data) {
		switch p.data[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

func (p *parser) next() byte {
	if p.pos < len(p.data) {
		return p.data[p.pos]
	}
	return 0
}

var literals = []struct {
	text string
	kind Kind
}{{"null", Null}, {"true", Bool}, {"false", Bool}}

func (p *parser) value(depth int) (Value, error) {
	start := p.pos
	switch c := p.next(); {
	case c == '{' || c == '[':
		if depth >= p.depthLimit {
			line, column := p.position(start)
			return Value{}, &LimitError{fmt.Sprintf("line %d, column %d: nesting exceeds the limit of %d levels", line, column, p.depthLimit)}
		}
		if c == '{' {
			return p.object(depth + 1)
		}
		return p.array(depth + 1)
	case c == '"':
		text, err := p.string()
		return Value{kind: String, offset: start, text: text}, err
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	}
	for _, word := range literals {
		if bytes.HasPrefix(p.data[start:], []byte(word.text)) {
			p.pos += len(word.text)
			return Value{kind: word.kind, truth: word.text == "true", offset: start}, nil
		}
	}
	return Value{}, p.fail(start, "expected a JSON value, found %s", p.here())
}

func (p *parser) array(depth int) (Value, error) {
	v := Value{kind: Array, offset: p.pos}
	p.pos++
	p.skipBlanks()
	if p.next() == ']' {
		p.pos++
		return v, nil
	}
	for {
		p.skipBlanks()
		element, err := p.value(depth)
		if err != nil {
			return Value{}, err
		}
		v.elements = append(v.elements, element)
		p.skipBlanks()
		switch p.next() {
		case ',':
			p.pos++
		case ']':
			p.pos++
			return v, nil
		default:
			return Value{}, p.fail(p.pos, "expected ',' or ']' in an array, found %s", p.here())
		}
	}
}

func (p *parser) object(depth int) (Value, error) {
	v := Value{kind: Object, offset: p.pos}
	p.pos++
	p.skipBlanks()
	if p.next() == '}' {
		p.pos++
		return v, nil
	}
	place := map[string]int{}
	for {
		p.skipBlanks()
		member, err := p.member(depth)
		if err != nil {
			return Value{}, err
		}
		if i, seen := place[member.Key]; seen {
			p.report(member.Offset, DuplicateKey, "key %q occurs twice in one object", member.Key)
			v.members[i].Value = member.Value
		} else {
			place[member.Key] = len(v.members)
			v.members = append(v.members, member)
		}
		p.skipBlanks()
		switch p.next() {
		case ',':
			p.pos++
		case '}':
			p.pos++
			return v, nil
		default:
			return Value{}, p.fail(p.pos, "expected ',' or '}' in an object, found %s", p.here())
		}
	}
}

func (p *parser) member(depth int) (Member, error) {
	start := p.pos
	if p.next() != '"' {
		return Member{}, p.fail(start, "expected a key in double quotes, found %s", p.here())
	}
	key, err := p.string()
	if err != nil {
		return Member{}, err
	}
	if key == "__proto__" {
		p.report(start, PrototypeKey, "key \"__proto__\" is not allowed: ECMAScript readers lose it, so no digest would cover it")
	}
	p.skipBlanks()
	if p.next() != ':' {
		return Member{}, p.fail(p.pos, "expected ':' after a key, found %s", p.here())
	}
	p.pos++
	p.skipBlanks()
	value, err := p.value(depth)
	return Member{Key: key, Value: value, Offset: start}, err
}

func (p *parser) digits() int {
	start := p.pos
	for p.next() >= '0' && p.next() <= '9' {
		p.pos++
	}
	return p.pos - start
}

func (p *parser) number() (Value, error) {
	start := p.pos
	if p.next() == '-' {
		p.pos++
	}
	first := p.next()
	if n := p.digits(); n == 0 || n > 1 && first == '0' {
		return Value{}, p.fail(start, "a number needs digits without a leading zero")
	}
	if p.next() == '.' {
		p.pos++
		if p.digits() == 0 {
			return Value{}, p.fail(start, "a number needs digits after its decimal point")
		}
	}
	if c := p.next(); c == 'e' || c == 'E' {
		p.pos++
		if c := p.next(); c == '+' || c == '-' {
			p.pos++
		}
		if p.digits() == 0 {
			return Value{}, p.fail(start, "a number needs digits in its exponent")
		}
	}
	v := Value{kind: Number, offset: start, text: string(p.data[start:p.pos])}
	switch canonical, err := FormatNumber(v.Float()); {
	case err != nil:
		p.report(start, NumberSpelling, "number %s is too great for a double", abbreviate(v.text))
	case canonical != v.text:
		p.report(start, NumberSpelling, "number %s must be spelled %s", abbreviate(v.text), canonical)
	}
	return v, nil
}

// abbreviate keeps a message short when its number has a million digits.
func abbreviate(s string) string {
	if len(s) <= 40 {
		return s
	}
	return s[:40] + "…"
}

func (p *parser) string() (string, error) {
	start := p.pos
	p.pos++
	// Most strings have no escape: take them in one piece.
	for p.pos < len(p.data) {
		c := p.data[p.pos]
		if c == '"' {
			text := string(p.data[start+1 : p.pos])
			p.pos++
			return text, nil
		}
		if c == '\\' {
			break
		}
		if c < 0x20 {
			return "", p.fail(p.pos, "control character U+%04X must be escaped in a string", c)
		}
		p.pos++
	}
	var text strings.Builder
	text.Write(p.data[start+1 : min(p.pos, len(p.data))])
	for p.pos < len(p.data) {
		switch c := p.data[p.pos]; {
		case c == '"':
			p.pos++
			return text.String(), nil
		case c < 0x20:
			return "", p.fail(p.pos, "control character U+%04X must be escaped in a string", c)
		case c != '\\':
			text.WriteByte(c)
			p.pos++
		default:
			if err := p.escape(&text); err != nil {
				return "", err
			}
		}
	}
	return "", p.fail(start, "the string is not closed")
}

var simpleEscapes = map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func (p *parser) escape(text *strings.Builder) error {
	start := p.pos
	p.pos++
	if c, ok := simpleEscapes[p.next()]; ok {
		p.pos++
		text.WriteByte(c)
		return nil
	}
	unit, ok := p.hexUnit()
	if !ok {
		return p.fail(start, "unknown escape in a string; JSON has \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\uXXXX")
	}
	if unit == utf8.RuneError && p.refuseReplacement {
		return p.fail(start, "a string is not valid UTF-8")
	}
	if isHighSurrogate(unit) && p.next() == '\\' {
		afterHigh := p.pos
		p.pos++
		if low, ok := p.hexUnit(); ok && isLowSurrogate(low) {
			text.WriteRune(0x10000 + (unit-0xd800)<<10 + (low - 0xdc00))
			return nil
		}
		p.pos = afterHigh
	}
	if isHighSurrogate(unit) || isLowSurrogate(unit) {
		p.report(start, LoneSurrogate, "\\u%04x is half of a surrogate pair without the other half", unit)
		writeSurrogate(text, unit)
		return nil
	}
	text.WriteRune(unit)
	return nil
}

// hexUnit reads the uXXXX of an escape.
func (p *parser) hexUnit() (rune, bool) {
	if len(p.data)-p.pos < 5 || p.data[p.pos] != 'u' {
		return 0, false
	}
	unit := rune(0)
	for _, c := range p.data[p.pos+1 : p.pos+5] {
		switch {
		case c >= '0' && c <= '9':
			unit = unit<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			unit = unit<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			unit = unit<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	p.pos += 5
	return unit, true
}
