package main

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/internal/cli"
)

var bundleSign = cli.Verb{
	Name:    "bundle sign",
	Args:    "BUNDLE",
	Summary: "sign a run bundle as its entrant",
	Example: "capsule bundle sign run1.bundle.json --key key.pem --output run1.signed.json",
	Declare: func(flags *pflag.FlagSet) func(context.Context, *cli.Call) error {
		var output string
		var key keyFlags
		key.declare(flags)
		flags.StringVar(&output, "output", "", "file to write the signed bundle into")
		return func(ctx context.Context, c *cli.Call) error {
			d, err := readBundle(c)
			if err != nil {
				return err
			}
			if err := signWith(ctx, c, d, key); err != nil {
				return err
			}
			return writeBundle(c, d, output)
		}
	},
}
