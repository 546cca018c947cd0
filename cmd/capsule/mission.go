package main

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/capsule/records/canopus/mission"
)

var missionPrepare = verb{
	name:    "mission prepare",
	summary: "fix everything that a mission draft depends on in a bundle",
	example: "capsule mission prepare mission.draft.json --output mission1",
	declare: func(flags *pflag.FlagSet) func(context.Context, *call) error {
		var f preparationFlags
		f.declare(flags)
		output := flags.String("output", "", "folder of the bundle")
		return func(ctx context.Context, c *call) error {
			draft, err := c.oneFile("a mission draft")
			if err != nil {
				return err
			}
			if *output == "" {
				return usageError("no folder given; write --output DIR")
			}
			m, parts, err := f.mission(ctx, c, draft)
			if err != nil {
				return err
			}
			if err := mission.WriteBundle(*output, m, parts); err != nil {
				return err
			}
			return c.validateBundle(*output)
		}
	},
}

var missionValidate = verb{
	name:    "mission validate",
	summary: "check a prepared mission and every file of its bundle",
	example: "capsule mission validate mission1",
	declare: func(*pflag.FlagSet) func(context.Context, *call) error {
		return func(_ context.Context, c *call) error {
			name, err := c.oneFile("the folder of a prepared mission, or its mission.json")
			if err != nil {
				return err
			}
			folder, prepared := bundleFolder(name)
			if !prepared {
				return usageError("%s: name a bundle's folder or its mission.json", name)
			}
			return c.validateBundle(folder)
		}
	},
}

func (c *call) validateBundle(folder string) error {
	b, err := mission.OpenBundle(folder)
	if err != nil {
		return failedCheck(err)
	}
	c.text("valid     %s  %s", b.Mission.ID, b.Digest)
	return c.object(struct {
		Type      string `json:"type"`
		OK        bool   `json:"ok"`
		Command   string `json:"command"`
		MissionID string `json:"mission_id"`
		Schema    string `json:"schema"`
		Digest    string `json:"mission_sha256"`
	}{"mission", true, "mission validate", b.Mission.ID, b.Mission.Schema, string(b.Digest)})
}
