package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/internal/cli"
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

func (f *campaignFlags) add(flags *pflag.FlagSet) {
	shard := new(plan.Shard)
	f.shard, f.index = shardFlag{shard, 1}, shardFlag{shard, 0}
	flags.StringVar(&f.folder, "checkpoint", "", "save every finished unit in this folder, and resume from there")
	flags.Var(f.shard, "shard", "do the i-th of n parts of equal cost, i from 1 to n")
	flags.Var(f.index, "shard-index", "the same with i from 0 to n-1, as Kubernetes counts")
	flags.Int64SliceVar(&f.residues, "residue", nil, "look only at the fibers of the residues `R,...`, such as 1,-1: many times faster; needs --checkpoint")
	flags.DurationVar(&f.stopAfter, "stop-after", 0, "begin no unit after this time, such as 2h; needs --checkpoint")
	flags.StringVar(&f.push, "push", "", "when all units are done, push the folder to this repository of an OCI registry; needs --checkpoint")
	flags.BoolVar(&f.nice, "nice", false, "run at the lowest priority")
}

// check refuses combinations that mean nothing, and lowers the priority.
func (f *campaignFlags) check(transcript string) error {
	switch {
	case f.folder == "" && len(f.residues) > 0:
		return cli.Usagef("--residue needs --checkpoint DIR: a search of single residues has no artifact, only a ledger")
	case f.folder == "" && f.stopAfter != 0:
		return cli.Usagef("--stop-after needs --checkpoint DIR, where the work is saved")
	case f.folder == "" && f.push != "":
		return cli.Usagef("--push needs --checkpoint DIR: what is pushed is its ledger and fingerprints")
	case f.stopAfter < 0:
		return cli.Usagef("--stop-after %v: expected a time such as 90m or 2h", f.stopAfter)
	case f.folder != "" && transcript != "":
		return cli.Usagef("--transcript and --checkpoint exclude each other: the folder holds the fingerprints of every unit")
	}
	if f.nice {
		if err := lowestPriority(); err != nil {
			return fmt.Errorf("--nice: %w", err)
		}
	}
	return nil
}

// part returns the shard's part of the plan; ok is false where it is empty.
func (f *campaignFlags) part(pl plan.Plan) (part plan.Plan, ok bool) {
	if f.shard.N <= 1 {
		return pl, true
	}
	units := campaign.NewHeader(pl, nil, *f.shard.Shard).Units()
	if len(units) == 0 {
		return pl, false
	}
	pl.Lo, pl.Hi = units[0].Lo, units[len(units)-1].Hi
	return pl, true
}

func (f *campaignFlags) run(ctx context.Context, c *cli.Call, h campaign.Header, o kernel.Options, w work, output string) error {
	opened, err := campaign.Open(f.folder, h)
	if err != nil {
		return classifyOpening(f.folder, err)
	}
	defer opened.Close()
	for _, note := range opened.Notes {
		c.Say("%s", note)
	}
	s := opened.Ledger.Summarize()
	c.Say("campaign %s  %d units, %d done  kernel %s  %d threads", describe(h), s.Units, s.Done, o.Kernel, o.Threads)
	report := newReporter(w.progress)
	report.from = kernel.Progress{Range: s.Asked, P: s.Covered.Hi}.Fraction() // by the measure of the progress to come
	var saved time.Time
	err = opened.Run(ctx, campaign.Options{Options: o, StopAfter: f.stopAfter, Program: program(),
		Progress: func(p campaign.Progress) { report.SeeCampaign(p, saved) },
		Saved: func(u campaign.Unit) {
			saved = time.Now()
			announce(c, u, h.K)
		}})
	report.Close()
	if err != nil {
		return interrupted(err, opened.Ledger)
	}
	if err := finish(c, opened.Ledger, w, output); err != nil || f.push == "" {
		return err
	}
	return pushResult(ctx, c, f.push, f.folder, opened.Ledger)
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
func announce(c *cli.Call, u campaign.Unit, k int) {
	for _, f := range u.NearMisses {
		if len(f.Cuts) > k {
			c.Say("WITNESS: p = %d has %d cuts of residue %d: %v", f.P, len(f.Cuts), f.Residue, f.Cuts)
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
		return cli.WithCode(cli.TryAgain, fmt.Errorf("interrupted; saved: %s. Resume with the same command", saved))
	case errors.Is(err, campaign.ErrStopped):
		return cli.WithCode(cli.TryAgain, fmt.Errorf("stopped, as --stop-after says; saved: %s. Resume with the same command", saved))
	case errors.As(err, &disk):
		return cli.WithCode(cli.TryAgain, err)
	}
	return err
}

// finish writes the answer of a campaign, or of a shard's part, that is complete.
func finish(c *cli.Call, l *campaign.Ledger, w work, output string) error {
	part := *l
	covered, ok := l.Covered()
	if !ok {
		c.Say("shard %s has nothing to do: the range has fewer integers than shards", l.Header.Shard)
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
	defer conclude(c, s)
	if m.Artifact == nil {
		return writeResidueAnswer(c, s, output)
	}
	r := kernel.Result{Artifact: *m.Artifact, Kernel: w.options().Kernel, Threads: w.options().Threads, Covered: s.Cuts,
		Checks: kernel.Checks{LaneChain: s.Checks.LaneChain, Wilson: s.Checks.Wilson, TableSum: s.Checks.TableSum, DoubleCheck: s.Checks.SecondRun, Coverage: s.Checks.Coverage}}
	return writeResult(c, r, output, time.Duration(s.Seconds*float64(time.Second)))
}

// writeResidueAnswer writes the witness, if there is one, in its published form.
func writeResidueAnswer(c *cli.Call, s campaign.Summary, output string) error {
	if c.JSON {
		return c.Line(statusLine(s))
	}
	if s.Witness == nil {
		return nil
	}
	text := append(witnessFile(*s.Witness), '\n')
	return c.Output(cmp.Or(output, cli.Stdout), text)
}

func witnessFile(f campaign.Fiber) []byte {
	return witness.Witness{K: len(f.Cuts) - 1, P: f.P, Cuts: slices.Clone(f.Cuts)}.Encode()
}

// conclude says on stderr what the answer is.
func conclude(c *cli.Call, s campaign.Summary) {
	of := "fiber"
	if s.Header.Kind == campaign.Residues {
		of = fmt.Sprintf("fiber of residues %v", s.Header.Residues)
	}
	switch {
	case s.Witness != nil:
		c.Say("witness: p = %d has %d cuts of residue %d; %d primes tested", s.Witness.P, len(s.Witness.Cuts), s.Witness.Residue, s.Primes)
	case s.Best == nil:
		c.Say("%s", "negative: the range holds no prime")
	default:
		c.Say("negative: no %s of %d cuts among %d primes of %s; greatest %d at p = %d", of, s.Header.K+1, s.Primes, s.Covered, len(s.Best.Cuts), s.Best.P)
	}
	if s.Checks.Coverage > 0 { // a merged ledger does not say how the work was done
		c.Say("checks: %s; %s cuts in %s", checksText(s.Checks), cli.Metric(float64(s.Cuts)), cli.Duration(s.Seconds))
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

// classifyOpening gives the error of opening a campaign's folder its exit code: what the
// environment prevents may succeed later, another campaign there is a wrong command.
func classifyOpening(folder string, err error) error {
	err = fmt.Errorf("--checkpoint %s: %w", folder, err)
	var inUse *campaign.InUseError
	switch {
	case errors.As(err, &inUse):
		return cli.WithCode(cli.TryAgain, err)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrExist), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOTDIR):
		return &disk.WriteError{Path: folder, Err: err}
	case cli.ExitCode(err) != cli.Internal:
		return err
	}
	return cli.WithCode(cli.Usage, err)
}
