package conformance

import (
	"crypto/ed25519"
	"encoding/hex"
	"strings"

	"lukechampine.com/blake3"

	"github.com/erdos1056/erdos1056/capsule/records/finding"
	"github.com/erdos1056/erdos1056/capsule/records/keys"
)

// hashOf returns the manifest hash: "blake3:" and the BLAKE3-256 of the signing
// payload in lower-case hexadecimal.
func hashOf(payload []byte) string {
	sum := blake3.Sum256(payload)
	return "blake3:" + hex.EncodeToString(sum[:])
}

// Sign makes the key's holder the publisher, and sets the manifest hash and
// the signature. A manifest that breaks a rule is not signed.
func (m *Manifest) Sign(key keys.Key) error {
	fingerprint := string(key.Fingerprint())
	signed := *m
	signed.PublisherFPR = fingerprint
	if err := signed.Validate(); err != nil {
		return err
	}
	payload, err := signed.SigningPayload()
	if err != nil {
		return err
	}
	hash, public := hashOf(payload), hex.EncodeToString(key.Public())
	signed.Hashes.Manifest = &hash
	signed.Signature = &Signature{
		Alg:          "ed25519",
		PassportFPR:  fingerprint,
		PublicKeyHex: &public,
		Sig:          keys.EncodeSignature(key.Sign(payload)),
	}
	*m = signed
	return nil
}

// checkHash compares the stated manifest hash, when there is one.
func (m *Manifest) checkHash(payload []byte) error {
	if m.Hashes.Manifest == nil {
		return nil
	}
	if actual := hashOf(payload); *m.Hashes.Manifest != actual {
		return finding.Refuse("ManifestHashMismatch", "hashes.manifest", "the signed fields hash to %s, but the manifest states %.80q", actual, *m.Hashes.Manifest)
	}
	return nil
}

// checkSignature verifies the signature with the registry's key.
func (m *Manifest) checkSignature(payload []byte, registry keys.Registry) error {
	s := m.Signature
	if s == nil {
		if m.PublisherFPR == FirstPartyPublisher {
			return nil
		}
		return finding.Refuse("SignatureRequired", "signature", "the manifest is not signed")
	}
	if s.Alg != "ed25519" {
		return finding.Refuse("UnsupportedSignatureAlgorithm", "signature.alg", `expected "ed25519", found %.40q`, s.Alg)
	}
	entry, known := registry.Lookup(keys.Fingerprint(s.PassportFPR))
	if !known {
		return finding.Refuse("MissingTrustedKey", "signature.passport_fpr", "the registry has no key %.80q", s.PassportFPR)
	}
	if s.PublicKeyHex != nil && !strings.EqualFold(*s.PublicKeyHex, hex.EncodeToString(entry.Public)) {
		return finding.Refuse("InvalidSignatureMaterial", "signature.public_key_hex", "is not the registry's key of %s", s.PassportFPR)
	}
	sig, err := keys.DecodeSignature(s.Sig)
	if err != nil {
		return finding.Refuse("InvalidSignatureMaterial", "signature.sig", "%v", err)
	}
	if !ed25519.Verify(entry.Public, payload, sig) {
		return finding.Refuse("SignatureInvalid", "signature.sig", "is no signature of the signed fields by %s", s.PassportFPR)
	}
	return nil
}
