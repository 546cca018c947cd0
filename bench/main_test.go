package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestUsageErrors(t *testing.T) {
	for args, want := range map[string]string{
		"--fast":                       "unknown flag",
		"compare":                      `"compare" is neither a verb nor a flag`,
		"--peer=scan":                  "expected NAME=",
		"--special-peer=scan":          "expected NAME=",
		"gate --keep":                  "unknown flag",
		"gate HEAD":                    `"HEAD" is neither a verb nor a flag`,
		"--quick gate":                 `"gate" is neither a verb nor a flag`,
		"gate --quick --allow-no-tags": "unknown flag",
	} {
		var stderr strings.Builder
		code := exitCode(run(t.Context(), strings.Fields(args), io.Discard, io.Discard), &stderr)
		if code != exitUsage || !strings.Contains(stderr.String(), want) || !strings.Contains(stderr.String(), "see go run ./bench --help") {
			t.Errorf("%s: exit code %d, message %q; want %d and %q", args, code, stderr.String(), exitUsage, want)
		}
	}
}

func TestHelpListsTheFlagsOfTheVerb(t *testing.T) {
	for args, want := range map[string]string{"--help": "--peer", "gate --help": "--allow-no-tag"} {
		var stdout strings.Builder
		if code := exitCode(run(t.Context(), strings.Fields(args), &stdout, io.Discard), io.Discard); code != exitDone {
			t.Errorf("%s: exit code %d", args, code)
		}
		if !strings.Contains(stdout.String(), want) || !strings.Contains(stdout.String(), "Exit codes") {
			t.Errorf("%s prints\n%s\nwant the usage and %s", args, stdout.String(), want)
		}
	}
}

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, exitDone}, {errHelp, exitDone}, {errors.New("broken"), exitInternal},
		{&codedError{exitMismatch, errors.New("slower")}, exitMismatch}, {context.Canceled, exitInterrupted},
	} {
		if got := exitCode(c.err, io.Discard); got != c.want {
			t.Errorf("%v: exit code %d, want %d", c.err, got, c.want)
		}
	}
}
