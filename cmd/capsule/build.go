package main

import (
	"context"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/capsule/freeze"
	capsuleimage "github.com/erdos1056/erdos1056/capsule/image"
	"github.com/erdos1056/erdos1056/oci"
)

var build = verb{
	name:    "build",
	summary: "write the verifiers frozen to a claim, one per platform",
	example: "capsule build --range 10428401..10428600 --output dist",
	declare: func(flags *pflag.FlagSet) func(context.Context, *call) error {
		var claim claimFlags
		claim.declare(flags)
		output := flags.String("output", "", "folder to write bin/PLATFORM/A-B/verifier into")
		return func(ctx context.Context, c *call) error {
			if err := c.noArguments(); err != nil {
				return err
			}
			if *output == "" {
				return usageError("no folder given; write --output DIR")
			}
			p, platforms, err := claim.parse()
			if err != nil {
				return err
			}
			capsule, err := capsuleimage.Freeze(ctx, claim.source, p, platforms)
			if err != nil {
				return err
			}
			for _, platform := range platforms {
				verifier := capsule.Verifiers[platform]
				name := filepath.Join(*output, filepath.FromSlash(freeze.Path(platform, p.Lo, p.Hi)))
				if err := freeze.Write(name, verifier); err != nil {
					return err
				}
				digest := oci.DigestOf(verifier)
				err := c.print(map[string]any{
					"type": "verifier", "path": name, "platform": platform.String(), "digest": digest, "bytes": len(verifier),
					"range": p.Range.String(), "k": p.K,
				}, "%s  %s  %s", name, digest, megabytes(len(verifier)))
				if err != nil {
					return err
				}
			}
			return nil
		}
	},
}
