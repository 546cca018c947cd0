package kernel

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/erdos1056/erdos1056/"

// mayImport lists what each package may import of this module, itself and everything
// behind it: data flows one way, and the judge shares nothing with the searcher.
var mayImport = map[string][]string{
	"kernel/plan":          {},
	"kernel/primes":        {},
	"kernel/residues":      {},
	"kernel/fibers":        {"kernel/residues"},
	"kernel/reference":     {},
	"kernel/halffactorial": {},
	"kernel/artifact":      {"kernel/plan"},
	"kernel/transcript":    {"kernel/plan"},
	"kernel/witness":       {"kernel/plan"},
	"kernel/special":       {"kernel/residues"},
	"kernel": {"kernel/special", "kernel/plan", "kernel/primes", "kernel/residues", "kernel/fibers", "kernel/reference",
		"kernel/artifact", "kernel/transcript"},
	"kernel/campaign": {"kernel", "internal/disk", "kernel/plan", "kernel/primes", "kernel/residues", "kernel/fibers", "kernel/special", "kernel/reference",
		"kernel/halffactorial", "kernel/artifact", "kernel/transcript", "kernel/witness"},
	"kernel/schedule": {"kernel", "kernel/campaign", "internal/disk", "kernel/plan", "kernel/primes", "kernel/residues", "kernel/fibers", "kernel/special", "kernel/reference",
		"kernel/halffactorial", "kernel/artifact", "kernel/transcript", "kernel/witness"},
}

func dependencies(t *testing.T, pkg string) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", module+pkg).Output()
	if err != nil {
		t.Fatalf("go list -deps %s: %v", pkg, err)
	}
	var own []string
	for line := range strings.Lines(string(out)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), module); ok && name != pkg {
			own = append(own, name)
		}
	}
	return own
}

func TestImportsRunOneWay(t *testing.T) {
	for pkg, allowed := range mayImport {
		for _, dep := range dependencies(t, pkg) {
			if !slices.Contains(allowed, dep) {
				t.Errorf("%s imports %s, directly or not; it may import %v", pkg, dep, allowed)
			}
		}
	}
}
