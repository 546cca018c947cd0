package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/internal/disk"
	"github.com/erdos1056/erdos1056/kernel"
	"github.com/erdos1056/erdos1056/kernel/campaign"
	"github.com/erdos1056/erdos1056/kernel/plan"
	"github.com/erdos1056/erdos1056/kernel/witness"
)

// campaignFlags are the flags of the search that make a campaign of it.
type campaignFlags struct {
	folder    string
	shard     shardFlag
	index     shardFlag
	residues  []int64
	stopAfter time.Duration
	nice      bool
	push      string
}

func (c *campaignFlags) add(f *pflag.FlagSet) {
	shard := new(plan.Shard)
	c.shard, c.index = shardFlag{shard, 1}, shardFlag{shard, 0}
	f.StringVar(&c.folder, "checkpoint", "", "save every finished unit in this folder, and resume from there")
	f.Var(c.shard, "shard", "do the i-th of n parts of equal cost, i from 1 to n")
	f.Var(c.index, "shard-index", "the same with i from 0 to n-1, as Kubernetes counts")
	f.Int64SliceVar(&c.residues, "residue", nil, "look only at the fibers of these residues, such as 1,-1: many times faster; needs --checkpoint")
	f.DurationVar(&c.stopAfter, "stop-after", 0, "begin no unit after this time, such as 2h; needs --checkpoint")
	f.StringVar(&c.push, "push", "", "when all units are done, push the folder to this repository of an OCI registry; needs --checkpoint")
	f.BoolVar(&c.nice, "nice", false, "run at the lowest priority")
}

// check refuses combinations that mean nothing, and lowers the priority.
func (c *campaignFlags) check(transcript string) error {
	switch {
	case c.folder == "" && len(c.residues) > 0:
		return usageError("--residue needs --checkpoint DIR: a search of single residues has no artifact, only a ledger")
	case c.folder == "" && c.stopAfter != 0:
		return usageError("--stop-after needs --checkpoint DIR, where the work is saved")
	case c.folder == "" && c.push != "":
		return usageError("--push needs --checkpoint DIR: what is pushed is its ledger and fingerprints")
	case c.stopAfter < 0:
		return usageError("--stop-after %v: expected a time such as 90m or 2h", c.stopAfter)
	case c.folder != "" && transcript != "":
		return usageError("--transcript and --checkpoint exclude each other: the folder holds the fingerprints of every unit")
	}
	if c.nice {
		if err := lowestPriority(); err != nil {
			return fmt.Errorf("--nice: %w", err)
		}
	}
	return nil
}

// part returns the shard's part of the plan; ok is false where it is empty.
func (c *campaignFlags) part(pl plan.Plan) (part plan.Plan, ok bool) {
	if c.shard.N <= 1 {
		return pl, true
	}
	units := campaign.NewHeader(pl, nil, *c.shard.Shard).Units()
	if len(units) == 0 {
		return pl, false
	}
	pl.Lo, pl.Hi = units[0].Lo, units[len(units)-1].Hi
	return pl, true
}

func (c *campaignFlags) run(ctx context.Context, h campaign.Header, o kernel.Options, w work, output string) error {
	f, err := campaign.Open(c.folder, h)
	if err != nil {
		return usageError("--checkpoint %s: %v", c.folder, err)
	}
	defer f.Close()
	for _, note := range f.Notes {
		fmt.Fprintln(os.Stderr, note)
	}
	s := f.Ledger.Summarize()
	fmt.Fprintf(os.Stderr, "campaign %s  %d units, %d done  kernel %s  %d threads\n", describe(h), s.Units, s.Done, o.Kernel, o.Threads)
	report := newReporter(w.progress)
	report.from = kernel.Progress{Range: s.Asked, P: s.Covered.Hi}.Fraction() // by the measure of the progress to come
	var saved time.Time
	err = f.Run(ctx, campaign.Options{Options: o, StopAfter: c.stopAfter, Program: program(),
		Progress: func(p campaign.Progress) { report.SeeCampaign(p, saved) },
		Saved: func(u campaign.Unit) {
			saved = time.Now()
			announce(u, h.K)
		}})
	report.Close()
	if err != nil {
		return interrupted(err, f.Ledger)
	}
	if err := finish(f.Ledger, w, output); err != nil || c.push == "" {
		return err
	}
	return pushResult(ctx, c.push, c.folder, f.Ledger)
}

func program() string {
	return fmt.Sprintf("erdos1056 %s %s %s/%s", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// describe names a campaign in a few words.
func describe(h campaign.Header) string {
	text := fmt.Sprintf("%s  k %d", h.Plan().Range, h.K)
	if h.Kind == campaign.Residues {
		text += fmt.Sprintf("  residues %v", h.Residues)
	}
	if h.Shard != "" {
		text += "  shard " + h.Shard
	}
	return text
}

// announce says at once what is rare.
func announce(u campaign.Unit, k int) {
	for _, f := range u.NearMisses {
		if len(f.Cuts) > k {
			fmt.Fprintf(os.Stderr, "WITNESS: p = %d has %d cuts of residue %d: %v\n", f.P, len(f.Cuts), f.Residue, f.Cuts)
		}
	}
}

// interrupted says what is saved and gives the error its exit code.
func interrupted(err error, l *campaign.Ledger) error {
	var disk *campaign.DiskError
	saved := "nothing"
	s := l.Summarize()
	if s.Done > 0 {
		saved = fmt.Sprintf("%d of %d units, %s", s.Done, s.Units, s.Covered)
	}
	switch {
	case errors.Is(err, context.Canceled):
		return &codedError{exitInterrupted, fmt.Errorf("interrupted; saved: %s. Resume with the same command", saved)}
	case errors.Is(err, campaign.ErrStopped):
		return &codedError{exitInterrupted, fmt.Errorf("stopped, as --stop-after says; saved: %s. Resume with the same command", saved)}
	case errors.As(err, &disk):
		return &codedError{exitInterrupted, err}
	}
	return explain(err)
}

// finish writes the answer of a campaign, or of a shard's part, that is complete.
func finish(l *campaign.Ledger, w work, output string) error {
	part := *l
	covered, ok := l.Covered()
	if !ok {
		fmt.Fprintf(os.Stderr, "shard %s has nothing to do: the range has fewer integers than shards\n", l.Header.Shard)
		return nil
	}
	if l.Header.Shard != "" {
		part.Header.Lo, part.Header.Hi = covered.Lo, covered.Hi
	}
	m, err := campaign.Merge([]campaign.Source{{Name: "the ledger", Ledger: &part}}, false)
	if err != nil {
		return err
	}
	s := l.Summarize()
	defer conclude(s)
	if m.Artifact == nil {
		return writeResidueAnswer(s, w, output)
	}
	r := kernel.Result{Artifact: *m.Artifact, Kernel: w.options().Kernel, Threads: w.options().Threads, Covered: s.Cuts,
		Checks: kernel.Checks{LaneChain: s.Checks.LaneChain, Wilson: s.Checks.Wilson, TableSum: s.Checks.TableSum, DoubleCheck: s.Checks.SecondRun, Coverage: s.Checks.Coverage}}
	return writeResult(r, w.json, output, time.Duration(s.Seconds*float64(time.Second)))
}

// writeResidueAnswer writes the witness, if there is one, in its published form.
func writeResidueAnswer(s campaign.Summary, w work, output string) error {
	if w.json {
		return printJSON(statusLine(s))
	}
	if s.Witness == nil {
		return nil
	}
	text := append(witnessFile(*s.Witness), '\n')
	if output != "" {
		return disk.Replace(output, text, 0o644)
	}
	_, err := os.Stdout.Write(text)
	return err
}

func witnessFile(f campaign.Fiber) []byte {
	return witness.Witness{K: len(f.Cuts) - 1, P: f.P, Cuts: slices.Clone(f.Cuts)}.Encode()
}

// conclude says on stderr what the answer is.
func conclude(s campaign.Summary) {
	of := "fiber"
	if s.Header.Kind == campaign.Residues {
		of = fmt.Sprintf("fiber of residues %v", s.Header.Residues)
	}
	switch {
	case s.Witness != nil:
		fmt.Fprintf(os.Stderr, "witness: p = %d has %d cuts of residue %d; %d primes tested\n", s.Witness.P, len(s.Witness.Cuts), s.Witness.Residue, s.Primes)
	case s.Best == nil:
		fmt.Fprintln(os.Stderr, "negative: the range holds no prime")
	default:
		fmt.Fprintf(os.Stderr, "negative: no %s of %d cuts among %d primes of %s; greatest %d at p = %d\n", of, s.Header.K+1, s.Primes, s.Covered, len(s.Best.Cuts), s.Best.P)
	}
	if s.Checks.Coverage > 0 { // a merged ledger does not say how the work was done
		fmt.Fprintf(os.Stderr, "checks: %s; %s cuts in %s\n", checksText(s.Checks), metric(float64(s.Cuts)), duration(s.Seconds))
	}
}

// checksText lists the checks that were made.
func checksText(c campaign.Checks) string {
	text := ""
	for _, check := range []struct {
		name   string
		passed uint64
	}{{"lane chain", c.LaneChain}, {"Wilson", c.Wilson}, {"table sum", c.TableSum}, {"second run", c.SecondRun}} {
		if check.passed > 0 {
			text += fmt.Sprintf("%s %d ok, ", check.name, check.passed)
		}
	}
	return text + fmt.Sprintf("primes of %d units counted twice", c.Coverage)
}
