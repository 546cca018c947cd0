package declaration

import (
	"bytes"
	"context"
	"os"
	"testing"

	"github.com/erdos1056/erdos1056/capsule/freeze"
	"github.com/erdos1056/erdos1056/kernel/plan"
)

// TestDeclarationOfARange declares the frozen verifier of 10428401..10428600,
// replays it in the sandbox with the published artifact and one that lies about
// the greatest multiplicity, and verifies the verdict.
func TestDeclarationOfARange(t *testing.T) {
	platform, err := freeze.ParsePlatforms(host)
	if err != nil {
		t.Fatal(err)
	}
	source, err := freeze.FindSource()
	if err != nil {
		t.Fatal(err)
	}
	unfrozen, err := source.Unfrozen(context.Background(), freeze.Verifier, platform[0])
	if err != nil {
		t.Fatal(err)
	}
	frozen, err := freeze.Freeze(unfrozen, plan.Plan{Range: plan.Range{Lo: 10428401, Hi: 10428600}, K: 15})
	if err != nil {
		t.Fatal(err)
	}
	artifact, err := os.ReadFile("../../../../testdata/erdos-frontier/artifacts/erdos1056-k15-range-10428401-10428600.txt")
	if err != nil {
		t.Fatal(err)
	}
	p := planOf(t, frozen)
	p.ID, p.Name, p.Summary = "erdos1056.k15.10428401-10428600", "Erdős 1056, k = 15", "Judges artifacts of the range 10428401..10428600."
	p.Cases = []Case{
		{ID: "published", Artifact: artifact, Expected: Verified},
		{ID: "other-residue", Artifact: bytes.Replace(artifact, []byte("best_residue=5141590"), []byte("best_residue=5141591"), 1), Expected: Refused},
	}
	p.Bounds = Bounds{LatencyMS: 120_000, MemoryBytes: 512 << 20, Processes: 64, ResponseBytes: 4096}
	d, e := replay(t, p)
	if got := broken(t, d, e); got != nil {
		t.Errorf("%q do not hold: %+v", got, e.Calls)
	}
	evidence, err := EvidenceSpec.Encode(e)
	if err != nil {
		t.Fatal(err)
	}
	v, err := d.SignVerdict(evidence, publisher(t))
	if err != nil {
		t.Fatal(err)
	}
	text, err := VerdictSpec.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.VerifyVerdict(text, evidence, registry(t)); err != nil || !v.Holds {
		t.Errorf("verdict %+v: %v", v, err)
	}
}
