package main

import (
	"context"

	"github.com/spf13/pflag"
)

var bundleCosign = verb{
	name:    "bundle cosign",
	summary: "co-sign a proctored run bundle that its entrant has signed",
	example: "capsule bundle cosign run1.signed.json --key proctor.pem --keys keys.json --output run1.cosigned.json",
	declare: func(flags *pflag.FlagSet) func(context.Context, *call) error {
		var output string
		var key keyFlags
		var trust trustFlags
		key.declare(flags)
		trust.declare(flags)
		flags.StringVar(&output, "output", "", "file to write the co-signed bundle into")
		return func(_ context.Context, c *call) error {
			d, err := readBundle(c)
			if err != nil {
				return err
			}
			registry, err := trust.read()
			if err != nil {
				return err
			}
			private, err := key.read()
			if err != nil {
				return err
			}
			if err := d.Cosign(private, registry); err != nil {
				return mismatchError("%v", err)
			}
			return writeBundle(c, d, output)
		}
	},
}
