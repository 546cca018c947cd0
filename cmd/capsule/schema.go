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
)

var schemaVerb = verb{
	name:    "schema",
	summary: "print the JSON Schema of a format, or the names of all formats",
	example: "capsule schema canopus.mission.v1",
	declare: func(*pflag.FlagSet) func(context.Context, *call) error {
		return func(_ context.Context, c *call) error {
			formats := slices.Concat(mission.Documents, profile.Documents, record.Documents, keys.Documents, declaration.Documents)
			if len(c.args) == 0 {
				for _, d := range formats {
					if err := c.print(map[string]any{"type": "format", "name": d.FormatID()}, "%s", d.FormatID()); err != nil {
						return err
					}
				}
				return nil
			}
			for _, d := range formats {
				if len(c.args) == 1 && d.FormatID() == c.args[0] {
					text, err := d.JSONSchema()
					if err == nil {
						_, err = c.stdout.Write(text)
					}
					return err
				}
			}
			return usageError("%q is no format; capsule schema lists them", c.args)
		}
	},
}
