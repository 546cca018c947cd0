package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/erdos1056/erdos1056/internal/disk"
	"github.com/erdos1056/erdos1056/kernel"
	"github.com/erdos1056/erdos1056/kernel/campaign"
	"github.com/erdos1056/erdos1056/kernel/plan"
	"github.com/erdos1056/erdos1056/kernel/primes"
)

const searchHelp = `erdos1056 --range A..B searches every prime of the range, both ends included, for a fiber of k+1
cuts and writes the artifact: the largest fiber of all, or the first prime that has a witness.

  erdos1056 --range 10428401..10428600
  erdos1056 --range 1e7+1e5 --threads 4 --output artifact.txt --transcript transcript.txt
  erdos1056 --range 1e7..5e7 --checkpoint k15 --stop-after 2h --nice     stop, and go on with the same call

A..B may be written A+N for A..A+N; numbers also as 10_428_401, 1e7, 2^24.
`

// runSearch is the main job.
func runSearch(ctx context.Context, args []string) error {
	f := newFlags("search", searchHelp)
	var (
		r           rangeFlag
		w           work
		k           = 15
		output      string
		transcript  string
		doubleCheck float64
		c           campaignFlags
	)
	f.Var(&r, "range", "the range to search: "+plan.RangeForms)
	f.Var(wholeFlag{&k, plan.MinK, plan.MaxK}, "k", "number of consecutive intervals of a witness")
	f.StringVar(&output, "output", "", "write the artifact to this file, whole or not at all, instead of stdout")
	f.StringVar(&transcript, "transcript", "", "write the fingerprint of every prime to this file")
	f.Float64Var(&doubleCheck, "double-check", 0, "run every prime a second time with a random unit and compare; =0.01 takes a sample of that fraction")
	f.Lookup("double-check").NoOptDefVal = "1"
	c.add(f)
	w.add(f, kernel.Auto)
	if err := parse(f, args, 0, "erdos1056 --range A..B"); err != nil {
		return helped(err)
	}
	if r.Hi == 0 {
		return usageError("--range is missing; write --range %s", plan.RangeForms)
	}
	if !(doubleCheck >= 0 && doubleCheck <= 1) {
		return usageError("--double-check %v: expected a fraction from 0 to 1", doubleCheck)
	}
	if output != "" {
		if err := disk.CheckReplaceable(output); err != nil {
			return usageError("--output %s: %v", output, err)
		}
	}
	if err := c.check(transcript); err != nil {
		return err
	}
	o := w.options()
	o.DoubleCheck = doubleCheck
	pl := plan.Plan{Range: r.Range, K: k}
	if c.folder != "" {
		return c.run(ctx, campaign.NewHeader(pl, c.residues, *c.shard.Shard), o, w, output)
	}
	part, ok := c.part(pl)
	if !ok {
		fmt.Fprintf(os.Stderr, "shard %s has nothing to do: the range has fewer integers than shards\n", c.shard)
		return nil
	}
	return searchTo(ctx, part, o, w, output, transcript)
}

// helped turns the end of a printed help into success.
func helped(err error) error {
	if errors.Is(err, errHelp) {
		return nil
	}
	return err
}

func searchTo(ctx context.Context, pl plan.Plan, o kernel.Options, w work, output, transcript string) error {
	var record *transcriptFile
	if transcript != "" {
		var err error
		if record, err = createTranscript(transcript); err != nil {
			return err
		}
		defer record.discard()
		o.Transcript = record.buffer
	}
	fmt.Fprintf(os.Stderr, "range %s  k %d  %d primes  kernel %s  %d threads\n", pl.Range, pl.K, primes.Count(pl.Lo, pl.Hi), o.Kernel, o.Threads)
	report := newReporter(w.progress)
	o.Progress = report.See
	started := time.Now()
	result, err := kernel.Search(ctx, pl, o)
	report.Close()
	if err != nil {
		return explain(err)
	}
	if record != nil {
		if err := record.commit(); err != nil {
			return fmt.Errorf("--transcript %s: %w", transcript, err)
		}
	}
	if err := writeResult(result, w.json, output, time.Since(started)); err != nil {
		return err
	}
	summarize(result, time.Since(started))
	return nil
}

// explain gives errors of options their exit code.
func explain(err error) error {
	var internal *kernel.InternalError
	if errors.As(err, &internal) || errors.Is(err, context.Canceled) {
		return err
	}
	return &codedError{exitInternal, err}
}

func writeResult(r kernel.Result, asJSON bool, output string, took time.Duration) error {
	text := r.Encode()
	if output != "" {
		if err := disk.Replace(output, text, 0o644); err != nil {
			return fmt.Errorf("--output: the artifact was not written: %w", err)
		}
	}
	switch {
	case asJSON:
		b, err := json.Marshal(resultLine(r, took))
		if err != nil {
			return err
		}
		text = append(b, '\n')
	case output != "":
		return nil
	}
	if _, err := os.Stdout.Write(text); err != nil {
		return fmt.Errorf("writing to stdout: %w", err)
	}
	return nil
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
func summarize(r kernel.Result, took time.Duration) {
	best := fmt.Sprintf("greatest %d at p = %d", len(r.Artifact.Cuts), r.BestP)
	switch {
	case r.Witness():
		fmt.Fprintf(os.Stderr, "witness: p = %d has %d cuts of residue %d; %d primes tested\n", r.BestP, len(r.Artifact.Cuts), r.BestResidue, r.PrimesTested)
	case r.PrimesTested == 0:
		fmt.Fprintf(os.Stderr, "negative: the range holds no prime\n")
	default:
		fmt.Fprintf(os.Stderr, "negative: no fiber of %d cuts among %d primes; %s\n", r.Threshold(), r.PrimesTested, best)
	}
	c := r.Checks
	checks := fmt.Sprintf("lane chain %d ok, Wilson %d ok, table sum %d ok, ", c.LaneChain, c.Wilson, c.TableSum)
	if r.Kernel == kernel.Reference {
		checks = ""
	}
	if c.DoubleCheck > 0 {
		checks += fmt.Sprintf("second run %d ok, ", c.DoubleCheck)
	}
	fmt.Fprintf(os.Stderr, "checks: %sprimes counted twice; %s cuts in %.2f s\n", checks, metric(float64(r.Covered)), took.Seconds())
}

// A transcriptFile is written beside its name and takes it only when complete.
type transcriptFile struct {
	name   string
	file   *os.File
	buffer *bufio.Writer
}

func createTranscript(name string) (*transcriptFile, error) {
	file, err := os.Create(name + ".new")
	if err != nil {
		return nil, usageError("--transcript %s: %v", name, err)
	}
	return &transcriptFile{name, file, bufio.NewWriter(file)}, nil
}

func (t *transcriptFile) commit() error {
	err := errors.Join(t.buffer.Flush(), t.file.Sync(), t.file.Close())
	if err == nil {
		err = os.Rename(t.file.Name(), t.name)
	}
	return err
}

// discard removes what was not committed.
func (t *transcriptFile) discard() {
	t.file.Close()
	os.Remove(t.file.Name())
}
