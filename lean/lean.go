// Package lean judges exported Lean 4 proofs: it reads an export, has the kernel
// check every declaration and, if a target is named, audits the target's axioms
// and statement. It needs no Lean, and nothing in the file is run.
package lean

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime/debug"

	"github.com/erdos1056/erdos1056/lean/audit"
	"github.com/erdos1056/erdos1056/lean/check"
	"github.com/erdos1056/erdos1056/lean/export"
	"github.com/erdos1056/erdos1056/lean/term"
)

// Options of a judgement.
type Options struct {
	// Target names the theorem to audit. If empty, the verdict is the kernel's
	// alone.
	Target string
	// Challenge is a trusted export with the statement that the target must
	// have; nil for none.
	Challenge io.Reader
	Permit    []string // axioms the target may rest on

	Threads int   // 0 means all cores
	Memory  int64 // bytes; 0 means 4 GiB
	Steps   int64 // bound on the work on one declaration; 0 means none
	// Progress, if not nil, is called before each declaration, from several
	// goroutines.
	Progress func(Progress)
}

// Progress says how far a judgement has come.
type Progress struct {
	Declaration int // counted from 1
	Of          int
	Name        string
}

// DefaultMemory is the bound on memory if none is given, in bytes.
const DefaultMemory = 4 << 30

// A Report is a judgement. Its JSON form is stable.
type Report struct {
	Type         string        `json:"type"`    // "verdict"
	Verdict      string        `json:"verdict"` // "accept", "reject" or "decline"
	Reason       string        `json:"reason,omitempty"`
	Checker      string        `json:"checker"` // version of this program
	Input        Input         `json:"input"`
	Challenge    *Input        `json:"challenge,omitempty"`
	Declarations int           `json:"declarations"`
	Constants    int           `json:"constants"`
	Theorems     int           `json:"theorems"`
	Axioms       []Axiom       `json:"axioms_declared"`
	NatOps       []string      `json:"nat_operations_computed"`
	Failure      *Failure      `json:"failure,omitempty"`
	Audit        *audit.Report `json:"audit,omitempty"`
	Permit       []string      `json:"permit,omitempty"`
	Limits       Limits        `json:"limits"`
}

// An Axiom is an axiom that the file declares.
type Axiom struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// Input identifies a file that was read.
type Input struct {
	SHA256 string `json:"sha256,omitempty"` // of the bytes as given
	Bytes  int64  `json:"bytes"`
	Lines  int    `json:"lines"` // after decompression
	export.Meta
}

// Limits says which bounds were in force.
type Limits struct {
	MemoryBytes int64 `json:"memory_bytes"`
	Depth       int   `json:"depth"`
	Steps       int64 `json:"steps"` // 0 for none
}

// A Failure tells where and why a check ended.
type Failure struct {
	Kind  string              `json:"kind,omitempty"`
	Name  string              `json:"name,omitempty"`
	Line  int                 `json:"line"`
	Rule  string              `json:"rule"`
	Msg   string              `json:"msg"`
	Terms []check.LabeledTerm `json:"terms,omitempty"`
}

// Judge reads an export, plain or gzip, and judges it. The error says that no
// judgement was reached: the input could not be read or ctx ended. Broken files
// are rejected; formats that are not read, and limits, are declined.
func Judge(ctx context.Context, in io.Reader, opts Options) (report *Report, err error) {
	if opts.Memory <= 0 {
		opts.Memory = DefaultMemory
	}
	// Stacks and the garbage of growing tables take part of the memory.
	depth := int(min(1<<18, opts.Memory/(8<<10)))
	r := &Report{
		Type: "verdict", Checker: version(), Axioms: []Axiom{}, NatOps: []string{},
		Limits: Limits{MemoryBytes: opts.Memory, Depth: depth, Steps: opts.Steps},
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64))
	debug.SetMemoryLimit(opts.Memory)
	// Tables that grow by doubling make up most of the heap and leave little to
	// collect. The memory is bounded in any case.
	defer debug.SetGCPercent(debug.SetGCPercent(200))
	defer func() {
		if p := recover(); p != nil {
			report, err = r.declined(p), nil
		}
	}()
	budget := term.NewBudget(opts.Memory / 2)
	store := term.NewStore(budget)
	store.MaxDepth = 4 * depth

	if opts.Target == "" {
		opts.Challenge = nil
	}
	var challenge *export.File
	if opts.Challenge != nil {
		f, err := export.Read(opts.Challenge, store, export.Limits{})
		if err != nil {
			return nil, fmt.Errorf("reading the challenge: %w", err)
		}
		challenge = f
		r.Challenge = inputOf(f)
	}
	f, err := readExport(ctx, in, store, opts.Memory)
	if err != nil {
		return r.unreadable(err)
	}
	r.Input = *inputOf(f)
	r.Declarations = len(f.Decls)

	result, err := check.Check(ctx, f, check.Options{
		Threads: opts.Threads, Budget: budget, Progress: reportTo(opts.Progress, f),
		Limits: check.Limits{Depth: depth, Steps: opts.Steps},
	})
	if err != nil {
		return nil, err
	}
	r.Constants, r.Theorems = result.Constants, result.Theorems
	r.NatOps = append(r.NatOps, result.NatOps...)
	for _, d := range f.Decls {
		if d.Kind == export.Axiom {
			r.Axioms = append(r.Axioms, Axiom{Name: store.NameString(d.Name), Type: store.Print(d.Type, term.Format{})})
		}
	}
	r.Verdict = result.Verdict.String()
	if x := result.Failure; x != nil {
		r.Failure = &Failure{x.Kind.String(), x.Name, x.Line, x.Rule, x.Msg, x.Terms}
		r.Reason = fmt.Sprintf("%s %s at line %d: %s", x.Kind, x.Name, x.Line, x.Msg)
		return r, nil
	}
	if opts.Target != "" {
		r.Permit = opts.Permit
		r.audit(f, challenge, opts)
	}
	return r, nil
}

// readExport reads the file to be judged with lines in proportion to the memory,
// because several are held at a time. If ctx ends while in has nothing to give,
// the read that is under way is left behind.
func readExport(ctx context.Context, in io.Reader, store *term.Store, memory int64) (*export.File, error) {
	var f *export.File
	var err error
	var fault any
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { fault = recover() }()
		f, err = export.Read(&contextReader{ctx, in}, store, export.Limits{MaxLine: int(min(memory/32, export.DefaultLine))})
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-done:
	}
	if fault != nil {
		panic(fault)
	}
	return f, err
}

// declined turns a panic outside of any declaration, from a limit or a fault, into
// a verdict.
func (r *Report) declined(p any) *Report {
	rule, msg := "internal", fmt.Sprint(p)
	if err, ok := p.(error); ok {
		var limit *term.LimitError
		if errors.As(err, &limit) {
			rule = "limit"
		}
	}
	r.Verdict, r.Reason = check.Decline.String(), msg
	r.Failure = &Failure{Rule: rule, Msg: msg}
	return r
}

// contextReader ends with its context.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

func (r *Report) audit(f, challenge *export.File, opts Options) {
	r.Audit = audit.Audit(f, opts.Target, audit.Options{Permit: opts.Permit, Challenge: challenge})
	if p := r.Audit.Problems; len(p) > 0 {
		r.Verdict = check.Reject.String()
		r.Reason = p[0].String()
	}
}

// unreadable turns an error of the reader into a verdict where it is one.
func (r *Report) unreadable(err error) (*Report, error) {
	var e *export.Error
	if !errors.As(err, &e) {
		return nil, err
	}
	verdict, rule := check.Decline, ""
	switch e.Reason {
	case export.Malformed:
		verdict, rule = check.Reject, "format"
	case export.Unsupported:
		rule = "unsupported"
	case export.Limit:
		rule = "limit"
	}
	r.Verdict, r.Reason = verdict.String(), e.Error()
	r.Failure = &Failure{Line: e.Line, Rule: rule, Msg: e.Msg}
	return r, nil
}

// version returns the version of the module the program was built from.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

func inputOf(f *export.File) *Input {
	return &Input{SHA256: f.SHA256, Bytes: f.Bytes, Lines: f.Lines, Meta: f.Meta}
}

func reportTo(progress func(Progress), f *export.File) func(int) {
	if progress == nil {
		return nil
	}
	return func(i int) {
		progress(Progress{i + 1, len(f.Decls), f.Store.NameString(f.Decls[i].Name)})
	}
}
