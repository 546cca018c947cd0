package conformance

import (
	"reflect"
	"slices"
	"strconv"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/finding"
)

// Read parses a manifest. It refuses what the original's reader refuses: a
// missing or mistyped field, a value outside a closed set, an integer out of
// range or spelled as a fraction, and a repeated field. What that reader
// accepts in silence is returned as findings.
func Read(data []byte) (*Manifest, []finding.Finding, error) {
	m, _, findings, err := read(data)
	return m, findings, err
}

// read also returns the value that the manifest was read from.
func read(data []byte) (*Manifest, canon.Value, []finding.Finding, error) {
	m := Manifest{
		DataAccess: DataAccess{TenantScopes: []string{"selected"}},
		Safety:     SafetyPolicy{Sandbox: SandboxNone},
	}
	doc, err := canon.Parse(data, canon.DocumentLimits)
	if err != nil {
		return nil, canon.Value{}, nil, err
	}
	d := decoder{}
	if err := d.structure(doc.Root, reflect.ValueOf(&m).Elem(), ""); err != nil {
		return nil, canon.Value{}, nil, err
	}
	findings, err := irregularityFindings(doc.Irregularities)
	if err != nil {
		return nil, canon.Value{}, nil, err
	}
	if slices.ContainsFunc(findings, func(f finding.Finding) bool { return f.Name == finding.DuplicateKey }) {
		if err := checkRepeatedFields(data); err != nil {
			return nil, canon.Value{}, nil, err
		}
	}
	return &m, doc.Root, append(findings, d.verdict.Findings...), nil
}

func irregularityFindings(irregularities []canon.Irregularity) ([]finding.Finding, error) {
	var findings []finding.Finding
	for _, i := range irregularities {
		f := finding.Of(i)
		if i.Kind == canon.LoneSurrogate {
			return nil, finding.Refuse("Json", f.Field, "%s", f.Detail)
		}
		findings = append(findings, f)
	}
	return findings, nil
}

type decoder struct{ verdict finding.Verdict }

// structure fills a Go struct from an object and reports keys that it does not
// have.
func (d *decoder) structure(v canon.Value, into reflect.Value, path string) error {
	if v.Kind() != canon.Object {
		return wrongType(path, "an object", v)
	}
	fields := fieldsOf(into.Type())
	for _, f := range fields {
		value, ok := v.Lookup(f.key)
		if !ok {
			if f.optional {
				continue
			}
			return finding.Refuse("Json", join(path, f.key), "the field is missing")
		}
		if err := d.value(value, into.Field(f.index), join(path, f.key)); err != nil {
			return err
		}
	}
	for _, m := range v.Members() {
		if !slices.ContainsFunc(fields, func(f field) bool { return f.key == m.Key }) {
			d.verdict.Report(UnknownField, join(path, m.Key), "the field is not in the format; no hash or signature covers it")
		}
	}
	return nil
}

func (d *decoder) value(v canon.Value, into reflect.Value, path string) error {
	if into.Type() == reflect.TypeFor[canon.Value]() {
		into.Set(reflect.ValueOf(v))
		return nil
	}
	switch into.Kind() {
	case reflect.Pointer:
		if v.Kind() == canon.Null {
			return nil
		}
		into.Set(reflect.New(into.Type().Elem()))
		return d.value(v, into.Elem(), path)
	case reflect.Struct:
		return d.structure(v, into, path)
	case reflect.Slice:
		return d.list(v, into, path)
	case reflect.Bool:
		if v.Kind() != canon.Bool {
			return wrongType(path, "a boolean", v)
		}
		into.SetBool(v.Truth())
		return nil
	case reflect.String:
		return stringInto(v, into, path)
	}
	return unsignedInto(v, into, path)
}

func (d *decoder) list(v canon.Value, into reflect.Value, path string) error {
	if v.Kind() != canon.Array {
		return wrongType(path, "an array", v)
	}
	elements := v.Elements()
	into.Set(reflect.MakeSlice(into.Type(), len(elements), len(elements)))
	for i, e := range elements {
		if err := d.value(e, into.Index(i), path+"["+strconv.Itoa(i)+"]"); err != nil {
			return err
		}
	}
	return nil
}

func stringInto(v canon.Value, into reflect.Value, path string) error {
	if v.Kind() != canon.String {
		return wrongType(path, "a string", v)
	}
	if values, closed := enumOf(into.Type()); closed && !slices.Contains(values, v.Text()) {
		return finding.Refuse("Json", path, "expected one of %q, found %q", values, v.Text())
	}
	into.SetString(v.Text())
	return nil
}

func unsignedInto(v canon.Value, into reflect.Value, path string) error {
	bits := into.Type().Bits()
	n, err := strconv.ParseUint(v.Spelling(), 10, bits)
	if v.Kind() != canon.Number || err != nil {
		if v.Kind() != canon.Number {
			return wrongType(path, "an integer", v)
		}
		return finding.Refuse("Json", path, "expected an integer of 0..2^%d-1 without fraction or exponent, found %.40s", bits, v.Spelling())
	}
	into.SetUint(n)
	return nil
}

func wrongType(path, expected string, found canon.Value) error {
	return finding.Refuse("Json", path, "expected %s, found %s", expected, found.Kind())
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
