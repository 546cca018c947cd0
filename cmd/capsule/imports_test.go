package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// mayImport lists what each package of capsules and images may import of this
// module, directly or not. Data flows one way, and the verifier's side knows
// nothing of the search.
var mayImport = map[string][]string{
	"oci":                 {"internal/digest", "kernel/durable"},
	"capsule/attestation": {},
	"capsule/sandbox":     {},
	"capsule/frozen":      {"kernel/artifact", "kernel/plan", "kernel/primes", "kernel/reference"},
	"capsule/formal":      {},
	"capsule/freeze":      {"capsule/formal", "capsule/frozen", "capsule/scratch", "kernel/artifact", "kernel/plan", "kernel/primes", "kernel/reference", "kernel/durable"},
	"capsule/replay":      {"capsule/sandbox", "capsule/scratch"},
	"capsule/scratch":     {},
	"capsule/toolchain":   {"capsule/sandbox", "capsule/scratch"},
	"capsule/image": {"capsule/attestation", "capsule/file", "capsule/formal", "capsule/freeze", "capsule/frozen", "capsule/scratch", "internal/digest", "oci",
		"kernel/artifact", "kernel/plan", "kernel/primes", "kernel/reference", "kernel/durable"},
}

func TestImportsRunOneWay(t *testing.T) {
	const module = "github.com/erdos1056/erdos1056/"
	for name, allowed := range mayImport {
		output, err := exec.Command("go", "list", "-deps", module+name).Output()
		if err != nil {
			t.Fatalf("go list -deps %s: %v", name, err)
		}
		for _, line := range strings.Fields(string(output)) {
			own, ok := strings.CutPrefix(line, module)
			if ok && own != name && !slices.Contains(allowed, own) {
				t.Errorf("%s imports %s, directly or not; it may import %v", name, own, allowed)
			}
		}
	}
}
