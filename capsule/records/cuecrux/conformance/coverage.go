package conformance

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/finding"
	"github.com/erdos1056/erdos1056/internal/digest"
)

// The tools, the endpoint and every unknown key of a manifest are outside its
// signature. A corpus file, whose digest is signed, can cover them: its key
// "unsigned_fields_sha256" holds the digest of all top-level members of the
// manifest that are neither signed nor about the signature itself.

// UnsignedDigest returns the protocol digest of the object of a manifest's
// uncovered members.
func UnsignedDigest(manifest []byte) (digest.Digest, error) {
	doc, err := canon.Parse(manifest, canon.DocumentLimits)
	if err != nil {
		return "", err
	}
	return canon.ProtocolDigest(uncovered(doc.Root))
}

// uncovered returns the object of the members that no signature covers.
func uncovered(manifest canon.Value) canon.Value {
	covered := []string{"hashes", "signature"}
	for _, f := range fieldsOf(reflect.TypeFor[payload]()) {
		covered = append(covered, f.key)
	}
	var rest []canon.Member
	for _, m := range manifest.Members() {
		if !slices.Contains(covered, m.Key) {
			rest = append(rest, m)
		}
	}
	return canon.NewObject(rest...)
}

// inspectCoverage compares the corpus file with the declaration and reports
// each member that the signature leaves uncovered, unless the corpus covers
// them all.
func (r *Report) inspectCoverage(rest canon.Value, corpus []byte) {
	if r.Manifest.Conformance != nil && corpus != nil {
		stated, err := r.Manifest.Conformance.ReplayCorpus.check(corpus)
		if err != nil {
			r.Report(CorpusMismatch, "conformance.replay_corpus", "%v", err)
			return
		}
		if stated != "" {
			r.compareCovered(stated, rest)
			return
		}
	}
	for _, member := range rest.Members() {
		if !slices.ContainsFunc(r.Findings, func(f finding.Finding) bool { return f.Name == UnknownField && f.Field == member.Key }) {
			r.Report(UnsignedField, member.Key, "the field is acted upon, but neither hash nor signature covers it")
		}
	}
}

// compareCovered drops the findings about members that the stated digest
// covers.
func (r *Report) compareCovered(stated string, rest canon.Value) {
	actual, err := canon.ProtocolDigest(rest)
	if err != nil || string(actual) != stated {
		r.Report(CorpusMismatch, "unsigned_fields_sha256", "the corpus covers unsigned fields of digest %s, the manifest's have %s", stated, actual)
		return
	}
	r.Findings = slices.DeleteFunc(r.Findings, func(f finding.Finding) bool {
		_, topLevel := rest.Lookup(f.Field)
		return f.Name == UnknownField && topLevel
	})
}

// check compares a corpus file with the declaration: its digest, its name and
// its cases. It returns the file's unsigned_fields_sha256, "" if it has none.
func (c ReplayCorpus) check(corpus []byte) (unsigned string, err error) {
	sum := sha256.Sum256(corpus)
	if actual := hex.EncodeToString(sum[:]); actual != c.SHA256 {
		return "", fmt.Errorf("the corpus file has the SHA-256 %s, declared is %s", actual, c.SHA256)
	}
	doc, err := canon.Parse(corpus, canon.RecordLimits)
	if err != nil {
		return "", fmt.Errorf("the corpus file is not JSON: %w", err)
	}
	if id, _ := doc.Root.Lookup("corpus_id"); id.Text() != c.CorpusID {
		return "", fmt.Errorf("the corpus file is named %q, declared is %q", id.Text(), c.CorpusID)
	}
	cases, _ := doc.Root.Lookup("cases")
	if len(cases.Elements()) != len(c.Cases) {
		return "", fmt.Errorf("the corpus file has %d cases, declared are %d", len(cases.Elements()), len(c.Cases))
	}
	for i, k := range cases.Elements() {
		if err := c.Cases[i].equals(k); err != nil {
			return "", fmt.Errorf("case %d of the corpus file: %w", i, err)
		}
	}
	stated, _ := doc.Root.Lookup("unsigned_fields_sha256")
	return stated.Text(), nil
}

// equals compares a declared case with one of the corpus file, whose further
// keys are not its concern.
func (k DeclaredCase) equals(v canon.Value) error {
	id, _ := v.Lookup("case_id")
	tool, _ := v.Lookup("tool_name")
	args, _ := v.Lookup("args")
	if id.Text() != k.CaseID || tool.Text() != k.ToolName {
		return fmt.Errorf("calls %q as %q, declared is %q as %q", tool.Text(), id.Text(), k.ToolName, k.CaseID)
	}
	found, err := canon.Encode(args)
	if err != nil {
		return err
	}
	declared, err := canon.Encode(k.Args)
	if err != nil {
		return err
	}
	if string(found) != string(declared) {
		return fmt.Errorf("has the arguments %.80s, declared are %.80s", found, declared)
	}
	return nil
}
