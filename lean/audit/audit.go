// Package audit judges what a checked theorem rests on and whether it states
// what it should: the axioms in its closure, whether these are what their names
// say, and how its statement compares with a trusted one.
//
// Names are compared by their components and axioms by their types as well. What
// the package prints of a file is always escaped.
package audit

import (
	"fmt"

	"github.com/erdos1056/erdos1056/lean/export"
	"github.com/erdos1056/erdos1056/lean/term"
)

// Standard lists the axioms of Lean's core library that ordinary proofs use.
var Standard = []string{"propext", "Classical.choice", "Quot.sound"}

// Options of an audit.
type Options struct {
	Permit []string // axioms allowed in the closure, as people write them
	// Challenge is a trusted export with the statement that the target must
	// have; it shares the target's store. It may be nil.
	Challenge *export.File
}

// A Report is the result of an audit. The target passes if Problems is empty.
type Report struct {
	Target    string    `json:"target"`
	Statement string    `json:"statement"`
	Axioms    []Axiom   `json:"axioms"` // in the closure of the target, in file order
	Unused    []string  `json:"unused_axioms"`
	Constants int       `json:"closure_constants"`
	Problems  []Problem `json:"problems"`
	Compared  bool      `json:"compared"` // with a challenge
}

// An Axiom is an axiom that the target rests on.
type Axiom struct {
	Name      string `json:"name"`
	Type      string `json:"type"`
	Permitted bool   `json:"permitted"`
}

// A Problem is a reason to reject the target.
type Problem struct {
	Constant string `json:"constant"`
	Msg      string `json:"msg"`
	Expected string `json:"expected,omitempty"`
	Found    string `json:"found,omitempty"`
}

func (p Problem) String() string {
	text := p.Constant + ": " + p.Msg
	if p.Expected != "" {
		text += "\n  expected: " + p.Expected
	}
	if p.Found != "" {
		text += "\n  found:    " + p.Found
	}
	return text
}

// Audit judges the theorem named target in f, which must have passed the
// checker.
func Audit(f *export.File, target string, opts Options) *Report {
	s := f.Store
	r := &Report{Target: target, Axioms: []Axiom{}, Unused: []string{}, Problems: []Problem{}}
	env := NewIndex(f)
	name, ok := s.ParseName(target)
	d := env.Decl(name)
	if !ok || d == nil || name == term.Anonymous {
		r.problem(target, "the file declares no constant of this name")
		return r
	}
	r.Target = s.NameString(name)
	if d.Kind != export.Theorem {
		r.problem(r.Target, fmt.Sprintf("the target must be a theorem, but is declared as %s", d.Kind))
		if d.Kind == export.Inductive {
			return r
		}
	}
	r.Statement = s.Print(d.Type, term.Format{})
	axioms, size := env.Closure(name)
	r.Constants = size
	permitted := permission{env: env, names: map[term.Name]bool{}}
	for _, p := range opts.Permit {
		if n, ok := s.ParseName(p); ok {
			permitted.names[n] = true
		}
	}
	if opts.Challenge != nil {
		permitted.challenge = NewIndex(opts.Challenge)
	}
	used := map[term.Name]bool{}
	for _, a := range axioms {
		used[a] = true
		p := permitted.judge(a)
		r.Axioms = append(r.Axioms, Axiom{s.NameString(a), s.Print(env.Decl(a).Type, term.Format{}), p == nil})
		if p != nil {
			r.Problems = append(r.Problems, *p)
		}
	}
	for _, a := range env.Axioms() {
		if !used[a] {
			r.Unused = append(r.Unused, s.NameString(a))
		}
	}
	if opts.Challenge != nil {
		r.Compared = true
		r.Problems = append(r.Problems, Compare(env, permitted.challenge, name)...)
	}
	return r
}

func (r *Report) problem(constant, msg string) {
	r.Problems = append(r.Problems, Problem{Constant: constant, Msg: msg})
}
