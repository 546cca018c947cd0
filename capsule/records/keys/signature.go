package keys

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// EncodeSignature returns a signature in padded standard base64.
func EncodeSignature(signature []byte) string {
	return base64.StdEncoding.EncodeToString(signature)
}

// DecodeSignature reads a signature in padded standard base64. It accepts one
// spelling only: no line breaks, no stray bits after the last byte.
func DecodeSignature(text string) ([]byte, error) {
	if strings.ContainsAny(text, "\r\n") {
		return nil, errors.New("a signature has no line breaks")
	}
	signature, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("expected padded standard base64: %w", err)
	}
	if len(signature) != ed25519.SignatureSize {
		return nil, fmt.Errorf("expected a signature of %d bytes, found %d", ed25519.SignatureSize, len(signature))
	}
	return signature, nil
}
