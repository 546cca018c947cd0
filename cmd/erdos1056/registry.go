package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/internal/disk"
	"github.com/erdos1056/erdos1056/kernel/campaign"
	"github.com/erdos1056/erdos1056/kernel/plan"
	"github.com/erdos1056/erdos1056/oci"
)

// resultType is the artifact type of a campaign's result in a registry: its ledger and its
// files of fingerprints.
const resultType = "application/vnd.erdos1056.campaign.v1"

// resultTag matches the tags that pushResult gives.
var resultTag = regexp.MustCompile(`^(shard-[0-9]+-of-[0-9]+|whole)$`)

// pushResult uploads a finished folder and says under which digest.
func pushResult(ctx context.Context, c *cli.Call, repository, dir string, l *campaign.Ledger) error {
	tag := "whole"
	if l.Header.Shard != "" {
		s, err := plan.ParseShard(l.Header.Shard)
		if err != nil {
			return err
		}
		tag = fmt.Sprintf("shard-%d-of-%d", s.I, s.N)
	}
	var files []oci.File
	for _, name := range campaign.ResultFiles(dir, l) {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return fmt.Errorf("--push: %w", err)
		}
		mediaType := "text/plain"
		if name == campaign.LedgerName {
			mediaType = "application/jsonl"
		}
		files = append(files, oci.File{Name: name, MediaType: mediaType, Data: data})
	}
	digest, err := oci.Registry{}.PushFiles(ctx, repository+":"+tag, resultType, files)
	if err != nil {
		return fmt.Errorf("--push: %w. The result is safe in %s; repeat the command to push it", err, dir)
	}
	c.Say("pushed %s@%s", repository, digest)
	return nil
}

// pullResults downloads the ledgers of results and, if a folder is given, their fingerprints.
func pullResults(ctx context.Context, c *cli.Call, references []string, side string) ([]campaign.Source, error) {
	var sources []campaign.Source
	for _, reference := range references {
		pinned, err := pin(ctx, reference)
		if err != nil {
			return nil, err
		}
		for _, reference := range pinned {
			l, err := pullResult(ctx, reference, side)
			if err != nil {
				return nil, fmt.Errorf("--pull %s: %w", reference, err)
			}
			c.Say("pulled %s: %s", reference, describe(l.Header))
			sources = append(sources, campaign.Source{Name: reference, Ledger: l})
		}
	}
	return sources, nil
}

// pin turns the name of a repository into those of all results that are tagged there, by
// digest. A reference by digest stands for itself.
func pin(ctx context.Context, reference string) ([]string, error) {
	if strings.Contains(reference, "@") {
		return []string{reference}, nil
	}
	tags, err := oci.Registry{}.Tags(ctx, reference)
	if err != nil {
		return nil, fmt.Errorf("--pull %s: %w", reference, err)
	}
	var pinned []string
	for _, tag := range slices.Sorted(maps.Keys(tags)) {
		if resultTag.MatchString(tag) {
			pinned = append(pinned, fmt.Sprintf("%s@%s", reference, tags[tag]))
		}
	}
	if len(pinned) == 0 {
		return nil, cli.WithCode(cli.NoInput, fmt.Errorf("--pull %s: there are no results, which have tags such as shard-3-of-8", reference))
	}
	return pinned, nil
}

func pullResult(ctx context.Context, reference, side string) (*campaign.Ledger, error) {
	repository, digest, err := oci.SplitDigest(reference)
	if err != nil {
		return nil, err
	}
	files, err := oci.Registry{}.PullFiles(ctx, repository, digest, resultType, func(name string) bool {
		_, fingerprints := campaign.SideFileName(name)
		return name == campaign.LedgerName || side != "" && fingerprints
	})
	if err != nil {
		return nil, err
	}
	var l *campaign.Ledger
	for _, f := range files {
		if f.Name == campaign.LedgerName {
			if l, err = campaign.Read(bytes.NewReader(f.Data)); err != nil {
				return nil, cli.WithCode(cli.Failed, err)
			}
			continue
		}
		base, _ := campaign.SideFileName(f.Name)
		if err := os.MkdirAll(side, 0o755); err != nil {
			return nil, err
		}
		if err := disk.Replace(filepath.Join(side, base), f.Data, 0o644); err != nil {
			return nil, err
		}
	}
	if l == nil {
		return nil, cli.Failf("it has no %s", campaign.LedgerName)
	}
	return l, nil
}
