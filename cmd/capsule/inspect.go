package main

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/record"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/runner"
)

var inspect = verb{
	name:    "inspect",
	summary: "show what a finished run came to, after checking its records",
	example: "capsule inspect latest",
	declare: func(flags *pflag.FlagSet) func(context.Context, *call) error {
		runs := flags.String("runs", runsFolder, "folder that \"latest\" looks in")
		asOriginal := flags.Bool("as-original", false, "show what run.json or failure.json says, unchecked")
		return func(ctx context.Context, c *call) error {
			f, err := c.folder(*runs)
			if err != nil {
				return err
			}
			if *asOriginal {
				return c.inspect(f)
			}
			claims, err := runner.Verify(ctx, f, runner.Examination{})
			if err != nil {
				return err
			}
			if err := firstFailure(claims, false); err != nil {
				return err
			}
			return c.inspect(f)
		}
	},
}

// folder finds the one run that the arguments name.
func (c *call) folder(runs string) (runner.Folder, error) {
	name, err := c.oneFile("a run: its folder, run.json or failure.json, or latest")
	if err != nil {
		return "", err
	}
	return runner.Find(name, runs)
}

// firstFailure returns the first claim that does not hold, as an error.
func firstFailure(claims []runner.Claim, tolerateAbsent bool) error {
	for _, claim := range claims {
		if !runner.Verified([]runner.Claim{claim}, tolerateAbsent) {
			return mismatchError("%s %s: %s", claim.Name, claim.Verdict, claim.Detail)
		}
	}
	return nil
}

// withdrawal says whether a landed proposal could be withdrawn here.
type withdrawal struct {
	ProposalID string `json:"proposal_id,omitempty"`
	State      string `json:"state"`
	Available  bool   `json:"available"`
}

func (c *call) inspect(f runner.Folder) error {
	outcome, err := f.Outcome()
	if err != nil {
		return err
	}
	var projection any
	w := withdrawal{State: "not_applicable"}
	if outcome == record.FailureFile {
		failure, err := f.Failure()
		if err != nil {
			return err
		}
		projection = failure.Project()
		c.text("failed    phase %s: %s", failure.Phase, failure.Error)
	} else {
		run, err := f.Run()
		if err != nil {
			return err
		}
		if projection, _, err = run.Project(); err != nil {
			return err
		}
		if run.Landing != nil {
			w = withdrawal{run.Landing.ProposalID, "absent", false}
		}
		c.text("completed %s\nclaim     %s\nverifier  %s, reproduced\nmission   %s", run.RunID, run.Candidate.Claim, run.Verifier.Status, run.Mission.Digest)
	}
	return c.object(struct {
		Type       string     `json:"type"`
		OK         bool       `json:"ok"`
		Command    string     `json:"command"`
		RunFile    string     `json:"run_file"`
		Projection any        `json:"projection"`
		Withdrawal withdrawal `json:"withdrawal"`
	}{"inspection", true, "inspect", f.Record(outcome), projection, w})
}

// text prints a result for people; nothing with --json.
func (c *call) text(format string, args ...any) {
	if !c.json {
		fmt.Fprintf(c.stdout, format+"\n", args...)
	}
}

// object prints a record with --json, its fields in their own order.
func (c *call) object(v any) error {
	if !c.json {
		return nil
	}
	value, err := canon.Of(v)
	if err != nil {
		return err
	}
	text, err := canon.EncodeInOrder(value)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.stdout, "%s\n", text)
	return err
}
