package elaborate

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/lean/audit"
	"github.com/erdos1056/erdos1056/lean/export"
	"github.com/erdos1056/erdos1056/lean/source"
	"github.com/erdos1056/erdos1056/lean/term"
)

var problem = Problem{Module: "FormalConjectures.ErdosProblems.«505»", Theorem: "Erdos505.erdos_505.test_dim_one"}

func TestTermsAreHeldToTheRulesOfTheCapsule(t *testing.T) {
	for term, want := range map[string]string{
		"by simp":                             "",
		"by\n  exact Classical.choice h":      "",
		"by exact axiomatic sorry_free":       "",
		"bystander":                           "", // a prefix is all the rule asks for
		"":                                    "has 0 bytes",
		"fun x => x":                          `expected "by"`,
		" by simp":                            `expected "by"`,
		"by sorry":                            `line 1 contains the forbidden word "sorry"`,
		"by\n simp\n admit":                   `line 3 contains the forbidden word "admit"`,
		"by exact x\naxiom y : False":         `line 2 contains the forbidden word "axiom"`,
		"by exact (unsafe 1)":                 "unsafe",
		"by\n-- sorry":                        "sorry", // comments count, too
		"by" + strings.Repeat(" ", MaxTerm):   "has 131074 bytes",
		"by" + strings.Repeat(" ", MaxTerm-2): "",
	} {
		err := CheckTerm([]byte(term))
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.30q: error %v, expected %q", term, err, want)
		}
	}
}

func TestTermsAreReadFromRegularFilesOnly(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "term"), filepath.Join(dir, "link")
	if err := os.WriteFile(file, []byte("by simp"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadTerm(file); err != nil || string(got) != "by simp" {
		t.Errorf("a file: %q, %v", got, err)
	}
	for _, path := range []string{link, dir, filepath.Join(dir, "nothing")} {
		if _, err := ReadTerm(path); err == nil {
			t.Errorf("%s was read", path)
		}
	}
}

// plain runs programs without a sandbox; the stand-ins of these tests need none.
type plain struct{}

func (plain) Run(ctx context.Context, dir string, argv []string) (Output, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = dir
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return Output{out.Bytes(), errOut.Bytes(), exit.ExitCode()}, nil
	}
	return Output{out.Bytes(), errOut.Bytes(), 0}, err
}

// standIn writes a script in place of a program. It records its arguments and
// then does what body says. It proves nothing: what it exports is made up by the
// test.
func standIn(t *testing.T, dir, name, body string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	script := "#!/bin/sh\necho \"$0 $*\" >> " + filepath.Join(dir, "calls") + "\n" + body + "\n"
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

const (
	noneUsed  = `echo "'candidate' does not depend on any axioms"`
	choice    = `echo "'candidate' depends on axioms: [propext,"; echo " Classical.choice]"`
	sorryUsed = `echo "Candidate.lean:3:8: warning: declaration uses 'sorry'"; echo "'candidate' depends on axioms: [sorryAx]"`
)

// writeExport writes declarations without inductive types as an export.
func writeExport(t *testing.T, path, text string) {
	t.Helper()
	store := term.NewStore(nil)
	decls, err := source.Parse(store, text)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := export.Write(&b, store, export.Meta{}, decls); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestPoint25OnlyTheExportDecides(t *testing.T) {
	const statement = `∀ (p : Prop), p → p`
	const proof = `theorem candidate : ` + statement + ` := fun (p : Prop) (h : p) => h`
	for _, c := range []struct {
		name, lean, export, exported string
		verdict, reason              string
	}{
		{"a proof", noneUsed, "cat proof.ndjson", proof, "accept", ""},
		{"standard axioms that the export does not confirm", choice, "cat proof.ndjson", proof, "accept", ""},
		{"lean fails", "echo 'Candidate.lean:4:2: error: unsolved goals'; exit 1", "cat proof.ndjson", proof, "reject", "lean ended with status 1"},
		{"lean reports sorry", sorryUsed, "cat proof.ndjson", proof, "reject", "sorryAx"},
		{"lean reports nothing", "true", "cat proof.ndjson", proof, "reject", "0 times"},
		{"lean is made to report twice", noneUsed + "\n" + noneUsed, "cat proof.ndjson", proof, "reject", "2 times"},
		{"the exporter fails", noneUsed, "exit 3", proof, "decline", "lean4export ended with status 3"},
		{"the export is none", noneUsed, "echo hello", proof, "decline", "neither a version nor a meta record"},
		{"an axiom hidden from lean's report", noneUsed, "cat proof.ndjson",
			`axiom trust : ` + statement + `  theorem candidate : ` + statement + ` := trust`, "reject", "trust: the target rests on an axiom"},
		{"another statement", noneUsed, "cat proof.ndjson",
			`theorem candidate : ∀ (p : Prop), p → p → p := fun (p : Prop) (h k : p) => h`, "reject", "the type differs"},
		{"a false proof", noneUsed, "cat proof.ndjson",
			`theorem candidate : ` + statement + ` := fun (p : Prop) (h : p) => p`, "reject", "the proof's type"},
		{"no theorem of the name", noneUsed, "cat proof.ndjson", `axiom other : Prop`, "reject", "declares no constant"},
	} {
		dir := t.TempDir()
		writeExport(t, filepath.Join(dir, "proof.ndjson"), c.exported)
		writeExport(t, filepath.Join(dir, "challenge.ndjson"), `axiom candidate : `+statement)
		challenge, err := os.Open(filepath.Join(dir, "challenge.ndjson"))
		if err != nil {
			t.Fatal(err)
		}
		r, err := Elaborate(context.Background(), problem, []byte("by\n  intro p h\n  exact h"), Options{
			Tools:  Tools{standIn(t, dir, "lean", c.lean), standIn(t, dir, "lean4export", c.export)},
			Runner: plain{}, Dir: dir, Challenge: challenge, Permit: audit.Standard,
		})
		challenge.Close()
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if r.Verdict != c.verdict || !strings.Contains(r.Reason, c.reason) {
			t.Errorf("%s: %s (%s), expected %s with %q", c.name, r.Verdict, r.Reason, c.verdict, c.reason)
		}
		if c.name == "a proof" {
			checkCalls(t, dir)
		}
	}
}

func checkCalls(t *testing.T, dir string) {
	t.Helper()
	calls, err := os.ReadFile(filepath.Join(dir, "calls"))
	if err != nil {
		t.Fatal(err)
	}
	want := dir + "/lean -o Candidate.olean Candidate.lean\n" + dir + "/lean4export Candidate -- candidate\n"
	if string(calls) != want {
		t.Errorf("the programs were called as %q, expected %q", calls, want)
	}
	text, err := os.ReadFile(filepath.Join(dir, "Candidate.lean"))
	if err != nil {
		t.Fatal(err)
	}
	const lean = `import FormalConjectures.ErdosProblems.«505»

theorem candidate : type_of% @Erdos505.erdos_505.test_dim_one :=
by
  intro p h
  exact h

#print axioms candidate
`
	if string(text) != lean {
		t.Errorf("the source is %q, expected %q", text, lean)
	}
}

func TestWithoutLeanThereIsADeclineThatSaysWhatIsMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	tools, missing := FindTools()
	if len(missing) != 2 {
		t.Errorf("missing %v, expected both programs", missing)
	}
	r, err := Elaborate(context.Background(), problem, []byte("by simp"), Options{Tools: tools, Runner: plain{}, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != "decline" || strings.Join(r.Missing, " ") != "lean lean4export" || !strings.Contains(r.Reason, "lean, lean4export") {
		t.Errorf("%+v", r)
	}
	// The rules come first: a bad term is rejected without Lean.
	if r, _ := Elaborate(context.Background(), problem, []byte("by sorry"), Options{}); r.Verdict != "reject" {
		t.Errorf("%+v", r)
	}
	r, _ = Elaborate(context.Background(), problem, []byte("by simp"), Options{Tools: Tools{"lean", "lean4export"}})
	if r.Verdict != "decline" || !strings.Contains(r.Reason, "no challenge") {
		t.Errorf("%+v", r)
	}
}
