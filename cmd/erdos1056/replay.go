package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/erdos1056/erdos1056/kernel"
	"github.com/erdos1056/erdos1056/kernel/artifact"
	"github.com/erdos1056/erdos1056/kernel/witness"
)

const replayHelp = `erdos1056 replay ARTIFACT checks an artifact in three steps: its grammar; that its cuts all have
the stated residue; and a full recomputation, by default with the reference kernel,
which shares nothing with the kernel that usually makes artifacts.

  erdos1056 replay artifact.txt

Prints "verified", or the first line that differs.
`

func runReplay(ctx context.Context, args []string) error {
	f := newFlags("replay", replayHelp)
	var w work
	w.add(f, kernel.Reference)
	if err := parse(f, args, 1, "erdos1056 replay ARTIFACT"); err != nil {
		return helped(err)
	}
	text, err := readInput(f.Arg(0), artifact.MaxSize)
	if err != nil {
		return err
	}
	if err := replay(ctx, text, w); err != nil {
		if w.json {
			printVerdict("rejected", err.Error())
		}
		return err
	}
	if w.json {
		printVerdict("verified", "")
	} else {
		fmt.Println("verified")
	}
	return nil
}

func printVerdict(verdict, reason string) {
	b, _ := json.Marshal(struct {
		Type    string `json:"type"`
		Verdict string `json:"verdict"`
		Reason  string `json:"reason,omitempty"`
	}{"verdict", verdict, reason})
	fmt.Printf("%s\n", b)
}

func replay(ctx context.Context, text []byte, w work) error {
	claim, err := artifact.Parse(text)
	if err != nil {
		return &codedError{exitMismatch, err}
	}
	if len(claim.Cuts) > 0 {
		if err := witness.CheckFiber(ctx, claim.BestP, claim.BestResidue, claim.Cuts); err != nil {
			if ctx.Err() != nil {
				return err
			}
			return &codedError{exitMismatch, fmt.Errorf("artifact: %w", err)}
		}
	}
	fmt.Fprintf(os.Stderr, "grammar ok; %d cuts of p = %d all have residue %d\n", len(claim.Cuts), claim.BestP, claim.BestResidue)
	o := w.options()
	fmt.Fprintf(os.Stderr, "recomputing %s with kernel %s, %d threads\n", claim.Range, o.Kernel, o.Threads)
	report := newReporter(w.progress)
	o.Progress = report.See
	started := time.Now()
	result, err := kernel.Search(ctx, claim.Plan, o)
	report.Close()
	if err != nil {
		return explain(err)
	}
	result.Schema = claim.Schema
	if d := artifact.Diff(result.Encode(), text); d != nil {
		return &codedError{exitMismatch, d}
	}
	fmt.Fprintf(os.Stderr, "recomputed %d primes in %.1f s\n", result.PrimesTested, time.Since(started).Seconds())
	return nil
}
