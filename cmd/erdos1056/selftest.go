package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/kernel"
	"github.com/erdos1056/erdos1056/kernel/fibers"
	"github.com/erdos1056/erdos1056/kernel/plan"
	"github.com/erdos1056/erdos1056/kernel/residues"
)

// known are largest fibers, by prime: residue and number of cuts.
var known = []struct {
	p, residue uint32
	cuts       int
}{
	{2, 1, 2}, {3, 1, 2}, {5, 1, 3}, {17, 1, 5}, {23, 1, 6}, {71, 70, 7}, {599, 175, 9}, {3011, 1, 11},
	{52_163, 1, 13},
	{3_408_707, 1, 15},          // planted positives: the two least primes known
	{10_428_007, 8_978_998, 15}, // with 15 cuts, witnesses for k = 14
}

var selftestVerb = cli.Verb{
	Name:    "selftest",
	Summary: "test this program on this machine",
	Details: `Runs every kernel of this machine on known answers, finds two planted positives, and plants faults
that the free checks must catch. It takes less than 20 s.`,
	Example: `erdos1056 selftest`,
	Text:    true,
	Declare: declareSelftest,
}

func declareSelftest(f *pflag.FlagSet) func(context.Context, *cli.Call) error {
	return func(ctx context.Context, c *cli.Call) error {
		started := time.Now()
		failures := 0
		report := func(what string, err error) {
			verdict := "OK"
			if err != nil {
				failures++
				verdict = "ERROR: " + err.Error()
			}
			c.Print("%-60s %s", what, verdict)
		}
		names := []string{kernel.Reference}
		for _, impl := range residues.All() {
			if impl.Available() {
				names = append(names, impl.Name)
			} else {
				c.Print("%-60s not run: needs %s", "kernel "+impl.Name, impl.Needs)
			}
		}
		for _, name := range names {
			for _, k := range known {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				report(fmt.Sprintf("kernel %s: p = %d has %d cuts of residue %d", name, k.p, k.cuts, k.residue), knownAnswer(ctx, name, k.p, k.residue, k.cuts))
			}
		}
		for _, name := range names[1:] {
			for fault, check := range map[fibers.Fault]string{fibers.WrongLaneStart: residues.LaneChain,
				fibers.DroppedBlock: fibers.TableSum, fibers.FlippedCell: fibers.TableSum} {
				report(fmt.Sprintf("kernel %s: a planted fault is caught by the %s check", name, check), plantedFault(ctx, name, fault, check))
			}
		}
		c.Print("%d failures in %.1f s", failures, time.Since(started).Seconds())
		if failures > 0 {
			return cli.WithCode(cli.Failed, errors.New("this machine or this program is not to be trusted"))
		}
		return nil
	}
}

func knownAnswer(ctx context.Context, name string, p, residue uint32, cuts int) error {
	r, err := kernel.Search(ctx, plan.Plan{Range: plan.Range{Lo: p, Hi: p}, K: 15}, kernel.Options{Kernel: name, Threads: 1})
	if err == nil && (r.BestResidue != residue || len(r.Artifact.Cuts) != cuts) {
		err = fmt.Errorf("found %d cuts of residue %d", len(r.Artifact.Cuts), r.BestResidue)
	}
	return err
}

func plantedFault(ctx context.Context, name string, fault fibers.Fault, check string) error {
	_, err := kernel.Search(ctx, plan.Plan{Range: plan.Range{Lo: 100_003, Hi: 100_003}, K: 15},
		kernel.Options{Kernel: name, Threads: 1, Plant: fault})
	var internal *kernel.InternalError
	if errors.As(err, &internal) && internal.Check == check {
		return nil
	}
	return fmt.Errorf("not caught: %v", err)
}
