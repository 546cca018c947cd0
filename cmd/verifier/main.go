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
	"syscall"

	"github.com/erdos1056/erdos1056/capsule/frozen"
	"github.com/erdos1056/erdos1056/kernel/artifact"
	"github.com/erdos1056/erdos1056/kernel/plan"
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
	verdict, err := judge(claim, args[0])
	if err != nil {
		fmt.Fprintln(stderr, "verifier:", err)
		var mismatch *frozen.Mismatch
		if errors.As(err, &mismatch) {
			return mismatched
		}
		return failed
	}
	if _, err := fmt.Fprintln(stdout, frozen.Success(verdict)); err != nil {
		fmt.Fprintln(stderr, "verifier:", err)
		return failed
	}
	return verified
}

func judge(claim plan.Plan, name string) (artifact.Artifact, error) {
	text, err := read(name)
	if err != nil {
		return artifact.Artifact{}, err
	}
	return frozen.Judge(context.Background(), claim, text)
}

// read reads a file of at most artifact.MaxSize bytes. A folder is a wrong
// answer, not a failure, as with the published verifier.
func read(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("cannot open candidate artifact: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, artifact.MaxSize+1))
	switch {
	case errors.Is(err, syscall.EISDIR):
		return nil, &frozen.Mismatch{Reason: fmt.Errorf("%s is a folder", name)}
	case err != nil:
		return nil, fmt.Errorf("cannot read candidate artifact: %w", err)
	case len(text) > artifact.MaxSize:
		return nil, fmt.Errorf("candidate artifact is oversized: more than %d bytes", artifact.MaxSize)
	}
	return text, nil
}
