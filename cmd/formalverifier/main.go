// Formalverifier judges one exported Lean 4 proof against the claim that it was
// frozen to: a theorem, as a trusted export states it, and the axioms that its
// proof may rest on.
//
//	formalverifier EXPORT
//
// It reads the one file, needs no other file, no network and no environment, and
// answers with its exit code, as leancheck does: 0 accept, 1 reject, 2 decline,
// 3 nothing was judged.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/erdos1056/erdos1056/capsule/formal"
	"github.com/erdos1056/erdos1056/lean"
)

const (
	accepted = iota
	rejected
	declined
	failed
)

// memory bounds what a proof may take, in bytes. It leaves room in a sandbox of
// 1 GiB, so that a proof that is too large is declined rather than killed.
const memory = 768 << 20

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(args []string, stdout, stderr io.Writer) int {
	if len(args) != 1 {
		fmt.Fprintln(stderr, "usage: formalverifier EXPORT")
		return failed
	}
	claim, err := formal.Frozen()
	if err != nil {
		fmt.Fprintln(stderr, "formalverifier:", err)
		return failed
	}
	return verify(claim, args[0], stdout, stderr)
}

// verify prints an acceptance on stdout and everything else on stderr, as every
// frozen verifier does. Both are the same for the same file, wherever it runs.
func verify(claim formal.Claim, name string, stdout, stderr io.Writer) int {
	report, err := judge(claim, name)
	if err != nil {
		fmt.Fprintln(stderr, "formalverifier:", err)
		return failed
	}
	out, code := stderr, failed
	switch report.Verdict {
	case "accept":
		out, code = stdout, accepted
	case "reject":
		code = rejected
	case "decline":
		code = declined
	}
	if _, err := fmt.Fprint(out, report.Text(0)); err != nil {
		fmt.Fprintln(stderr, "formalverifier:", err)
		return failed
	}
	return code
}

// judge uses one thread, so that where the bound on memory is reached does not
// depend on the machine.
func judge(claim formal.Claim, name string) (*lean.Report, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return lean.Judge(context.Background(), f, lean.Options{
		Target: claim.Target, Permit: claim.Permit, Challenge: bytes.NewReader(claim.Challenge),
		Threads: 1, Memory: memory,
	})
}
