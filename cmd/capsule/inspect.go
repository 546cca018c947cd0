package main

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/capsule/records/canopus/record"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/runner"
	"github.com/erdos1056/erdos1056/internal/cli"
)

var inspect = cli.Verb{
	Name:    "inspect",
	Args:    "RUN",
	Summary: "show what a finished run came to, after checking its records",
	Example: "capsule inspect latest",
	Declare: func(flags *pflag.FlagSet) func(context.Context, *cli.Call) error {
		runs := flags.String("runs", runsFolder, "folder that \"latest\" looks in")
		asOriginal := flags.Bool("as-original", false, "show what run.json or failure.json says, unchecked")
		return func(ctx context.Context, c *cli.Call) error {
			f, err := runFolder(c, *runs)
			if err != nil {
				return err
			}
			if *asOriginal {
				return show(c, f)
			}
			claims, err := runner.Verify(ctx, f, runner.Examination{})
			if err != nil {
				return err
			}
			if err := firstFailure(claims, false); err != nil {
				return err
			}
			return show(c, f)
		}
	},
}

// runFolder finds the run that the arguments name.
func runFolder(c *cli.Call, runs string) (runner.Folder, error) {
	return runner.Find(c.Args[0], runs)
}

// firstFailure returns the first claim that does not hold, as an error.
func firstFailure(claims []runner.Claim, tolerateAbsent bool) error {
	for _, claim := range claims {
		if !runner.Verified([]runner.Claim{claim}, tolerateAbsent) {
			return cli.Failf("%s %s: %s", claim.Name, claim.Verdict, claim.Detail)
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

// show prints what a run says.
func show(c *cli.Call, f runner.Folder) error {
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
		printText(c, "failed    phase %s: %s", failure.Phase, failure.Error)
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
		printText(c, "completed %s", run.RunID)
		printText(c, "claim     %s", run.Candidate.Claim)
		printText(c, "verifier  %s, reproduced", run.Verifier.Status)
		printText(c, "mission   %s", run.Mission.Digest)
	}
	return printRecord(c, struct {
		Type       string     `json:"type"`
		OK         bool       `json:"ok"`
		Command    string     `json:"command"`
		RunFile    string     `json:"run_file"`
		Projection any        `json:"projection"`
		Withdrawal withdrawal `json:"withdrawal"`
	}{"inspection", true, "inspect", f.Record(outcome), projection, w})
}

// printText prints a line for people; nothing with --json.
func printText(c *cli.Call, format string, args ...any) {
	if !c.JSON {
		c.Print(format, args...)
	}
}

// printRecord prints an object with --json.
func printRecord(c *cli.Call, object any) error {
	if !c.JSON {
		return nil
	}
	return c.Line(object)
}
