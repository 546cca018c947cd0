package main

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/capsule/bundle"
)

var bundleExport = verb{
	name:    "bundle export",
	summary: "write a completed run as one run bundle",
	example: "capsule bundle export run1 --key key.pem --output run1.bundle.json",
	declare: func(flags *pflag.FlagSet) func(context.Context, *call) error {
		var proctor, output string
		var key keyFlags
		flags.StringVar(&proctor, "proctored-by", "", "who drove the run (default: self-reported)")
		flags.StringVar(&output, "output", "", "file to write the bundle into")
		key.declare(flags)
		return func(_ context.Context, c *call) error {
			run, err := c.oneFile("the folder of a run")
			if err != nil {
				return err
			}
			d, err := bundle.Export(run, proctor)
			if err != nil {
				return fmt.Errorf("%s: %w", run, err)
			}
			if key.path != "" {
				if err := signWith(d, key); err != nil {
					return err
				}
			}
			return writeBundle(c, d, output)
		}
	},
}
