package check

import (
	"context"
	"github.com/erdos1056/erdos1056/lean/export"
	"github.com/erdos1056/erdos1056/lean/term"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestTmp(t *testing.T) {
	root := os.Getenv("ROOT")
	if root == "" {
		root = "../../testdata/lean"
	}
	filepath.Walk(root, func(p string, i os.FileInfo, e error) error {
		if i.IsDir() {
			return nil
		}
		switch filepath.Ext(p) {
		case ".md", ".tsv", ".yaml", ".json":
			return nil
		}
		if x := os.Getenv("ONLY"); x != "" && !strings.Contains(p, x) {
			return nil
		}
		f, _ := os.Open(p)
		defer f.Close()
		t0 := time.Now()
		b := term.NewBudget(4 << 30)
		x, err := export.Read(f, term.NewStore(b), export.Limits{})
		if err != nil {
			if os.Getenv("ONLY") != "" {
				t.Log(p, err)
			}
			return nil
		}
		t1 := time.Now()
		r, err := Check(context.Background(), x, Options{Threads: 1, Budget: b, Limits: Limits{Steps: 50_000_000}})
		if err != nil {
			t.Log(err)
			return nil
		}
		d := time.Since(t1)
		msg := ""
		if r.Failure != nil {
			msg = r.Failure.Name + ": " + r.Failure.Rule + ": " + r.Failure.Msg
			if os.Getenv("ONLY") != "" || true {
				for _, z := range r.Failure.Terms {
					msg += "\n     " + z.Label + ": " + z.Text
				}
			}
		}
		want := Accept
		if strings.Contains(p, "/bad/") || strings.Contains(p, "rejected") || strings.Contains(p, "Axiom") || strings.Contains(p, "Cycle") || strings.Contains(p, "Nonpos") || strings.Contains(p, "ProjFrom") {
			want = Reject
		}
		if r.Verdict != want || d > 500*time.Millisecond || os.Getenv("V") != "" {
			t.Logf("%-70s %v (want %v) read %v check %v steps %v mem %dM %v\n   %s", filepath.Base(p), r.Verdict, want, t1.Sub(t0).Round(time.Millisecond), d.Round(time.Millisecond), 0, b.Used()>>20, r.NatOps, msg)
		}
		return nil
	})
}
