package main

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/capsule/mission"
)

var missionVerb = verb{
	name:    "mission",
	summary: "prepare a draft (mission prepare DRAFT) or check a bundle (mission validate BUNDLE)",
	example: "capsule mission prepare mission.draft.json --output mission1",
	declare: func(flags *pflag.FlagSet) func(context.Context, *call) error {
		var f preparationFlags
		f.declare(flags)
		output := flags.String("output", "", "folder of the prepared mission")
		return func(ctx context.Context, c *call) error {
			if len(c.args) != 2 {
				return usageError("write mission prepare DRAFT or mission validate BUNDLE")
			}
			switch action, name := c.args[0], c.args[1]; action {
			case "prepare":
				return c.prepareMission(ctx, f, name, *output)
			case "validate":
				return c.validateMission(name)
			default:
				return usageError("mission %s: write prepare or validate", action)
			}
		}
	},
}

func (c *call) prepareMission(ctx context.Context, f preparationFlags, draft, output string) error {
	if output == "" {
		return usageError("no folder given; write --output DIR")
	}
	m, parts, err := f.mission(ctx, c, draft)
	if err != nil {
		return err
	}
	if err := mission.WriteBundle(output, m, parts); err != nil {
		return err
	}
	return c.validateMission(output)
}

func (c *call) validateMission(name string) error {
	folder, prepared := bundleFolder(name)
	if !prepared {
		return usageError("%s: name a bundle's folder or its mission.json", name)
	}
	b, err := mission.OpenBundle(folder)
	if err != nil {
		return err
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
