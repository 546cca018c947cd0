// Package digest is the one name that this project gives to bytes.
package digest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"
)

// A Digest is "sha256:" and 64 lower-case hexadecimal digits.
type Digest string

const (
	prefix = "sha256:"
	digits = "0123456789abcdef"
)

// Of returns the digest of data.
func Of(data []byte) Digest {
	sum := sha256.Sum256(data)
	return Digest(prefix + hex.EncodeToString(sum[:]))
}

// New returns a hash whose digest, once all bytes are written to it, comes from [From].
func New() hash.Hash { return sha256.New() }

// From returns the digest of the bytes that were written to a hash of [New].
func From(h hash.Hash) Digest { return Digest(prefix + hex.EncodeToString(h.Sum(nil))) }

// Parse checks the form of a digest.
func Parse(s string) (Digest, error) {
	hexadecimal, ok := strings.CutPrefix(s, prefix)
	if !ok || len(hexadecimal) != 2*sha256.Size || strings.Trim(hexadecimal, digits) != "" {
		return "", fmt.Errorf("expected a digest (%s and 64 lower-case hexadecimal digits), found %q", prefix, abbreviate(s))
	}
	return Digest(s), nil
}

// Hex returns the 64 hexadecimal digits.
func (d Digest) Hex() string { return strings.TrimPrefix(string(d), prefix) }

// abbreviate keeps the message about a long text short.
func abbreviate(s string) string {
	if len(s) <= 80 {
		return s
	}
	return s[:77] + "..."
}
