package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/kernel/artifact"
	"github.com/erdos1056/erdos1056/kernel/campaign"
)

var mergeVerb = cli.Verb{
	Name:    "merge",
	Args:    "[DIR...]",
	Summary: "one artifact and one ledger of many shards",
	Details: `Puts the shards of a campaign together, or campaigns whose ranges adjoin: the artifact goes to FILE,
the merged ledger to FILE.ledger. Gaps, overlaps, different k and units on which two ledgers disagree
are refused. The bytes do not depend on how the work was shared out. Artifacts may be merged too,
without a ledger.`,
	Example: `erdos1056 merge shards/*/ --output k15.txt
erdos1056 merge --pull registry.example/k15 --output k15.txt
erdos1056 merge --output all.txt a.txt b.txt c.txt`,
	Text:    true,
	Declare: declareMerge,
}

func declareMerge(f *pflag.FlagSet) func(context.Context, *cli.Call) error {
	output := f.String("output", "", "write the artifact to this file and the ledger to FILE.ledger; - prints the artifact alone")
	partial := f.Bool("partial", false, "merge what is done up to the first gap")
	pull := f.StringArray("pull", nil, "pull a pushed result, REPOSITORY@sha256:HEX, or all results of REPOSITORY")
	side := f.String("fingerprints", "", "pull the fingerprints too, into this folder")
	return func(ctx context.Context, c *cli.Call) error {
		switch {
		case *output == "":
			return cli.Usagef("--output is missing; write --output FILE")
		case len(c.Args) == 0 && len(*pull) == 0:
			return cli.Usagef("nothing to merge; write erdos1056 merge DIR... --output FILE")
		}
		if err := errors.Join(cli.CheckOutput(*output), cli.CheckOutput(ledgerBeside(*output))); err != nil {
			return fmt.Errorf("--output: %w", err)
		}
		artifacts, rest, err := readArtifacts(c.Args)
		switch {
		case err != nil:
			return err
		case len(artifacts) > 0 && len(rest)+len(*pull) > 0:
			return cli.Usagef("%s is an artifact, %s is not: merge ledgers with ledgers, artifacts with artifacts", artifacts[0].Name, append(rest, *pull...)[0])
		case len(artifacts) > 0:
			return mergeArtifacts(c, artifacts, *output)
		}
		sources, err := pullResults(ctx, c, *pull, *side)
		if err != nil {
			return err
		}
		for _, name := range rest {
			l, err := soundLedger(name)
			if err != nil {
				return err
			}
			sources = append(sources, campaign.Source{Name: name, Ledger: l})
		}
		return mergeLedgers(c, sources, *partial, *output)
	}
}

// ledgerBeside is where the merged ledger goes; to standard output goes the artifact alone.
func ledgerBeside(output string) string {
	if output == cli.Stdout {
		return output
	}
	return output + ".ledger"
}

// readArtifacts reads those of the files that are artifacts and returns the names of the rest.
func readArtifacts(names []string) (artifacts []campaign.NamedArtifact, rest []string, err error) {
	for _, name := range names {
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			rest = append(rest, name)
			continue
		}
		b, err := readInput(name, maxLedger)
		if err != nil {
			return nil, nil, err
		}
		if !bytes.HasPrefix(b, []byte("schema=")) {
			rest = append(rest, name)
			continue
		}
		a, err := artifact.Parse(b)
		if err != nil {
			return nil, nil, cli.BadInputf("%s: %w", name, err)
		}
		artifacts = append(artifacts, campaign.NamedArtifact{Name: name, Artifact: a})
	}
	return artifacts, rest, nil
}

// maxLedger bounds a ledger file in bytes.
const maxLedger = 1 << 30

func mergeArtifacts(c *cli.Call, parts []campaign.NamedArtifact, output string) error {
	all, err := campaign.MergeArtifacts(parts)
	if err != nil {
		return cli.WithCode(cli.Failed, err)
	}
	if err := c.Output(output, all.Encode()); err != nil {
		return fmt.Errorf("--output: the artifact was not written: %w", err)
	}
	c.Say("merged %d artifacts: %s of %s, %d primes", len(parts), all.Status(), all.Range, all.PrimesTested)
	return nil
}

func mergeLedgers(c *cli.Call, sources []campaign.Source, partial bool, output string) error {
	m, err := campaign.Merge(sources, partial)
	if err != nil {
		return cli.WithCode(cli.Failed, err)
	}
	if output != cli.Stdout {
		if err := c.Output(ledgerBeside(output), m.Text); err != nil {
			return fmt.Errorf("--output: the ledger was not written: %w", err)
		}
	}
	s := m.Summarize()
	text := []byte(nil)
	switch {
	case m.Artifact != nil:
		text = m.Artifact.Encode()
	case s.Witness != nil:
		text = witnessFile(*s.Witness)
	default:
		c.Say("a campaign of residues has no artifact: %s was not written", output)
	}
	if text != nil {
		if err := c.Output(output, text); err != nil {
			return fmt.Errorf("--output: the artifact was not written: %w", err)
		}
	}
	c.Say("merged %d ledgers: %d units of %s, %d done twice in agreement, %d behind the end left out\nroot %s",
		len(sources), s.Done, s.Covered, m.Twice, m.LeftOut, s.Root)
	conclude(c, s)
	return nil
}
