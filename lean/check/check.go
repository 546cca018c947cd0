// Package check judges the declarations of an export: it is a kernel for Lean 4.
//
// What is checked follows M. Carneiro, "The Type Theory of Lean" (2019), the
// book "Type Checking in Lean 4" and the behaviour of Lean's own kernel where
// the two leave a choice: universe levels by their meaning, inference and
// checking, weak head normal forms, definitional equality with eta for functions
// and structures and with proof irrelevance, literals, quotients, and inductive
// types, mutual, nested, reflexive and indexed, whose recursors are derived anew
// and never taken from the file.
//
// A declaration sees only what stands before it in the file. Bounds on depth,
// steps and memory end in [Decline], as does any fault of the checker itself;
// neither ever becomes [Accept] or [Reject].
package check

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/erdos1056/erdos1056/lean/export"
	"github.com/erdos1056/erdos1056/lean/term"
)

// A Verdict is the outcome of a check.
type Verdict uint8

// The verdicts: every declaration holds; one does not; the checker cannot tell.
const (
	Accept Verdict = iota
	Reject
	Decline
)

func (v Verdict) String() string { return [...]string{"accept", "reject", "decline"}[v] }

// Limits bound the work on one declaration.
type Limits struct {
	Depth  int   // levels of recursion; 0 means 1<<18
	Steps  int64 // steps of reduction and inference; 0 means no bound
	budget *term.Budget
}

// Options of a check.
type Options struct {
	Threads int // declarations checked at the same time; 0 means all cores
	Limits  Limits
	// Budget bounds the memory of terms and tables together with the reader's,
	// and may be nil.
	Budget *term.Budget
	// Progress, if not nil, is called before each declaration with its index,
	// from several goroutines.
	Progress func(decl int)
}

// A Result is the judgement of a file. It does not depend on the number of
// threads.
type Result struct {
	Verdict   Verdict
	Failure   *Failure // of a reject or decline
	Constants int      // constants declared, with constructors and recursors
	Theorems  int
	NatOps    []string // operations on Nat computed on literals, in a fixed order
}

// A Failure tells what ended a check.
type Failure struct {
	Decl  int // index of the declaration
	Kind  export.Kind
	Name  string // escaped
	Line  int
	Rule  string // what was broken: a rule of the kernel, "limit" or "internal"
	Msg   string
	Terms []LabeledTerm
}

// maxStack is the bound on a goroutine's stack. The limits on depth keep the
// stack well below it; passing it would end the program.
const maxStack = min(4<<30, math.MaxInt)

// Check judges all declarations of a file. The error is that of ctx.
func Check(ctx context.Context, f *export.File, opts Options) (*Result, error) {
	if opts.Threads <= 0 {
		opts.Threads = runtime.GOMAXPROCS(0)
	}
	if opts.Limits.Depth == 0 {
		opts.Limits.Depth = 1 << 18
	}
	opts.Limits.budget = opts.Budget
	defer debug.SetMaxStack(debug.SetMaxStack(maxStack))
	var stop atomic.Bool
	defer context.AfterFunc(ctx, func() { stop.Store(true) })()

	r := &run{file: f, opts: opts, stop: &stop}
	r.env = newEnvironment(f.Store)
	r.firstFailure.Store(int64(len(f.Decls)))
	for r.declare() {
		r.judge()
	}
	r.judge()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return r.result(), nil
}

// A run is one check of a file.
type run struct {
	file *export.File
	opts Options
	env  *environment
	stop *atomic.Bool

	declared     int          // declarations made known
	seen         []bool       // terms known to mention declared constants only
	next         atomic.Int64 // to be judged next
	firstFailure atomic.Int64 // least index of a declaration that failed
	mu           sync.Mutex
	failures     []*Failure
}

// patience is the number of steps that making a declaration known may take as
// long as those before it have not been judged. What has no type may have no
// normal form either.
const patience = 1 << 16

// declare makes the declarations known, in file order. Inductive blocks and
// quotients are checked right away, because what they define has to be derived;
// the others follow in judge. It reports whether it wants to go on once all
// declarations known are judged.
func (r *run) declare() (more bool) {
	var c *checker
	if f := r.guard(0, func() { c = newChecker(r.env, r.opts.Limits, r.stop) }); f != nil {
		r.fail(f)
		return false
	}
	defer c.release()
	if r.seen == nil {
		r.seen = make([]bool, r.file.Store.ExprCount())
	}
	for r.declared < len(r.file.Decls) && r.firstFailure.Load() == int64(len(r.file.Decls)) {
		i := r.declared
		c.pause = patience
		if i == int(r.next.Load()) {
			c.pause = 0 // all before it hold
		}
		done := false
		if f := r.guard(i, func() { r.declareOne(c, i); done = true }); f != nil {
			r.fail(c.doubted(f))
			return false
		}
		if !done {
			r.env.forget(declOrdinal(i))
			return !r.stop.Load()
		}
		r.declared++
	}
	return false
}

func (r *run) declareOne(c *checker, i int) {
	d := &r.file.Decls[i]
	if d.Unsafe {
		panic(&declined{"an unsafe or partial declaration; only safe ones can be checked"})
	}
	needDistinct(r.file.Store, d.Params)
	k := &constant{name: d.Name, ord: declOrdinal(i), params: d.Params, typ: d.Type, value: term.NoExpr}
	switch d.Kind {
	case export.Axiom:
		k.kind = axiomConst
	case export.Definition:
		k.kind, k.value, k.hint = definitionConst, d.Value, d.Hint
	case export.Theorem:
		k.kind, k.value = theoremConst, d.Value
	case export.Opaque:
		k.kind, k.value = opaqueConst, d.Value
	case export.Quotient:
		needUnreserved(r.file.Store, d.Name)
		c.addQuot(i, d)
		return
	case export.Inductive:
		for _, t := range d.Block.Types {
			needUnreserved(r.file.Store, t.Name)
		}
		for _, t := range d.Block.Ctors {
			needUnreserved(r.file.Store, t.Name)
		}
		for _, t := range d.Block.Ctors {
			r.noteStrings(c, i, d.Params, t.Type)
		}
		c.addBlock(i, d.Block)
		c.noteLiterals(i, d.Block)
		return
	}
	needUnreserved(r.file.Store, d.Name)
	r.needDeclared(k.typ)
	if k.value != term.NoExpr {
		r.needDeclared(k.value)
	}
	c.add(k)
	r.noteStrings(c, i, d.Params, k.typ)
	if k.value != term.NoExpr {
		r.noteStrings(c, i, d.Params, k.value)
	}
	if d.Kind == export.Definition {
		c.noteNatOp(i, d)
	}
}

// noteStrings looks whether e, a part of declaration i, uses string literals
// before what they are made of is declared.
func (r *run) noteStrings(c *checker, i int, params []term.Name, e term.Expr) {
	if r.env.opaqueStrings || !r.file.Store.At(e).HasStr {
		return
	}
	c.start(declOrdinal(i), params)
	r.env.opaqueStrings = c.strings() == stringsOpaque
}

// Bounds on what a declaration may consist of, well above what occurs.
const (
	maxParams = 1 << 10 // universe parameters
	maxTypes  = 1 << 12 // types of a mutual block
	maxCtors  = 1 << 16 // constructors of a block
)

func needDistinct(s *term.Store, params []term.Name) {
	if len(params) > maxParams {
		panic(&term.LimitError{What: fmt.Sprintf("a declaration has more than %d universe parameters", maxParams)})
	}
	for i, p := range params {
		for _, q := range params[:i] {
			if p == q {
				reject("universe parameter", "the universe parameter %s is declared twice", s.NameString(p))
			}
		}
	}
}

// needDeclared rejects terms that are not closed or mention constants not yet
// declared. This alone rules out circles; which constants a term may use is
// checked again, with their levels, when the term is.
func (r *run) needDeclared(e term.Expr) {
	s := r.file.Store
	needClosed(s, e)
	stack := []term.Expr{e}
	for len(stack) > 0 {
		e := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if r.seen[e] {
			continue
		}
		r.seen[e] = true
		n := s.At(e)
		switch n.Kind {
		case term.Const, term.Proj:
			if int(n.A) >= len(r.env.byName) || r.env.byName[n.A] == nil {
				reject("unknown constant", "%s is not declared before its use", s.NameString(term.Name(n.A)))
			}
		}
		switch n.Kind {
		case term.App, term.Lambda, term.Pi:
			stack = append(stack, term.Expr(n.A), term.Expr(n.B))
		case term.Let:
			stack = append(stack, term.Expr(n.A), term.Expr(n.B), term.Expr(n.C))
		case term.Proj:
			stack = append(stack, term.Expr(n.C))
		}
	}
}

// needUnreserved rejects names that Lean keeps for the auxiliary types of nested
// blocks.
func needUnreserved(s *term.Store, n term.Name) {
	if root, ok := s.Root(n); ok && root == "_nested" {
		reject("reserved name", "%s starts with the reserved component _nested", s.NameString(n))
	}
	if n == term.Anonymous {
		reject("reserved name", "the anonymous name cannot be declared")
	}
}

// judge checks the declarations made known, several at a time.
func (r *run) judge() {
	var wg sync.WaitGroup
	for range min(r.opts.Threads, max(1, r.declared)) {
		wg.Go(func() {
			var c *checker
			if f := r.guard(0, func() { c = newChecker(r.env, r.opts.Limits, r.stop) }); f != nil {
				r.fail(f)
				return
			}
			c.firstFailure = &r.firstFailure
			for {
				i := int(r.next.Add(1)) - 1
				if i >= r.declared || int64(i) > r.firstFailure.Load() || r.stop.Load() {
					break
				}
				if r.opts.Progress != nil {
					r.opts.Progress(i)
				}
				if f := r.guard(i, func() { c.judge(i, &r.file.Decls[i]) }); f != nil {
					r.fail(c.doubted(f))
				}
			}
			c.release()
		})
	}
	wg.Wait()
	r.next.Store(int64(r.declared))
}

// judge checks an axiom, definition, theorem or opaque constant.
func (c *checker) judge(i int, d *export.Decl) {
	if d.Kind == export.Quotient || d.Kind == export.Inductive {
		return
	}
	c.decl = i
	c.start(declOrdinal(i), d.Params)
	l := c.sortOf(d.Type, true)
	if d.Kind == export.Theorem && !c.s.AlwaysZero(l) {
		c.rejectTerms("theorem", "the statement of a theorem must be a proposition", "statement", d.Type)
	}
	if d.Kind == export.Axiom {
		return
	}
	if have := c.check(d.Value); !c.defeq(have, d.Type) {
		if d.Kind == export.Theorem {
			c.rejectTerms("theorem", "the proof's type is not the statement", "statement", d.Type, "proof of", have)
		}
		c.rejectTerms("definition", "the value has another type than declared", "declared", d.Type, "value of type", have)
	}
}

// declined is a reason to decline that is no limit.
type declined struct{ msg string }

// guard runs work on declaration i and turns its panics into a failure: a
// *Rejection into a reject, a limit or a fault into a decline. Work that was
// stopped or paused is no failure.
func (r *run) guard(i int, work func()) (f *Failure) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		switch p.(type) {
		case stopped, paused:
			return
		}
		f = &Failure{Decl: i}
		if i < len(r.file.Decls) {
			d := &r.file.Decls[i]
			f.Kind, f.Line, f.Name = d.Kind, d.Line, r.file.Store.NameString(d.Name)
		}
		err, _ := p.(error)
		var rejection *Rejection
		var limit *term.LimitError
		switch {
		case errors.As(err, &rejection) && r.needsCompiler(i):
			f.Rule, f.Msg = ruleUnsupported, "the declaration may need Lean's compiler, which Lean.reduceBool and Lean.reduceNat ask for"
		case errors.As(err, &rejection):
			f.Rule, f.Msg, f.Terms = rejection.Rule, rejection.Msg, rejection.Terms
		case errors.As(err, &limit):
			f.Rule, f.Msg = ruleLimit, limit.Error()
		default:
			if d, ok := p.(*declined); ok {
				f.Rule, f.Msg = ruleUnsupported, d.msg
				return
			}
			f.Rule, f.Msg = ruleInternal, fmt.Sprint(p)
		}
	}()
	work()
	return nil
}

// needsCompiler reports whether declaration i mentions a constant that Lean's
// kernel evaluates with compiled code.
func (r *run) needsCompiler(i int) bool {
	d := &r.file.Decls[i]
	if d.Kind != export.Definition && d.Kind != export.Theorem && d.Kind != export.Opaque {
		return false
	}
	names := r.env.names
	wanted := func(n term.Name) bool { return n == names.reduceBool || n == names.reduceNat }
	return d.Name != names.reduceBool && d.Name != names.reduceNat &&
		(mentions(r.file.Store, d.Type, wanted) || mentions(r.file.Store, d.Value, wanted))
}

// doubted turns a rejection into a decline if an operation was met that Lean
// would have computed but whose definition was not recognised.
func (c *checker) doubted(f *Failure) *Failure {
	switch {
	case c.doubt == term.Anonymous, f.verdict() != Reject:
		return f
	case f.Rule != "theorem" && f.Rule != "definition" && f.Rule != "application" && f.Rule != "let":
		return f
	}
	f.Rule = ruleUnsupported
	f.Msg += fmt.Sprintf("; it might be, but the definition of %s is none that is known to be arithmetic", c.nameString(c.doubt))
	return f
}

// The rules named by declines.
const (
	ruleLimit       = "limit"
	ruleUnsupported = "unsupported"
	ruleInternal    = "internal"
)

func (f *Failure) verdict() Verdict {
	switch f.Rule {
	case ruleLimit, ruleUnsupported, ruleInternal:
		return Decline
	}
	return Reject
}

func (r *run) fail(f *Failure) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, f)
	if int64(f.Decl) < r.firstFailure.Load() {
		r.firstFailure.Store(int64(f.Decl))
	}
}

func (r *run) result() *Result {
	res := &Result{}
	for _, f := range r.failures {
		if res.Failure == nil || f.Decl < res.Failure.Decl {
			res.Failure = f
		}
	}
	if res.Failure != nil {
		res.Verdict = res.Failure.verdict()
	}
	for _, k := range r.env.byName {
		if k == nil {
			continue
		}
		res.Constants++
		if k.kind == theoremConst {
			res.Theorems++
		}
	}
	for op := opAdd; op < numNatOps; op++ {
		for _, have := range r.env.natOps {
			if have == op {
				res.NatOps = append(res.NatOps, "Nat."+natOpNames[op])
			}
		}
	}
	return res
}
