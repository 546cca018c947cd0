package main

import (
	"io"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/internal/cli"
)

func TestUsageErrors(t *testing.T) {
	for args, expected := range map[string]string{
		"--fast":                       "unknown flag",
		"compare x":                    `expected no arguments, found "x"`,
		"--peer=scan":                  "expected NAME=",
		"--special-peer=scan":          "expected NAME=",
		"gate --keep":                  "unknown flag",
		"gate HEAD":                    `expected no arguments, found "HEAD"`,
		"gat":                          "did you mean gate?",
		"gate --quick --allow-no-tags": "did you mean --allow-no-tag?",
	} {
		var stderr strings.Builder
		if code := bench.Run(t.Context(), strings.Fields(args), nil, io.Discard, &stderr); code != cli.Usage || !strings.Contains(stderr.String(), expected) {
			t.Errorf("%s: exit code %d, message %q; expected %d and %q", args, code, stderr.String(), cli.Usage, expected)
		}
	}
}

func TestHelpListsTheFlagsOfTheVerb(t *testing.T) {
	for args, expected := range map[string]string{"--help": "Exit codes", "compare --help": "--peer", "gate --help": "--allow-no-tag"} {
		var stdout strings.Builder
		if code := bench.Run(t.Context(), strings.Fields(args), nil, &stdout, io.Discard); code != cli.Done || !strings.Contains(stdout.String(), expected) {
			t.Errorf("%s: exit code %d\n%s\nexpected %s", args, code, stdout.String(), expected)
		}
	}
}
