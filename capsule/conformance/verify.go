package conformance

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/erdos1056/erdos1056/capsule/canon"
	"github.com/erdos1056/erdos1056/capsule/keys"
)

// Report is what [Verify] found out about a manifest.
type Report struct {
	Manifest *Manifest // nil when the file is not a manifest
	Hash     string    // the manifest hash as recomputed
	Refusal  error     // the original's verdict; nil when it accepts
	Findings []Finding // what the original does not look at
}

// Err returns nil when the manifest is accepted. A strict caller also refuses
// every finding.
func (r Report) Err(strict bool) error {
	if r.Refusal != nil || !strict || len(r.Findings) == 0 {
		return r.Refusal
	}
	first := r.Findings[0]
	if more := len(r.Findings) - 1; more > 0 {
		return fmt.Errorf("%v (and %d more)", first, more)
	}
	return errors.New(first.String())
}

// Verify checks a manifest against the keys of a registry: structure, every
// rule, hash and signature. corpus is the content of the file that the block
// names as its replay corpus, nil when that is not at hand.
func Verify(data []byte, registry keys.Registry, corpus []byte) Report {
	m, findings, err := Read(data)
	if err != nil {
		return Report{Refusal: err}
	}
	r := Report{Manifest: m, Findings: findings}
	if r.Refusal = m.Validate(); r.Refusal != nil {
		return r
	}
	payload, err := m.SigningPayload()
	if err != nil {
		r.Refusal = refuse("Json", "", "%v", err)
		return r
	}
	r.Hash = hashOf(payload)
	if r.Refusal = m.checkHash(payload); r.Refusal == nil {
		r.Refusal = m.checkSignature(payload, registry)
	}
	if r.Refusal == nil {
		r.Findings = append(r.Findings, m.signatureFindings(registry)...)
		r.Findings = append(r.Findings, m.declarationFindings()...)
		r.Findings = coverage(data, m, corpus, r.Findings)
	}
	return r
}

func (m *Manifest) signatureFindings(registry keys.Registry) []Finding {
	var findings []Finding
	if m.Hashes.Manifest == nil {
		findings = append(findings, Finding{NoManifestHash, "hashes.manifest", "the manifest states no hash of itself"})
	}
	if m.Signature == nil {
		return append(findings, Finding{UnsignedManifest, "signature", "the original trusts the publisher " + FirstPartyPublisher + " unsigned"})
	}
	signer := m.Signature.PassportFPR
	if signer != m.PublisherFPR {
		findings = append(findings, Finding{PublisherMismatch, "signature.passport_fpr", fmt.Sprintf("%s signed for the publisher %s", signer, m.PublisherFPR)})
	}
	if entry, _ := registry.Lookup(keys.Fingerprint(signer)); !entry.May(keys.Publisher) {
		findings = append(findings, Finding{PublisherMismatch, "signature.passport_fpr", "the registry does not let " + signer + " sign as a publisher"})
	}
	return findings
}

func (m *Manifest) declarationFindings() []Finding {
	if m.Conformance == nil {
		return nil
	}
	var findings []Finding
	corpus := m.Conformance.ReplayCorpus
	if strings.ContainsFunc(corpus.Path, func(r rune) bool { return r < ' ' || r == '\\' || r == 0x7f }) || path.Clean(corpus.Path) != corpus.Path {
		findings = append(findings, Finding{UncleanPath, "conformance.replay_corpus.path", fmt.Sprintf("%q is not in its shortest form", corpus.Path)})
	}
	for i, k := range corpus.Cases {
		if !keysSorted(k.Args) {
			field := fmt.Sprintf("conformance.replay_corpus.cases[%d].args", i)
			findings = append(findings, Finding{ArgumentOrder, field, "readers differ on whether keys keep their order; sort them"})
		}
	}
	return findings
}

func keysSorted(v canon.Value) bool {
	members := v.Members()
	return slices.IsSortedFunc(members, func(a, b canon.Member) int { return strings.Compare(a.Key, b.Key) }) &&
		!slices.ContainsFunc(members, func(m canon.Member) bool { return !keysSorted(m.Value) }) &&
		!slices.ContainsFunc(v.Elements(), func(e canon.Value) bool { return !keysSorted(e) })
}
