package conformance

import (
	"reflect"
	"strings"
)

// field is what the tags of one struct field say.
type field struct {
	key       string // the key in JSON
	index     int    // the place in the Go struct
	omitEmpty bool   // a nil pointer or an empty list is not written
	optional  bool   // the key may be absent
	rules     []rule // the JSON Schema constraints, in published order
	doc       string // the description in the published schema
}

// rule is one constraint, such as minLength=1.
type rule struct{ keyword, argument string }

// fieldsOf returns the fields of a struct in declared order.
func fieldsOf(t reflect.Type) []field {
	var fields []field
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		key, option, _ := strings.Cut(tag.Get("json"), ",")
		if key == "" {
			continue
		}
		f := field{
			key:       key,
			index:     i,
			omitEmpty: option == "omitempty",
			optional:  t.Field(i).Type.Kind() == reflect.Pointer,
			doc:       tag.Get("doc"),
		}
		for _, word := range strings.Fields(tag.Get("schema")) {
			if word == "optional" {
				f.optional = true
				continue
			}
			keyword, argument, _ := strings.Cut(word, "=")
			f.rules = append(f.rules, rule{keyword, argument})
		}
		fields = append(fields, f)
	}
	return fields
}

// enumOf returns the values of a closed set of strings.
func enumOf(t reflect.Type) ([]string, bool) {
	e, ok := reflect.Zero(t).Interface().(enum)
	if !ok {
		return nil, false
	}
	return e.values(), true
}
