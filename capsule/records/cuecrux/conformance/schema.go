package conformance

import (
	"reflect"
	"strconv"
	"strings"
	"unicode"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
)

// Schema returns the published JSON Schema (draft 2020-12) of the conformance
// block, generated from [Declaration]. The document is
// Copyright (c) 2026 CueCrux Ltd., under the MIT licence.
func Schema() ([]byte, error) {
	g := schemaGenerator{}
	root := g.object(reflect.TypeFor[Declaration]())
	members := []canon.Member{
		text("$schema", "https://json-schema.org/draft/2020-12/schema"),
		text("$id", "https://cuecrux.com/spec/pack.conformance.v1.schema.json"),
		text("title", DeclarationSchema),
		text("description", "Signed conformance declaration carried inside a crux.integration.v1 pack manifest: what the pack claims to do, the corpus its declared operations are replayed against, the invariants that must hold, the numeric envelope its behaviour must stay inside, and what upgrading to or rolling back from it costs."),
		text("$comment", "Copyright (c) 2026 CueCrux Ltd. SPDX-License-Identifier: MIT. This schema document is published under the MIT Licence so it can be implemented and vendored freely; the full notice is in docs/spec/pack-conformance-v1.md. The Crux daemon that enforces it remains Apache-2.0."),
		member("license", canon.NewObject(
			text("spdx", "MIT"),
			text("url", "https://opensource.org/licenses/MIT"),
			text("notice", "docs/spec/pack-conformance-v1.md#licence"),
		)),
	}
	members = append(members, root...)
	members = append(members, member("$defs", canon.NewObject(g.definitions...)))
	return encodeFile(canon.NewObject(members...))
}

// schemaGenerator collects the definitions in the order of first reference.
type schemaGenerator struct{ definitions []canon.Member }

func (g *schemaGenerator) object(t reflect.Type) []canon.Member {
	members := []canon.Member{text("type", "object"), member("additionalProperties", canon.NewBool(false))}
	if t.Field(0).Name == "_" {
		members = append(members, text("description", t.Field(0).Tag.Get("doc")))
	}
	var required []canon.Value
	var properties []canon.Member
	for _, f := range fieldsOf(t) {
		required = append(required, canon.NewString(f.key))
		properties = append(properties, member(f.key, g.property(t.Field(f.index).Type, f)))
	}
	return append(members,
		member("required", canon.NewArray(required...)),
		member("properties", canon.NewObject(properties...)))
}

func (g *schemaGenerator) property(t reflect.Type, f field) canon.Value {
	if t == reflect.TypeFor[canon.Value]() {
		return canon.NewObject(text("description", f.doc))
	}
	if t.Kind() == reflect.Struct {
		return g.reference(t)
	}
	members := []canon.Member{text("type", schemaType(t))}
	var itemRules []rule
	for _, r := range f.rules {
		if keyword, ofItems := strings.CutPrefix(r.keyword, "items."); ofItems {
			itemRules = append(itemRules, rule{keyword, r.argument})
			continue
		}
		members = append(members, r.member())
	}
	if values, closed := enumOf(t); closed {
		members = append(members, member("enum", stringArray(values)))
	}
	if f.doc != "" {
		members = append(members, text("description", f.doc))
	}
	if t.Kind() == reflect.Slice {
		members = append(members, member("items", g.property(t.Elem(), field{rules: itemRules})))
	}
	return canon.NewObject(members...)
}

// reference defines a struct, then the structs below it, and refers to it.
func (g *schemaGenerator) reference(t reflect.Type) canon.Value {
	name := snakeCase(t.Name())
	place := len(g.definitions)
	g.definitions = append(g.definitions, canon.Member{Key: name})
	g.definitions[place].Value = canon.NewObject(g.object(t)...)
	return canon.NewObject(text("$ref", "#/$defs/"+name))
}

func schemaType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice:
		return "array"
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	}
	return "integer"
}

func (r rule) member() canon.Member {
	if n, err := strconv.ParseInt(r.argument, 10, 64); err == nil {
		return member(r.keyword, canon.NewInteger(n))
	}
	return text(r.keyword, r.argument)
}

func snakeCase(name string) string {
	var words strings.Builder
	for i, c := range name {
		if unicode.IsUpper(c) && i > 0 {
			words.WriteByte('_')
		}
		words.WriteRune(unicode.ToLower(c))
	}
	return words.String()
}

func member(key string, value canon.Value) canon.Member {
	return canon.Member{Key: key, Value: value}
}

func text(key, value string) canon.Member { return member(key, canon.NewString(value)) }

func stringArray(values []string) canon.Value {
	elements := make([]canon.Value, len(values))
	for i, v := range values {
		elements[i] = canon.NewString(v)
	}
	return canon.NewArray(elements...)
}
