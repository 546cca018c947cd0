package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/finding"
)

// checkRepeatedFields refuses a text, already known to be JSON, in which a
// field of the format occurs twice. The original's reader allows repetition
// only of keys that it does not know and inside free values.
func checkRepeatedFields(data []byte) error {
	w := repetitionWalk{json.NewDecoder(bytes.NewReader(data))}
	return w.value(reflect.TypeFor[Manifest](), "")
}

type repetitionWalk struct{ tokens *json.Decoder }

// value passes over one value that fills a Go type; nil stands for a value that
// the format does not look into.
func (w repetitionWalk) value(t reflect.Type, path string) error {
	if t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	token, err := w.tokens.Token()
	if err != nil {
		return err
	}
	switch token {
	case json.Delim('{'):
		err = w.members(t, path)
	case json.Delim('['):
		err = w.elements(t, path)
	default:
		return nil
	}
	if err != nil {
		return err
	}
	_, err = w.tokens.Token() // the closing bracket
	return err
}

func (w repetitionWalk) members(t reflect.Type, path string) error {
	types := map[string]reflect.Type{}
	if t != nil && t.Kind() == reflect.Struct && t != reflect.TypeFor[canon.Value]() {
		for _, f := range fieldsOf(t) {
			types[f.key] = t.Field(f.index).Type
		}
	}
	seen := map[string]bool{}
	for w.tokens.More() {
		token, err := w.tokens.Token()
		if err != nil {
			return err
		}
		key := fmt.Sprint(token)
		if seen[key] && types[key] != nil {
			return finding.Refuse("Json", join(path, key), "the field occurs twice")
		}
		seen[key] = true
		if err := w.value(types[key], join(path, key)); err != nil {
			return err
		}
	}
	return nil
}

func (w repetitionWalk) elements(t reflect.Type, path string) error {
	if t != nil && t.Kind() == reflect.Slice {
		t = t.Elem()
	} else {
		t = nil
	}
	for i := 0; w.tokens.More(); i++ {
		if err := w.value(t, path+"["+strconv.Itoa(i)+"]"); err != nil {
			return err
		}
	}
	return nil
}
