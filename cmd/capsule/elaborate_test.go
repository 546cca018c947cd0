package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/internal/cli"
)

// standInToolchain makes a folder that looks like a Lean toolchain. Its programs
// are stand-ins, and what they export is a file of this test: nothing is proved.
func standInToolchain(t *testing.T, exported string) string {
	t.Helper()
	folder := t.TempDir()
	for _, name := range []string{"lean", "lean4export"} {
		build := exec.Command("go", "build", "-o", filepath.Join(folder, "bin", name), "../../capsule/toolchain/testdata/standin")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if text, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
	text, err := os.ReadFile(exported)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(folder, "lib/lean"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "lib/lean/export.ndjson"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	return folder
}

func writeTerm(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "proof.lean")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// candidateFiles writes a challenge for the candidate, and exports that a Lean
// might make.
func candidateFiles(t *testing.T) (challenge, proof, cheating string) {
	t.Helper()
	const statement = "candidate : ∀ (p : Prop), p → p"
	return writeExport(t, "challenge.ndjson", "axiom "+statement),
		writeExport(t, "proof.ndjson", "theorem "+statement+" := fun (p : Prop) (h : p) => h"),
		writeExport(t, "cheating.ndjson", "axiom cheat : ∀ (p : Prop), p\ntheorem "+statement+" := fun (p : Prop) (h : p) => cheat p")
}

func TestProofTermIsElaboratedByAStandIn(t *testing.T) {
	challenge, proof, cheating := candidateFiles(t)
	toolchain, liar := standInToolchain(t, proof), standInToolchain(t, cheating)
	term := writeTerm(t, "by\n  intro p h\n  exact h")
	elaborate := func(term, toolchain string) []string {
		return []string{"elaborate", term, "--module", "M", "--theorem", "M.t", "--challenge", challenge, "--toolchain", toolchain, "--timeout", "2s"}
	}
	if out := must(t, elaborate(term, toolchain)...); !strings.HasPrefix(out, "accepted: 1 constants (1 theorems) from format 3.1.0; candidate rests on none\n  statement: ∀ (p : Prop), p → p") {
		t.Errorf("got %q", out)
	}
	var result struct {
		Type, Verdict string
		Missing       []string
		Report        struct{ Verdict string }
	}
	if err := json.Unmarshal([]byte(must(t, append(elaborate(term, toolchain), "--json")...)), &result); err != nil ||
		result.Type != "elaboration" || result.Verdict != "accept" || result.Report.Verdict != "accept" || len(result.Missing) != 0 {
		t.Errorf("%+v, %v", result, err)
	}
	for _, c := range []struct {
		name, term, toolchain string
		code                  int
		want                  string
	}{
		{"a lean that hides an axiom", term, liar, cli.Failed, "rejected: target candidate: cheat: the target rests on an axiom"},
		{"an error in the term", writeTerm(t, "by\n-- stand-in: error\n  simp"), toolchain, cli.Failed, "rejected: lean ended with status 1"},
		{"no module", writeTerm(t, "by\n-- stand-in: nothing\n  simp"), toolchain, declined, "declined: lean left no Candidate.olean"},
		{"no end", writeTerm(t, "by\n-- stand-in: sleep\n  simp"), toolchain, declined, "declined: lean was stopped: time limit"},
		{"a forbidden word", writeTerm(t, "by\n  sorry"), toolchain, cli.Failed, `rejected: line 2 contains the forbidden word "sorry"`},
		{"no tactic block", writeTerm(t, "fun p h => h"), toolchain, cli.Failed, `expected "by"`},
		{"too large", writeTerm(t, "by"+strings.Repeat(" ", 131072)), toolchain, cli.Failed, "131073 bytes"},
	} {
		if out, _ := capsule(t, c.code, elaborate(c.term, c.toolchain)...); !strings.Contains(out, c.want) {
			t.Errorf("%s: got %q; want %q", c.name, out, c.want)
		}
	}
}

func TestWithoutLeanAProofTermIsDeclined(t *testing.T) {
	challenge, _, _ := candidateFiles(t)
	term := writeTerm(t, "by simp")
	t.Setenv("PATH", t.TempDir())
	args := []string{"elaborate", term, "--module", "M", "--theorem", "M.t", "--challenge", challenge}
	out, _ := capsule(t, declined, args...)
	for _, want := range []string{"declined: not found: lean: not on PATH", "lean4export: neither in the toolchain nor on PATH"} {
		if !strings.Contains(out, want) {
			t.Errorf("got %q; want %q", out, want)
		}
	}
	out, _ = capsule(t, declined, append(args, "--toolchain", t.TempDir())...)
	if !strings.Contains(out, "is no toolchain: there is no bin/lean in it") {
		t.Errorf("got %q", out)
	}
	// The rules come first.
	args[1] = writeTerm(t, "by admit")
	if out, _ := capsule(t, cli.Failed, args...); !strings.Contains(out, `forbidden word "admit"`) {
		t.Errorf("got %q", out)
	}
}

func TestElaborateNeedsToKnowWhatIsProved(t *testing.T) {
	challenge, _, _ := candidateFiles(t)
	term := writeTerm(t, "by simp")
	refuses(t, cli.Usage, "--module MODULE --theorem NAME", "elaborate", term, "--challenge", challenge)
	refuses(t, cli.Usage, "without blanks", "elaborate", term, "--challenge", challenge, "--module", "M\nimport N", "--theorem", "t")
	refuses(t, cli.Usage, "--challenge FILE", "elaborate", term, "--module", "M", "--theorem", "M.t")
	refuses(t, cli.NoInput, "no such file", "elaborate", term+".none", "--module", "M", "--theorem", "M.t", "--challenge", challenge)
	refuses(t, cli.Usage, "--memory", "elaborate", term, "--module", "M", "--theorem", "M.t", "--challenge", challenge, "--memory", "1")
	if help := must(t, "elaborate", "--help"); !strings.Contains(help, "2 declined") || !strings.Contains(help, "--lean-path") {
		t.Errorf("help: %s", help)
	}
}
