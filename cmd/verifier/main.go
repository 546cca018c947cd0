// Verifier judges one artifact against the claim that it was frozen to.
//
//	verifier ARTIFACT
//
// It reads the one file, needs no other file, no network and no environment, and
// answers with its exit code: 0 verified, 1 does not match, 64 wrong usage,
// 70 cannot say.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/erdos1056/erdos1056/capsule/frozen"
	"github.com/erdos1056/erdos1056/kernel/artifact"
)

const (
	verified   = 0
	mismatched = 1
	usage      = 64
	failed     = 70
)

// memoryGoal keeps the collector from letting garbage pile up.
const memoryGoal = 128 << 20

func main() {
	debug.SetMemoryLimit(memoryGoal)
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(args []string, stdout, stderr io.Writer) int {
	if len(args) != 1 {
		fmt.Fprintln(stderr, "usage: verifier ARTIFACT")
		return usage
	}
	claim, err := frozen.Claim()
	if err != nil {
		fmt.Fprintln(stderr, "verifier:", err)
		return failed
	}
	text, err := read(args[0])
	if err != nil {
		fmt.Fprintln(stderr, "verifier:", err)
		return failed
	}
	verdict, err := frozen.Judge(context.Background(), claim, text)
	var mismatch *frozen.Mismatch
	switch {
	case errors.As(err, &mismatch):
		fmt.Fprintln(stderr, "verifier:", err)
		return mismatched
	case err != nil:
		fmt.Fprintln(stderr, "verifier:", err)
		return failed
	}
	if _, err := fmt.Fprintln(stdout, frozen.Success(verdict)); err != nil {
		fmt.Fprintln(stderr, "verifier:", err)
		return failed
	}
	return verified
}

// read reads a regular file of at most artifact.MaxSize bytes.
func read(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("cannot open candidate artifact: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, artifact.MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read candidate artifact: %w", err)
	}
	if len(text) > artifact.MaxSize {
		return nil, fmt.Errorf("candidate artifact is oversized: more than %d bytes", artifact.MaxSize)
	}
	return text, nil
}
