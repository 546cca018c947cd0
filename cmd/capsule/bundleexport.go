package main

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/capsule/records/academy"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/runner"
	"github.com/erdos1056/erdos1056/internal/cli"
)

var bundleExport = cli.Verb{
	Name:    "bundle export",
	Args:    "RUN",
	Summary: "write a completed run, whose every claim holds, as one run bundle",
	Example: "capsule bundle export run1 --key key.pem --output run1.bundle.json",
	Declare: func(flags *pflag.FlagSet) func(context.Context, *cli.Call) error {
		f := new(exportFlags)
		flags.StringVar(&f.runs, "runs", runsFolder, "folder that \"latest\" looks in")
		flags.StringVar(&f.proctor, "proctored-by", "", "who drove the run (default: self-reported)")
		flags.BoolVar(&f.asOriginal, "as-original", false, "let pass a run without signed tip, evidence manifest and worker files")
		flags.StringVar(&f.output, "output", "", "file to write the bundle into (default: print it)")
		f.key.declare(flags)
		return f.run
	},
}

type exportFlags struct {
	runs, proctor, output string
	asOriginal            bool
	key                   keyFlags
}

func (f *exportFlags) run(ctx context.Context, c *cli.Call) error {
	folder, err := runFolder(c, f.runs)
	if err != nil {
		return err
	}
	claims, err := runner.Verify(ctx, folder, runner.Examination{})
	if err != nil {
		return err
	}
	if err := firstFailure(claims, f.asOriginal); err != nil {
		return err
	}
	d, err := academy.Export(folder.Record(""), f.proctor)
	if err != nil {
		return cli.Failf("%s: %v", folder, err)
	}
	if f.key.path != "" {
		if err := signWith(ctx, c, d, f.key); err != nil {
			return err
		}
	}
	return writeBundle(c, d, f.output)
}
