package main

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"github.com/erdos1056/erdos1056/internal/disk"
	"github.com/erdos1056/erdos1056/kernel/artifact"
	"github.com/erdos1056/erdos1056/kernel/campaign"
)

const mergeHelp = `erdos1056 merge puts the shards of a campaign together, or campaigns whose ranges adjoin: the
artifact goes to FILE, the merged ledger to FILE.ledger. Gaps, overlaps, different k and
units on which two ledgers disagree are refused. The bytes do not depend on how the work was
shared out. Artifacts may be merged too, without a ledger.

  erdos1056 merge shards/*/ --output k15.txt
  erdos1056 merge --pull registry.example/k15 --output k15.txt
  erdos1056 merge --output all.txt a.txt b.txt c.txt
`

func runMerge(ctx context.Context, args []string) error {
	f := newFlags("merge", mergeHelp)
	output := f.String("output", "", "write the artifact to this file and the ledger to FILE.ledger")
	partial := f.Bool("partial", false, "merge what is done up to the first gap")
	pull := f.StringArray("pull", nil, "pull a pushed result, REPOSITORY@sha256:HEX, or all results of REPOSITORY")
	side := f.String("fingerprints", "", "pull the fingerprints too, into this folder")
	if err := parse(f, args, anyNumber, ""); err != nil {
		return helped(err)
	}
	switch {
	case *output == "":
		return usageError("--output is missing; write --output FILE")
	case f.NArg() == 0 && len(*pull) == 0:
		return usageError("nothing to merge; write erdos1056 merge DIR... --output FILE")
	}
	for _, name := range []string{*output, *output + ".ledger"} {
		if err := disk.CheckReplaceable(name); err != nil {
			return usageError("--output %s: %v", *output, err)
		}
	}
	artifacts, rest, err := readArtifacts(f.Args())
	switch {
	case err != nil:
		return err
	case len(artifacts) > 0 && len(rest)+len(*pull) > 0:
		return usageError("%s is an artifact, %s is not: merge ledgers with ledgers, artifacts with artifacts", artifacts[0].Name, append(rest, *pull...)[0])
	case len(artifacts) > 0:
		return mergeArtifacts(artifacts, *output)
	}
	sources, err := pullResults(ctx, *pull, *side)
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
	return mergeLedgers(sources, *partial, *output)
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
			return nil, nil, &codedError{exitMismatch, fmt.Errorf("%s: %w", name, err)}
		}
		artifacts = append(artifacts, campaign.NamedArtifact{Name: name, Artifact: a})
	}
	return artifacts, rest, nil
}

// maxLedger bounds a ledger file in bytes.
const maxLedger = 1 << 30

func mergeArtifacts(parts []campaign.NamedArtifact, output string) error {
	all, err := campaign.MergeArtifacts(parts)
	if err != nil {
		return &codedError{exitMismatch, err}
	}
	if err := disk.Replace(output, all.Encode(), 0o644); err != nil {
		return fmt.Errorf("--output: the artifact was not written: %w", err)
	}
	fmt.Fprintf(os.Stderr, "merged %d artifacts: %s of %s, %d primes\n", len(parts), all.Status(), all.Range, all.PrimesTested)
	return nil
}

func mergeLedgers(sources []campaign.Source, partial bool, output string) error {
	m, err := campaign.Merge(sources, partial)
	if err != nil {
		return &codedError{exitMismatch, err}
	}
	if err := disk.Replace(output+".ledger", m.Text, 0o644); err != nil {
		return fmt.Errorf("--output: the ledger was not written: %w", err)
	}
	s := m.Summarize()
	text := []byte(nil)
	switch {
	case m.Artifact != nil:
		text = m.Artifact.Encode()
	case s.Witness != nil:
		text = witnessFile(*s.Witness)
	default:
		fmt.Fprintf(os.Stderr, "a campaign of residues has no artifact: %s was not written\n", output)
	}
	if text != nil {
		if err := disk.Replace(output, text, 0o644); err != nil {
			return fmt.Errorf("--output: the artifact was not written: %w", err)
		}
	}
	fmt.Fprintf(os.Stderr, "merged %d ledgers: %d units of %s, %d done twice in agreement, %d behind the end left out\nroot %s\n",
		len(sources), s.Done, s.Covered, m.Twice, m.LeftOut, s.Root)
	conclude(s)
	return nil
}
