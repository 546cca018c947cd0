package canon

import (
	"math"
	"slices"
	"strconv"
)

// Kind is the type of a JSON value.
type Kind uint8

// The six types of JSON.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// String returns the type's name as an error message uses it.
func (k Kind) String() string {
	switch k {
	case Null:
		return "null"
	case Bool:
		return "a boolean"
	case Number:
		return "a number"
	case String:
		return "a string"
	case Array:
		return "an array"
	case Object:
		return "an object"
	}
	return "an unknown type"
}

// MaxSafeInteger is 2^53 - 1, the greatest integer that an IEEE double holds
// together with all smaller ones.
const MaxSafeInteger = 1<<53 - 1

// Value is one JSON value. It is immutable; the zero Value is null.
//
// Text is held as WTF-8: UTF-8 in which a lone surrogate takes the three bytes
// that its code point would take. Strict reading never yields such text.
type Value struct {
	kind     Kind
	truth    bool
	offset   int
	text     string // a string's text, or a number as it was spelled
	elements []Value
	members  []Member
}

// Member is one key and value of an object.
type Member struct {
	Key   string
	Value Value
	// Offset is the byte offset of the key in the text that was parsed.
	Offset int
}

// Kind returns the value's type.
func (v Value) Kind() Kind { return v.kind }

// Offset returns the byte offset of the value in the text that was parsed, and
// 0 for a value that was made.
func (v Value) Offset() int { return v.offset }

// Truth returns the value of a boolean, and false for anything else.
func (v Value) Truth() bool { return v.kind == Bool && v.truth }

// Text returns the text of a string, and "" for anything else.
func (v Value) Text() string {
	if v.kind != String {
		return ""
	}
	return v.text
}

// Spelling returns a number as the text spelled it, and "" for anything else.
func (v Value) Spelling() string {
	if v.kind != Number {
		return ""
	}
	return v.text
}

// Float returns the IEEE double nearest to a number, and NaN for anything else.
func (v Value) Float() float64 {
	if v.kind != Number {
		return math.NaN()
	}
	// The grammar was checked when the text was read; a number too great for a
	// double becomes an infinity, which Encode refuses.
	f, _ := strconv.ParseFloat(v.text, 64)
	return f
}

// Integer returns a number as an integer. It is false for anything that is not
// a whole number in -MaxSafeInteger..MaxSafeInteger.
func (v Value) Integer() (int64, bool) {
	f := v.Float()
	if math.Trunc(f) != f || math.Abs(f) > MaxSafeInteger {
		return 0, false
	}
	return int64(f), true
}

// Elements returns the elements of an array in order. The slice is shared.
func (v Value) Elements() []Value { return v.elements }

// Members returns the members of an object in the order of the text, without
// repetitions. The slice is shared.
func (v Value) Members() []Member { return v.members }

// Lookup returns the member with the given key.
func (v Value) Lookup(key string) (Value, bool) {
	for _, m := range v.members {
		if m.Key == key {
			return m.Value, true
		}
	}
	return Value{}, false
}

// With returns the object with one member replaced, or added at the end.
func (v Value) With(key string, value Value) Value {
	v.members = slices.Clone(v.members)
	for i := range v.members {
		if v.members[i].Key == key {
			v.members[i].Value = value
			return v
		}
	}
	v.members = append(v.members, Member{Key: key, Value: value})
	return v
}

// Without returns the object without the member of the given key.
func (v Value) Without(key string) Value {
	v.members = slices.DeleteFunc(slices.Clone(v.members), func(m Member) bool { return m.Key == key })
	return v
}

// NewBool returns a boolean.
func NewBool(b bool) Value { return Value{kind: Bool, truth: b} }

// NewInteger returns a whole number.
func NewInteger(n int64) Value { return Value{kind: Number, text: strconv.FormatInt(n, 10)} }

// NewString returns a string.
func NewString(s string) Value { return Value{kind: String, text: s} }

// NewArray returns an array.
func NewArray(elements ...Value) Value { return Value{kind: Array, elements: elements} }

// NewObject returns an object. Keys must not repeat.
func NewObject(members ...Member) Value { return Value{kind: Object, members: members} }
