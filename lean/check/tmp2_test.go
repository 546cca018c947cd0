package check

import (
	"context"
	"github.com/erdos1056/erdos1056/lean/export"
	"github.com/erdos1056/erdos1056/lean/term"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
)

func TestPins(t *testing.T) {
	filepath.Walk("../../testdata/lean", func(p string, i os.FileInfo, e error) error {
		if i.IsDir() {
			return nil
		}
		switch filepath.Ext(p) {
		case ".md", ".tsv", ".yaml", ".json":
			return nil
		}
		f, _ := os.Open(p)
		defer f.Close()
		s := term.NewStore(nil)
		x, err := export.Read(f, s, export.Limits{})
		if err != nil {
			return nil
		}
		r := &run{file: x, opts: Options{Limits: Limits{Depth: 1 << 18}}, stop: nilstop()}
		r.env = newEnvironment(s)
		r.firstFailure.Store(int64(len(x.Decls)))
		r.declare()
		_ = context.Background
		for op := opAdd; op < numNatOps; op++ {
			n, ok := s.LookupName("Nat", natOpNames[op])
			if !ok || int(n) >= len(r.env.byName) || r.env.byName[n] == nil {
				continue
			}
			t.Log(filepath.Base(p), x.Meta.Lean, natOpNames[op], r.env.natOps[n], definitionDigest(r.env, n), r.env.byName[n].kind)
		}
		return nil
	})
}
func nilstop() *atomic.Bool { return new(atomic.Bool) }
