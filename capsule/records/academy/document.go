package academy

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
)

// limits bound the text of a bundle, a certificate or a task.
var limits = canon.Limits{Bytes: 64 << 20, Depth: 64}

// Document is a bundle with the value that its hash covers.
type Document struct {
	Bundle
	root           canon.Value
	irregularities []canon.Irregularity
}

// Read parses a bundle and checks it against the published schema. A text that
// is no JSON, or is too large or too deep, is an error of package canon; one
// that breaks the schema is an error that names the place.
func Read(data []byte) (*Document, error) {
	parsed, err := canon.Parse(data, limits)
	if err != nil {
		return nil, err
	}
	if err := conforms(bundleSchema(), parsed.Root); err != nil {
		return nil, fmt.Errorf("run-bundle schema: %w", err)
	}
	d := &Document{root: parsed.Root, irregularities: parsed.Irregularities}
	return d, decode(parsed.Root, &d.Bundle)
}

// decode fills a Go struct from a value that a schema has accepted.
func decode(v canon.Value, into any) error {
	text, err := canon.Encode(v)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// Hash returns the bundle hash as the content gives it.
func (d *Document) Hash() (string, error) {
	return hashWith(d.root, "bundleHash", "signature", "publicKey", "academySignature")
}

// hashWith returns the hash of a value whose integrity block is replaced by
// one with the given keys null.
func hashWith(root canon.Value, nulls ...string) (string, error) {
	block := []canon.Member{{Key: "hashAlg", Value: canon.NewString("sha256")}}
	for _, key := range nulls {
		block = append(block, canon.Member{Key: key})
	}
	text, err := canon.Encode(root.With("integrity", canon.NewObject(block...)))
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// Encode returns the bundle as a file: canonical text and one newline.
func (d *Document) Encode() ([]byte, error) { return canon.EncodeLine(d.root) }
