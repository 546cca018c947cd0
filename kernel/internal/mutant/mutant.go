// Package mutant shows that a package's tests fail where the package is wrong: it builds
// them with one wrong instruction or constant and expects a failure.
package mutant

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// A Mutation is one wrong instruction or constant: the last Old in a function of a source
// file becomes New. The function "" is the whole file.
type Mutation struct {
	What, File, Function, Old, New string
}

// Test runs the calling package's tests that match the pattern, in short mode: they must
// pass as they are and fail with each of the mutations, of which short mode tries
// the first.
func Test(t *testing.T, wrong []Mutation, pattern string) {
	t.Helper()
	if len(wrong) == 0 {
		t.Fatal("no mutations: nothing would be shown")
	}
	if testing.Short() {
		wrong = wrong[:1]
	}
	if out, passed := run(t, Mutation{What: "none", File: wrong[0].File}, pattern); !passed {
		t.Fatalf("the tests fail without a mutation:\n%s", out)
	}
	for _, m := range wrong {
		t.Run(strings.ReplaceAll(m.What, " ", "_"), func(t *testing.T) {
			out, passed := run(t, m, pattern)
			if passed {
				t.Errorf("no test noticed that %s (%s)", m.What, m.File)
			} else if !regexp.MustCompile(`(?m)^--- FAIL: Test`).MatchString(out) {
				t.Errorf("no test failed, but the run did:\n%s", out)
			}
		})
	}
}

// run builds the tests of the package in the working folder with the mutation, runs those
// that match the pattern, and returns what they print and whether they pass.
func run(t *testing.T, m Mutation, pattern string) (output string, passed bool) {
	t.Helper()
	folder := t.TempDir()
	mutant, overlay, binary := filepath.Join(folder, m.File), filepath.Join(folder, "overlay.json"), filepath.Join(folder, "mutant.test")
	original, err := filepath.Abs(m.File)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(original)
	if err != nil {
		t.Fatal(err)
	}
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{original: mutant}})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(mutant, m.apply(t, text), 0o600), os.WriteFile(overlay, replace, 0o600)); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "test", "-c", "-overlay", overlay, "-o", binary, ".")
	build.Env = append(os.Environ(), "GOARCH="+runtime.GOARCH, "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%s: the mutant does not build: %v\n%s", m.What, err, out)
	}
	test := exec.Command(binary, "-test.short", "-test.failfast", "-test.run", pattern)
	if host, err := exec.Command("go", "env", "GOHOSTARCH").Output(); err != nil {
		t.Fatal(err)
	} else if runtime.GOARCH == "arm64" && strings.TrimSpace(string(host)) != "arm64" {
		test = exec.Command("qemu-aarch64-static", test.Args...) // as this test itself is run
	}
	out, err := test.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), err == nil
}

// apply returns the mutated text.
func (m Mutation) apply(t *testing.T, text []byte) []byte {
	t.Helper()
	start, end := 0, len(text)
	if m.Function != "" {
		head := regexp.MustCompile(`(?m)^(TEXT ·|func (\(.*\) )?)` + m.Function + `\(.*$`).FindIndex(text)
		if head == nil {
			t.Fatalf("%s has no function %s", m.File, m.Function)
		}
		start = head[1]
		if next := regexp.MustCompile(`(?m)^(TEXT|func) `).FindIndex(text[start:]); next != nil {
			end = start + next[0]
		}
	}
	at := bytes.LastIndex(text[start:end], []byte(m.Old))
	if at < 0 {
		t.Fatalf("%s: function %q has no %q", m.File, m.Function, m.Old)
	}
	at += start
	return append(append(text[:at:at], m.New...), text[at+len(m.Old):]...)
}
