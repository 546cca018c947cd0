package main

import (
	"bufio"
	"context"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/internal/disk"
	"github.com/erdos1056/erdos1056/kernel"
	"github.com/erdos1056/erdos1056/kernel/campaign"
	"github.com/erdos1056/erdos1056/kernel/plan"
	"github.com/erdos1056/erdos1056/kernel/primes"
)

var searchVerb = cli.Verb{
	Name:    "search",
	Summary: "search a range, write the artifact",
	Details: `Every prime of the range, both ends included, is searched for a fiber of k+1 cuts. The artifact tells
the largest fiber of all, or the first prime that has a witness. The word search may be left out.

A..B may be written A+N for A..A+N; numbers also as 10_428_401, 1e7, 2^24.`,
	Example: `erdos1056 --range 10428401..10428600
erdos1056 --range 1e7+1e5 --threads 4 --output artifact.txt --transcript transcript.txt
erdos1056 --range 1e7..5e7 --checkpoint k15 --stop-after 2h --nice     stop, and go on with the same call`,
	Declare: declareSearch,
}

// runSearch is the main job.
func declareSearch(f *pflag.FlagSet) func(context.Context, *cli.Call) error {
	var (
		r           rangeFlag
		w           work
		k           = 15
		output      string
		transcript  string
		doubleCheck float64
		long        campaignFlags
	)
	f.Var(&r, "range", "the range to search: "+plan.RangeForms)
	f.Var(wholeFlag{&k, plan.MinK, plan.MaxK}, "k", "number of consecutive intervals of a witness")
	f.StringVar(&output, "output", "", "write the artifact to this file, whole or not at all, instead of stdout")
	f.StringVar(&transcript, "transcript", "", "write the fingerprint of every prime to this file")
	f.Float64Var(&doubleCheck, "double-check", 0, "run every prime a second time with a random unit and compare; =0.01 takes a sample of that fraction")
	f.Lookup("double-check").NoOptDefVal = "1"
	long.add(f)
	w.add(f, kernel.Auto)
	return func(ctx context.Context, c *cli.Call) error {
		if r.Hi == 0 {
			return cli.Usagef("--range is missing; write --range %s", plan.RangeForms)
		}
		if !(doubleCheck >= 0 && doubleCheck <= 1) {
			return cli.Usagef("--double-check %v: expected a fraction from 0 to 1", doubleCheck)
		}
		if output != "" {
			if err := cli.CheckOutput(output); err != nil {
				return fmt.Errorf("--output: %w", err)
			}
		}
		if err := long.check(transcript); err != nil {
			return err
		}
		o := w.options()
		o.DoubleCheck = doubleCheck
		pl := plan.Plan{Range: r.Range, K: k}
		if long.folder != "" {
			return long.run(ctx, c, campaign.NewHeader(pl, long.residues, *long.shard.Shard), o, w, output)
		}
		part, ok := long.part(pl)
		if !ok {
			c.Say("shard %s has nothing to do: the range has fewer integers than shards", long.shard)
			return nil
		}
		return searchTo(ctx, c, part, o, w, output, transcript)
	}
}

func searchTo(ctx context.Context, c *cli.Call, pl plan.Plan, o kernel.Options, w work, output, transcript string) error {
	var record *transcriptFile
	if transcript != "" {
		var err error
		if record, err = createTranscript(transcript); err != nil {
			return err
		}
		defer record.Discard()
		o.Transcript = record.buffer
	}
	c.Say("range %s  k %d  %d primes  kernel %s  %d threads", pl.Range, pl.K, primes.Count(pl.Lo, pl.Hi), o.Kernel, o.Threads)
	report := newReporter(w.progress)
	o.Progress = report.See
	started := time.Now()
	result, err := kernel.Search(ctx, pl, o)
	report.Close()
	if err != nil {
		return err
	}
	if record != nil {
		if err := record.commit(); err != nil {
			return fmt.Errorf("--transcript: %w", err)
		}
	}
	if err := writeResult(c, result, output, time.Since(started)); err != nil {
		return err
	}
	summarize(c, result, time.Since(started))
	return nil
}

func writeResult(c *cli.Call, r kernel.Result, output string, took time.Duration) error {
	if output != "" && output != cli.Stdout {
		if err := c.Output(output, r.Encode()); err != nil {
			return fmt.Errorf("--output: the artifact was not written: %w", err)
		}
	}
	switch {
	case c.JSON:
		return c.Line(resultLine(r, took))
	case output != "" && output != cli.Stdout:
		return nil
	}
	return c.Output(cli.Stdout, r.Encode())
}

// resultLine is the JSON form of a result; docs/formats.md lists its fields.
func resultLine(r kernel.Result, took time.Duration) any {
	return struct {
		Type            string   `json:"type"`
		Status          string   `json:"status"`
		Problem         int      `json:"problem"`
		K               int      `json:"k"`
		RangeStart      uint32   `json:"range_start"`
		RangeEnd        uint32   `json:"range_end"`
		PrimesTested    uint64   `json:"primes_tested"`
		MaxMultiplicity int      `json:"max_multiplicity"`
		BestP           uint32   `json:"best_p"`
		BestResidue     uint32   `json:"best_residue"`
		Cuts            []uint32 `json:"cuts"`
		Artifact        string   `json:"artifact"`
		Transcript      string   `json:"transcript,omitempty"`
		Kernel          string   `json:"kernel"`
		Counting        any      `json:"counting,omitempty"`
		Threads         int      `json:"threads"`
		CutsCovered     uint64   `json:"cuts_covered"`
		Checks          any      `json:"checks"`
		WorkerBytes     int      `json:"worker_bytes"`
		Seconds         float64  `json:"seconds"`
	}{"result", r.Status(), 1056, r.K, r.Lo, r.Hi, r.PrimesTested, len(r.Artifact.Cuts), r.BestP, r.BestResidue, append([]uint32{}, r.Artifact.Cuts...),
		string(r.Encode()), r.Transcript, r.Kernel, r.Counting, r.Threads, r.Covered, map[string]uint64{"lane_chain": r.Checks.LaneChain,
			"wilson": r.Checks.Wilson, "table_sum": r.Checks.TableSum, "second_run": r.Checks.DoubleCheck, "coverage": r.Checks.Coverage}, r.WorkerBytes, took.Seconds()}
}

// summarize says on stderr what the artifact says, and how it was checked.
func summarize(c *cli.Call, r kernel.Result, took time.Duration) {
	best := fmt.Sprintf("greatest %d at p = %d", len(r.Artifact.Cuts), r.BestP)
	switch {
	case r.Witness():
		c.Say("witness: p = %d has %d cuts of residue %d; %d primes tested", r.BestP, len(r.Artifact.Cuts), r.BestResidue, r.PrimesTested)
	case r.PrimesTested == 0:
		c.Say("negative: the range holds no prime")
	default:
		c.Say("negative: no fiber of %d cuts among %d primes; %s", r.Threshold(), r.PrimesTested, best)
	}
	passed := r.Checks
	checks := fmt.Sprintf("lane chain %d ok, Wilson %d ok, table sum %d ok, ", passed.LaneChain, passed.Wilson, passed.TableSum)
	if r.Kernel == kernel.Reference {
		checks = ""
	}
	if passed.DoubleCheck > 0 {
		checks += fmt.Sprintf("second run %d ok, ", passed.DoubleCheck)
	}
	c.Say("checks: %sprimes counted twice; %s cuts in %.2f s", checks, cli.Metric(float64(r.Covered)), took.Seconds())
}

// A transcriptFile takes its name only when it is complete.
type transcriptFile struct {
	*disk.Draft
	buffer *bufio.Writer
}

func createTranscript(name string) (*transcriptFile, error) {
	draft, err := disk.NewDraft(name, 0o644)
	if err != nil {
		return nil, fmt.Errorf("--transcript: %w", err)
	}
	return &transcriptFile{draft, bufio.NewWriter(draft)}, nil
}

func (t *transcriptFile) commit() error {
	if err := t.buffer.Flush(); err != nil {
		return err
	}
	return t.Replace()
}
