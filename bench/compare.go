package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/internal/cli"
)

// Rounds of a comparison: medians are taken of so many runs.
const (
	rounds      = 5
	roundsQuick = 3
)

func declareCompare(f *pflag.FlagSet) func(context.Context, *cli.Call) error {
	var hunters, special peers
	quick := f.Bool("quick", false, fmt.Sprintf("%d runs instead of %d, shorter ranges", roundsQuick, rounds))
	keepRuns := f.Bool("keep", false, "add every run to bench/results/CPU.jsonl")
	f.Var(&hunters, "peer", "time this program on hunting too; may be repeated: "+peerForm)
	f.Var(&special, "special-peer", "time this program on special residues too; {residue} is the residue; may be repeated")
	return func(ctx context.Context, c *cli.Call) error {
		return runCompare(ctx, hunters, special, *quick, *keepRuns, c.Stdout, c.Stderr)
	}
}

// runCompare is the main job: one table of all programs on all workloads.
func runCompare(ctx context.Context, hunters, special peers, quick, keepRuns bool, stdout, stderr io.Writer) error {
	cores, err := allowedCores()
	if err != nil {
		return err
	}
	root, err := moduleRoot(ctx)
	if err != nil {
		return err
	}
	machine := thisMachine(ctx, root, len(cores), time.Now())
	fmt.Fprintln(stderr, machine)
	results := resultsFile(root, machine)
	if keepRuns {
		if err := canKeep(results); err != nil {
			return err
		}
	}
	bin, err := os.MkdirTemp("", "erdos1056-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(bin)
	c := contest{filepath.Join(bin, "baseline"), filepath.Join(bin, "erdos1056"), kernels(), hunters, special, len(cores) > 1}
	if err := buildBaseline(ctx, root, c.baseline); err != nil {
		return err
	}
	if err := buildSearcher(ctx, root, c.searcher); err != nil {
		return err
	}
	n := rounds
	if quick {
		n = roundsQuick
	}
	trials := schedule(workloads(quick), c)
	if err := alternate(ctx, n, trials, measure, stderr); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s\nmedians of %d alternated runs, pinned\n\n", machine, n)
	printTable(stdout, trials)
	printRatios(stdout, trials)
	if !keepRuns {
		return nil
	}
	lines, err := records(machine, trials)
	if err != nil {
		return err
	}
	return keep(results, lines)
}
