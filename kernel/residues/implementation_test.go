package residues

import (
	"os"
	"strings"
	"testing"
)

// A machine that is meant to have certain processor features proves it with EXPECT_IMPL,
// the name of an implementation: it must then be one of those that the tests run.
func TestImplementationsRun(t *testing.T) {
	for _, impl := range All() {
		if impl.Available() {
			t.Logf("impl=%s runs", impl.Name)
		} else {
			t.Logf("impl=%s does not run: it needs %s", impl.Name, impl.Needs)
		}
	}
	if name := os.Getenv("EXPECT_IMPL"); name != "" {
		if _, err := Find(name); err != nil {
			t.Errorf("EXPECT_IMPL: %v", err)
		}
	}
}

func TestFind(t *testing.T) {
	missing := &Implementation{Name: "abacus", Needs: "beads", available: func() bool { return false }}
	among := []*Implementation{missing, Generic}
	for _, c := range []struct {
		name string
		want *Implementation
		says string
	}{
		{"generic", Generic, ""},
		{"abacus", nil, `this machine cannot run the kernel "abacus": it needs beads`},
		{"fingers", nil, `no kernel "fingers" in this program; there are abacus, generic`},
		{"", nil, `no kernel ""`},
	} {
		impl, err := find(c.name, among)
		if impl != c.want || (err == nil) != (c.says == "") || err != nil && !strings.HasPrefix(err.Error(), c.says) {
			t.Errorf("find(%q) is %v, %v; want the error %q", c.name, impl, err, c.says)
		}
	}
}

func TestBestIsTheFirstAvailable(t *testing.T) {
	for _, impl := range All() {
		if impl.Available() {
			if Best() != impl {
				t.Errorf("best is %s, but %s comes first", Best().Name, impl.Name)
			}
			return
		}
	}
}
