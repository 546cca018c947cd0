package attestation

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
)

const (
	payloadType = "application/vnd.in-toto+json"
	bundleType  = "application/vnd.dev.sigstore.bundle.v0.3+json"

	// MaxBundle bounds a bundle in bytes.
	MaxBundle = 4 << 20
)

// A bundle is a sigstore bundle v0.3 with a DSSE envelope, signed by a key that
// the verifier knows: no certificate, no transparency log.
type bundle struct {
	MediaType            string               `json:"mediaType"`
	VerificationMaterial verificationMaterial `json:"verificationMaterial"`
	DSSEEnvelope         envelope             `json:"dsseEnvelope"`
}

type verificationMaterial struct {
	PublicKey publicKeyIdentifier `json:"publicKey"`
}

type publicKeyIdentifier struct {
	Hint string `json:"hint"`
}

type envelope struct {
	Payload     string      `json:"payload"` // base64
	PayloadType string      `json:"payloadType"`
	Signatures  []signature `json:"signatures"`
}

type signature struct {
	Sig string `json:"sig"` // base64
}

// preAuthentication is DSSE's pre-authentication encoding: what is signed.
func preAuthentication(payloadType string, payload []byte) []byte {
	return fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(payloadType), payloadType, len(payload), payload)
}

// Sign returns a bundle with the statement, signed.
func Sign(s *Signer, statement Statement) ([]byte, error) {
	if err := statement.validate(); err != nil {
		return nil, err
	}
	payload, err := encode(statement)
	if err != nil {
		return nil, err
	}
	sig, err := s.sign(preAuthentication(payloadType, payload))
	if err != nil {
		return nil, err
	}
	return encode(bundle{
		MediaType:            bundleType,
		VerificationMaterial: verificationMaterial{publicKeyIdentifier{s.public.hint}},
		DSSEEnvelope: envelope{
			Payload:     base64.StdEncoding.EncodeToString(payload),
			PayloadType: payloadType,
			Signatures:  []signature{{base64.StdEncoding.EncodeToString(sig)}},
		},
	})
}

// encode returns compact JSON that escapes nothing for HTML.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// ErrSignature is the error of a well-formed bundle that this key did not sign.
var ErrSignature = errors.New("attestation: the signature is not by this key")

// Verify checks the bundle's signature and returns the statement that was
// signed. The bundle's own remarks about keys, logs and certificates are not
// looked at.
func Verify(key PublicKey, data []byte) (Statement, error) {
	if len(data) > MaxBundle {
		return Statement{}, fmt.Errorf("attestation: a bundle of %d bytes; the limit is %d", len(data), MaxBundle)
	}
	var b bundle
	if err := json.Unmarshal(data, &b); err != nil {
		return Statement{}, fmt.Errorf("attestation: not a sigstore bundle: %w", err)
	}
	if b.MediaType != bundleType {
		return Statement{}, fmt.Errorf("attestation: media type %q; want %q", b.MediaType, bundleType)
	}
	if b.DSSEEnvelope.PayloadType != payloadType {
		return Statement{}, fmt.Errorf("attestation: payload type %q; want %q", b.DSSEEnvelope.PayloadType, payloadType)
	}
	if n := len(b.DSSEEnvelope.Signatures); n != 1 {
		return Statement{}, fmt.Errorf("attestation: %d signatures; want one", n)
	}
	payload, err := base64.StdEncoding.Strict().DecodeString(b.DSSEEnvelope.Payload)
	if err != nil {
		return Statement{}, fmt.Errorf("attestation: payload: %w", err)
	}
	sig, err := base64.StdEncoding.Strict().DecodeString(b.DSSEEnvelope.Signatures[0].Sig)
	if err != nil {
		return Statement{}, fmt.Errorf("attestation: signature: %w", err)
	}
	if !key.verify(preAuthentication(payloadType, payload), sig) {
		return Statement{}, ErrSignature
	}
	return parseStatement(payload)
}
