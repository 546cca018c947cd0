package main

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/capsule/records/cuecrux/conformance"
	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/internal/disk"
)

var verifyManifest = cli.Verb{
	Name:    "verify-manifest",
	Args:    "MANIFEST",
	Summary: "check a signed manifest and its declaration",
	Example: "capsule verify-manifest declaration/manifest.json --keys keys.json",
	Declare: func(flags *pflag.FlagSet) func(context.Context, *cli.Call) error {
		f := new(verifyManifestFlags)
		f.trust.declare(flags)
		flags.StringVar(&f.corpus, "corpus", "", "the replay corpus (default: the one that the manifest names, if it lies there)")
		f.strictness.declare(flags)
		return f.run
	},
}

type verifyManifestFlags struct {
	trust      trustFlags
	corpus     string
	strictness strictnessFlags
}

func (f *verifyManifestFlags) run(_ context.Context, c *cli.Call) error {
	name := c.Args[0]
	registry, err := f.trust.read()
	if err != nil {
		return err
	}
	manifest, err := readFile("manifest", name, 1<<20)
	if err != nil {
		return err
	}
	corpus, err := f.readCorpus(filepath.Dir(name), manifest)
	if err != nil {
		return err
	}
	r := conformance.Verify(manifest, registry, corpus)
	details := map[string]any{"manifest_hash": r.Hash}
	return f.strictness.conclude(c, name, r.Verdict, details, strings.TrimSpace("manifest "+r.Hash))
}

// maxCorpusText bounds a replay corpus in bytes.
const maxCorpusText = 8 << 20

// readCorpus returns the corpus of a manifest in a folder, nil if it has none
// there.
func (f *verifyManifestFlags) readCorpus(folder string, manifest []byte) ([]byte, error) {
	if f.corpus != "" {
		return readFile("--corpus", f.corpus, maxCorpusText)
	}
	m, _, err := conformance.Read(manifest)
	if err != nil || m.Conformance == nil {
		return nil, nil // the verdict will say why
	}
	corpus, err := disk.ReadBelow(folder, m.Conformance.ReplayCorpus.Path, maxCorpusText)
	if err != nil {
		return nil, nil // what the corpus would cover will be a finding
	}
	return corpus, nil
}
