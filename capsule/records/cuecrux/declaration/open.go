package declaration

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/cuecrux/conformance"
	"github.com/erdos1056/erdos1056/capsule/records/keys"
	"github.com/erdos1056/erdos1056/internal/disk"
)

// Declared is a declaration whose manifest and corpus were verified.
type Declared struct {
	Manifest *conformance.Manifest
	Hash     string // the manifest hash
	Corpus   Corpus
	folder   string
}

// Open reads the declaration of a folder and verifies it strictly: a weakness
// of the manifest is a failure. Artifacts and verifiers are verified when they
// are used.
func Open(folder string, registry keys.Registry) (*Declared, error) {
	manifest, err := disk.ReadBelow(folder, manifestFile, int64(canon.DocumentLimits.Bytes))
	if err != nil {
		return nil, err
	}
	corpusText, err := disk.ReadBelow(folder, corpusFile, int64(canon.RecordLimits.Bytes))
	if err != nil {
		return nil, err
	}
	report := conformance.Verify(manifest, registry, corpusText)
	if err := report.Err(true); err != nil {
		return nil, fmt.Errorf("%s: %w", manifestFile, err)
	}
	m := report.Manifest
	if m.Conformance == nil {
		return nil, fmt.Errorf("%s: the manifest has no conformance block, so it declares nothing", manifestFile)
	}
	if path := m.Conformance.ReplayCorpus.Path; path != corpusFile {
		return nil, fmt.Errorf("%s: expected the corpus %s, found %s", manifestFile, corpusFile, path)
	}
	corpus, err := CorpusSpec.Parse(corpusText)
	if err != nil {
		return nil, err
	}
	if err := checkTool(folder, m); err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(m.Conformance.Invariants, undecidable); i >= 0 {
		return nil, fmt.Errorf("%s: this program cannot decide the invariant %q", manifestFile, m.Conformance.Invariants[i].Kind)
	}
	return &Declared{m, report.Hash, corpus, folder}, nil
}

// checkTool compares the description of the tool with the manifest.
func checkTool(folder string, m *conformance.Manifest) error {
	want, err := toolDocument(m)
	if err != nil {
		return err
	}
	found, err := disk.ReadBelow(folder, toolFile, int64(len(want)))
	if err != nil {
		return err
	}
	if !bytes.Equal(found, want) {
		return fmt.Errorf("%s: is not the description of the manifest's tool", toolFile)
	}
	return nil
}

// undecidable tells whether an invariant is about facts that a verifier, which
// has no store, could never write.
func undecidable(i conformance.InvariantTest) bool {
	return i.Kind == conformance.ReversibleWrites || i.Kind == conformance.NoNewContradictions
}
