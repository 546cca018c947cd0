package canon

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Digest is "sha256:" and 64 lower-case hexadecimal digits.
type Digest string

const digestPrefix = "sha256:"

// Sum returns the digest of bytes.
func Sum(data []byte) Digest {
	sum := sha256.Sum256(data)
	return Digest(digestPrefix + hex.EncodeToString(sum[:]))
}

// ParseDigest checks the form of a digest.
func ParseDigest(s string) (Digest, error) {
	digits, ok := strings.CutPrefix(s, digestPrefix)
	if !ok || len(digits) != 64 || strings.Trim(digits, hexDigits) != "" {
		return "", fmt.Errorf("expected a digest (%s and 64 lower-case hexadecimal digits), found %q", digestPrefix, abbreviate(s))
	}
	return Digest(s), nil
}

// Hex returns the 64 hexadecimal digits, which name the file of a frozen
// artifact.
func (d Digest) Hex() string { return strings.TrimPrefix(string(d), digestPrefix) }

// ContentDigest returns the digest of a value's canonical text and one newline.
func ContentDigest(v Value) (Digest, error) {
	line, err := EncodeLine(v)
	if err != nil {
		return "", err
	}
	return Sum(line), nil
}

// ProtocolDigest returns the digest of a value's canonical text alone.
func ProtocolDigest(v Value) (Digest, error) {
	text, err := Encode(v)
	if err != nil {
		return "", err
	}
	return Sum(text), nil
}
