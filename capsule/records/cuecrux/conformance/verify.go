package conformance

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/finding"
	"github.com/erdos1056/erdos1056/capsule/records/keys"
)

// The findings about a manifest, besides those about its text.
const (
	UnknownField      = "UnknownField"      // dropped before hashing, so covered by nothing
	UnsignedField     = "UnsignedField"     // known, acted upon, and outside the signature
	UnsignedManifest  = "UnsignedManifest"  // accepted without a signature
	NoManifestHash    = "NoManifestHash"    // hashes.manifest is absent
	PublisherMismatch = "PublisherMismatch" // signed with a trusted key that is not the publisher's
	ArgumentOrder     = "ArgumentOrder"     // keys of arguments are unsorted, so the signed bytes depend on the reader
	UncleanPath       = "UncleanPath"       // a path with ./, //, a backslash or a control character
	CorpusMismatch    = "CorpusMismatch"    // the corpus file is not the one declared
)

// Report is what [Verify] found out about a manifest.
type Report struct {
	finding.Verdict
	Manifest *Manifest // nil when the file is not a manifest
	Hash     string    // the manifest hash as recomputed
}

// Verify checks a manifest against the keys of a registry: structure, every
// rule, hash and signature. corpus is the content of the file that the block
// names as its replay corpus, nil when that is not at hand.
func Verify(data []byte, registry keys.Registry, corpus []byte) Report {
	m, root, findings, err := read(data)
	if err != nil {
		return Report{Verdict: finding.Verdict{Refusal: err}}
	}
	r := Report{Manifest: m, Verdict: finding.Verdict{Findings: findings}}
	if r.Refusal = m.Validate(); r.Refusal != nil {
		return r
	}
	payload, err := m.SigningPayload()
	if err != nil {
		r.Refusal = finding.Refuse("Json", "", "%v", err)
		return r
	}
	r.Hash = hashOf(payload)
	if r.Refusal = m.checkHash(payload); r.Refusal == nil {
		r.Refusal = m.checkSignature(payload, registry)
	}
	if r.Refusal == nil {
		r.inspectSignature(registry)
		r.inspectDeclaration()
		r.inspectCoverage(uncovered(root), corpus)
	}
	return r
}

func (r *Report) inspectSignature(registry keys.Registry) {
	m := r.Manifest
	if m.Hashes.Manifest == nil {
		r.Report(NoManifestHash, "hashes.manifest", "the manifest states no hash of itself")
	}
	if m.Hashes.Bundle != nil {
		r.Report(UnsignedField, "hashes.bundle", "neither hash nor signature covers the digest of the bundle")
	}
	if m.Signature == nil {
		r.Report(UnsignedManifest, "signature", "the original trusts the publisher %s unsigned", FirstPartyPublisher)
		return
	}
	signer := m.Signature.PassportFPR
	if signer != m.PublisherFPR {
		r.Report(PublisherMismatch, "signature.passport_fpr", "%s signed for the publisher %s", signer, m.PublisherFPR)
	}
	if entry, _ := registry.Lookup(keys.Fingerprint(signer)); !entry.May(keys.Publisher) {
		r.Report(PublisherMismatch, "signature.passport_fpr", "the registry does not let %s sign as a publisher", signer)
	}
}

func (r *Report) inspectDeclaration() {
	if r.Manifest.Conformance == nil {
		return
	}
	corpus := r.Manifest.Conformance.ReplayCorpus
	if strings.ContainsFunc(corpus.Path, func(c rune) bool { return c < ' ' || c == '\\' || c == 0x7f }) || path.Clean(corpus.Path) != corpus.Path {
		r.Report(UncleanPath, "conformance.replay_corpus.path", "%q is not in its shortest form", corpus.Path)
	}
	for i, k := range corpus.Cases {
		if !keysSorted(k.Args) {
			field := fmt.Sprintf("conformance.replay_corpus.cases[%d].args", i)
			r.Report(ArgumentOrder, field, "readers differ on whether keys keep their order; sort them")
		}
	}
}

func keysSorted(v canon.Value) bool {
	members := v.Members()
	return slices.IsSortedFunc(members, func(a, b canon.Member) int { return strings.Compare(a.Key, b.Key) }) &&
		!slices.ContainsFunc(members, func(m canon.Member) bool { return !keysSorted(m.Value) }) &&
		!slices.ContainsFunc(v.Elements(), func(e canon.Value) bool { return !keysSorted(e) })
}
