package main

import (
	"context"
	"time"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/kernel"
	"github.com/erdos1056/erdos1056/kernel/artifact"
	"github.com/erdos1056/erdos1056/kernel/witness"
)

var replayVerb = cli.Verb{
	Name:    "replay",
	Args:    "ARTIFACT",
	Summary: "recompute an artifact with the other kernel",
	Details: `Checks an artifact in three steps: its grammar; that its cuts all have the stated residue; and a full
recomputation, by default with the reference kernel, which shares nothing with the kernel that usually
makes artifacts. Prints "verified", or the first line that differs.`,
	Example: `erdos1056 replay artifact.txt`,
	Declare: declareReplay,
}

func declareReplay(f *pflag.FlagSet) func(context.Context, *cli.Call) error {
	var w work
	w.add(f, kernel.Reference)
	return func(ctx context.Context, c *cli.Call) error {
		text, err := readInput(c.Args[0], artifact.MaxSize)
		if err != nil {
			return err
		}
		if err := replay(ctx, c, text, w); err != nil {
			if c.JSON {
				printVerdict(c, "rejected", err.Error())
			}
			return err
		}
		if c.JSON {
			printVerdict(c, "verified", "")
		} else {
			c.Print("verified")
		}
		return nil
	}
}

func printVerdict(c *cli.Call, verdict, reason string) error {
	return c.Line(struct {
		Type    string `json:"type"`
		Verdict string `json:"verdict"`
		Reason  string `json:"reason,omitempty"`
	}{"verdict", verdict, reason})
}

func replay(ctx context.Context, c *cli.Call, text []byte, w work) error {
	claim, err := artifact.Parse(text)
	if err != nil {
		return cli.WithCode(cli.Failed, err)
	}
	if len(claim.Cuts) > 0 {
		if err := witness.CheckFiber(ctx, claim.BestP, claim.BestResidue, claim.Cuts); err != nil {
			if ctx.Err() != nil {
				return err
			}
			return cli.Failf("artifact: %w", err)
		}
	}
	c.Say("grammar ok; %d cuts of p = %d all have residue %d", len(claim.Cuts), claim.BestP, claim.BestResidue)
	o := w.options()
	c.Say("recomputing %s with kernel %s, %d threads", claim.Range, o.Kernel, o.Threads)
	report := newReporter(w.progress)
	o.Progress = report.See
	started := time.Now()
	result, err := kernel.Search(ctx, claim.Plan, o)
	report.Close()
	if err != nil {
		return err
	}
	result.Schema = claim.Schema
	if d := artifact.Diff(result.Encode(), text); d != nil {
		return cli.WithCode(cli.Failed, d)
	}
	c.Say("recomputed %d primes in %.1f s", result.PrimesTested, time.Since(started).Seconds())
	return nil
}
