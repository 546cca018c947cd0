package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/internal/digest"
)

// Spec is one version of a document format. T is the Go form of the document;
// its json tags name the fields of Fields.
type Spec[T any] struct {
	// Name is the first element of a field's path in messages: "mission".
	Name string
	// ID names the format and the file of its printed schema: "canopus.mission.v1".
	ID string
	// Title is the schema's title.
	Title string
	// Limits bounds the text. The zero value means canon.RecordLimits.
	Limits canon.Limits
	// Canonical demands that the text is the canonical text of its value and one
	// newline, so that one value has one digest.
	Canonical bool
	Fields    Type // an Object or Open
	Rules     []Rule[T]
}

// Rule relates several fields of a document.
type Rule[T any] struct {
	// Text says what the rule demands; the printed schema quotes it.
	Text string
	// Check returns an error, usually made by Violation, if v breaks the rule.
	Check func(v T) error
}

// Violation returns the error of a rule. Path is relative to the document.
func Violation(path, format string, args ...any) error {
	return &FieldError{Path: path, Problem: fmt.Sprintf(format, args...)}
}

// Parse reads a document and checks it against the whole table.
func (s Spec[T]) Parse(data []byte) (T, error) {
	var zero T
	limits := s.Limits
	if limits == (canon.Limits{}) {
		limits = canon.RecordLimits
	}
	root, err := canon.ParseStrict(data, limits)
	if err != nil {
		return zero, fmt.Errorf("%s: %w", s.Name, err)
	}
	document, err := s.FromValue(root)
	if err != nil {
		return zero, locate(err, data)
	}
	if s.Canonical {
		if err := s.demandCanonical(root, data); err != nil {
			return zero, err
		}
	}
	return document, nil
}

func (s Spec[T]) demandCanonical(root canon.Value, data []byte) error {
	line, err := canon.EncodeLine(root)
	if err != nil {
		return err
	}
	if bytes.Equal(line, data) {
		return nil
	}
	at := 0
	for at < len(line) && at < len(data) && line[at] == data[at] {
		at++
	}
	return fmt.Errorf("%s: the text is not in canonical form (sorted keys, no blanks, one final newline); it first differs at byte %d", s.Name, at)
}

// locate adds the place in the text to a field error.
func locate(err error, data []byte) error {
	var field *FieldError
	if errors.As(err, &field) && field.offset > 0 && field.offset <= len(data) {
		before := data[:field.offset]
		field.Line = 1 + bytes.Count(before, []byte{'\n'})
		field.Column = field.offset - bytes.LastIndexByte(before, '\n')
	}
	return err
}

// FromValue checks a value that was parsed before.
func (s Spec[T]) FromValue(v canon.Value) (T, error) {
	var document T
	if err := s.Fields.check(s.Name, v); err != nil {
		return document, err
	}
	text, err := canon.Encode(v)
	if err != nil {
		return document, fmt.Errorf("%s: %w", s.Name, err)
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return document, fmt.Errorf("%s: %w", s.Name, err)
	}
	return document, s.checkRules(document)
}

func (s Spec[T]) checkRules(document T) error {
	for _, rule := range s.Rules {
		err := rule.Check(document)
		var field *FieldError
		if errors.As(err, &field) && !strings.HasPrefix(field.Path, s.Name+".") {
			field.Path = strings.TrimSuffix(s.Name+"."+field.Path, ".")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Value returns the document as a JSON value, checked against the whole table:
// nothing is written that Parse would refuse.
func (s Spec[T]) Value(document T) (canon.Value, error) {
	v, err := canon.Of(document)
	if err != nil {
		return canon.Value{}, err
	}
	_, err = s.FromValue(v)
	return v, err
}

// Encode returns the document's record file: canonical text and one newline.
func (s Spec[T]) Encode(document T) ([]byte, error) {
	v, err := s.Value(document)
	if err != nil {
		return nil, err
	}
	return canon.EncodeLine(v)
}

// Digest returns the content digest of the document, which is the digest of
// the bytes of Encode.
func (s Spec[T]) Digest(document T) (digest.Digest, error) {
	line, err := s.Encode(document)
	if err != nil {
		return "", err
	}
	return digest.Of(line), nil
}

// Document is a format whose JSON Schema can be printed.
type Document interface {
	FormatID() string
	JSONSchema() ([]byte, error)
}

// FormatID returns the spec's ID.
func (s Spec[T]) FormatID() string { return s.ID }

// JSONSchema prints the format as a JSON Schema of draft 2020-12.
func (s Spec[T]) JSONSchema() ([]byte, error) {
	defs := &definitions{}
	root := s.Fields.describe(defs)
	members := []canon.Member{
		member("$schema", canon.NewString("https://json-schema.org/draft/2020-12/schema")),
		member("$id", canon.NewString("urn:erdos1056:"+s.ID)),
		member("title", canon.NewString(s.Title)),
	}
	if len(s.Rules) > 0 {
		texts := make([]string, len(s.Rules))
		for i, rule := range s.Rules {
			texts[i] = rule.Text
		}
		members = append(members, member("$comment", canon.NewString("Beyond this schema: "+strings.Join(texts, " "))))
	}
	members = append(members, root.Members()...)
	if len(defs.members) > 0 {
		members = append(members, member("$defs", canon.NewObject(defs.members...)))
	}
	return Indent(canon.NewObject(members...))
}

// Indent prints a value over several lines, its members in their own order.
func Indent(v canon.Value) ([]byte, error) {
	compact, err := canon.EncodeInOrder(v)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, compact, "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}
