package check

import (
	"fmt"
	"sync/atomic"

	"github.com/erdos1056/erdos1056/lean/term"
)

// A checker judges one declaration at a time. It is used by one goroutine.
type checker struct {
	env     *environment
	s       *term.Store // a child of the environment's store
	bound   ordinal
	params  []term.Name             // universe parameters of the declaration
	levels  map[term.Level]bool     // levels known to have no other parameters
	overlay map[term.Name]*constant // auxiliary constants of a nested block

	checked  table // types of terms known to be well-typed
	inferred table // types of other terms, assumed to be well-typed
	cores    table // whnfCore
	cheap    table // whnfCore without reducing structures of projections
	whnfs    table // whnf
	values   table // constant -> its value at the constant's levels
	types    table // constant -> its type at the constant's levels
	rules    map[ruleKey]term.Expr
	equal    pairSet
	apart    pairSet // same head, and comparing arguments failed

	eager       bool         // inside an eagerReduce argument
	withheld    natOp        // an operation not to be accelerated while it is judged
	assumed     []comparison // assumed results of Nat.ble while laws are looked at
	stringState stringState
	doubt       term.Name // an operation met that might be arithmetic, or Anonymous

	limits Limits
	steps  int64
	depth  int
	stop   *atomic.Bool
	// pause, if not 0, is the number of steps after which work ends with paused.
	pause int64
	// A failure of a declaration before this one makes its result useless.
	decl         int
	firstFailure *atomic.Int64
}

type ruleKey struct {
	rec  term.Expr // the recursor constant, with levels
	rule int
}

func newChecker(env *environment, limits Limits, stop *atomic.Bool) *checker {
	b := limits.budget
	return &checker{
		env: env, s: env.store.Child(), limits: limits, stop: stop,
		checked: newTable(b), inferred: newTable(b), cores: newTable(b), cheap: newTable(b),
		whnfs: newTable(b), values: newTable(b), types: newTable(b),
		levels: map[term.Level]bool{}, rules: map[ruleKey]term.Expr{}, equal: newPairSet(b), apart: newPairSet(b),
	}
}

// start prepares the checker for a declaration that sees constants below bound
// and has the given universe parameters.
func (c *checker) start(bound ordinal, params []term.Name) {
	c.s.Reset()
	c.forget()
	c.bound = bound
	c.setParams(params)
	c.overlay = nil
	c.steps = 0
	c.doubt = term.Anonymous
}

// setParams sets the universe parameters that terms may have from now on.
func (c *checker) setParams(params []term.Name) {
	c.params = params
	if len(c.levels) > 0 {
		clear(c.levels)
	}
}

// forget drops all results. It is needed whenever constants change their
// meaning.
func (c *checker) forget() {
	for _, t := range []*table{&c.checked, &c.inferred, &c.cores, &c.cheap, &c.whnfs, &c.values, &c.types} {
		t.reset()
	}
	if len(c.rules) > 0 {
		clear(c.rules)
	}
	c.equal.reset()
	c.apart.reset()
	c.stringState = stringsUnknown
	c.eager = false
	c.withheld = opNone
	c.assumed = nil
	c.depth = 0
}

func (c *checker) release() {
	for _, t := range []*table{&c.checked, &c.inferred, &c.cores, &c.cheap, &c.whnfs, &c.values, &c.types} {
		t.release()
	}
	c.equal.release()
	c.apart.release()
	c.s.Release()
}

// enter counts one level of recursion and one step of work.
func (c *checker) enter() {
	c.depth++
	if c.depth > c.limits.Depth {
		panic(&term.LimitError{What: fmt.Sprintf("recursion deeper than %d", c.limits.Depth)})
	}
	c.step()
}

func (c *checker) leave() { c.depth-- }

// step counts one step of work and looks at the limits now and then.
func (c *checker) step() {
	c.steps++
	if c.steps&0x3f == 0 {
		c.poll()
	}
}

// poll ends the work if it is to stop. Making terms counts as work, too.
func (c *checker) poll() {
	if c.stop.Load() || c.firstFailure != nil && int64(c.decl) > c.firstFailure.Load() {
		panic(stopped{})
	}
	if c.pause > 0 && c.steps+c.s.Work/8 > c.pause {
		panic(paused{})
	}
	if c.limits.Steps > 0 && c.steps+c.s.Work/8 > c.limits.Steps {
		panic(&term.LimitError{What: fmt.Sprintf("more than %d steps in one declaration", c.limits.Steps)})
	}
}

// stopped ends work whose result is no longer wanted.
type stopped struct{}

// paused ends work that has taken many steps.
type paused struct{}

// lookup returns a constant that the present declaration may use, or nil.
func (c *checker) lookup(n term.Name) *constant {
	if c.overlay != nil {
		if k := c.overlay[n]; k != nil {
			return k
		}
	}
	if int(n) < len(c.env.byName) {
		if k := c.env.byName[n]; k != nil && k.ord < c.bound {
			return k
		}
	}
	return nil
}

// head returns the constant at the head of e, its levels and whether there is
// one.
func (c *checker) head(e term.Expr) (*constant, term.Expr) {
	f := c.s.Head(e)
	n := c.s.At(f)
	if n.Kind != term.Const {
		return nil, f
	}
	return c.lookup(term.Name(n.A)), f
}

// A Rejection says why a declaration does not hold.
type Rejection struct {
	Rule  string // the rule broken, in a word or two
	Msg   string
	Terms []LabeledTerm
}

// A LabeledTerm is a term for people to read, shortened.
type LabeledTerm struct {
	Label string `json:"label"`
	Text  string `json:"text"`
}

func (r *Rejection) Error() string { return r.Rule + ": " + r.Msg }

func reject(rule, format string, args ...any) {
	panic(&Rejection{Rule: rule, Msg: fmt.Sprintf(format, args...)})
}

// rejectTerms rejects and shows terms; labels and terms go in pairs.
func (c *checker) rejectTerms(rule, msg string, pairs ...any) {
	r := &Rejection{Rule: rule, Msg: msg}
	for i := 0; i+1 < len(pairs); i += 2 {
		r.Terms = append(r.Terms, LabeledTerm{pairs[i].(string), c.s.Print(pairs[i+1].(term.Expr), term.Format{})})
	}
	panic(r)
}

func (c *checker) nameString(n term.Name) string { return c.s.NameString(n) }
