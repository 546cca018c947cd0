package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/capsule/records/finding"
	"github.com/erdos1056/erdos1056/internal/cli"
)

// strictnessFlags say whose verdict is asked for.
type strictnessFlags struct{ asOriginal, strict bool }

func (f *strictnessFlags) declare(flags *pflag.FlagSet) {
	flags.BoolVar(&f.strict, "strict", true, "refuse every weakness")
	flags.BoolVar(&f.asOriginal, "as-original", false, "give the verdict of the format's original program; weaknesses are only reported")
}

// conclude prints the findings, then the verdict on a file.
func (f *strictnessFlags) conclude(c *cli.Call, name string, v finding.Verdict, details map[string]any, text string) error {
	strict := f.strict && !f.asOriginal
	for _, finding := range v.Findings {
		if c.JSON {
			if err := c.Line(map[string]any{"type": "finding", "name": finding.Name, "field": finding.Field, "detail": finding.Detail}); err != nil {
				return err
			}
			continue
		}
		c.Say("finding %v", finding)
	}
	if err := v.Err(strict); err != nil {
		return refused(name, err)
	}
	object := map[string]any{"type": "verdict", "verdict": "verified", "strict": strict, "findings": len(v.Findings)}
	maps.Copy(object, details)
	return c.Result(object, "verified  %s", text)
}

// refused returns the error of a file that was refused.
func refused(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return failedCheck(fmt.Errorf("%s: %w", name, err))
}
