package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
)

// payload holds the signed fields of a manifest in signing order.
type payload struct {
	Schema       string        `json:"schema"`
	ID           string        `json:"id"`
	Name         string        `json:"name"`
	Version      string        `json:"version"`
	PublisherFPR string        `json:"publisher_passport_fpr"`
	Summary      string        `json:"summary"`
	Entry        Entry         `json:"entry"`
	Capabilities []string      `json:"capabilities"`
	Network      NetworkAccess `json:"network"`
	DataAccess   DataAccess    `json:"data_access"`
	Safety       SafetyPolicy  `json:"safety"`
	Conformance  *Declaration  `json:"conformance,omitempty"`
}

// SigningPayload returns the bytes that the manifest hash and the signature
// cover: compact JSON in declared field order, without a newline. The
// conformance block is left out when the manifest has none.
//
// The arguments of a case keep their key order. A number among them that is
// not an integer of 64 bits is an error, because its printed form depends on
// who prints it.
func (m *Manifest) SigningPayload() ([]byte, error) {
	if m.Conformance != nil {
		for i, k := range m.Conformance.ReplayCorpus.Cases {
			if err := onlyIntegers(k.Args); err != nil {
				return nil, fmt.Errorf("conformance.replay_corpus.cases[%d].args: %w", i, err)
			}
		}
	}
	return appendCompact(nil, reflect.ValueOf(payload{
		m.Schema, m.ID, m.Name, m.Version, m.PublisherFPR, m.Summary,
		m.Entry, m.Capabilities, m.Network, m.DataAccess, m.Safety, m.Conformance,
	}))
}

// Encode returns the manifest as a file: two-space indent and a final newline.
func (m *Manifest) Encode() ([]byte, error) { return encodeFile(*m) }

func encodeFile(v any) ([]byte, error) {
	compact, err := appendCompact(nil, reflect.ValueOf(v))
	if err != nil {
		return nil, err
	}
	var file bytes.Buffer
	if err := json.Indent(&file, compact, "", "  "); err != nil {
		return nil, err
	}
	file.WriteByte('\n')
	return file.Bytes(), nil
}

// appendCompact writes a Go value as compact JSON, structs in declared order.
func appendCompact(dst []byte, v reflect.Value) ([]byte, error) {
	if raw, ok := v.Interface().(canon.Value); ok {
		return appendRaw(dst, raw)
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return append(dst, "null"...), nil
		}
		return appendCompact(dst, v.Elem())
	case reflect.Struct:
		return appendStruct(dst, v)
	case reflect.Slice:
		return appendList(dst, v.Len(), func(dst []byte, i int) ([]byte, error) { return appendCompact(dst, v.Index(i)) })
	case reflect.String:
		return appendString(dst, v.String())
	case reflect.Bool:
		return strconv.AppendBool(dst, v.Bool()), nil
	case reflect.Uint32, reflect.Uint64:
		return strconv.AppendUint(dst, v.Uint(), 10), nil
	}
	return nil, fmt.Errorf("a manifest has no %s", v.Kind())
}

func appendStruct(dst []byte, v reflect.Value) ([]byte, error) {
	dst = append(dst, '{')
	first := true
	for _, f := range fieldsOf(v.Type()) {
		value := v.Field(f.index)
		if f.omitEmpty && (value.IsZero() || value.Kind() == reflect.Slice && value.Len() == 0) {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(append(append(dst, '"'), f.key...), '"', ':')
		var err error
		if dst, err = appendCompact(dst, value); err != nil {
			return nil, fmt.Errorf("%s: %w", f.key, err)
		}
	}
	return append(dst, '}'), nil
}

func appendList(dst []byte, n int, element func([]byte, int) ([]byte, error)) ([]byte, error) {
	dst = append(dst, '[')
	for i := range n {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = element(dst, i); err != nil {
			return nil, err
		}
	}
	return append(dst, ']'), nil
}

// appendString writes a string with the escapes of ECMAScript, which for text
// without lone surrogates are those of the original.
func appendString(dst []byte, s string) ([]byte, error) {
	text, err := canon.Encode(canon.NewString(s))
	return append(dst, text...), err
}

// appendRaw writes a free JSON value in the key order of its text. Unlike
// canon.EncodeInOrder it keeps integers that no double holds.
func appendRaw(dst []byte, v canon.Value) ([]byte, error) {
	switch v.Kind() {
	case canon.Object:
		dst = append(dst, '{')
		for i, m := range v.Members() {
			if i > 0 {
				dst = append(dst, ',')
			}
			var err error
			if dst, err = appendString(dst, m.Key); err != nil {
				return nil, err
			}
			if dst, err = appendRaw(append(dst, ':'), m.Value); err != nil {
				return nil, err
			}
		}
		return append(dst, '}'), nil
	case canon.Array:
		elements := v.Elements()
		return appendList(dst, len(elements), func(dst []byte, i int) ([]byte, error) { return appendRaw(dst, elements[i]) })
	case canon.Number:
		return append(dst, v.Spelling()...), nil
	}
	text, err := canon.Encode(v)
	return append(dst, text...), err
}

func onlyIntegers(v canon.Value) error {
	if v.Kind() == canon.Number && !isInteger64(v.Spelling()) {
		return fmt.Errorf("number %.40s is not an integer of 64 bits, and signed data holds no other numbers", v.Spelling())
	}
	for _, m := range v.Members() {
		if err := onlyIntegers(m.Value); err != nil {
			return fmt.Errorf("%s: %w", m.Key, err)
		}
	}
	for _, e := range v.Elements() {
		if err := onlyIntegers(e); err != nil {
			return err
		}
	}
	return nil
}

// isInteger64 tells whether a number is spelled as an int64 or a uint64.
func isInteger64(spelling string) bool {
	if spelling == "-0" {
		return false
	}
	if _, err := strconv.ParseInt(spelling, 10, 64); err == nil {
		return true
	}
	_, err := strconv.ParseUint(spelling, 10, 64)
	return err == nil
}
