package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/capsule/freeze"
	"github.com/erdos1056/erdos1056/kernel/plan"
)

const vectors = "../../testdata/erdos-frontier/derived/"

// frozenTo builds the verifier of this machine frozen to a claim.
func frozenTo(t *testing.T, p plan.Plan) string {
	t.Helper()
	for _, platform := range freeze.Platforms {
		if platform.Architecture != runtime.GOARCH {
			continue
		}
		unfrozen, err := freeze.Source{Module: "../.."}.Unfrozen(context.Background(), freeze.Verifier, platform)
		if err != nil {
			t.Fatal(err)
		}
		verifier, err := freeze.Freeze(unfrozen, p)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(t.TempDir(), "verifier")
		if err := freeze.Write(name, verifier); err != nil {
			t.Fatal(err)
		}
		return name
	}
	t.Fatalf("no verifier for %s", runtime.GOARCH)
	return ""
}

// TestOriginalVerdicts holds the exit codes and the success line against those
// of the published verifier.
func TestOriginalVerdicts(t *testing.T) {
	verifier := frozenTo(t, plan.Plan{Range: plan.Range{Lo: 2, Hi: 100}, K: 15})
	table, err := os.ReadFile(vectors + "artifact-variants/ORIGINAL-VERDICTS.tsv")
	if err != nil {
		t.Fatal(err)
	}
	oversize := filepath.Join(t.TempDir(), "oversize-65537")
	if err := os.WriteFile(oversize, bytes.Repeat([]byte("x"), 65537), 0o600); err != nil {
		t.Fatal(err)
	}
	special := map[string][]string{
		"(missing file)": {"/nonexistent/artifact"}, "(no argument)": nil, "(directory)": {t.TempDir()}, "oversize-65537": {oversize},
	}
	for _, line := range strings.Split(strings.TrimSpace(string(table)), "\n")[1:] {
		fields := strings.Split(line, "\t")
		name, wantCode, wantOut := fields[0], fields[1], fields[2]
		t.Run(name, func(t *testing.T) {
			args, ok := special[name]
			if !ok {
				args = []string{vectors + "artifact-variants/" + name + ".txt"}
			}
			var stdout, stderr bytes.Buffer
			cmd := exec.Command(verifier, args...)
			cmd.Stdout, cmd.Stderr, cmd.Env = &stdout, &stderr, []string{}
			cmd.Run()
			if code := strconv.Itoa(cmd.ProcessState.ExitCode()); code != wantCode {
				t.Errorf("exit code %s, want %s: %s", code, wantCode, &stderr)
			}
			if got := strings.TrimSpace(stdout.String()); got != strings.TrimSpace(wantOut) {
				t.Errorf("stdout %q, want %q", got, wantOut)
			}
			if (stderr.Len() == 0) != (wantCode == "0") {
				t.Errorf("stderr %q", &stderr)
			}
		})
	}
}

// TestClaimCannotBeChangedFromOutside: neither arguments nor the environment.
func TestClaimCannotBeChangedFromOutside(t *testing.T) {
	verifier := frozenTo(t, plan.Plan{Range: plan.Range{Lo: 2, Hi: 2000}, K: 15})
	good := vectors + "edge-ranges/2-2000.txt"
	other := vectors + "edge-ranges/2-100.txt"
	for _, c := range []struct {
		name string
		args []string
		code int
	}{
		{"its own range", []string{good}, 0},
		{"another range", []string{other}, 1},
		{"a range as arguments", []string{"2", "100", other}, 64},
		{"a flag", []string{"--range=2..100", other}, 64},
	} {
		cmd := exec.Command(verifier, c.args...)
		cmd.Env = []string{"RANGE=2..100", "RANGE_START=2", "RANGE_END=100", "K=3"}
		output, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != c.code {
			t.Errorf("%s: exit code %d, want %d: %s", c.name, code, c.code, output)
		}
	}
}

func TestWitnessesAreVerified(t *testing.T) {
	verifier := frozenTo(t, plan.Plan{Range: plan.Range{Lo: 2, Hi: 100}, K: 5})
	output, err := exec.Command(verifier, vectors+"witness-generalised/k05-2-100.txt").Output()
	if err != nil || !strings.HasPrefix(string(output), "verified erdos:1056 k=5 witness primes=") {
		t.Errorf("got %q, %v", output, err)
	}
}

// TestVerifierIsIndependent: the judge shares nothing with the searcher, and
// needs nothing but the standard library.
func TestVerifierIsIndependent(t *testing.T) {
	const module = "github.com/erdos1056/erdos1056/"
	allowed := []string{"cmd/verifier", "capsule/frozen", "kernel/artifact", "kernel/plan", "kernel/primes", "kernel/reference"}
	output, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields(string(output)) {
		if !slices.Contains(allowed, strings.TrimPrefix(name, module)) {
			t.Errorf("the verifier is linked with %s; allowed are %v", name, allowed)
		}
	}
}

func TestUnfrozenVerifierHasNoAnswer(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := run([]string{vectors + "edge-ranges/2-100.txt"}, &stdout, &stderr); code != failed || !strings.Contains(stderr.String(), "not frozen to a claim") {
		t.Errorf("exit code %d, stderr %q", code, &stderr)
	}
}
