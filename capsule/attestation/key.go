package attestation

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
)

// maxKeyFile bounds the text of a key.
const maxKeyFile = 64 << 10

// A Signer signs with a private key.
type Signer struct {
	key    crypto.Signer
	public PublicKey
}

// A PublicKey verifies signatures of one private key.
type PublicKey struct {
	key  crypto.PublicKey
	hint string
}

// Hint identifies the key in a bundle: base64 of the SHA-256 of its
// SubjectPublicKeyInfo. It helps to find a key and proves nothing.
func (k PublicKey) Hint() string { return k.hint }

// ParsePrivateKey reads an unencrypted private key: one PEM block, PKCS #8 or
// SEC 1, ECDSA P-256 or Ed25519.
func ParsePrivateKey(text []byte) (*Signer, error) {
	block, err := onlyBlock(text)
	if err != nil {
		return nil, fmt.Errorf("private key: %w", err)
	}
	var key any
	switch block.Type {
	case "PRIVATE KEY":
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(block.Bytes)
	default:
		return nil, fmt.Errorf("private key: a PEM block %q; want PRIVATE KEY or EC PRIVATE KEY, not encrypted", block.Type)
	}
	if err != nil {
		return nil, fmt.Errorf("private key: %w", err)
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("private key: a %T cannot sign", key)
	}
	public, err := newPublicKey(signer.Public())
	if err != nil {
		return nil, fmt.Errorf("private key: %w", err)
	}
	return &Signer{signer, public}, nil
}

// ParsePublicKey reads a public key: one PEM block with a SubjectPublicKeyInfo,
// ECDSA P-256 or Ed25519.
func ParsePublicKey(text []byte) (PublicKey, error) {
	block, err := onlyBlock(text)
	if err != nil {
		return PublicKey{}, fmt.Errorf("public key: %w", err)
	}
	if block.Type != "PUBLIC KEY" {
		return PublicKey{}, fmt.Errorf("public key: a PEM block %q; want PUBLIC KEY", block.Type)
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return PublicKey{}, fmt.Errorf("public key: %w", err)
	}
	public, err := newPublicKey(key)
	if err != nil {
		return PublicKey{}, fmt.Errorf("public key: %w", err)
	}
	return public, nil
}

func onlyBlock(text []byte) (*pem.Block, error) {
	if len(text) > maxKeyFile {
		return nil, fmt.Errorf("more than %d bytes", maxKeyFile)
	}
	block, rest := pem.Decode(text)
	if block == nil {
		return nil, errors.New("no PEM block found")
	}
	if next, _ := pem.Decode(rest); next != nil {
		return nil, errors.New("more than one PEM block found")
	}
	return block, nil
}

func newPublicKey(key crypto.PublicKey) (PublicKey, error) {
	switch k := key.(type) {
	case *ecdsa.PublicKey:
		if k.Curve != elliptic.P256() {
			return PublicKey{}, fmt.Errorf("ECDSA on %s; want P-256", k.Curve.Params().Name)
		}
	case ed25519.PublicKey:
	default:
		return PublicKey{}, fmt.Errorf("a %T; want ECDSA P-256 or Ed25519", key)
	}
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return PublicKey{}, err
	}
	sum := sha256.Sum256(der)
	return PublicKey{key, base64.StdEncoding.EncodeToString(sum[:])}, nil
}

// Public returns the signer's public key.
func (s *Signer) Public() PublicKey { return s.public }

func (s *Signer) sign(message []byte) ([]byte, error) {
	if _, ok := s.public.key.(ed25519.PublicKey); ok {
		return s.key.Sign(rand.Reader, message, crypto.Hash(0))
	}
	digest := sha256.Sum256(message)
	return s.key.Sign(rand.Reader, digest[:], crypto.SHA256)
}

func (k PublicKey) verify(message, signature []byte) bool {
	switch key := k.key.(type) {
	case ed25519.PublicKey:
		return ed25519.Verify(key, message, signature)
	case *ecdsa.PublicKey:
		digest := sha256.Sum256(message)
		return ecdsa.VerifyASN1(key, digest[:], signature)
	}
	return false
}
