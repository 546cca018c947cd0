// Package artifact reads and writes the published answer of a search: the
// 11-line text canopus.erdos1056-k<k>-search.v1 of the erdos-frontier project.
// The text holds no time, host, version or kernel, so everyone who searches the
// same range with the same k writes the same bytes.
package artifact

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/erdos1056/erdos1056/kernel/plan"
)

// MaxSize bounds an artifact in bytes, as the published verifier does.
const MaxSize = 65536

// An Artifact states the result for all primes p of an inclusive range: the
// fiber of t -> t! mod p with the greatest multiplicity; ties go to the earliest
// prime, then to the smallest residue. A range is scanned up to its first
// prime with a fiber of at least K+1 cuts.
type Artifact struct {
	plan.Plan
	// Schema is the first line's value; "" stands for SchemaFor(K). The generalised
	// artifacts of the published verifier with another k keep the schema of k = 15.
	Schema       string
	PrimesTested uint64   // primes of the range up to and including the witness's
	BestP        uint32   // 0 where the range holds no prime
	BestResidue  uint32   // in [0, BestP)
	Cuts         []uint32 // all cuts of that fiber, ascending; their number is the greatest multiplicity
}

// Witness reports whether the fiber has k+1 cuts or more.
func (a Artifact) Witness() bool { return len(a.Cuts) >= a.Threshold() }

// Status is "witness" or "negative".
func (a Artifact) Status() string {
	if a.Witness() {
		return "witness"
	}
	return "negative"
}

// SchemaFor names the format for one k.
func SchemaFor(k int) string { return fmt.Sprintf("canopus.erdos1056-k%d-search.v1", k) }

// Encode returns the text of the artifact.
func (a Artifact) Encode() []byte {
	var b bytes.Buffer
	schema := cmp.Or(a.Schema, SchemaFor(a.K))
	fmt.Fprintf(&b, "schema=%s\nstatus=%s\nproblem=1056\nk=%d\nrange_start=%d\nrange_end=%d\n", schema, a.Status(), a.K, a.Lo, a.Hi)
	fmt.Fprintf(&b, "primes_tested=%d\nmax_multiplicity=%d\nbest_p=%d\nbest_residue=%d\ncuts=", a.PrimesTested, len(a.Cuts), a.BestP, a.BestResidue)
	for i, t := range a.Cuts {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatUint(uint64(t), 10))
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// fields are the keys of the eleven lines, in order.
var fields = [...]string{"schema", "status", "problem", "k", "range_start", "range_end", "primes_tested",
	"max_multiplicity", "best_p", "best_residue", "cuts"}

// A ParseError says where a text departs from the grammar. Line counts from 1;
// Line 0 means the text as a whole.
type ParseError struct {
	Line            int
	Field           string
	Expected, Found string
}

func (e *ParseError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("artifact: expected %s, found %s", e.Expected, e.Found)
	}
	return fmt.Sprintf("artifact line %d (%s): expected %s, found %s", e.Line, e.Field, e.Expected, e.Found)
}

// Parse reads an artifact. It accepts exactly the texts that Encode writes, so
// Parse(b) without an error means Encode gives b back; and it holds the fields
// against each other. It does not compute residues. Errors are *ParseError.
func Parse(b []byte) (Artifact, error) {
	var a Artifact
	if len(b) > MaxSize {
		return a, &ParseError{Expected: fmt.Sprintf("at most %d bytes", MaxSize), Found: fmt.Sprintf("%d bytes", len(b))}
	}
	values, err := split(b)
	if err != nil {
		return a, err
	}
	p := parser{values: values}
	k := p.number("k", plan.MinK, plan.MaxK)
	schema := p.schema(int(k))
	p.exact("problem", "1056")
	lo := p.number("range_start", 1, plan.Limit-1)
	hi := p.number("range_end", lo, plan.Limit-1)
	primes := p.number("primes_tested", 0, hi-lo+1)
	multiplicity := p.number("max_multiplicity", min(primes, 1), plan.Limit)
	if primes == 0 {
		p.exact("max_multiplicity", "0")
		p.exact("best_p", "0")
		p.exact("best_residue", "0")
		p.exact("cuts", "")
	}
	bestP := uint64(0)
	if primes > 0 {
		bestP = p.number("best_p", lo, hi)
	}
	residue := p.number("best_residue", 0, max(bestP, 1)-1)
	cuts := p.cuts(bestP, multiplicity)
	a = Artifact{Schema: schema, Plan: plan.Plan{Range: plan.Range{Lo: uint32(lo), Hi: uint32(hi)}, K: int(k)},
		PrimesTested: primes, BestP: uint32(bestP), BestResidue: uint32(residue), Cuts: cuts}
	p.exact("status", a.Status())
	if p.err != nil {
		return Artifact{}, p.err
	}
	return a, nil
}

// split cuts the text into the values of its eleven lines.
func split(b []byte) (values [len(fields)]string, err error) {
	rest := string(b)
	for i, field := range fields {
		line, after, ended := strings.Cut(rest, "\n")
		if !ended {
			return values, &ParseError{i + 1, field, field + "=... and a newline", quote(line)}
		}
		value, ok := strings.CutPrefix(line, field+"=")
		if !ok {
			return values, &ParseError{i + 1, field, field + "=...", quote(line)}
		}
		values[i], rest = value, after
	}
	if rest != "" {
		return values, &ParseError{len(fields) + 1, "end", "the end of the text", quote(rest)}
	}
	return values, nil
}

// parser keeps the first error; later reads return zero values.
type parser struct {
	values [len(fields)]string
	err    error
}

func (p *parser) line(field string) int {
	for i, f := range fields {
		if f == field {
			return i
		}
	}
	panic("artifact: no field " + field)
}

func (p *parser) fail(field, expected, found string) {
	if p.err == nil {
		p.err = &ParseError{p.line(field) + 1, field, expected, found}
	}
}

func (p *parser) exact(field, want string) {
	if got := p.values[p.line(field)]; got != want {
		p.fail(field, quote(want), quote(got))
	}
}

// schema takes the schema of k or that of k = 15, which published artifacts with
// another k carry. It returns "" for the usual one.
func (p *parser) schema(k int) string {
	switch got := p.values[p.line("schema")]; got {
	case SchemaFor(k):
		return ""
	case SchemaFor(15):
		return got
	}
	p.exact("schema", SchemaFor(k))
	return ""
}

func (p *parser) number(field string, lo, hi uint64) uint64 {
	s := p.values[p.line(field)]
	v, ok := number(s)
	if !ok || v < lo || v > hi {
		p.fail(field, fmt.Sprintf("a whole number from %d to %d without leading zeros", lo, hi), quote(s))
		return lo
	}
	return v
}

func (p *parser) cuts(bestP, multiplicity uint64) []uint32 {
	s := p.values[p.line("cuts")]
	if s == "" {
		if multiplicity != 0 {
			p.fail("cuts", fmt.Sprintf("%d cuts (max_multiplicity)", multiplicity), "none")
		}
		return nil
	}
	items := strings.Split(s, ",")
	if uint64(len(items)) != multiplicity {
		p.fail("cuts", fmt.Sprintf("%d cuts (max_multiplicity)", multiplicity), strconv.Itoa(len(items)))
	}
	cuts := make([]uint32, 0, len(items))
	for i, item := range items {
		t, ok := number(item)
		if !ok || t >= bestP || i > 0 && t <= uint64(cuts[i-1]) {
			p.fail("cuts", fmt.Sprintf("ascending whole numbers below best_p = %d", bestP), fmt.Sprintf("%s at place %d", quote(item), i+1))
			return nil
		}
		cuts = append(cuts, uint32(t))
	}
	return cuts
}

// number reads a decimal number of at most 10 digits without sign, blanks or
// leading zeros.
func number(s string) (uint64, bool) {
	if s == "" || len(s) > 10 || len(s) > 1 && s[0] == '0' {
		return 0, false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
	}
	v, err := strconv.ParseUint(s, 10, 64)
	return v, err == nil
}

// quote shortens and escapes a piece of the text for a message.
func quote(s string) string {
	const most = 60
	if len(s) > most {
		return strconv.QuoteToASCII(s[:most]) + "..."
	}
	return strconv.QuoteToASCII(s)
}
