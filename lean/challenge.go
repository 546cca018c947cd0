package lean

import (
	"fmt"
	"io"
	"slices"

	"github.com/erdos1056/erdos1056/lean/audit"
	"github.com/erdos1056/erdos1056/lean/export"
	"github.com/erdos1056/erdos1056/lean/term"
)

// Statement reads a challenge, plain or gzip, and returns the statement that it
// gives the target, printed and shortened for people. It is an error if the
// challenge states no such theorem, or if it and Lean's core library both know
// nothing of an axiom that is to be permitted: with such a challenge no proof
// would ever be accepted.
func Statement(challenge io.Reader, target string, permit []string) (string, error) {
	store := term.NewStore(term.NewBudget(DefaultMemory / 2))
	f, err := export.Read(challenge, store, export.Limits{})
	if err != nil {
		return "", fmt.Errorf("reading the challenge: %w", err)
	}
	index := audit.NewIndex(f)
	declared := func(name string) *export.Decl {
		n, ok := store.ParseName(name)
		if !ok || n == term.Anonymous {
			return nil
		}
		return index.Decl(n)
	}
	d := declared(target)
	switch {
	case d == nil:
		return "", fmt.Errorf("the challenge declares no constant named %q", target)
	case d.Kind != export.Theorem && d.Kind != export.Axiom:
		return "", fmt.Errorf("the challenge declares %q as %s; want a theorem, or an axiom in its place", target, d.Kind)
	}
	for _, name := range permit {
		if a := declared(name); !slices.Contains(audit.Standard, name) && (a == nil || a.Kind != export.Axiom) {
			return "", fmt.Errorf("permitted axiom %q: neither standard nor declared by the challenge", name)
		}
	}
	return store.Print(d.Type, term.Format{}), nil
}
