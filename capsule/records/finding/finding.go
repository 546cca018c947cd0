// Package finding keeps two answers about a signed file apart: whether the
// format's original program accepts it, and which weaknesses that program
// passes over in silence.
package finding

import (
	"errors"
	"fmt"
)

// Verdict is the outcome of verifying one file.
type Verdict struct {
	// Refusal is the original's verdict: nil when it accepts the file. A
	// *canon.LimitError in it is no verdict; the file is too large or too deep
	// for this reader.
	Refusal error
	// Findings are what the original does not look at.
	Findings []Finding
}

// Finding is a weakness that the original accepts.
type Finding struct {
	Name   string // what is weak, for example "UnsignedField"
	Field  string // where: the path of a field, or a line and column
	Detail string
}

func (f Finding) String() string {
	return fmt.Sprintf("%s: %s: %s", f.Name, f.Field, f.Detail)
}

// Refusal is a rule of the original that a file breaks.
type Refusal struct {
	Name   string // the original's name of the error
	Field  string // the path of the field, or "" for the whole file
	Detail string
}

func (r *Refusal) Error() string {
	if r.Field == "" {
		return r.Name + ": " + r.Detail
	}
	return fmt.Sprintf("%s: %s: %s", r.Name, r.Field, r.Detail)
}

// Refuse returns a Refusal as an error.
func Refuse(name, field, format string, args ...any) error {
	return &Refusal{name, field, fmt.Sprintf(format, args...)}
}

// Report adds a finding.
func (v *Verdict) Report(name, field, format string, args ...any) {
	v.Findings = append(v.Findings, Finding{name, field, fmt.Sprintf(format, args...)})
}

// Err returns nil when the file is accepted: as the original, whatever was
// found; strictly, only without findings.
func (v Verdict) Err(strict bool) error {
	if v.Refusal != nil || !strict || len(v.Findings) == 0 {
		return v.Refusal
	}
	first := v.Findings[0].String()
	if more := len(v.Findings) - 1; more > 0 {
		first = fmt.Sprintf("%s (and %d more)", first, more)
	}
	return errors.New(first)
}
