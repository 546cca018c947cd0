package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/kernel/campaign"
)

var statusVerb = cli.Verb{
	Name:    "status",
	Args:    "DIR",
	Summary: "how far a campaign has come",
	Details: `Coverage, rate, time left, the largest fiber, and whether what was found is what was to be expected.
DIR is a folder that --checkpoint named, or a ledger. A process at work there is not disturbed.`,
	Example: `erdos1056 status k15`,
	Declare: declareStatus,
}

func declareStatus(f *pflag.FlagSet) func(context.Context, *cli.Call) error {
	return func(_ context.Context, c *cli.Call) error {
		l, err := loadLedger(c.Args[0])
		if l == nil {
			return err
		}
		s := l.Summarize()
		if c.JSON {
			return errors.Join(c.Line(statusLine(s)), err)
		}
		_, printed := io.WriteString(c.Stdout, cli.Clean(statusText(s)))
		return errors.Join(err, printed)
	}
}

// loadLedger reads the ledger of a folder and gives errors their exit codes. A damaged ledger
// comes with its good lines.
func loadLedger(name string) (*campaign.Ledger, error) {
	l, err := campaign.Load(name)
	var damage *campaign.Damage
	switch {
	case errors.As(err, &damage):
		return l, cli.WithCode(cli.Failed, err)
	case err != nil:
		return nil, unfit(err)
	}
	return l, nil
}

func statusText(s campaign.Summary) string {
	var b strings.Builder
	row := func(what, format string, args ...any) {
		fmt.Fprintf(&b, "%-10s"+format+"\n", append([]any{what}, args...)...)
	}
	row("campaign", "%s  (%s)", describe(s.Header), s.Header.Kind)
	if s.Done == 0 {
		row("done", "0 of %s units", cli.Thousands(s.Units))
		return b.String()
	}
	row("done", "%s of %s units: %s, %.2f %% of the work", cli.Thousands(s.Done), cli.Thousands(s.Units), s.Covered, 100*s.Fraction)
	row("covered", "%s primes, %s cuts in %s", cli.Thousands(s.Primes), cli.Metric(float64(s.Cuts)), cli.Duration(s.Seconds))
	switch {
	case s.Complete():
		row("left", "nothing")
	case s.Rate > 0:
		row("left", "%s at %s cuts/s", cli.Duration(s.SecondsLeft), cli.Metric(s.Rate))
	default:
		row("left", "unknown")
	}
	if s.Best != nil {
		row("best", "%d cuts of residue %d at p = %d", len(s.Best.Cuts), s.Best.Residue, s.Best.P)
	}
	if len(s.Records) > 0 {
		row("records", "%s", recordsText(s.Records, s.RecordsUnknown))
	}
	if s.Witness != nil {
		row("witness", "p = %d: %v", s.Witness.P, s.Witness.Cuts)
	} else {
		row("witness", "none with %d cuts; %.3g were to be expected", s.Header.K+1, s.ExpectedWitnesses)
	}
	for _, f := range s.NearMisses {
		row("near miss", "%d cuts of residue %d at p = %d", len(f.Cuts), f.Residue, f.P)
	}
	for i, n := range s.Counted.AtLeast {
		row("fibers", "of at least %d cuts: %d, expected %.1f, among %s primes", campaign.FirstCounted+i, n, s.ExpectedCounts[i], cli.Thousands(s.Counted.Primes))
	}
	if s.Checks.Coverage > 0 { // a merged ledger does not say how the work was done
		row("checks", "%s", checksText(s.Checks))
		row("failed", "%d checks", len(s.Failures))
	}
	for _, f := range s.Failures {
		row("failed", "%s at p = %d on kernel %s: %s; reference: %s", f.Check, f.P, f.Kernel, f.Detail, f.Reference)
	}
	if t := s.Positives; t.Before > 0 {
		row("planted", "%d of %d positives found before runs, %d of %d after", t.BeforeFound, t.Before, t.AfterFound, t.After)
	}
	row("root", "%s", s.Root)
	return b.String()
}

// recordsText lists multiplicities with the first primes that reach them, and those whose first primes
// the ledger does not tell.
func recordsText(records []campaign.Record, unknown []campaign.Unknown) string {
	var items []string
	for _, r := range records {
		for len(unknown) > 0 && unknown[0].To < r.Multiplicity {
			items, unknown = append(items, unknown[0].String()), unknown[1:]
		}
		items = append(items, fmt.Sprintf("%d at %d", r.Multiplicity, r.P))
	}
	return strings.Join(items, ", ")
}

// statusLine is the JSON form; docs/formats.md lists its fields.
func statusLine(s campaign.Summary) any {
	type count struct {
		AtLeast  int     `json:"at_least"`
		Observed uint64  `json:"observed"`
		Expected float64 `json:"expected"`
	}
	var counts []count
	for i, n := range s.Counted.AtLeast {
		counts = append(counts, count{campaign.FirstCounted + i, n, s.ExpectedCounts[i]})
	}
	return struct {
		Type              string             `json:"type"`
		Campaign          campaign.Header    `json:"campaign"`
		Complete          bool               `json:"complete"`
		Units             int                `json:"units"`
		Done              int                `json:"units_done"`
		CoveredStart      uint32             `json:"covered_start"`
		CoveredEnd        uint32             `json:"covered_end"`
		Primes            uint64             `json:"primes"`
		Cuts              uint64             `json:"cuts_covered"`
		Fraction          float64            `json:"fraction"`
		Seconds           float64            `json:"seconds"`
		Rate              float64            `json:"cuts_per_second"`
		SecondsLeft       float64            `json:"seconds_left"`
		Best              *campaign.Fiber    `json:"best"`
		Records           []campaign.Record  `json:"records"`
		RecordsUnknown    []campaign.Unknown `json:"records_unknown"`
		Witness           *campaign.Fiber    `json:"witness"`
		ExpectedWitnesses float64            `json:"expected_witnesses"`
		NearMisses        []campaign.Fiber   `json:"near_misses"`
		CountedPrimes     uint64             `json:"counted_primes"`
		Fibers            []count            `json:"fibers"`
		Checks            campaign.Checks    `json:"checks"`
		Failures          []campaign.Failure `json:"failures"`
		Positives         map[string]int     `json:"positives"`
		Root              string             `json:"root"`
	}{"status", s.Header, s.Complete(), s.Units, s.Done, s.Covered.Lo, s.Covered.Hi, s.Primes, s.Cuts, s.Fraction, s.Seconds, s.Rate, s.SecondsLeft,
		s.Best, s.Records, s.RecordsUnknown, s.Witness, s.ExpectedWitnesses, s.NearMisses, s.Counted.Primes, counts, s.Checks, append([]campaign.Failure{}, s.Failures...),
		map[string]int{"before": s.Positives.Before, "before_found": s.Positives.BeforeFound, "after": s.Positives.After, "after_found": s.Positives.AfterFound}, s.Root}
}

// soundLedger refuses a damaged ledger.
func soundLedger(name string) (*campaign.Ledger, error) {
	l, err := loadLedger(name)
	if l != nil && err != nil {
		return nil, cli.Failf("%w; repeat the command that began the campaign: it cuts the ledger back to its good lines", err)
	}
	return l, err
}
