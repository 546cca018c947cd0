package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/kernel/residues"
)

// Rounds of a comparison: medians are taken of so many runs.
const (
	rounds      = 5
	roundsQuick = 3
)

// runCompare is the main job: one table of all programs on all workloads.
func runCompare(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := pflag.NewFlagSet("bench", pflag.ContinueOnError)
	var hunters, special peers
	quick := f.Bool("quick", false, fmt.Sprintf("%d runs instead of %d, shorter ranges", roundsQuick, rounds))
	kept := f.Bool("keep", false, "add every run to bench/results/CPU.jsonl")
	f.Var(&hunters, "peer", "time this program on hunting too; may be repeated: "+peerForm)
	f.Var(&special, "special-peer", "time this program on special residues too; {residue} is the residue; may be repeated")
	if err := parse(f, args, stdout); err != nil {
		return err
	}
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
	bin, err := os.MkdirTemp("", "erdos1056-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(bin)
	published, own := filepath.Join(bin, "baseline"), filepath.Join(bin, "erdos1056")
	if err := buildBaseline(ctx, root, published); err != nil {
		return err
	}
	if err := buildSearcher(ctx, root, own); err != nil {
		return err
	}
	n := rounds
	if *quick {
		n = roundsQuick
	}
	trials := schedule(workloads(*quick), contest{published, own, kernels(), hunters, special, len(cores) > 1})
	if err := alternate(ctx, n, trials, measure, stderr); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s\nmedians of %d alternated runs, pinned\n\n", machine, n)
	printTable(stdout, trials)
	printRatios(stdout, trials)
	if !*kept {
		return nil
	}
	lines, err := records(machine, trials)
	if err != nil {
		return err
	}
	return keep(resultsFile(root, machine), lines)
}

// kernels names the kernels that this machine can run, fastest first.
func kernels() []string {
	var names []string
	for _, impl := range residues.All() {
		if impl.Available() {
			names = append(names, impl.Name)
		}
	}
	return names
}

// A contest says which programs there are.
type contest struct {
	baseline, searcher string   // paths
	kernels            []string // fastest first
	hunters, special   []Program
	twoCores           bool
}

// schedule lists the trials of one round: the baseline and every kernel on the artifact,
// the fastest kernel and its peers on the rest, and two threads where they are of
// interest.
func schedule(ws []Workload, c contest) []*Trial {
	best := c.kernels[0]
	var trials []*Trial
	for _, w := range ws {
		programs := []Program{searcher(best, c.searcher, best, 1)}
		if w.Question == Artifact {
			programs = append([]Program{baseline(c.baseline)}, programs...)
			for _, name := range c.kernels[1:] {
				programs = append(programs, searcher(name, c.searcher, name, 1))
			}
		}
		if c.twoCores && slices.Contains(scaled, w.Name) {
			programs = append(programs, searcher(best+", 2 threads", c.searcher, best, 2))
		}
		switch w.Question {
		case Hunt:
			programs = append(programs, c.hunters...)
		case Special:
			programs = append(programs, c.special...)
		}
		for _, p := range programs {
			trials = append(trials, &Trial{Workload: w, Program: p})
		}
	}
	return trials
}
