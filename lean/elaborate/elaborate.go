// Package elaborate takes a proof term in Lean's own language, a tactic block
// that starts with "by", to a judgement: it holds the term to the rules of the
// formal capsule, has a real Lean elaborate it under a fixed theorem, exports
// the result and hands the export to the checker.
//
// Elaboration runs code that the term brings along, so it belongs into a
// sandbox, which the caller provides as a [Runner]. Nothing that Lean says
// decides: what counts is the export, which is judged outside the sandbox by
// package lean, against a trusted export of the statement. Without lean and
// lean4export there is no judgement, only a decline that says what is missing.
package elaborate

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/erdos1056/erdos1056/lean"
)

// MaxTerm is the greatest size of a term, in bytes.
const MaxTerm = 131072

// forbidden are words that a term must not contain, as whole words.
var forbidden = regexp.MustCompile(`\b(sorry|admit|axiom|unsafe)\b`)

// CheckTerm holds a term to the rules of the formal capsule: 1 to MaxTerm bytes
// that start with "by" and contain none of the words sorry, admit, axiom and
// unsafe.
func CheckTerm(term []byte) error {
	switch {
	case len(term) == 0 || len(term) > MaxTerm:
		return fmt.Errorf("the term has %d bytes, expected 1 to %d", len(term), MaxTerm)
	case !bytes.HasPrefix(term, []byte("by")):
		return fmt.Errorf("the term starts with %.10q, expected \"by\"", term)
	}
	if at := forbidden.FindIndex(term); at != nil {
		line := 1 + bytes.Count(term[:at[0]], []byte("\n"))
		return fmt.Errorf("line %d contains the forbidden word %q", line, term[at[0]:at[1]])
	}
	return nil
}

// ReadTerm reads a term from a regular file that is no symbolic link, and checks
// it.
func ReadTerm(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	term, err := io.ReadAll(io.LimitReader(f, MaxTerm+1))
	if err != nil {
		return nil, err
	}
	return term, CheckTerm(term)
}

// A Problem is a theorem of a Lean project that is stated there without proof.
type Problem struct {
	Module  string // that states it, such as FormalConjectures.ErdosProblems.«505»
	Theorem string // its full name, such as Erdos505.erdos_505.test_dim_one
}

// Candidate is the name of the theorem that a term is to prove.
const Candidate = "candidate"

// Source returns the Lean file in which term proves the statement of p, and
// which prints the axioms used. The word sorry as a term gives the challenge to
// compare with.
func (p Problem) Source(term string) string {
	return fmt.Sprintf("import %s\n\ntheorem %s : type_of%% @%s :=\n%s\n\n#print axioms %s\n",
		p.Module, Candidate, p.Theorem, term, Candidate)
}

// A Runner runs a program in a folder and returns what it wrote. An exit status
// other than 0 is no error.
type Runner interface {
	Run(ctx context.Context, dir string, argv []string) (Output, error)
}

// Output is what a program wrote and how it ended.
type Output struct {
	Stdout, Stderr []byte
	Exit           int
}

// Tools are the paths of the programs that elaboration needs.
type Tools struct {
	Lean   string // the compiler of the pinned toolchain
	Export string // lean4export of the same version
}

// FindTools looks for the programs on the search path and returns the names of
// those that are missing.
func FindTools() (t Tools, missing []string) {
	// An error leaves the path empty.
	t.Lean, _ = exec.LookPath("lean")
	t.Export, _ = exec.LookPath("lean4export")
	return t, t.missing()
}

// A Result is the outcome of an elaboration.
type Result struct {
	Verdict string // "accept", "reject" or "decline"
	Reason  string
	Missing []string     // programs that were not found
	Axioms  []string     // as Lean printed them
	Report  *lean.Report // of the checker, once there was an export
}

// Options of an elaboration.
type Options struct {
	Tools     Tools
	Runner    Runner
	Dir       string    // an empty folder to work in, visible to the runner
	Challenge io.Reader // trusted export of the candidate with its statement
	Permit    []string  // axioms the proof may use
}

// Elaborate judges a term as a proof of p.
func Elaborate(ctx context.Context, p Problem, term []byte, opts Options) (*Result, error) {
	if err := CheckTerm(term); err != nil {
		return &Result{Verdict: "reject", Reason: err.Error()}, nil
	}
	if missing := opts.Tools.missing(); len(missing) > 0 {
		return &Result{Verdict: "decline", Missing: missing,
			Reason: "not found: " + strings.Join(missing, ", ") + "; a proof term can only be judged with Lean and its exporter, an export without them"}, nil
	}
	if opts.Challenge == nil {
		return &Result{Verdict: "decline", Reason: "there is no challenge to compare the statement with"}, nil
	}
	file := filepath.Join(opts.Dir, "Candidate.lean")
	if err := os.WriteFile(file, []byte(p.Source(string(term))), 0o644); err != nil {
		return nil, err
	}
	out, err := opts.Runner.Run(ctx, opts.Dir, []string{opts.Tools.Lean, "-o", "Candidate.olean", "Candidate.lean"})
	if err != nil {
		return nil, fmt.Errorf("running lean: %w", err)
	}
	if out.Exit != 0 {
		return &Result{Verdict: "reject", Reason: fmt.Sprintf("lean ended with status %d: %s", out.Exit, firstLine(out.Stdout, out.Stderr))}, nil
	}
	r := &Result{}
	if r.Axioms, err = printedAxioms(out.Stdout); err != nil {
		r.Verdict, r.Reason = "reject", err.Error()
		return r, nil
	}
	for _, a := range r.Axioms {
		if !slices.Contains(opts.Permit, a) {
			r.Verdict, r.Reason = "reject", "lean reports the axiom "+a+", which is not permitted"
			return r, nil
		}
	}
	out, err = opts.Runner.Run(ctx, opts.Dir, []string{opts.Tools.Export, "Candidate", "--", Candidate})
	if err != nil {
		return nil, fmt.Errorf("running lean4export: %w", err)
	}
	if out.Exit != 0 {
		r.Verdict, r.Reason = "decline", fmt.Sprintf("lean4export ended with status %d: %s", out.Exit, firstLine(out.Stderr, out.Stdout))
		return r, nil
	}
	r.Report, err = lean.Judge(ctx, bytes.NewReader(out.Stdout), lean.Options{Target: Candidate, Challenge: opts.Challenge, Permit: opts.Permit})
	if err != nil {
		return nil, err
	}
	r.Verdict, r.Reason = r.Report.Verdict, r.Report.Reason
	return r, nil
}

func (t Tools) missing() (names []string) {
	if t.Lean == "" {
		names = append(names, "lean")
	}
	if t.Export == "" {
		names = append(names, "lean4export")
	}
	return names
}

var (
	someAxioms = regexp.MustCompile(`(?s)'` + Candidate + `' depends on axioms: \[([^\]]*)\]`)
	noAxioms   = regexp.MustCompile(`'` + Candidate + `' does not depend on any axioms`)
)

// printedAxioms reads what #print axioms wrote. It must have written exactly one
// report, the last thing in the file.
func printedAxioms(out []byte) ([]string, error) {
	some, none := someAxioms.FindAllSubmatch(out, -1), noAxioms.FindAll(out, -1)
	if len(some)+len(none) != 1 {
		return nil, fmt.Errorf("lean reports the axioms of the candidate %d times, expected once", len(some)+len(none))
	}
	if len(none) == 1 {
		return nil, nil
	}
	var axioms []string
	for _, a := range strings.Split(string(some[0][1]), ",") {
		axioms = append(axioms, strings.TrimSpace(a))
	}
	return axioms, nil
}

// firstLine returns the first line with content, shortened and with control
// characters escaped.
func firstLine(outputs ...[]byte) string {
	for _, out := range outputs {
		if line, _, _ := bytes.Cut(bytes.TrimSpace(out), []byte("\n")); len(line) > 0 {
			return fmt.Sprintf("%.200q", line)
		}
	}
	return "no output"
}
