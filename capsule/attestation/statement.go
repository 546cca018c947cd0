package attestation

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"
)

const statementType = "https://in-toto.io/Statement/v1"

// Predicate types.
const (
	ProvenanceType   = "https://slsa.dev/provenance/v1"
	VerificationType = "https://in-toto.io/attestation/svr/v0.1"
	SPDXType         = "https://spdx.dev/Document/v2.3"
)

// A Subject is something that a statement is about, named by its digest.
type Subject struct {
	Name   string `json:"name"`
	Digest struct {
		SHA256 string `json:"sha256"`
	} `json:"digest"`
}

// NewSubject returns a subject; sha256 is 64 lower-case hexadecimal digits.
func NewSubject(name, sha256 string) (s Subject) {
	s.Name, s.Digest.SHA256 = name, sha256
	return s
}

// A Statement says something, the predicate, about its subjects.
type Statement struct {
	Type          string          `json:"_type"`
	Subjects      []Subject       `json:"subject"`
	PredicateType string          `json:"predicateType"`
	Predicate     json.RawMessage `json:"predicate"`
}

var sha256Pattern = regexp.MustCompile(`^[0-9a-f]{64}$`)

func (s Statement) validate() error {
	if s.Type != statementType {
		return fmt.Errorf("attestation: statement of type %q; want %q", s.Type, statementType)
	}
	if len(s.Subjects) == 0 {
		return errors.New("attestation: the statement has no subject")
	}
	for i, subject := range s.Subjects {
		if !sha256Pattern.MatchString(subject.Digest.SHA256) {
			return fmt.Errorf("attestation: subject %d (%s): sha256 %q; want 64 lower-case hexadecimal digits", i+1, subject.Name, subject.Digest.SHA256)
		}
	}
	if s.PredicateType == "" || len(s.Predicate) == 0 {
		return errors.New("attestation: the statement has no predicate")
	}
	return nil
}

func parseStatement(payload []byte) (Statement, error) {
	var s Statement
	if err := json.Unmarshal(payload, &s); err != nil {
		return Statement{}, fmt.Errorf("attestation: not an in-toto statement: %w", err)
	}
	return s, s.validate()
}

// About reports whether the statement has the digest among its subjects.
func (s Statement) About(sha256 string) bool {
	return slices.ContainsFunc(s.Subjects, func(subject Subject) bool { return subject.Digest.SHA256 == sha256 })
}

func newStatement(predicateType string, predicate any, subjects []Subject) (Statement, error) {
	data, err := encode(predicate)
	if err != nil {
		return Statement{}, err
	}
	s := Statement{Type: statementType, Subjects: subjects, PredicateType: predicateType, Predicate: data}
	return s, s.validate()
}

// A Verification is the predicate of a simple verification result: who checked
// the subjects, when, and what was found to hold.
type Verification struct {
	Verifier   Verifier `json:"verifier"`
	Time       string   `json:"timeCreated"`
	Properties []string `json:"properties"`
}

// A Verifier is named by a URI; ours are images, named by their digest.
type Verifier struct {
	ID string `json:"id"`
}

// NewVerification returns the statement that the verifier found the properties
// to hold for the subjects.
func NewVerification(verifier string, at time.Time, properties []string, subjects ...Subject) (Statement, error) {
	return newStatement(VerificationType, Verification{Verifier{verifier}, timestamp(at), properties}, subjects)
}

func timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Verification returns the predicate of a simple verification result.
func (s Statement) Verification() (Verification, error) {
	var v Verification
	if s.PredicateType != VerificationType {
		return v, fmt.Errorf("attestation: predicate type %q; want %q", s.PredicateType, VerificationType)
	}
	if err := json.Unmarshal(s.Predicate, &v); err != nil {
		return v, fmt.Errorf("attestation: predicate: %w", err)
	}
	return v, nil
}

// A Build says how an image was made. Everything but the time follows from the
// recipe, so that anyone can repeat it.
type Build struct {
	BuildType    string            // URI of the recipe's description
	Parameters   map[string]string // what the user chose
	Dependencies []Dependency      // what went in
	Builder      string            // URI of who ran it
	Finished     time.Time
}

// A Dependency is something that a build used.
type Dependency struct {
	Name   string            `json:"name,omitempty"`
	URI    string            `json:"uri,omitempty"`
	Digest map[string]string `json:"digest,omitempty"`
}

// NewProvenance returns the SLSA provenance of the subjects.
func NewProvenance(b Build, subjects ...Subject) (Statement, error) {
	type (
		definition struct {
			BuildType    string            `json:"buildType"`
			Parameters   map[string]string `json:"externalParameters"`
			Dependencies []Dependency      `json:"resolvedDependencies,omitempty"`
		}
		builder struct {
			ID string `json:"id"`
		}
		metadata struct {
			Finished string `json:"finishedOn"`
		}
		details struct {
			Builder  builder  `json:"builder"`
			Metadata metadata `json:"metadata"`
		}
		provenance struct {
			Definition definition `json:"buildDefinition"`
			Details    details    `json:"runDetails"`
		}
	)
	return newStatement(ProvenanceType, provenance{
		definition{b.BuildType, b.Parameters, b.Dependencies},
		details{builder{b.Builder}, metadata{timestamp(b.Finished)}},
	}, subjects)
}
