package academy

import (
	"slices"
	"time"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/finding"
	"github.com/erdos1056/erdos1056/capsule/records/keys"
)

// unsignedMark stands in the place of a signature that nobody gave.
const unsignedMark = "self-reported:unsigned"

// Certificate is the part of an academy certificate that verification reads.
type Certificate struct {
	CertID      string    `json:"certId"`
	Attestation string    `json:"attestation"` // self_reported or certified
	IssuedAt    time.Time `json:"issuedAt"`
	ExpiresAt   time.Time `json:"expiresAt"`
	Evidence    struct {
		RunBundleHash string `json:"runBundleHash"`
	} `json:"evidence"`
	Integrity struct {
		CertHash         string `json:"certHash"`
		AcademySignature string `json:"academySignature"`
	} `json:"integrity"`
}

// CertificateReport is what [VerifyCertificate] found out.
type CertificateReport struct {
	finding.Verdict
	Certificate *Certificate     // nil when the file is not a certificate
	Hash        string           // the certificate hash as recomputed
	Signer      keys.Fingerprint // the registry's key that signed, "" if none
}

// VerifyCertificate checks a certificate against the proctors of a registry at
// a moment. Its hash is made as that of a bundle, over an integrity block
// whose certHash, academySignature and academyKeyId are null.
func VerifyCertificate(data []byte, registry keys.Registry, at time.Time) CertificateReport {
	var r CertificateReport
	parsed, err := canon.Parse(data, limits)
	if err == nil {
		err = conforms(certificateSchema(), parsed.Root)
	}
	var c Certificate
	if err == nil {
		err = decode(parsed.Root, &c)
	}
	if err != nil {
		r.Refusal = unreadable(err)
		return r
	}
	r.Certificate = &c
	for _, i := range parsed.Irregularities {
		r.Findings = append(r.Findings, finding.Of(i))
	}
	if r.Hash, err = hashWith(parsed.Root, "certHash", "academySignature", "academyKeyId"); err != nil || r.Hash != c.Integrity.CertHash {
		r.Refusal = finding.Refuse("HashMismatch", "integrity.certHash", "the certificate hashes to %s, but states %s", r.Hash, c.Integrity.CertHash)
		return r
	}
	r.checkSignature(registry)
	if at.Before(c.IssuedAt) || !at.Before(c.ExpiresAt) {
		r.Report(Expired, "expiresAt", "valid from %s to %s", c.IssuedAt.Format(time.RFC3339), c.ExpiresAt.Format(time.RFC3339))
	}
	return r
}

func (r *CertificateReport) checkSignature(registry keys.Registry) {
	c := r.Certificate
	certified := c.Attestation == "certified"
	if c.Integrity.AcademySignature == unsignedMark {
		if certified {
			r.Report(UnprovenCertification, "integrity.academySignature", "the certificate claims to be certified, but nobody signed it")
		} else {
			r.Report(Unsigned, "integrity.academySignature", "the certificate reports itself; nobody vouches for it")
		}
		return
	}
	if r.Signer = signedBy(registry, keys.Proctor, r.Hash, c.Integrity.AcademySignature); r.Signer != "" {
		return
	}
	knowsProctor := slices.ContainsFunc(registry.Entries(), func(e keys.Entry) bool { return e.May(keys.Proctor) })
	if knowsProctor {
		r.Refusal = finding.Refuse("SignatureInvalid", "integrity.academySignature", "is no signature of the certificate hash by a proctor of the registry")
		return
	}
	r.Report(UnprovenCertification, "integrity.academySignature", "the registry has no proctor, so nothing proves the signature")
}
