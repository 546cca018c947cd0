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
	"oci":                 {"internal/digest", "internal/disk"},
	"capsule/attestation": {},
	"capsule/sandbox":     {},
	"capsule/frozen":      {"kernel/artifact", "kernel/plan", "kernel/primes", "kernel/reference"},
	"capsule/formal":      {},
	"capsule/freeze":      {"capsule/formal", "capsule/frozen", "kernel/artifact", "kernel/plan", "kernel/primes", "kernel/reference", "internal/disk"},
	"capsule/replay":      {"capsule/sandbox", "internal/disk"},
	"capsule/toolchain":   {"capsule/sandbox", "internal/disk"},
	"capsule/image": {"capsule/attestation", "capsule/formal", "capsule/freeze", "capsule/frozen", "internal/digest", "oci",
		"kernel/artifact", "kernel/plan", "kernel/primes", "kernel/reference", "internal/disk"},
}

// The records stand on one layer: text, forms, keys, findings. Each owner's
// formats know nothing of the others', but for a bundle, which tells of a run.
// Only what makes and replays records runs programs or searches.
func init() {
	layer := []string{"internal/digest", "internal/disk", "capsule/records/canon", "capsule/records/schema", "capsule/records/keys", "capsule/records/finding"}
	allow := func(name string, more ...string) { mayImport["capsule/records/"+name] = append(more, layer...) }
	mayImport["capsule/records/canon"] = layer[:1]
	mayImport["capsule/records/finding"] = layer[:3]
	mayImport["capsule/records/schema"] = layer[:3]
	mayImport["capsule/records/keys"] = layer[:4]
	const mission, record = "capsule/records/canopus/mission", "capsule/records/canopus/record"
	allow("canopus/mission")
	allow("canopus/profile", mission)
	allow("canopus/record", mission)
	allow("cuecrux/conformance")
	allow("cuecrux/declaration", "capsule/records/cuecrux/conformance", "capsule/sandbox")
	allow("academy", mission, record, "kernel/plan", "kernel/artifact")
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
