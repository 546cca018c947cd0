package finding

import (
	"errors"
	"testing"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
)

func TestOnlyTheStrictVerdictCountsFindings(t *testing.T) {
	var v Verdict
	if v.Err(false) != nil || v.Err(true) != nil {
		t.Errorf("nothing was found, but: %v, %v", v.Err(false), v.Err(true))
	}
	v.Report("UnsignedField", "tools", "nothing covers %s", "it")
	if err := v.Err(false); err != nil {
		t.Errorf("as the original: %v", err)
	}
	if err := v.Err(true); err == nil || err.Error() != "UnsignedField: tools: nothing covers it" {
		t.Errorf("strict: %v", err)
	}
	v.Report("UnknownField", "note", "unknown")
	if err := v.Err(true); err == nil || err.Error() != "UnsignedField: tools: nothing covers it (and 1 more)" {
		t.Errorf("strict: %v", err)
	}
}

func TestRefusalComesFirst(t *testing.T) {
	v := Verdict{Refusal: Refuse("HashMismatch", "", "expected %d", 1)}
	v.Report("UnsignedField", "tools", "x")
	for _, strict := range []bool{false, true} {
		var refusal *Refusal
		if err := v.Err(strict); !errors.As(err, &refusal) || err.Error() != "HashMismatch: expected 1" {
			t.Errorf("strict %v: %v", strict, err)
		}
	}
	if got := Refuse("MissingField", "id", "blank").Error(); got != "MissingField: id: blank" {
		t.Error(got)
	}
}

func TestEveryIrregularityHasAName(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1,"a":2}`:   DuplicateKey,
		`{"__proto__":1}`: PrototypeKey,
		`{"a":"\ud800"}`:  LoneSurrogate,
		`{"a":1.0}`:       NumberSpelling,
	} {
		doc, err := canon.Parse([]byte(text), canon.DocumentLimits)
		if err != nil {
			t.Fatal(err)
		}
		if got := Of(doc.Irregularities[0]); got.Name != want || got.Field == "" || got.Detail == "" {
			t.Errorf("%s: %v, want %s", text, got, want)
		}
	}
}
