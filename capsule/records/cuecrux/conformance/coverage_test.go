package conformance

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"testing"
)

// covering returns the reference manifest with a corpus that covers its
// unsigned fields, and that corpus.
func covering(t *testing.T, original []byte) (manifest, corpusText string) {
	t.Helper()
	digest, err := UnsignedDigest(original)
	if err != nil {
		t.Fatal(err)
	}
	corpusText = strings.Replace(string(readFile(t, corpus)), "{", `{"unsigned_fields_sha256":"`+string(digest)+`",`, 1)
	m := mustRead(t, reference)
	sum := sha256.Sum256([]byte(corpusText))
	m.Conformance.ReplayCorpus.SHA256 = hex.EncodeToString(sum[:])
	if err := m.Sign(exampleKey(t)); err != nil {
		t.Fatal(err)
	}
	file, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return string(file), corpusText
}

func TestCorpusCanCoverTheUnsignedFields(t *testing.T) {
	manifest, corpusText := covering(t, readFile(t, reference))
	for _, tc := range []struct {
		name, manifest, corpus, finding string
	}{
		{"covered", manifest, corpusText, ""},
		{"endpoint pointed elsewhere", strings.Replace(manifest, "https://reference.pack.invalid/tools", "https://evil.invalid", 1), corpusText, "CorpusMismatch unsigned_fields_sha256"},
		{"tool described otherwise", strings.Replace(manifest, "Read-only.", "Writes.", 1), corpusText, "CorpusMismatch unsigned_fields_sha256"},
		{"unknown field added", strings.Replace(manifest, `"version":`, `"note": 1, "version":`, 1), corpusText, "CorpusMismatch unsigned_fields_sha256"},
		{"corpus changed", manifest, strings.Replace(corpusText, "Three", "Four", 1), "CorpusMismatch conformance.replay_corpus"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := Verify([]byte(tc.manifest), publishers(t), []byte(tc.corpus))
			if r.Refusal != nil {
				t.Fatal(r.Refusal)
			}
			if tc.finding == "" && len(r.Findings) > 0 || tc.finding != "" && !slices.Contains(names(r.Findings), tc.finding) {
				t.Errorf("findings %q, want %q", names(r.Findings), tc.finding)
			}
		})
	}
}

func TestCorpusCanCoverUnknownFields(t *testing.T) {
	note := func(manifest []byte) []byte {
		return bytes.Replace(manifest, []byte(`"version":`), []byte(`"note": 1, "version":`), 1)
	}
	manifest, corpusText := covering(t, note(readFile(t, reference)))
	if r := Verify(note([]byte(manifest)), publishers(t), []byte(corpusText)); r.Err(true) != nil {
		t.Errorf("with the note: %v", r.Err(true))
	}
	if r := Verify([]byte(manifest), publishers(t), []byte(corpusText)); r.Err(true) == nil {
		t.Error("the note can be taken out unnoticed")
	}
}

func TestCorpusFileMustHoldTheDeclaredCases(t *testing.T) {
	original := readFile(t, corpus)
	for name, change := range map[string][2]string{
		"other name":      {`"corpus_id": "conformance-reference-v1"`, `"corpus_id": "other"`},
		"other case":      {`"case_id": "recall-topic"`, `"case_id": "recall"`},
		"other tool":      {`"tool_name": "ext.conformance.reference.remember"`, `"tool_name": "forget"`},
		"other arguments": {`"topic": "conformance"`, `"topic": "weather"`},
		"case missing":    {`"cases": [`, `"cases": [], "old_cases": [`},
		"not JSON":        {`{`, ``},
	} {
		t.Run(name, func(t *testing.T) {
			changed := bytes.Replace(original, []byte(change[0]), []byte(change[1]), 1)
			if bytes.Equal(changed, original) {
				t.Fatal("nothing was changed")
			}
			declared := mustRead(t, reference).Conformance.ReplayCorpus
			sum := sha256.Sum256(changed)
			declared.SHA256 = hex.EncodeToString(sum[:])
			if _, err := declared.check(changed); err == nil {
				t.Error("accepted")
			}
		})
	}
}
