package conformance

import "fmt"

// Refusal is a rule of the original that a manifest breaks. Name is the
// original's name of the error.
type Refusal struct {
	Name   string
	Field  string // the path of the field, for example "conformance.envelope.undo"
	Detail string
}

func (r *Refusal) Error() string {
	if r.Field == "" {
		return r.Name + ": " + r.Detail
	}
	return fmt.Sprintf("%s: %s: %s", r.Name, r.Field, r.Detail)
}

func refuse(name, field, format string, args ...any) error {
	return &Refusal{name, field, fmt.Sprintf(format, args...)}
}

func missing(field string) error {
	return refuse("MissingField", field, "required and must not be blank")
}

// Finding is a weakness that the original accepts.
type Finding struct {
	Name   string
	Field  string
	Detail string
}

func (f Finding) String() string {
	return fmt.Sprintf("%s: %s: %s", f.Name, f.Field, f.Detail)
}

// The findings about a manifest.
const (
	DuplicateKey        = "DuplicateKey"        // a key occurs twice; readers differ on which value stands
	PrototypeKey        = "PrototypeKey"        // a key __proto__, which ECMAScript readers lose
	NumberSpelling      = "NumberSpelling"      // a number is not spelled in its shortest form
	UnknownField        = "UnknownField"        // dropped before hashing, so covered by nothing
	UnsignedField       = "UnsignedField"       // known, acted upon, and outside the signature
	UnsignedManifest    = "UnsignedManifest"    // accepted without a signature
	NoManifestHash      = "NoManifestHash"      // hashes.manifest is absent
	PublisherMismatch   = "PublisherMismatch"   // signed with a trusted key that is not the publisher's
	FingerprintMismatch = "FingerprintMismatch" // the key's fingerprint is not the one stated
	ArgumentOrder       = "ArgumentOrder"       // keys of arguments are unsorted, so the signed bytes depend on the reader
	UncleanPath         = "UncleanPath"         // a path with ./, //, a backslash or a control character
	CorpusMismatch      = "CorpusMismatch"      // the corpus file is absent or is not the one declared
)
