package schema

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
)

// Type describes the values that one place of a format may hold.
type Type interface {
	// check reports the first place at or below v that is not of the type.
	check(at string, v canon.Value) *FieldError
	// describe returns the JSON Schema of the type. It adds named types to defs.
	describe(defs *definitions) canon.Value
}

// FieldError says which field of a document is not what its format demands.
type FieldError struct {
	Path         string // for example mission.verifier.argv[0]
	Problem      string // what was expected, and what was found
	Line, Column int    // where in the text; 0 if there is no text
	offset       int
}

func (e *FieldError) Error() string {
	if e.Line == 0 {
		return e.Path + ": " + e.Problem
	}
	return fmt.Sprintf("%s: %s (line %d, column %d)", e.Path, e.Problem, e.Line, e.Column)
}

func mismatch(at string, v canon.Value, expected string) *FieldError {
	return &FieldError{Path: at, Problem: "expected " + expected + ", found " + show(v), offset: v.Offset()}
}

// show describes a value for a message, at bounded length.
func show(v canon.Value) string {
	switch v.Kind() {
	case canon.String:
		return quote(v.Text())
	case canon.Number:
		return quoteless(v.Spelling())
	case canon.Bool:
		return strconv.FormatBool(v.Truth())
	case canon.Array:
		return fmt.Sprintf("an array of %d", len(v.Elements()))
	}
	return v.Kind().String()
}

const shownLength = 80

func quote(s string) string {
	if len(s) > shownLength {
		return fmt.Sprintf("%q… (%d characters)", strings.ToValidUTF8(s[:shownLength], ""), canon.UTF16Length(s))
	}
	return strconv.Quote(s)
}

func quoteless(s string) string {
	if len(s) > shownLength {
		return s[:shownLength] + "…"
	}
	return s
}

// String is text of Min..Max UTF-16 code units that matches Pattern, if one is
// given. Patterns are written in the common part of Go's and ECMAScript's
// syntax and must be anchored.
type String struct {
	Min, Max int
	Pattern  *regexp.Regexp
	// Form says in words what the pattern demands.
	Form string
}

func (t String) check(at string, v canon.Value) *FieldError {
	if v.Kind() != canon.String {
		return mismatch(at, v, "a string")
	}
	if n := canon.UTF16Length(v.Text()); n < t.Min || n > t.Max {
		return mismatch(at, v, fmt.Sprintf("%d to %d characters", t.Min, t.Max))
	}
	if t.Pattern != nil && !t.Pattern.MatchString(v.Text()) {
		return mismatch(at, v, t.Form)
	}
	return nil
}

func (t String) describe(*definitions) canon.Value {
	members := []canon.Member{member("type", canon.NewString("string"))}
	if t.Min > 0 {
		members = append(members, member("minLength", canon.NewInteger(int64(t.Min))))
	}
	members = append(members, member("maxLength", canon.NewInteger(int64(t.Max))))
	if t.Pattern != nil {
		members = append(members, member("pattern", canon.NewString(t.Pattern.String())))
	}
	return canon.NewObject(members...)
}

// Enum is one of several texts.
type Enum []string

func (t Enum) check(at string, v canon.Value) *FieldError {
	if v.Kind() == canon.String {
		for _, choice := range t {
			if v.Text() == choice {
				return nil
			}
		}
	}
	return mismatch(at, v, "one of "+strings.Join(t, ", "))
}

func (t Enum) describe(*definitions) canon.Value {
	choices := make([]canon.Value, len(t))
	for i, choice := range t {
		choices[i] = canon.NewString(choice)
	}
	return canon.NewObject(member("enum", canon.NewArray(choices...)))
}

// Const is exactly one text.
type Const string

func (t Const) check(at string, v canon.Value) *FieldError {
	if v.Kind() != canon.String || v.Text() != string(t) {
		return mismatch(at, v, strconv.Quote(string(t)))
	}
	return nil
}

func (t Const) describe(*definitions) canon.Value {
	return canon.NewObject(member("const", canon.NewString(string(t))))
}

// Texts is exactly one array of texts, in order.
type Texts []string

func (t Texts) check(at string, v canon.Value) *FieldError {
	same := v.Kind() == canon.Array && len(v.Elements()) == len(t)
	for i := 0; same && i < len(t); i++ {
		e := v.Elements()[i]
		same = e.Kind() == canon.String && e.Text() == t[i]
	}
	if !same {
		return mismatch(at, v, "["+strings.Join(t, ", ")+"]")
	}
	return nil
}

func (t Texts) describe(*definitions) canon.Value {
	texts := make([]canon.Value, len(t))
	for i, text := range t {
		texts[i] = canon.NewString(text)
	}
	return canon.NewObject(member("const", canon.NewArray(texts...)))
}

// Truth is exactly one boolean.
type Truth bool

func (t Truth) check(at string, v canon.Value) *FieldError {
	if v.Kind() != canon.Bool || v.Truth() != bool(t) {
		return mismatch(at, v, strconv.FormatBool(bool(t)))
	}
	return nil
}

func (t Truth) describe(*definitions) canon.Value {
	return canon.NewObject(member("const", canon.NewBool(bool(t))))
}

// Boolean is true or false.
type Boolean struct{}

func (Boolean) check(at string, v canon.Value) *FieldError {
	if v.Kind() != canon.Bool {
		return mismatch(at, v, "true or false")
	}
	return nil
}

func (Boolean) describe(*definitions) canon.Value {
	return canon.NewObject(member("type", canon.NewString("boolean")))
}

// Integer is a whole number in Min..Max.
type Integer struct{ Min, Max int64 }

func (t Integer) check(at string, v canon.Value) *FieldError {
	n, whole := v.Integer()
	if !whole || n < t.Min || n > t.Max {
		return mismatch(at, v, fmt.Sprintf("an integer in %d..%d", t.Min, t.Max))
	}
	return nil
}

func (t Integer) describe(*definitions) canon.Value {
	return canon.NewObject(
		member("type", canon.NewString("integer")),
		member("minimum", canon.NewInteger(t.Min)),
		member("maximum", canon.NewInteger(t.Max)))
}

// Array holds Min..Max elements of one type.
type Array struct {
	Min, Max int
	Unique   bool
	Items    Type
}

func (t Array) check(at string, v canon.Value) *FieldError {
	if v.Kind() != canon.Array {
		return mismatch(at, v, "an array")
	}
	if n := len(v.Elements()); n < t.Min || n > t.Max {
		return mismatch(at, v, fmt.Sprintf("%d to %d elements", t.Min, t.Max))
	}
	seen := map[string]bool{}
	for i, e := range v.Elements() {
		where := at + "[" + strconv.Itoa(i) + "]"
		if err := t.Items.check(where, e); err != nil {
			return err
		}
		if !t.Unique {
			continue
		}
		text, err := canon.Encode(e)
		if err != nil || seen[string(text)] {
			return &FieldError{Path: where, Problem: "expected no repetition, found " + show(e) + " again", offset: e.Offset()}
		}
		seen[string(text)] = true
	}
	return nil
}

func (t Array) describe(defs *definitions) canon.Value {
	members := []canon.Member{member("type", canon.NewString("array"))}
	if t.Min > 0 {
		members = append(members, member("minItems", canon.NewInteger(int64(t.Min))))
	}
	members = append(members, member("maxItems", canon.NewInteger(int64(t.Max))))
	if t.Unique {
		members = append(members, member("uniqueItems", canon.NewBool(true)))
	}
	return canon.NewObject(append(members, member("items", t.Items.describe(defs)))...)
}

// Field is one member of an object.
type Field struct {
	Name     string
	Type     Type
	Optional bool
}

// Required returns a field that must be present.
func Required(name string, t Type) Field { return Field{Name: name, Type: t} }

// Optional returns a field that may be absent.
func Optional(name string, t Type) Field { return Field{Name: name, Type: t, Optional: true} }

// Object has exactly the given fields.
type Object []Field

func (t Object) check(at string, v canon.Value) *FieldError {
	if v.Kind() != canon.Object {
		return mismatch(at, v, "an object")
	}
	for _, m := range v.Members() {
		if !t.has(m.Key) {
			return &FieldError{Path: at + "." + quoteless(m.Key), Problem: "this format has no such field", offset: m.Offset}
		}
	}
	return t.checkFields(at, v)
}

func (t Object) checkFields(at string, v canon.Value) *FieldError {
	for _, f := range t {
		value, present := v.Lookup(f.Name)
		if !present {
			if f.Optional {
				continue
			}
			return &FieldError{Path: at + "." + f.Name, Problem: "this field is required", offset: v.Offset()}
		}
		if err := f.Type.check(at+"."+f.Name, value); err != nil {
			return err
		}
	}
	return nil
}

func (t Object) has(name string) bool {
	for _, f := range t {
		if f.Name == name {
			return true
		}
	}
	return false
}

func (t Object) describe(defs *definitions) canon.Value {
	var required []canon.Value
	var properties []canon.Member
	for _, f := range t {
		if !f.Optional {
			required = append(required, canon.NewString(f.Name))
		}
		properties = append(properties, member(f.Name, f.Type.describe(defs)))
	}
	members := []canon.Member{
		member("type", canon.NewString("object")),
		member("additionalProperties", canon.NewBool(false)),
	}
	if len(required) > 0 {
		members = append(members, member("required", canon.NewArray(required...)))
	}
	return canon.NewObject(append(members, member("properties", canon.NewObject(properties...)))...)
}

// Open is an object that has the given fields and may have others. It is for
// what other programs print.
type Open Object

func (t Open) check(at string, v canon.Value) *FieldError {
	if v.Kind() != canon.Object {
		return mismatch(at, v, "an object")
	}
	return Object(t).checkFields(at, v)
}

func (t Open) describe(defs *definitions) canon.Value {
	return Object(t).describe(defs).Without("additionalProperties")
}

// Map is an object whose keys are free and whose values are of one type.
type Map struct {
	Max    int // greatest number of keys
	Values Type
}

func (t Map) check(at string, v canon.Value) *FieldError {
	if v.Kind() != canon.Object {
		return mismatch(at, v, "an object")
	}
	if len(v.Members()) > t.Max {
		return &FieldError{Path: at, Problem: fmt.Sprintf("expected at most %d keys, found %d", t.Max, len(v.Members())), offset: v.Offset()}
	}
	for _, m := range v.Members() {
		if err := t.Values.check(at+"."+quoteless(m.Key), m.Value); err != nil {
			return err
		}
	}
	return nil
}

func (t Map) describe(defs *definitions) canon.Value {
	return canon.NewObject(
		member("type", canon.NewString("object")),
		member("maxProperties", canon.NewInteger(int64(t.Max))),
		member("additionalProperties", t.Values.describe(defs)))
}

// Nullable is null or a value of another type.
type Nullable struct{ Type }

func (t Nullable) check(at string, v canon.Value) *FieldError {
	if v.Kind() == canon.Null {
		return nil
	}
	return t.Type.check(at, v)
}

func (t Nullable) describe(defs *definitions) canon.Value {
	return canon.NewObject(member("anyOf", canon.NewArray(t.Type.describe(defs), Nothing{}.describe(defs))))
}

// Nothing is null.
type Nothing struct{}

func (Nothing) check(at string, v canon.Value) *FieldError {
	if v.Kind() != canon.Null {
		return mismatch(at, v, "null")
	}
	return nil
}

func (Nothing) describe(*definitions) canon.Value {
	return canon.NewObject(member("type", canon.NewString("null")))
}

// Anything is any JSON value.
type Anything struct{}

func (Anything) check(string, canon.Value) *FieldError { return nil }
func (Anything) describe(*definitions) canon.Value     { return canon.NewObject() }

// AnyObject is an object with any members.
type AnyObject struct{}

func (AnyObject) check(at string, v canon.Value) *FieldError {
	if v.Kind() != canon.Object {
		return mismatch(at, v, "an object")
	}
	return nil
}

func (AnyObject) describe(*definitions) canon.Value {
	return canon.NewObject(member("type", canon.NewString("object")))
}

// Named is a type that the printed schema defines once, under its name.
type Named struct {
	Name string
	Type
}

func (t Named) describe(defs *definitions) canon.Value {
	if !defs.has(t.Name) {
		// Reserve the place first, so that definitions print in the order of use.
		i := len(defs.members)
		defs.members = append(defs.members, member(t.Name, canon.Value{}))
		defs.members[i].Value = t.Type.describe(defs)
	}
	return canon.NewObject(member("$ref", canon.NewString("#/$defs/"+t.Name)))
}

type definitions struct{ members []canon.Member }

func (d *definitions) has(name string) bool {
	for _, m := range d.members {
		if m.Key == name {
			return true
		}
	}
	return false
}

func member(key string, value canon.Value) canon.Member {
	return canon.Member{Key: key, Value: value}
}
