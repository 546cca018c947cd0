package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/lean"
)

const vectors = "../../testdata/lean"

func leancheck(t *testing.T, stdin string, args ...string) (code int, out, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	code = command.Run(context.Background(), args, strings.NewReader(stdin), &o, &e)
	return code, o.String(), e.String()
}

func vector(name string) string { return filepath.Join(vectors, name) }

var seconds = regexp.MustCompile(`[0-9.]+ s\n`)

func TestVerdictsAndExitCodes(t *testing.T) {
	const tutorial = "vow-tutorial/tests/"
	for _, c := range []struct {
		name string
		args []string
		code int
		want string // on standard output, times left out
	}{
		{"accepted", []string{vector(tutorial + "good/tutorial/090_ruleK.ndjson")}, accepted,
			"accepted: 8 constants (1 theorems) from Lean \"4.27.0-rc1\", format 3.1.0; axioms declared: none; T"},
		{"rejected", []string{vector(tutorial + "bad/tutorial/002_badDef.ndjson")}, rejected,
			"rejected: definition badDef at line 6: the value has another type than declared\n  declared:      Prop\n  value of type: Type 1\n"},
		{"declined", []string{vector("lean4export/text-v1/Nat.gcd_self.6ccc366.export")}, declined,
			"declined: line 1: text format version \"0.1.2\" is not supported; supported are 2.0.0 and NDJSON 3.0.0 and 3.1.x\n"},
		{"a limit", []string{"--steps", "10", vector("ansatz/lex-prelude.ndjson.gz")}, declined, "declined: "},
		{"a target", []string{vector("inductive-models/inductive-models/unused_level_param.ndjson"), "--target", "nothing"}, rejected,
			"rejected: target nothing: the file declares no constant of this name\n"},
	} {
		code, out, errOut := leancheck(t, "", c.args...)
		out = seconds.ReplaceAllString(out, "T")
		if code != c.code || !strings.HasPrefix(out, c.want) {
			t.Errorf("%s: exit %d, %q, %q; expected exit %d, %q", c.name, code, out, errOut, c.code, c.want)
		}
	}
}

func TestErrorsAreNoVerdicts(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "expected FILE"},
		{[]string{"a", "b"}, "expected FILE"},
		{[]string{"no-such-file"}, "no such file"},
		{[]string{"x", "--memory", "lots"}, "expected a size"},
		{[]string{"x", "--memory", "1K"}, "at least 64M"},
		{[]string{"x", "--threads", "-1"}, "expected 1 to 1024"},
		{[]string{"x", "--steps", "-1"}, "positive"},
		{[]string{"x", "--challenge", "y"}, "need a --target"},
		{[]string{"x", "--permit", "y"}, "need a --target"},
		{[]string{"x", "--target", "t", "--challenge", "-"}, "standard input"},
		{[]string{"x", "--nonsense"}, "unknown flag"},
		{[]string{vector("ansatz/lex-prelude.ndjson.gz"), "--target", "t", "--challenge", vector("README.md")}, "reading the challenge"},
	} {
		if code, out, errOut := leancheck(t, "", c.args...); code != failed || out != "" || !strings.Contains(errOut, c.want) {
			t.Errorf("%v: exit %d, %q, %q; expected exit %d with %q", c.args, code, out, errOut, failed, c.want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var o, e bytes.Buffer
	if code := command.Run(ctx, []string{vector("ansatz/lex-prelude.ndjson.gz")}, nil, &o, &e); code != failed || o.Len() > 0 {
		t.Errorf("interrupted: exit %d, %q", code, o.String())
	}
}

func TestStandardInputIsJudged(t *testing.T) {
	data, err := os.ReadFile(vector("ansatz/sizeof-prelude.ndjson.gz"))
	if err != nil {
		t.Fatal(err)
	}
	if code, out, errOut := leancheck(t, string(data), "-"); code != accepted {
		t.Errorf("exit %d, %q, %q", code, out, errOut)
	}
}

// lastLine is the verdict; lines of progress come before it when the check takes
// long.
func lastLine(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return lines[len(lines)-1]
}

func TestProgressIsShownOfLongChecksOnly(t *testing.T) {
	for _, c := range []struct {
		json bool
		want string
	}{
		{false, " 43 %  declaration 1 571 of 3 653  Nat.gcd_mul_right\n"},
		{true, `{"declaration":1571,"name":"Nat.gcd_mul_right","of":3653,"type":"progress"}` + "\n"},
	} {
		var out, errOut bytes.Buffer
		s := newShower(&cli.Call{JSON: c.json, Stdout: &out, Stderr: &errOut})
		p := lean.Progress{Declaration: 1571, Of: 3653, Name: "Nat.gcd_mul_right"}
		s.progress(p)
		if out.Len()+errOut.Len() > 0 {
			t.Errorf("shown at once: %q %q", out.String(), errOut.String())
		}
		s.last = s.last.Add(-time.Minute)
		s.progress(p)
		s.progress(p)
		if got := out.String() + errOut.String(); got != c.want || c.json != (errOut.Len() == 0) {
			t.Errorf("shown %q, expected %q", got, c.want)
		}
	}
}

func TestReportsAsJSON(t *testing.T) {
	code, out, _ := leancheck(t, "", "--json", vector("ansatz/init-medium.ndjson.gz"), "--target", "Nat.gcd_rec")
	var r struct {
		Type, Verdict, Checker string
		Input                  struct {
			SHA256, Format, Lean string
			Bytes, Lines         int64
		}
		Constants, Theorems int
		Axioms              []struct{ Name, Type string } `json:"axioms_declared"`
		NatOps              []string                      `json:"nat_operations_computed"`
		Audit               struct {
			Target string
			Axioms []struct {
				Name      string
				Permitted bool
			}
			Unused   []string `json:"unused_axioms"`
			Problems []any
		}
		Limits struct {
			Memory int64 `json:"memory_bytes"`
		}
	}
	if err := json.Unmarshal([]byte(lastLine(out)), &r); err != nil {
		t.Fatal(err)
	}
	if code != accepted || r.Type != "verdict" || r.Verdict != "accept" || r.Checker == "" || r.Constants != 3653 || r.Theorems != 1819 {
		t.Errorf("exit %d, %+v", code, r)
	}
	if r.Input.SHA256 != "1fa6384e5a694d5f8d96bdd49511f77443b2c0783d879818e2d7aadf89e72370" || r.Input.Lines != 237232 || r.Input.Lean != "4.29.0-rc2" {
		t.Errorf("input %+v", r.Input)
	}
	if len(r.Axioms) != 3 || r.Audit.Target != "Nat.gcd_rec" || len(r.Audit.Problems) != 0 || len(r.Audit.Axioms)+len(r.Audit.Unused) != 3 {
		t.Errorf("axioms %+v, audit %+v", r.Axioms, r.Audit)
	}
	if !strings.Contains(strings.Join(r.NatOps, " "), "Nat.gcd") || r.Limits.Memory != 4<<30 {
		t.Errorf("operations %v, limits %+v", r.NatOps, r.Limits)
	}

	code, out, _ = leancheck(t, "", "--json", vector("vow-tutorial/tests/bad/tutorial/081_projProp2.ndjson"))
	var failed struct {
		Verdict string
		Failure struct {
			Kind, Name, Rule, Msg string
			Line                  int
			Terms                 []struct{ Label, Text string }
		}
	}
	if err := json.Unmarshal([]byte(lastLine(out)), &failed); err != nil {
		t.Fatal(err)
	}
	if f := failed.Failure; code != rejected || f.Name != "projProp2" || f.Rule != "projection" || f.Line == 0 || len(f.Terms) == 0 {
		t.Errorf("exit %d, %+v", code, failed)
	}
}

func TestPermitDecidesWithATarget(t *testing.T) {
	file := vector("ansatz/init-medium.ndjson.gz")
	// Classical.em rests on all three axioms.
	if code, out, _ := leancheck(t, "", file, "--target", "Classical.em"); code != accepted {
		t.Errorf("with the standard axioms: exit %d, %s", code, out)
	}
	code, out, _ := leancheck(t, "", file, "--target", "Classical.em", "--permit", "propext,Quot.sound")
	if code != rejected || !strings.Contains(out, "Classical.choice: the target rests on an axiom that is not permitted") {
		t.Errorf("without choice: exit %d, %s", code, out)
	}
	if code, out, _ := leancheck(t, "", file, "--target", "Nat.add_comm", "--permit", ""); code != accepted {
		t.Errorf("without axioms: exit %d, %s", code, out)
	}
	if code, out, _ := leancheck(t, "", file, "--target", "Classical.em", "--challenge", file); code != accepted || strings.Contains(out, "not compared") {
		t.Errorf("compared with itself: exit %d, %s", code, out)
	}
}

func TestHelpFitsAScreen(t *testing.T) {
	code, out, _ := leancheck(t, "", "--help")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if code != accepted || len(lines) > 30 {
		t.Errorf("exit %d, %d lines", code, len(lines))
	}
	for _, l := range lines {
		if len([]rune(l)) > 88 {
			t.Errorf("a line of %d characters: %s", len(l), l)
		}
	}
}
