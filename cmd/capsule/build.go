package main

import (
	"context"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/capsule/freeze"
	capsuleimage "github.com/erdos1056/erdos1056/capsule/image"
	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/internal/digest"
)

var build = cli.Verb{
	Name:    "build",
	Summary: "write the verifiers frozen to a claim, one per platform",
	Example: "capsule build --range 10428401..10428600 --output dist",
	Declare: func(flags *pflag.FlagSet) func(context.Context, *cli.Call) error {
		var claim capsuleFlags
		claim.declare(flags)
		output := flags.String("output", "", "folder to write bin/PLATFORM/CLAIM/verifier into")
		return func(ctx context.Context, c *cli.Call) error {
			if *output == "" {
				return cli.Usagef("no folder given; write --output DIR")
			}
			capsule, err := claim.freeze(ctx, c)
			if err != nil {
				return err
			}
			for _, platform := range freeze.Platforms {
				if verifier, ok := capsule.Verifiers[platform]; ok {
					if err := writeVerifier(c, *output, capsule, platform, verifier); err != nil {
						return err
					}
				}
			}
			return nil
		}
	},
}

// writeVerifier writes one verifier of a capsule below a folder, and says so.
func writeVerifier(c *cli.Call, folder string, capsule capsuleimage.Capsule, platform freeze.Platform, verifier []byte) error {
	place := freeze.Path(platform, capsule.Claim.Lo, capsule.Claim.Hi)
	if capsule.Formal != nil {
		place = freeze.FormalPath(platform, *capsule.Formal)
	}
	name := filepath.Join(folder, filepath.FromSlash(place))
	if err := freeze.Write(name, verifier); err != nil {
		return err
	}
	frozen := digest.Of(verifier)
	object := map[string]any{"type": "verifier", "path": name, "platform": platform.String(), "digest": frozen, "bytes": len(verifier)}
	if f := capsule.Formal; f != nil {
		object["target"], object["permit"], object["challenge"] = f.Target, f.Permit, digest.Of(f.Challenge)
	} else {
		object["range"], object["k"] = capsule.Claim.Range.String(), capsule.Claim.K
	}
	return c.Result(object, "%s  %s  %s", name, frozen, cli.Bytes(len(verifier)))
}
