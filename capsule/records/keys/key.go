// Package keys holds Ed25519 keys: their fingerprints, the files that keep
// them, and registries that say whom a public key belongs to and what it may
// sign.
//
// A signature alone shows that some key signed; only a registry, kept by the
// one who verifies, turns that into who. No key found inside a signed file is
// ever trusted.
package keys

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"lukechampine.com/blake3"
)

// Fingerprint names a public key: "p_" and the first 16 bytes, in lower-case
// hexadecimal, of the BLAKE3 hash of its 32 bytes. It is the passport
// fingerprint of crux.integration.v1.
type Fingerprint string

// FingerprintOf returns the fingerprint of a public key.
func FingerprintOf(public ed25519.PublicKey) Fingerprint {
	sum := blake3.Sum256(public)
	return Fingerprint("p_" + hex.EncodeToString(sum[:16]))
}

// ParsePublic reads a public key of 64 hexadecimal digits in either case.
func ParsePublic(digits string) (ed25519.PublicKey, error) {
	raw, err := hex.DecodeString(digits)
	if err != nil || len(raw) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("expected a public key of 64 hexadecimal digits, found %.80q", digits)
	}
	return raw, nil
}

// Key is a private key.
type Key struct{ private ed25519.PrivateKey }

// Generate makes a key from the system's random numbers.
func Generate() (Key, error) {
	_, private, err := ed25519.GenerateKey(nil)
	return Key{private}, err
}

// FromSeed returns the key of a seed of 32 bytes.
func FromSeed(seed []byte) (Key, error) {
	if len(seed) != ed25519.SeedSize {
		return Key{}, fmt.Errorf("expected a seed of %d bytes, found %d", ed25519.SeedSize, len(seed))
	}
	return Key{ed25519.NewKeyFromSeed(seed)}, nil
}

// Public returns the public half.
func (k Key) Public() ed25519.PublicKey { return k.private.Public().(ed25519.PublicKey) }

// Fingerprint returns the fingerprint of the public half.
func (k Key) Fingerprint() Fingerprint { return FingerprintOf(k.Public()) }

// Sign returns the 64 bytes of the Ed25519 signature of a message.
func (k Key) Sign(message []byte) []byte { return ed25519.Sign(k.private, message) }

// String names the key by its fingerprint, so that no message can print the
// private half.
func (k Key) String() string { return string(k.Fingerprint()) }

// EncodePublicPEM returns a public key as PEM of its SubjectPublicKeyInfo.
func EncodePublicPEM(public ed25519.PublicKey) (string, error) {
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return "", err
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})), nil
}

// ParsePublicPEM reads one Ed25519 key from PEM of a SubjectPublicKeyInfo.
func ParsePublicPEM(text string) (ed25519.PublicKey, error) {
	block, rest := pem.Decode([]byte(text))
	if block == nil || block.Type != "PUBLIC KEY" || strings.TrimSpace(string(rest)) != "" {
		return nil, errors.New("expected one PEM block PUBLIC KEY and nothing else")
	}
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("parse the public key: %w", err)
	}
	public, ok := parsed.(ed25519.PublicKey)
	if !ok {
		return nil, fmt.Errorf("expected an Ed25519 key, found %T", parsed)
	}
	return public, nil
}
