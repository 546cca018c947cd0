package main

import (
	"context"

	"github.com/spf13/pflag"
)

var bundleSign = verb{
	name:    "bundle sign",
	summary: "sign a run bundle as its entrant",
	example: "capsule bundle sign run1.bundle.json --key key.pem --output run1.signed.json",
	declare: func(flags *pflag.FlagSet) func(context.Context, *call) error {
		var output string
		var key keyFlags
		key.declare(flags)
		flags.StringVar(&output, "output", "", "file to write the signed bundle into")
		return func(_ context.Context, c *call) error {
			d, err := readBundle(c)
			if err != nil {
				return err
			}
			if err := signWith(d, key); err != nil {
				return err
			}
			return writeBundle(c, d, output)
		}
	},
}
