package main

import (
	"context"

	"github.com/erdos1056/erdos1056/capsule/records/canopus/runner"
	"github.com/erdos1056/erdos1056/capsule/sandbox"
	"github.com/erdos1056/erdos1056/internal/cli"
)

// replayRun has the frozen verifier of a finished run judge its artifacts again.
func replayRun(ctx context.Context, c *cli.Call, name string) error {
	f, err := runFolder(c, runsFolder)
	if err != nil {
		return err
	}
	runtime, err := sandbox.Choose(ctx, name)
	if err != nil {
		return err
	}
	result, err := runner.Replay(ctx, f, runtime)
	if err != nil {
		return err
	}
	printText(c, "%-9s %s  stdout %s", result.VerifierStatus, result.RunID, result.StdoutDigest)
	if err := printRecord(c, struct {
		Type string `json:"type"`
		runner.ReplayResult
	}{"replay", result}); err != nil {
		return err
	}
	if !result.Matched {
		return cli.Failf("the frozen verifier returned %s, or another output, than the run records", result.VerifierStatus)
	}
	return nil
}
