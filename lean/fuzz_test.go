package lean

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
)

// FuzzJudge takes arbitrary bytes through reader, kernel and audit. There must be
// a verdict, and never for a fault of the checker. Its goroutines make coverage
// vary from run to run, so inputs are best not minimised: -fuzzminimizetime 1x.
func FuzzJudge(f *testing.F) {
	for _, name := range []string{
		"vow-tutorial/tests/good/tutorial/090_ruleK.ndjson", "vow-tutorial/tests/bad/tutorial/047_indNeg.ndjson",
		"vow-tutorial/tests/good/tutorial/109_rTreeRec.ndjson", "vow-tutorial/tests/good/tutorial/089_projRed.ndjson",
		"inductive-models/inductive-models/nested_one_layer.ndjson", "nanoda-test-resources/debug/PpDoubleFrench0/export",
		"inductive-models/inductive-models/unused_level_param.ndjson", "nanoda-test-resources/debug/CycleMutual1/export",
	} {
		data, err := os.ReadFile(filepath.Join(vectors, name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Judge(context.Background(), bytes.NewReader(data), Options{Target: "t", Steps: 1 << 18, Memory: 256 << 20, Threads: 1})
		if err == nil && r.Failure != nil && r.Failure.Rule == "internal" {
			t.Errorf("the checker failed: %s", r.Reason)
		}
	})
}
