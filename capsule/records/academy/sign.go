package academy

import (
	"errors"
	"fmt"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/keys"
)

// New returns the document of a bundle made here, with its hash and without
// signatures.
func New(b Bundle) (*Document, error) {
	b.Integrity = Integrity{HashAlg: "sha256"}
	root, err := canon.Of(b)
	if err != nil {
		return nil, err
	}
	d := &Document{Bundle: b, root: root}
	hash, err := d.Hash()
	if err != nil {
		return nil, err
	}
	d.setIntegrity(Integrity{HashAlg: "sha256", BundleHash: hash})
	if err := conforms(bundleSchema(), d.root); err != nil {
		return nil, fmt.Errorf("run-bundle schema: %w", err)
	}
	return d, nil
}

// Sign sets the bundle hash and the entrant's signature, and removes a
// co-signature, which vouches for a signed bundle.
func (d *Document) Sign(key keys.Key) error {
	hash, err := d.signable()
	if err != nil {
		return err
	}
	public, err := keys.EncodePublicPEM(key.Public())
	if err != nil {
		return err
	}
	signature := keys.EncodeSignature(key.Sign([]byte(hash)))
	d.setIntegrity(Integrity{HashAlg: "sha256", BundleHash: hash, Signature: &signature, PublicKey: &public})
	return nil
}

// Cosign adds the signature of a proctor to a bundle that an entrant of the
// registry signed. The bundle must claim to be proctored and say by whom.
func (d *Document) Cosign(key keys.Key, registry keys.Registry) error {
	text, err := d.Encode()
	if err != nil {
		return err
	}
	r := Verify(text, registry)
	switch {
	case r.Refusal != nil:
		return fmt.Errorf("co-sign: %w", r.Refusal)
	case r.Entrant == "":
		return errors.New("co-sign: no entrant of the registry signed the bundle")
	case r.Entrant == key.Fingerprint():
		return errors.New("co-sign: the proctor's key is the entrant's own")
	case d.Attestation.Mode != Proctored || d.Attestation.Proctor == nil:
		return fmt.Errorf("co-sign: expected the attestation mode %q with a proctor block, found mode %q", Proctored, d.Attestation.Mode)
	}
	if _, err := d.signable(); err != nil {
		return err
	}
	signed := d.Integrity
	cosignature := keys.EncodeSignature(key.Sign([]byte(r.Hash)))
	signed.AcademySignature = &cosignature
	d.setIntegrity(signed)
	return nil
}

// signable returns the hash of a bundle that every reader understands alike.
func (d *Document) signable() (string, error) {
	if len(d.irregularities) > 0 {
		first := d.irregularities[0]
		return "", fmt.Errorf("line %d, column %d: %s; a signature would cover what some readers do not see", first.Line, first.Column, first.Problem)
	}
	return d.Hash()
}

func (d *Document) setIntegrity(block Integrity) {
	d.Integrity = block
	members := []canon.Member{
		{Key: "hashAlg", Value: canon.NewString(block.HashAlg)},
		{Key: "bundleHash", Value: canon.NewString(block.BundleHash)},
	}
	for _, optional := range []struct {
		key   string
		value *string
	}{{"signature", block.Signature}, {"publicKey", block.PublicKey}, {"academySignature", block.AcademySignature}} {
		if optional.value != nil {
			members = append(members, canon.Member{Key: optional.key, Value: canon.NewString(*optional.value)})
		}
	}
	d.root = d.root.With("integrity", canon.NewObject(members...))
}
