package declaration

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/erdos1056/erdos1056/capsule/sandbox"
	"github.com/erdos1056/erdos1056/internal/digest"
)

var update = flag.Bool("update", false, "write the golden files anew")

const golden = "../../../../testdata/declaration"

// TestGoldenDeclaration holds the bytes of a small declaration with evidence,
// verdict and registry. Its verifier is a text and never runs.
func TestGoldenDeclaration(t *testing.T) {
	p := planOf(t, []byte("verifier\n"), "verified", "refused")
	p.Verifiers[0].Platform = "linux/amd64"
	folder := written(t, p)
	d := opened(t, folder)
	evidence, err := EvidenceSpec.Encode(goldenEvidence(d))
	if err != nil {
		t.Fatal(err)
	}
	v, err := d.SignVerdict(evidence, publisher(t))
	if err != nil {
		t.Fatal(err)
	}
	verdict, err := VerdictSpec.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	trusted, err := registry(t).Encode()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"evidence.json": evidence, "verdict.json": verdict, "keys.json": trusted}
	for _, name := range []string{manifestFile, corpusFile, toolFile} {
		if files[name], err = os.ReadFile(filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		path := filepath.Join(golden, name)
		if *update {
			if err := os.WriteFile(path, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if found, err := os.ReadFile(path); err != nil || !bytes.Equal(found, text) {
			t.Errorf("%s differs (%v); if that is meant, run: go test ./capsule/records/cuecrux/declaration -run Golden -update", path, err)
		}
	}
}

func goldenEvidence(d *Declared) Evidence {
	e := Evidence{
		Schema: EvidenceSpec.ID, ManifestHash: d.Hash, CorpusSHA256: "sha256:" + d.Manifest.Conformance.ReplayCorpus.SHA256,
		VerifierSHA256: d.Corpus.Verifiers[0].SHA256, Platform: "linux/amd64", Sandbox: "built-in",
	}
	for code, k := range d.Corpus.Cases {
		answer := []byte(k.CaseID + "\n")
		for range repetitions {
			e.Calls = append(e.Calls, Call{
				CaseID: k.CaseID, End: string(sandbox.Exited), ExitCode: int64(code), LatencyMS: 12, PeakMemory: 4 << 20,
				StdoutBytes: int64(len(answer)), StdoutSHA256: string(digest.Of(answer)), StderrSHA256: string(digest.Of(nil)),
			})
		}
	}
	return e
}
