package main

import (
	"context"
	"slices"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/capsule/records/canopus/mission"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/profile"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/record"
	"github.com/erdos1056/erdos1056/capsule/records/cuecrux/declaration"
	"github.com/erdos1056/erdos1056/capsule/records/keys"
	"github.com/erdos1056/erdos1056/internal/cli"
)

var schemaVerb = cli.Verb{
	Name:    "schema",
	Args:    "[FORMAT]",
	Summary: "print the JSON Schema of a format, or the names of all formats",
	Example: "capsule schema canopus.mission.v1",
	Declare: func(*pflag.FlagSet) func(context.Context, *cli.Call) error {
		return func(_ context.Context, c *cli.Call) error {
			formats := slices.Concat(mission.Documents, profile.Documents, record.Documents, keys.Documents, declaration.Documents)
			if len(c.Args) == 0 {
				for _, d := range formats {
					if err := c.Result(map[string]any{"type": "format", "name": d.FormatID()}, "%s", d.FormatID()); err != nil {
						return err
					}
				}
				return nil
			}
			for _, d := range formats {
				if len(c.Args) == 1 && d.FormatID() == c.Args[0] {
					text, err := d.JSONSchema()
					if err == nil {
						_, err = c.Stdout.Write(text)
					}
					return err
				}
			}
			return cli.Usagef("%q is no format; capsule schema lists them", c.Args)
		}
	},
}
