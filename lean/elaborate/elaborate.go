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

// The programs that elaboration needs.
const (
	Lean     = "lean"        // the compiler of the pinned toolchain
	Exporter = "lean4export" // of the same version
)

// A Task is one run of a program.
type Task struct {
	Program string   // Lean or Exporter
	Args    []string // {input} at the start of one stands for the folder of the input
	Input   File     // which also lies where Lean looks for modules
	Keep    string   // name of a file that the program leaves where it starts, or ""
}

// A File is a file by its name and its bytes.
type File struct {
	Name string
	Data []byte
}

// A Runner runs a program shut in, in an empty folder that it can write to. An
// error says that the program could not be run; how it ended is no error.
type Runner interface {
	Run(ctx context.Context, task Task) (Output, error)
}

// Output is what a program wrote and how it ended.
type Output struct {
	Stdout, Stderr []byte
	Exit           int
	Stopped        string // the limit or signal that ended it; "" if it ended by itself
	Kept           []byte // the file that was to be kept; nil if there is none
}

// A Result is the outcome of an elaboration.
type Result struct {
	Verdict string // "accept", "reject" or "decline"
	Reason  string
	Missing []string     // what was not found, with where it was looked for
	Axioms  []string     // as Lean printed them
	Report  *lean.Report // of the checker, once there was an export
}

// Options of an elaboration.
type Options struct {
	Runner    Runner
	Missing   []string  // what the runner lacks; if there is any, it is not used
	Challenge io.Reader // trusted export of the candidate with its statement
	Permit    []string  // axioms the proof may use
	Threads   int       // of the checker, as in lean.Options
	Memory    int64     // of the checker, as in lean.Options
}

// Elaborate judges a term as a proof of p. Only Lean's status 1, which says that
// the source is wrong, counts against a term; every other failure of a program
// is a decline.
func Elaborate(ctx context.Context, p Problem, term []byte, opts Options) (*Result, error) {
	if err := CheckTerm(term); err != nil {
		return &Result{Verdict: "reject", Reason: err.Error()}, nil
	}
	if len(opts.Missing) > 0 {
		return &Result{Verdict: "decline", Missing: opts.Missing,
			Reason: "not found: " + strings.Join(opts.Missing, "; ") + "; a proof term can only be judged with Lean and its exporter, an export without them"}, nil
	}
	if opts.Challenge == nil {
		return &Result{Verdict: "decline", Reason: "there is no challenge to compare the statement with"}, nil
	}
	r := &Result{}
	compiled, err := r.compile(ctx, p.Source(string(term)), opts)
	if err != nil || r.Verdict != "" {
		return r, err
	}
	exported, err := r.export(ctx, compiled, opts)
	if err != nil || r.Verdict != "" {
		return r, err
	}
	r.Report, err = lean.Judge(ctx, bytes.NewReader(exported),
		lean.Options{Target: Candidate, Challenge: opts.Challenge, Permit: opts.Permit, Threads: opts.Threads, Memory: opts.Memory})
	if err != nil {
		return nil, err
	}
	r.Verdict, r.Reason = r.Report.Verdict, r.Report.Reason
	return r, nil
}

// Names of the candidate's files. Lean names a module after its file.
const (
	sourceName   = "Candidate.lean"
	compiledName = "Candidate.olean"
	moduleName   = "Candidate"
)

// compile has Lean elaborate the source. It returns the compiled module, or
// gives the result a verdict.
func (r *Result) compile(ctx context.Context, source string, opts Options) ([]byte, error) {
	out, err := opts.Runner.Run(ctx, Task{Program: Lean, Args: []string{"-o", compiledName, "{input}/" + sourceName},
		Input: File{sourceName, []byte(source)}, Keep: compiledName})
	if err != nil {
		return nil, fmt.Errorf("running lean: %w", err)
	}
	const sourceIsWrong = 1
	if out.Stopped == "" && out.Exit == sourceIsWrong {
		return nil, r.decide("reject", "lean ended with status 1: %s", firstLine(out.Stdout, out.Stderr))
	}
	if out.failed() {
		return nil, r.decide("decline", "lean %s", out.end())
	}
	if r.Axioms, err = printedAxioms(out.Stdout); err != nil {
		return nil, r.decide("reject", "%v", err)
	}
	for _, a := range r.Axioms {
		if !slices.Contains(opts.Permit, a) {
			return nil, r.decide("reject", "lean reports the axiom %s, which is not permitted", a)
		}
	}
	if out.Kept == nil {
		return nil, r.decide("decline", "lean left no %s", compiledName)
	}
	return out.Kept, nil
}

// export has the exporter write out the compiled module.
func (r *Result) export(ctx context.Context, compiled []byte, opts Options) ([]byte, error) {
	out, err := opts.Runner.Run(ctx, Task{Program: Exporter, Args: []string{moduleName, "--", Candidate}, Input: File{compiledName, compiled}})
	if err != nil {
		return nil, fmt.Errorf("running lean4export: %w", err)
	}
	if out.failed() {
		return nil, r.decide("decline", "lean4export %s", out.end())
	}
	return out.Stdout, nil
}

func (r *Result) decide(verdict, reason string, args ...any) error {
	r.Verdict, r.Reason = verdict, fmt.Sprintf(reason, args...)
	return nil
}

func (o Output) failed() bool { return o.Stopped != "" || o.Exit != 0 }

// end says how a program failed.
func (o Output) end() string {
	if o.Stopped != "" {
		return "was stopped: " + o.Stopped
	}
	return fmt.Sprintf("ended with status %d: %s", o.Exit, firstLine(o.Stderr, o.Stdout))
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
