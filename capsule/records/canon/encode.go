package canon

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gowebpki/jcs"
)

// Encode returns the ECMAScript canonical text of a value, without a newline.
// It fails on a number that no double can hold.
func Encode(v Value) ([]byte, error) {
	return appendValue(nil, v, printOrder)
}

// EncodeInOrder returns the text that JSON.stringify prints for an object whose
// members were inserted in the order of v: no blanks, no newline, not sorted.
// It is for output that people and programs read once, never for digests.
func EncodeInOrder(v Value) ([]byte, error) {
	return appendValue(nil, v, func(members []Member) []Member { return members })
}

// EncodeLine returns Encode's text and one newline: the bytes of a record file
// and of a line of a log.
func EncodeLine(v Value) ([]byte, error) {
	text, err := Encode(v)
	if err != nil {
		return nil, err
	}
	return append(text, '\n'), nil
}

// EncodeRFC8785 returns the text of a value in the JSON Canonicalization Scheme
// of RFC 8785, without a newline. The value must be free of irregularities.
func EncodeRFC8785(v Value) ([]byte, error) {
	text, err := Encode(v)
	if err != nil {
		return nil, err
	}
	return jcs.Transform(text)
}

// Of returns the value that encoding/json makes of a Go value. A string that is
// not UTF-8 is an error, not a replacement character.
func Of(v any) (Value, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return Value{}, err
	}
	p := parser{data: text, depthLimit: math.MaxInt, refuseReplacement: true}
	root, err := p.value(0)
	if err != nil {
		return Value{}, fmt.Errorf("encode %T: %w", v, err)
	}
	return root, nil
}

// Marshal returns the record file of a Go value: its ECMAScript canonical text
// and one newline.
func Marshal(v any) ([]byte, error) {
	value, err := Of(v)
	if err != nil {
		return nil, err
	}
	return EncodeLine(value)
}

func appendValue(dst []byte, v Value, order func([]Member) []Member) ([]byte, error) {
	switch v.kind {
	case Bool:
		return strconv.AppendBool(dst, v.truth), nil
	case Number:
		text, err := FormatNumber(v.Float())
		return append(dst, text...), err
	case String:
		return appendString(dst, v.text), nil
	case Array:
		return appendArray(dst, v.elements, order)
	case Object:
		return appendObject(dst, v.members, order)
	}
	return append(dst, "null"...), nil
}

func appendArray(dst []byte, elements []Value, order func([]Member) []Member) ([]byte, error) {
	dst = append(dst, '[')
	for i, e := range elements {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendValue(dst, e, order); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

func appendObject(dst []byte, members []Member, order func([]Member) []Member) ([]byte, error) {
	dst = append(dst, '{')
	for i, m := range order(members) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendString(dst, m.Key), ':')
		var err error
		if dst, err = appendValue(dst, m.Value, order); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

// printOrder returns the members as an ECMAScript object holds them after its
// keys were inserted in sorted order.
func printOrder(members []Member) []Member {
	sorted := slices.DeleteFunc(slices.Clone(members), func(m Member) bool { return m.Key == "__proto__" })
	slices.SortFunc(sorted, func(a, b Member) int {
		i, aIsIndex := arrayIndex(a.Key)
		j, bIsIndex := arrayIndex(b.Key)
		switch {
		case aIsIndex && bIsIndex:
			return int(i) - int(j)
		case aIsIndex:
			return -1
		case bIsIndex:
			return 1
		}
		return CompareUTF16(a.Key, b.Key)
	})
	return sorted
}

// arrayIndex returns the index that a key spells: a decimal number of
// 0..2^32-2 without sign or leading zero.
func arrayIndex(key string) (int64, bool) {
	if len(key) == 0 || len(key) > 10 || len(key) > 1 && key[0] == '0' || strings.Trim(key, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(key, 10, 64)
	return n, err == nil && n <= math.MaxUint32-1
}

// FormatNumber returns a double as ECMAScript's Number::toString prints it
// (ECMA-262, 6.1.6.1.20): the shortest digits that read back as the same
// double, with an exponent below 1e-6 and from 1e21. It refuses infinities and
// NaN, which JSON cannot hold.
func FormatNumber(f float64) (string, error) {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return "", fmt.Errorf("number %v has no JSON form", f)
	}
	if f == 0 {
		return "0", nil
	}
	if magnitude := math.Abs(f); magnitude >= 1e-6 && magnitude < 1e21 {
		return strconv.FormatFloat(f, 'f', -1, 64), nil
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
	// Go pads the exponent to two digits, ECMAScript does not.
	return mantissa + "e" + exponent[:1] + strings.TrimLeft(exponent[1:], "0"), nil
}

const hexDigits = "0123456789abcdef"

var shortEscapes = map[byte]byte{'"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't'}

func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for len(s) > 0 {
		r, size := decodeRune(s)
		short, isShort := byte(0), false
		if size == 1 {
			short, isShort = shortEscapes[s[0]]
		}
		switch {
		case isShort:
			dst = append(dst, '\\', short)
		case r < 0x20, isHighSurrogate(r), isLowSurrogate(r):
			dst = append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
		default:
			dst = append(dst, s[:size]...)
		}
		s = s[size:]
	}
	return append(dst, '"')
}

// MarshalJSON writes the value, so that a Go struct can hold JSON of any form.
func (v Value) MarshalJSON() ([]byte, error) { return Encode(v) }

// UnmarshalJSON reads the value. The text must be free of irregularities.
func (v *Value) UnmarshalJSON(data []byte) error {
	root, err := ParseStrict(data, Limits{Bytes: len(data), Depth: RecordLimits.Depth})
	*v = root
	return err
}
