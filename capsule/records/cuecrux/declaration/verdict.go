package declaration

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/keys"
	"github.com/erdos1056/erdos1056/capsule/records/schema"
	"github.com/erdos1056/erdos1056/internal/digest"
)

// Verdict is the signed comparison of evidence with a declaration.
type Verdict struct {
	Schema         string `json:"schema"`
	ManifestHash   string `json:"manifest_hash"`
	EvidenceSHA256 string `json:"evidence_sha256"`
	Holds          bool   `json:"holds"` // every line holds
	Lines          []Line `json:"lines"`
	Signer         string `json:"signer"`    // a fingerprint
	Signature      string `json:"signature"` // base64, see signed
}

var manifestHash = schema.String{Min: 71, Max: 71, Pattern: regexp.MustCompile(`^blake3:[0-9a-f]{64}$`), Form: "a manifest hash (blake3: and 64 lower-case hexadecimal digits)"}

// VerdictSpec is the format of a verdict file.
var VerdictSpec = schema.Spec[Verdict]{
	Name:      "verdict",
	ID:        "erdos1056.conformance-verdict.v1",
	Title:     "Verdict on a declaration",
	Canonical: true,
	Fields: schema.Object{
		schema.Required("schema", schema.Const("erdos1056.conformance-verdict.v1")),
		schema.Required("manifest_hash", manifestHash),
		schema.Required("evidence_sha256", schema.Digest),
		schema.Required("holds", schema.Boolean{}),
		schema.Required("lines", schema.Array{Min: 1, Max: 1024, Items: schema.Object{
			schema.Required("subject", schema.String{Min: 1, Max: 512}),
			schema.Required("bound", schema.String{Min: 1, Max: 512}),
			schema.Required("observed", schema.String{Min: 1, Max: 512}),
			schema.Required("holds", schema.Boolean{}),
		}}),
		schema.Required("signer", keys.FingerprintForm),
		schema.Required("signature", schema.String{Min: 88, Max: 88, Pattern: regexp.MustCompile(`^[A-Za-z0-9+/]{86}==$`), Form: "a signature in base64"}),
	},
}

// Documents are the formats of this package.
var Documents = []schema.Document{CorpusSpec, EvidenceSpec, VerdictSpec}

// SignVerdict judges evidence, given as its file, and signs the verdict.
func (d *Declared) SignVerdict(evidence []byte, key keys.Key) (Verdict, error) {
	e, err := EvidenceSpec.Parse(evidence)
	if err != nil {
		return Verdict{}, err
	}
	lines, err := d.Judge(e)
	if err != nil {
		return Verdict{}, err
	}
	v := Verdict{
		Schema:         VerdictSpec.ID,
		ManifestHash:   d.Hash,
		EvidenceSHA256: string(digest.Of(evidence)),
		Holds:          allHold(lines),
		Lines:          lines,
		Signer:         string(key.Fingerprint()),
	}
	message, err := v.signed()
	if err != nil {
		return Verdict{}, err
	}
	v.Signature = keys.EncodeSignature(key.Sign(message))
	return v, nil
}

func allHold(lines []Line) bool {
	return !slices.ContainsFunc(lines, func(l Line) bool { return !l.Holds })
}

// signed returns the bytes that the signature covers: the line of the schema
// tag, so that no signature of another format fits, and the RFC 8785 text of
// the verdict without its signature.
func (v Verdict) signed() ([]byte, error) {
	value, err := canon.Of(v)
	if err != nil {
		return nil, err
	}
	text, err := canon.EncodeRFC8785(value.Without("signature"))
	return append([]byte(v.Schema+"\n"), text...), err
}

// VerifyVerdict checks a verdict file against the declaration, the evidence
// file and a registry: the signature of a publisher, and that judging the
// evidence again gives the same lines.
func (d *Declared) VerifyVerdict(verdict, evidence []byte, registry keys.Registry) (Verdict, error) {
	v, err := VerdictSpec.Parse(verdict)
	if err != nil {
		return Verdict{}, err
	}
	if err := v.checkSignature(registry); err != nil {
		return Verdict{}, err
	}
	if actual := string(digest.Of(evidence)); v.EvidenceSHA256 != actual {
		return Verdict{}, fmt.Errorf("the verdict is about the evidence %s, not %s", v.EvidenceSHA256, actual)
	}
	e, err := EvidenceSpec.Parse(evidence)
	if err != nil {
		return Verdict{}, err
	}
	lines, err := d.Judge(e)
	if err != nil {
		return Verdict{}, err
	}
	if !slices.Equal(lines, v.Lines) || v.Holds != allHold(lines) || v.ManifestHash != d.Hash {
		return Verdict{}, errors.New("judging the evidence again gives other lines than the verdict has")
	}
	return v, nil
}

func (v Verdict) checkSignature(registry keys.Registry) error {
	entry, known := registry.Lookup(keys.Fingerprint(v.Signer))
	if !known || !entry.May(keys.Publisher) {
		return fmt.Errorf("the registry has no publisher with the key %s", v.Signer)
	}
	message, err := v.signed()
	if err != nil {
		return err
	}
	signature, err := keys.DecodeSignature(v.Signature)
	if err != nil {
		return err
	}
	if !ed25519.Verify(entry.Public, message, signature) {
		return fmt.Errorf("the signature is not one of the verdict by %s", v.Signer)
	}
	return nil
}
