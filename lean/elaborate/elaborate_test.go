package elaborate

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/lean/audit"
	"github.com/erdos1056/erdos1056/lean/source/sourcetest"
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

// A standIn takes the place of both programs. It records the tasks and answers
// as it is told. It proves nothing: what it exports is made up by the test.
type standIn struct {
	lean, exporter Output
	tasks          []Task
}

func (s *standIn) Run(_ context.Context, task Task) (Output, error) {
	s.tasks = append(s.tasks, task)
	if task.Program == Lean {
		return s.lean, nil
	}
	return s.exporter, nil
}

// says is the output of a program that wrote a text and ended well.
func says(text string) Output { return Output{Stdout: []byte(text), Kept: []byte("compiled")} }

const (
	noneUsed  = "'candidate' does not depend on any axioms\n"
	choice    = "'candidate' depends on axioms: [propext,\n Classical.choice]\n"
	sorryUsed = "Candidate.lean:3:8: warning: declaration uses 'sorry'\n'candidate' depends on axioms: [sorryAx]\n"
)

func TestPoint25OnlyTheExportDecides(t *testing.T) {
	const statement = `∀ (p : Prop), p → p`
	const proof = `theorem candidate : ` + statement + ` := fun (p : Prop) (h : p) => h`
	wrong, crashed := Output{Exit: 1, Stdout: []byte("Candidate.lean:4:2: error: unsolved goals")}, Output{Exit: 3}
	uncompiled := says(noneUsed)
	uncompiled.Kept = nil
	proved := says(string(sourcetest.Export(t, proof)))
	exported := func(text string) Output { return says(string(sourcetest.Export(t, text))) }
	for _, c := range []struct {
		name            string
		lean, exporter  Output
		verdict, reason string
	}{
		{"a proof", says(noneUsed), proved, "accept", ""},
		{"standard axioms that the export does not confirm", says(choice), proved, "accept", ""},
		{"lean finds an error", wrong, proved, "reject", "lean ended with status 1"},
		{"lean fails", crashed, proved, "decline", "lean ended with status 3"},
		{"lean is stopped", Output{Stopped: "time limit"}, proved, "decline", "lean was stopped: time limit"},
		{"lean reports sorry", says(sorryUsed), proved, "reject", "sorryAx"},
		{"lean reports nothing", says(""), proved, "reject", "0 times"},
		{"lean is made to report twice", says(noneUsed + noneUsed), proved, "reject", "2 times"},
		{"lean compiles nothing", uncompiled, proved, "decline", "lean left no Candidate.olean"},
		{"the exporter fails", says(noneUsed), crashed, "decline", "lean4export ended with status 3"},
		{"the exporter is stopped", says(noneUsed), Output{Stopped: "output limit"}, "decline", "lean4export was stopped: output limit"},
		{"the export is none", says(noneUsed), says("hello"), "decline", "neither a version nor a meta record"},
		{"an axiom hidden from lean's report", says(noneUsed),
			exported(`axiom trust : ` + statement + `  theorem candidate : ` + statement + ` := trust`), "reject", "trust: the target rests on an axiom"},
		{"another statement", says(noneUsed),
			exported(`theorem candidate : ∀ (p : Prop), p → p → p := fun (p : Prop) (h k : p) => h`), "reject", "the type differs"},
		{"a false proof", says(noneUsed),
			exported(`theorem candidate : ` + statement + ` := fun (p : Prop) (h : p) => p`), "reject", "the proof's type"},
		{"no theorem of the name", says(noneUsed), exported(`axiom other : Prop`), "reject", "declares no constant"},
	} {
		programs := &standIn{lean: c.lean, exporter: c.exporter}
		r, err := Elaborate(context.Background(), problem, []byte("by\n  intro p h\n  exact h"), Options{
			Runner: programs, Challenge: bytes.NewReader(sourcetest.Export(t, `axiom candidate : `+statement)), Permit: audit.Standard,
		})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if r.Verdict != c.verdict || !strings.Contains(r.Reason, c.reason) {
			t.Errorf("%s: %s (%s), expected %s with %q", c.name, r.Verdict, r.Reason, c.verdict, c.reason)
		}
		if c.name == "a proof" {
			checkTasks(t, programs.tasks)
		}
	}
}

func checkTasks(t *testing.T, tasks []Task) {
	t.Helper()
	const source = `import FormalConjectures.ErdosProblems.«505»

theorem candidate : type_of% @Erdos505.erdos_505.test_dim_one :=
by
  intro p h
  exact h

#print axioms candidate
`
	want := []Task{
		{Program: "lean", Args: []string{"-o", "Candidate.olean", "{input}/Candidate.lean"}, Input: File{"Candidate.lean", []byte(source)}, Keep: "Candidate.olean"},
		{Program: "lean4export", Args: []string{"Candidate", "--", "candidate"}, Input: File{"Candidate.olean", []byte("compiled")}},
	}
	if !reflect.DeepEqual(tasks, want) {
		t.Errorf("the programs were called as\n%q, expected\n%q", tasks, want)
	}
}

func TestWithoutLeanThereIsADeclineThatSaysWhatIsMissing(t *testing.T) {
	missing := []string{"lean: not on PATH", "lean4export: not on PATH"}
	r, err := Elaborate(context.Background(), problem, []byte("by simp"), Options{Missing: missing})
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != "decline" || len(r.Missing) != 2 || !strings.Contains(r.Reason, "lean: not on PATH; lean4export: not on PATH") {
		t.Errorf("%+v", r)
	}
	// The rules come first: a bad term is rejected without Lean.
	if r, _ := Elaborate(context.Background(), problem, []byte("by sorry"), Options{Missing: missing}); r.Verdict != "reject" {
		t.Errorf("%+v", r)
	}
	r, _ = Elaborate(context.Background(), problem, []byte("by simp"), Options{Runner: &standIn{}})
	if r.Verdict != "decline" || !strings.Contains(r.Reason, "no challenge") {
		t.Errorf("%+v", r)
	}
}
