package main

import (
	"context"

	"github.com/erdos1056/erdos1056/capsule/records/canopus/runner"
	"github.com/erdos1056/erdos1056/capsule/sandbox"
)

// replayRun has the frozen verifier of a finished run judge its artifacts again.
func (c *call) replayRun(ctx context.Context, name string) error {
	f, err := c.folder(runsFolder)
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
	c.text("%-9s %s  stdout %s", result.VerifierStatus, result.RunID, result.StdoutDigest)
	if err := c.object(struct {
		Type string `json:"type"`
		runner.ReplayResult
	}{"replay", result}); err != nil {
		return err
	}
	if !result.Matched {
		return mismatchError("the frozen verifier returned %s, or another output, than the run records", result.VerifierStatus)
	}
	return nil
}
