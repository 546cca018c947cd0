package main

import (
	"context"
	"encoding/hex"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/capsule/records/canopus/runner"
	"github.com/erdos1056/erdos1056/capsule/records/keys"
	"github.com/erdos1056/erdos1056/capsule/sandbox"
	"github.com/erdos1056/erdos1056/internal/cli"
)

var verify = cli.Verb{
	Name:    "verify",
	Args:    "RUN",
	Summary: "derive every claim of a finished run again, the verdict by replay",
	Example: "capsule verify run1",
	Declare: func(flags *pflag.FlagSet) func(context.Context, *cli.Call) error {
		runs := flags.String("runs", runsFolder, "folder that \"latest\" looks in")
		key := flags.String("public-key", "", "Ed25519 key of 64 hexadecimal digits that must have signed the tip")
		noReplay := flags.Bool("no-replay", false, "do not run the frozen verifier again")
		asOriginal := flags.Bool("as-original", false, "let pass a run without signed tip, evidence manifest and worker files")
		runtime := flags.String("sandbox", "", "built-in, runc, podman or docker (default: the first that works here)")
		return func(ctx context.Context, c *cli.Call) error {
			f, err := runFolder(c, *runs)
			if err != nil {
				return err
			}
			var e runner.Examination
			if *key != "" {
				public, err := keys.ParsePublic(*key)
				if err != nil {
					return cli.Usagef("--public-key: %v", err)
				}
				e.PublicKey = hex.EncodeToString(public)
			}
			if !*noReplay {
				if e.Runtime, err = sandbox.Choose(ctx, *runtime); err != nil {
					return err
				}
			}
			claims, err := runner.Verify(ctx, f, e)
			if err != nil {
				return err
			}
			for _, claim := range claims {
				if err := c.Result(map[string]any{"type": "claim", "claim": claim.Name, "verdict": claim.Verdict, "detail": claim.Detail},
					"%-6s  %-17s  %s", claim.Verdict, claim.Name, claim.Detail); err != nil {
					return err
				}
			}
			if !runner.Verified(claims, *asOriginal) {
				return cli.Failf("%s: not every claim holds", f)
			}
			return nil
		}
	},
}
