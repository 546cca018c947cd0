package main

import (
	"context"
	"strings"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/capsule/conformance"
)

var verifyManifest = verb{
	name:    "verify-manifest",
	summary: "check a signed manifest and its declaration",
	example: "capsule verify-manifest declaration/manifest.json --keys keys.json --corpus declaration/replay-corpus.json",
	declare: func(flags *pflag.FlagSet) func(context.Context, *call) error {
		f := new(verifyManifestFlags)
		f.trust.declare(flags)
		flags.StringVar(&f.corpus, "corpus", "", "the replay corpus that the manifest names")
		f.strictness.declare(flags)
		return f.run
	},
}

type verifyManifestFlags struct {
	trust      trustFlags
	corpus     string
	strictness strictnessFlags
}

func (f *verifyManifestFlags) run(_ context.Context, c *call) error {
	name, err := c.oneFile("a manifest")
	if err != nil {
		return err
	}
	registry, err := f.trust.read()
	if err != nil {
		return err
	}
	manifest, err := readFile("manifest", name, 1<<20)
	if err != nil {
		return err
	}
	var corpus []byte
	if f.corpus != "" {
		if corpus, err = readFile("--corpus", f.corpus, 8<<20); err != nil {
			return err
		}
	}
	r := conformance.Verify(manifest, registry, corpus)
	details := map[string]any{"manifest_hash": r.Hash}
	return f.strictness.conclude(c, name, r.Verdict, details, strings.TrimSpace("manifest "+r.Hash))
}
