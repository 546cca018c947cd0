package residues

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

// A mutation is one wrong instruction or constant: the last old in a function of a
// source file becomes new. The function "" is the whole file.
type mutation struct {
	what, file, function, old, new string
}

// mutations by the name of the implementation that they break.
var mutations = map[string][]mutation{
	"avx512": {
		{"the remainder is h + q·p in one vector", "residues_amd64.s", "generateAVX512", "VFNMADD231PD", "VFMADD231PD"},
		{"M is 2^52", "residues_amd64.s", "", "$0x4338000000000000", "$0x4330000000000000"},
		{"eight lanes take the factors of the eight before", "residues_amd64.s", "productsAVX512", "VADDPD       960(AX)", "VADDPD       896(AX)"},
		{"the error of h is not subtracted from x·t", "residues_amd64.s", "generateWideAVX512", "VFMSUB213PD", "VFMADD213PD"},
		{"the second quotient keeps M", "residues_amd64.s", "productsWideAVX512", "VSUBPD", "VADDPD"},
		{"the sign mask is not applied to one vector", "residues_amd64.s", "generateAVX512", "VPANDQ", "VPORQ"},
	},
	"avx2": {
		{"the remainder is h + q·p in one vector", "residues_amd64.s", "generateAVX2", "VFNMADD231PD", "VFMADD231PD"},
		{"M is 2^52", "residues_amd64.s", "", "$0x4338000000000000", "$0x4330000000000000"},
		{"four lanes take the factors of the four before", "residues_amd64.s", "productsAVX2", "VADDPD       736(AX)", "VADDPD       704(AX)"},
		{"the error of h is not subtracted from x·t", "residues_amd64.s", "generateWideAVX2", "VFMSUB213PD", "VFMADD213PD"},
		{"the second quotient keeps M", "residues_amd64.s", "productsWideAVX2", "VSUBPD", "VADDPD"},
		{"the sign mask is not applied to one vector", "residues_amd64.s", "generateAVX2", "VANDPD", "VORPD"},
	},
	"neon": {
		{"the remainder is h + q·p in one vector", "residues_arm64.s", "generateNEON", "VFMLS", "VFMLA"},
		{"M is 2^52", "residues_arm64.s", "generateNEON", "$0x4338000000000000", "$0x4330000000000000"},
		{"two lanes take the factors of the two before", "residues_arm64.s", "productsNEON", "$0x4E72D5FD", "$0x4E72D5DD"},
		{"x + d instead of x - d", "residues_arm64.s", "generateWideNEON", "$0x4EF9D6E7", "$0x4E79D6E7"},
		{"the second quotient keeps M", "residues_arm64.s", "productsWideNEON", "$0x4EF3D77B", "$0x4E73D77B"},
		{"the sign mask is not applied to one vector", "residues_arm64.s", "generateNEON", "VAND", "VORR"},
	},
	"generic": {
		{"folding leaves the upper half", "residues_generic.go", "fold", "min(d, int32(p)-d)", "d"},
		{"the lanes start one factor late", "residues_generic.go", "genericProducts", "t := uint64(1)", "t := uint64(2)"},
		{"two lanes take the same factors", "residues_generic.go", "generateSigned", "(3*n+t)", "(2*n+t)"},
		{"the middle residue gets the wrong sign", "residues_generic.go", "signed", "(int32(p/2) - int32(x))", "(int32(p/2) - int32(x) - 1)"},
	},
}

// A wrong instruction or constant in the best implementation makes the tests of this
// package fail; the same build without one passes.
func TestMutationsAreCaught(t *testing.T) {
	wrong := mutations[Best().Name]
	if testing.Short() {
		wrong = wrong[:1]
	}
	if out, passed := testMutant(t, mutation{what: "none", file: "residues_generic.go"}); !passed {
		t.Fatalf("the tests fail without a mutation:\n%s", out)
	}
	for _, m := range wrong {
		t.Run(strings.ReplaceAll(m.what, " ", "_"), func(t *testing.T) {
			out, passed := testMutant(t, m)
			if passed {
				t.Errorf("no test noticed that %s (%s)", m.what, m.file)
			} else if !regexp.MustCompile(`(?m)^--- FAIL: Test`).MatchString(out) {
				t.Errorf("no test failed, but the run did:\n%s", out)
			}
		})
	}
}

// testMutant builds the tests of this package with the mutation, runs them, and returns
// what they print and whether they pass.
func testMutant(t *testing.T, m mutation) (output string, passed bool) {
	t.Helper()
	folder := t.TempDir()
	mutant, overlay, binary := filepath.Join(folder, m.file), filepath.Join(folder, "overlay.json"), filepath.Join(folder, "residues.test")
	original, err := filepath.Abs(m.file)
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
		t.Fatalf("%s: the mutant does not build: %v\n%s", m.what, err, out)
	}
	run := exec.Command(binary, "-test.short", "-test.failfast", "-test.run", "Residues|Products|FirstPasses")
	if host, err := exec.Command("go", "env", "GOHOSTARCH").Output(); err != nil {
		t.Fatal(err)
	} else if runtime.GOARCH == "arm64" && strings.TrimSpace(string(host)) != "arm64" {
		run = exec.Command("qemu-aarch64-static", run.Args...) // as this test itself is run
	}
	out, err := run.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), err == nil
}

// apply returns the mutated text.
func (m mutation) apply(t *testing.T, text []byte) []byte {
	t.Helper()
	start, end := 0, len(text)
	if m.function != "" {
		head := regexp.MustCompile(`(?m)^(TEXT ·|func (\(.*\) )?)` + m.function + `\(.*$`).FindIndex(text)
		if head == nil {
			t.Fatalf("%s has no function %s", m.file, m.function)
		}
		start = head[1]
		if next := regexp.MustCompile(`(?m)^(TEXT|func) `).FindIndex(text[start:]); next != nil {
			end = start + next[0]
		}
	}
	at := bytes.LastIndex(text[start:end], []byte(m.old))
	if at < 0 {
		t.Fatalf("%s: function %q has no %q", m.file, m.function, m.old)
	}
	at += start
	return append(append(text[:at:at], m.new...), text[at+len(m.old):]...)
}
