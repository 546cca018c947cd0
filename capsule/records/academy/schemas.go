package academy

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
)

//go:embed schema/*.schema.json
var schemas embed.FS

var (
	bundleSchema      = published("run-bundle")
	certificateSchema = published("cert")
	taskSchema        = published("task")
)

// published compiles one of the embedded schemas on first use.
func published(name string) func() *jsonschema.Schema {
	return sync.OnceValue(func() *jsonschema.Schema {
		text, err := schemas.ReadFile("schema/" + name + ".schema.json")
		if err != nil {
			panic(err) // the file is compiled in
		}
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			panic(err)
		}
		compiler := jsonschema.NewCompiler()
		if err := compiler.AddResource(name, document); err != nil {
			panic(err)
		}
		return compiler.MustCompile(name)
	})
}

// conforms validates a value and says where it first breaks the schema.
func conforms(schema *jsonschema.Schema, v canon.Value) error {
	instance, err := instanceOf(v)
	if err != nil {
		return err
	}
	var violation *jsonschema.ValidationError
	if err := schema.Validate(instance); errors.As(err, &violation) {
		for len(violation.Causes) > 0 {
			violation = violation.Causes[0]
		}
		problem := violation.ErrorKind.LocalizedString(message.NewPrinter(language.English))
		return fmt.Errorf("/%s: %s", strings.Join(violation.InstanceLocation, "/"), problem)
	} else if err != nil {
		return err
	}
	return nil
}

// instanceOf returns a value as the schema library takes it. Numbers are
// written anew as doubles, because the library computes with exact fractions,
// which a hostile exponent makes enormous.
func instanceOf(v canon.Value) (any, error) {
	switch v.Kind() {
	case canon.Bool:
		return v.Truth(), nil
	case canon.Number:
		number, err := canon.FormatNumber(v.Float())
		return json.Number(number), err
	case canon.String:
		return v.Text(), nil
	case canon.Array:
		list := make([]any, len(v.Elements()))
		for i, e := range v.Elements() {
			var err error
			if list[i], err = instanceOf(e); err != nil {
				return nil, err
			}
		}
		return list, nil
	case canon.Object:
		object := make(map[string]any, len(v.Members()))
		for _, m := range v.Members() {
			var err error
			if object[m.Key], err = instanceOf(m.Value); err != nil {
				return nil, err
			}
		}
		return object, nil
	}
	return nil, nil
}
