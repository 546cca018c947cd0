package main

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/internal/cli"
)

var bundleCosign = cli.Verb{
	Name:    "bundle cosign",
	Args:    "BUNDLE",
	Summary: "co-sign a proctored run bundle that its entrant has signed",
	Example: "capsule bundle cosign run1.signed.json --key proctor.pem --keys keys.json --output run1.cosigned.json",
	Declare: func(flags *pflag.FlagSet) func(context.Context, *cli.Call) error {
		var output string
		var key keyFlags
		var trust trustFlags
		key.declare(flags)
		trust.declare(flags)
		flags.StringVar(&output, "output", "", "file to write the co-signed bundle into")
		return func(ctx context.Context, c *cli.Call) error {
			d, err := readBundle(c)
			if err != nil {
				return err
			}
			registry, err := trust.read()
			if err != nil {
				return err
			}
			private, err := key.read(ctx, c)
			if err != nil {
				return err
			}
			if err := d.Cosign(private, registry); err != nil {
				return cli.Failf("%v", err)
			}
			return writeBundle(c, d, output)
		}
	},
}
