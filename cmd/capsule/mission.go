package main

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/capsule/records/canopus/mission"
	"github.com/erdos1056/erdos1056/internal/cli"
)

var missionPrepare = cli.Verb{
	Name:    "mission prepare",
	Args:    "DRAFT",
	Summary: "fix everything that a mission draft depends on in a bundle",
	Example: "capsule mission prepare mission.draft.json --output mission1",
	Declare: func(flags *pflag.FlagSet) func(context.Context, *cli.Call) error {
		var f preparationFlags
		f.declare(flags)
		output := flags.String("output", "", "folder of the bundle")
		return func(ctx context.Context, c *cli.Call) error {
			draft := c.Args[0]
			if *output == "" {
				return cli.Usagef("no folder given; write --output DIR")
			}
			m, parts, err := f.mission(ctx, c, draft)
			if err != nil {
				return err
			}
			if err := mission.WriteBundle(*output, m, parts); err != nil {
				return err
			}
			return validateBundle(c, *output)
		}
	},
}

var missionValidate = cli.Verb{
	Name:    "mission validate",
	Args:    "MISSION",
	Summary: "check a prepared mission and every file of its bundle",
	Example: "capsule mission validate mission1",
	Declare: func(*pflag.FlagSet) func(context.Context, *cli.Call) error {
		return func(_ context.Context, c *cli.Call) error {
			name := c.Args[0]
			folder, prepared := bundleFolder(name)
			if !prepared {
				return cli.Usagef("%s: name a bundle's folder or its mission.json", name)
			}
			return validateBundle(c, folder)
		}
	},
}

func validateBundle(c *cli.Call, folder string) error {
	b, err := mission.OpenBundle(folder)
	if err != nil {
		return failedCheck(err)
	}
	printText(c, "valid     %s  %s", b.Mission.ID, b.Digest)
	return printRecord(c, struct {
		Type      string `json:"type"`
		OK        bool   `json:"ok"`
		Command   string `json:"command"`
		MissionID string `json:"mission_id"`
		Schema    string `json:"schema"`
		Digest    string `json:"mission_sha256"`
	}{"mission", true, "mission validate", b.Mission.ID, b.Mission.Schema, string(b.Digest)})
}
