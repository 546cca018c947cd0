package main

import (
	"context"
	"errors"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/capsule/freeze"
	"github.com/erdos1056/erdos1056/capsule/sandbox"
	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/internal/disk"
)

var doctor = cli.Verb{
	Name:    "doctor",
	Summary: "say what this machine offers",
	Example: "capsule doctor",
	Declare: func(*pflag.FlagSet) func(context.Context, *cli.Call) error {
		return func(ctx context.Context, c *cli.Call) error {
			usable := 0
			for _, r := range sandbox.Runtimes() {
				offer, err := r.Probe(ctx)
				state := "ok"
				if err != nil {
					state, offer = "--", err.Error()
				} else {
					usable++
				}
				if err := c.Result(map[string]any{"type": "sandbox", "name": r.Name(), "ok": err == nil, "detail": offer},
					"sandbox    %-12s %s  %s", r.Name(), state, offer); err != nil {
					return err
				}
			}
			for _, p := range freeze.Platforms {
				how, err := sandbox.Emulation(p.String())
				state := "ok"
				if err != nil {
					state, how = "--", err.Error()
				}
				if err := c.Result(map[string]any{"type": "platform", "name": p.String(), "ok": err == nil, "detail": how},
					"platform   %-12s %s  %s", p, state, how); err != nil {
					return err
				}
			}
			if err := errors.Join(showVerifiers(c), sweepScratch(c)); err != nil {
				return err
			}
			if usable == 0 {
				return cli.Failf("no sandbox can be used here")
			}
			return nil
		}
	},
}

// sweep removes what killed processes left in the temporary folder, as every
// later run does, and says how much it was.
func sweepScratch(c *cli.Call) error {
	removed, err := disk.SweepScratch()
	if err != nil {
		return err
	}
	return c.Result(map[string]any{"type": "scratch", "ok": true, "removed": removed},
		"scratch    %-12s ok  %d folders of killed processes removed", "stale", removed)
}

// verifiers says where unfrozen verifiers would come from.
func showVerifiers(c *cli.Call) error {
	source, err := freeze.FindSource()
	state, detail := "ok", "of a release, in "+source.Verifiers
	switch {
	case err != nil:
		state, detail = "--", err.Error()
	case source.Module != "":
		detail = "built with " + freeze.GoVersion + " from " + source.Module
	}
	return c.Result(map[string]any{"type": "verifiers", "ok": err == nil, "detail": detail}, "verifiers  %-12s %s  %s", "unfrozen", state, detail)
}
