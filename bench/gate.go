package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/kernel"
)

const (
	// gateLimit is the greatest ratio of CPU times, HEAD to tag, that passes.
	gateLimit = 1.05
	// gateAttempts is how often a workload is measured before HEAD counts as slower.
	gateAttempts = 3
	// gateRounds is how often an attempt runs both programs in each of the two orders.
	gateRounds, gateRoundsQuick = 3, 2
)

func declareGate(f *pflag.FlagSet) func(context.Context, *cli.Call) error {
	quick := f.Bool("quick", false, "fewer runs, shorter ranges")
	untagged := f.Bool("allow-no-tag", false, "pass where there is no tag to compare with")
	return func(ctx context.Context, c *cli.Call) error {
		return runGate(ctx, *quick, *untagged, c.Stdout, c.Stderr)
	}
}

// runGate compares HEAD with the last tag.
func runGate(ctx context.Context, quick, untagged bool, stdout, stderr io.Writer) error {
	root, err := moduleRoot(ctx)
	if err != nil {
		return err
	}
	tag, err := lastTag(ctx, root)
	if err != nil {
		return err
	}
	if tag == "" {
		return withoutTag(untagged, stdout)
	}
	dir, err := os.MkdirTemp("", "erdos1056-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	before, err := programOf(ctx, root, tag, dir)
	if err != nil {
		return err
	}
	head, err := programOf(ctx, root, "HEAD", dir)
	if err != nil {
		return err
	}
	n := gateRounds
	if quick {
		n = gateRoundsQuick
	}
	return judge(ctx, workloads(quick), before, head, n, measure, stdout, stderr)
}

// programOf builds a revision in dir.
func programOf(ctx context.Context, root, revision, dir string) (Program, error) {
	path, err := os.MkdirTemp(dir, "")
	if err == nil {
		err = buildRevision(ctx, root, revision, filepath.Join(path, "tree"), filepath.Join(path, "erdos1056"))
	}
	if err != nil {
		return Program{}, fmt.Errorf("building %s: %w", revision, err)
	}
	return searcher(revision, filepath.Join(path, "erdos1056"), kernel.Auto, 1), nil
}

// judge measures every workload and fails if head is slower on some of them.
func judge(ctx context.Context, ws []Workload, tag, head Program, rounds int, run runner, out, log io.Writer) error {
	fmt.Fprintf(out, "CPU time of %s divided by that of %s; at most %.2f passes\n", head.Name, tag.Name, gateLimit)
	var slower []string
	for _, w := range ws {
		ratios, err := attempts(ctx, w, tag, head, rounds, run, log)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%-20s %s\n", w.Name, describe(ratios))
		if !passes(ratios) {
			slower = append(slower, w.Name)
		}
	}
	if len(slower) > 0 {
		return cli.Failf("%s is more than %.0f %% slower than %s: %s",
			head.Name, 100*(gateLimit-1), tag.Name, strings.Join(slower, ", "))
	}
	return nil
}

// withoutTag is the verdict where there is nothing to compare with.
func withoutTag(allowed bool, stdout io.Writer) error {
	if !allowed {
		return cli.Failf("no tag before HEAD to compare with; fetch the tags, or pass with --allow-no-tag")
	}
	fmt.Fprintln(stdout, "no tag before HEAD to compare with; passed because of --allow-no-tag")
	return nil
}

// attempts measures a workload until HEAD passes, gateAttempts times at most, and returns
// the ratio of each attempt.
func attempts(ctx context.Context, w Workload, tag, head Program, rounds int, run runner, log io.Writer) ([]float64, error) {
	var ratios []float64
	for len(ratios) < gateAttempts && !passes(ratios) {
		ratio, err := bothOrders(ctx, w, tag, head, rounds, run, log)
		if err != nil {
			return nil, err
		}
		ratios = append(ratios, ratio)
	}
	return ratios, nil
}

// bothOrders returns the ratio of CPU times, head to tag, of runs in which the tag goes
// first and as many in which head does: the first of two may find a colder or a cooler
// machine.
func bothOrders(ctx context.Context, w Workload, tag, head Program, rounds int, run runner, log io.Writer) (float64, error) {
	before, after := &Trial{Workload: w, Program: tag}, &Trial{Workload: w, Program: head}
	for _, order := range [][]*Trial{{before, after}, {after, before}} {
		if err := alternate(ctx, rounds, order, run, log); err != nil {
			return 0, err
		}
	}
	return before.speed(after), nil
}

// passes reports whether some attempt is within the limit: noise slows single attempts,
// a slower program slows all of them.
func passes(ratios []float64) bool {
	return slices.ContainsFunc(ratios, func(r float64) bool { return r <= gateLimit })
}

// describe writes the ratios of a workload's attempts and the verdict.
func describe(ratios []float64) string {
	verdict := "slower"
	if passes(ratios) {
		verdict = "ok"
	}
	words := make([]string, len(ratios))
	for i, r := range ratios {
		words[i] = fmt.Sprintf("%.3f", r)
	}
	return strings.Join(words, " ") + " " + verdict
}
