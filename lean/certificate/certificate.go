// Package certificate turns a witness of Erdős problem 1056 into a proof: a
// Lean 4 export that any checker of such exports can judge.
//
// The export is self-contained. It starts with the part of Lean's core library
// that it needs, goes on with the definitions in definitions.src, which say what
// is claimed, and ends with the theorem Erdos1056.certificate, whose statement
// is Erdos1056.Solves k p cuts. The proof computes: the products of the
// intervals by binary splitting, which is proved to give the same product, and
// primality by trial division. It uses no axioms.
package certificate

import (
	"bytes"
	_ "embed" // for the two files below
	"fmt"
	"io"
	"math/bits"
	"strings"

	"github.com/erdos1056/erdos1056/lean/export"
	"github.com/erdos1056/erdos1056/lean/source"
	"github.com/erdos1056/erdos1056/lean/term"
)

// A Witness is a prime and k+1 cuts t with equal t! modulo the prime.
type Witness struct {
	K    int      // number of intervals, at least 1
	P    uint64   // the prime, below 2^32
	Cuts []uint64 // k+1 cuts, increasing, below P
}

// Theorem is the name of the theorem that a certificate proves.
const Theorem = "Erdos1056.certificate"

// prelude holds the constants of Lean's core library that certificates rest on.
// It was cut out of an export of Lean 4.29.0-rc2; see prelude_test.go. Copyright
// the Lean authors, Apache License 2.0.
//
//go:embed prelude.ndjson.gz
var prelude []byte

// definitions are written in the language of package source.
//
//go:embed definitions.src
var definitions string

// Check reports whether the witness holds, by computing it.
func (w *Witness) Check() error {
	switch {
	case w.K < 1 || len(w.Cuts) != w.K+1:
		return fmt.Errorf("a witness for k = %d needs %d cuts, found %d", w.K, w.K+1, len(w.Cuts))
	case w.P >= 1<<32:
		return fmt.Errorf("the prime %d is not below 2^32", w.P)
	case !isPrime(w.P):
		return fmt.Errorf("%d is no prime", w.P)
	}
	for i, t := range w.Cuts {
		if t >= w.P {
			return fmt.Errorf("cut %d is not below the prime %d", t, w.P)
		}
		if i == 0 {
			continue
		}
		if t <= w.Cuts[i-1] {
			return fmt.Errorf("cut %d does not follow cut %d in increasing order", t, w.Cuts[i-1])
		}
		r := uint64(1)
		for n := w.Cuts[i-1] + 1; n <= t; n++ {
			r = r * n % w.P
		}
		if r != 1 {
			return fmt.Errorf("the product of %d to %d is %d modulo %d, expected 1", w.Cuts[i-1]+1, t, r, w.P)
		}
	}
	return nil
}

func isPrime(p uint64) bool {
	for d := uint64(2); d*d <= p; d++ {
		if p%d == 0 {
			return false
		}
	}
	return p >= 2
}

// Write writes the certificate of a witness, an export of format 3.1.0. It
// refuses a witness that does not hold.
func Write(w io.Writer, witness Witness) error {
	if err := witness.Check(); err != nil {
		return err
	}
	store := term.NewStore(nil)
	core, err := export.Read(bytes.NewReader(prelude), store, export.Limits{})
	if err != nil {
		return fmt.Errorf("reading the prelude: %w", err)
	}
	ours, err := source.Parse(store, definitions+witness.theorems())
	if err != nil {
		return fmt.Errorf("reading the definitions: %w", err)
	}
	meta := core.Meta
	meta.Exporter, meta.ExporterVersion = "erdos1056 certify", export.WriteFormat
	return export.Write(w, store, meta, append(core.Decls, ours...))
}

// theorems returns the source of a theorem for each interval, which can be
// checked apart, and of the theorem about the witness.
func (w *Witness) theorems() string {
	var b strings.Builder
	const holds = "(Eq.refl.{1} Bool Bool.true)"
	for i := 0; i < w.K; i++ {
		a, t := w.Cuts[i], w.Cuts[i+1]
		r, fs := split(t - a)
		fmt.Fprintf(&b, "theorem Erdos1056.interval_%d : Erdos1056.Interval %d %d %d :=\n", i+1, w.P, a, t)
		fmt.Fprintf(&b, "  Erdos1056.interval %d %d %d %d %s %s (Eq.refl.{1} Nat %d) (Eq.refl.{1} Nat 1)\n",
			w.P, a, t, r, list(fs), holds, t-a)
	}
	cuts := list(w.Cuts)
	fmt.Fprintf(&b, "theorem %s : Erdos1056.Solves %d %d %s :=\n", Theorem, w.K, w.P, cuts)
	intervals := fmt.Sprintf("(Erdos1056.Intervals %d %s)", w.P, cuts)
	length := fmt.Sprintf("(Eq.{1} Nat (Erdos1056.length %s) (Nat.succ %d))", cuts, w.K)
	root := uint64(0) // the least number whose square is above p
	for root*root <= w.P {
		root++
	}
	fmt.Fprintf(&b, "And.intro (Erdos1056.Prime %d) (And %s %s)\n", w.P, length, intervals)
	fmt.Fprintf(&b, "(Erdos1056.prime %d %d %s %s %s)\n", w.P, max(root, 2)-2, holds, holds, holds)
	fmt.Fprintf(&b, "(And.intro %s %s (Eq.refl.{1} Nat %d)\n", length, intervals, w.K+1)
	for i := 0; i < w.K; i++ {
		fmt.Fprintf(&b, "(Erdos1056.next %d %d %d %s Erdos1056.interval_%d\n", w.P, w.Cuts[i], w.Cuts[i+1], list(w.Cuts[i+2:]), i+1)
	}
	fmt.Fprintf(&b, "(Erdos1056.last %d %d)%s", w.P, w.Cuts[w.K], strings.Repeat(")", w.K+1))
	return b.String()
}

// leafBits is the binary logarithm of the number of factors that a product in
// definitions.src is taken over one by one.
const leafBits = 5

// split writes n as r + Σ 2^(f+leafBits) over fs, with r below 2^leafBits.
func split(n uint64) (r uint64, fs []uint64) {
	for rest := n >> leafBits; rest > 0; {
		f := uint64(bits.Len64(rest) - 1)
		fs = append(fs, f)
		rest -= 1 << f
	}
	return n & (1<<leafBits - 1), fs
}

func list(ns []uint64) string {
	if len(ns) == 0 {
		return "(List.nil.{0} Nat)"
	}
	return fmt.Sprintf("(List.cons.{0} Nat %d %s)", ns[0], list(ns[1:]))
}
