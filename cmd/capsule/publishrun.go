package main

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/capsule/records/canopus/mission"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/record"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/runner"
	"github.com/erdos1056/erdos1056/internal/cli"
)

var publishRun = cli.Verb{
	Name:    "publish-run",
	Args:    "RUN",
	Summary: "write the folder that publishes a landed run",
	Example: "capsule publish-run run1 --repository https://github.com/vela-science/erdos-frontier --output published",
	Declare: func(flags *pflag.FlagSet) func(context.Context, *cli.Call) error {
		runs := flags.String("runs", runsFolder, "folder that \"latest\" looks in")
		repository := flags.String("repository", "", "address of the frontier's repository")
		output := flags.String("output", "", "folder to write")
		asOriginal := flags.Bool("as-original", false, "let pass a run without signed tip, evidence manifest and worker files")
		return func(ctx context.Context, c *cli.Call) error {
			f, err := runFolder(c, *runs)
			if err != nil {
				return err
			}
			if *repository == "" || *output == "" {
				return cli.Usagef("write --repository ADDRESS and --output DIR")
			}
			claims, err := runner.Verify(ctx, f, runner.Examination{})
			if err != nil {
				return err
			}
			if err := firstFailure(claims, *asOriginal); err != nil {
				return err
			}
			run, err := f.Run()
			if err != nil {
				return err
			}
			bundle, err := mission.OpenBundle(f.Mission())
			if err != nil {
				return err
			}
			public, err := record.Publish(bundle.Mission, run, *repository)
			if err != nil {
				return cli.Failf("%w", err)
			}
			folder, err := public.Folder()
			if err != nil {
				return err
			}
			if err := folder.Write(*output); err != nil {
				return err
			}
			return c.Result(map[string]any{"type": "publication", "ok": true, "command": "publish-run", "run_id": run.RunID, "output": *output,
				"projection_root": folder.ProjectionRoot, "bundle_root": folder.BundleRoot, "authority_effect": "none"},
				"published %s  bundle root %s", *output, folder.BundleRoot)
		}
	},
}
