package academy

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/finding"
	"github.com/erdos1056/erdos1056/capsule/records/keys"
)

// The findings about a bundle or a certificate, besides those about its text.
const (
	Unsigned              = "Unsigned"              // accepted without a signature
	UnverifiableSignature = "UnverifiableSignature" // a signature without its key, or a key without a signature
	SignatureSpelling     = "SignatureSpelling"     // base64 that only a lenient reader accepts
	UnknownKey            = "UnknownKey"            // the key is not in the registry, or not for this use
	UnprovenProctoring    = "UnprovenProctoring"    // claims to be proctored without a valid co-signature
	InvalidCosignature    = "InvalidCosignature"    // the academy's signature is not one
	UnclaimedProctoring   = "UnclaimedProctoring"   // self-reported, yet with a proctor or a co-signature
	TraceOrder            = "TraceOrder"            // steps are missing, repeated or out of order
	UnprovenCertification = "UnprovenCertification" // claims to be certified without a valid signature
	Expired               = "Expired"               // the certificate is no longer, or not yet, valid
)

// Report is what [Verify] found out about a bundle.
type Report struct {
	finding.Verdict
	Document *Document        // nil when the file is not a bundle
	Hash     string           // the bundle hash as recomputed
	Entrant  keys.Fingerprint // the registry's key that signed, "" if none
	Proctor  keys.Fingerprint // the registry's key that co-signed, "" if none
}

// Verify checks a bundle against the keys of a registry.
func Verify(data []byte, registry keys.Registry) Report {
	var r Report
	d, err := Read(data)
	if err != nil {
		r.Refusal = unreadable(err)
		return r
	}
	r.Document = d
	for _, i := range d.irregularities {
		r.Findings = append(r.Findings, finding.Of(i))
	}
	if r.Hash, err = d.Hash(); err != nil {
		r.Refusal = finding.Refuse("HashMismatch", "", "%v", err)
		return r
	}
	if stated := d.Integrity.BundleHash; stated != r.Hash {
		r.Refusal = finding.Refuse("HashMismatch", "integrity.bundleHash", "the bundle hashes to %s, but states %s", r.Hash, stated)
		return r
	}
	r.checkSignature(registry)
	if r.Refusal == nil {
		r.inspectCosignature(registry)
		r.inspectTraces()
	}
	return r
}

// unreadable is the refusal of a text that is not of its format. A limit of the
// reader stays one: it is no verdict.
func unreadable(err error) error {
	var limit *canon.LimitError
	if errors.As(err, &limit) {
		return err
	}
	return finding.Refuse("SchemaInvalid", "", "%v", err)
}

func (r *Report) checkSignature(registry keys.Registry) {
	signature, key := r.Document.Integrity.Signature, r.Document.Integrity.PublicKey
	switch {
	case signature == nil && key == nil:
		r.Report(Unsigned, "integrity.signature", "nobody signed the bundle; its hash proves no origin")
		return
	case signature == nil || key == nil:
		r.Report(UnverifiableSignature, "integrity", "signature and publicKey belong together; the original checks neither alone")
		return
	}
	public, err := keys.ParsePublicPEM(*key)
	if err != nil {
		r.Refusal = finding.Refuse("SignatureInvalid", "integrity.publicKey", "%v", err)
		return
	}
	if !ed25519.Verify(public, []byte(r.Hash), lenientBase64(*signature)) {
		r.Refusal = finding.Refuse("SignatureInvalid", "integrity.signature", "is no signature of the bundle hash by the key in the bundle")
		return
	}
	if _, err := keys.DecodeSignature(*signature); err != nil {
		r.Report(SignatureSpelling, "integrity.signature", "%v", err)
	}
	fingerprint := keys.FingerprintOf(public)
	if entry, known := registry.Lookup(fingerprint); !known || !entry.May(keys.Entrant) {
		r.Report(UnknownKey, "integrity.publicKey", "the registry has no entrant with the key %s", fingerprint)
		return
	}
	r.Entrant = fingerprint
}

// lenientBase64 decodes as the original does: it reads both alphabets, skips
// everything else, and stops at the padding.
func lenientBase64(text string) []byte {
	text, _, _ = strings.Cut(text, "=")
	text = strings.Map(func(c rune) rune {
		switch {
		case c == '-':
			return '+'
		case c == '_':
			return '/'
		case c == '+' || c == '/' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z':
			return c
		}
		return -1
	}, text)
	if len(text)%4 == 1 {
		text = text[:len(text)-1]
	}
	decoded, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	return decoded
}

func (r *Report) inspectCosignature(registry keys.Registry) {
	attestation, cosignature := r.Document.Attestation, r.Document.Integrity.AcademySignature
	claimed := attestation.Mode == Proctored
	if !claimed && (attestation.Proctor != nil || cosignature != nil) {
		r.Report(UnclaimedProctoring, "attestation.mode", "the run is self-reported, yet has a proctor block or a co-signature")
	}
	if cosignature != nil {
		if r.Proctor = signedBy(registry, keys.Proctor, r.Hash, *cosignature); r.Proctor == "" {
			r.Report(InvalidCosignature, "integrity.academySignature", "is no signature of the bundle hash by a proctor of the registry")
		}
	}
	switch {
	case claimed && r.Proctor == "":
		r.Report(UnprovenProctoring, "attestation.mode", "the run claims to be proctored, but no proctor of the registry co-signed it")
	case claimed && attestation.Proctor == nil:
		r.Report(UnprovenProctoring, "attestation.proctor", "the run claims to be proctored, but does not say by whom")
	case claimed && r.Proctor == r.Entrant:
		r.Report(UnprovenProctoring, "integrity.academySignature", "entrant and proctor are one key")
	}
}

// signedBy returns the registry's key of the given role that signed a hash.
func signedBy(registry keys.Registry, role keys.Role, hash, signature string) keys.Fingerprint {
	raw, err := keys.DecodeSignature(signature)
	if err != nil {
		return ""
	}
	for _, entry := range registry.Entries() {
		if entry.May(role) && ed25519.Verify(entry.Public, []byte(hash), raw) {
			return entry.Fingerprint
		}
	}
	return ""
}

// InspectFlags reports the signs that the run was gamed; see [Bundle.Flags].
func (r *Report) InspectFlags(tasks []Task) {
	if r.Document == nil {
		return
	}
	flags := r.Document.Flags(tasks)
	for _, task := range slices.Sorted(maps.Keys(flags)) {
		for _, flag := range flags[task] {
			r.Report(string(flag), "tasks."+task, "%s", flagMeanings[flag])
		}
	}
}

func (r *Report) inspectTraces() {
	for _, task := range r.Document.Tasks {
		var last int64
		for i, step := range task.Trace {
			if step.Seq != int64(i) {
				r.Report(TraceOrder, "tasks."+task.TaskID+".trace", "expected step %d, found %d", i, step.Seq)
				break
			}
			if step.TOffsetMS == nil {
				continue
			}
			if *step.TOffsetMS < last {
				r.Report(TraceOrder, "tasks."+task.TaskID+".trace", "step %d lies before its predecessor", i)
				break
			}
			last = *step.TOffsetMS
		}
	}
}
