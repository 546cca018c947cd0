package main

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/kernel/witness"
)

var witnessVerb = cli.Verb{
	Name:    "witness",
	Args:    "FILE",
	Summary: "check the intervals of a witness file",
	Details: `Checks an interval_product witness: p is prime, the k+1 cuts ascend below p, and the product of every
interval between them is 1 mod p.`,
	Example: `erdos1056 witness erdos1056-k14.witness.json`,
	Declare: declareWitness,
}

func declareWitness(f *pflag.FlagSet) func(context.Context, *cli.Call) error {
	return func(ctx context.Context, c *cli.Call) error {
		text, err := readInput(c.Args[0], witness.MaxSize)
		if err != nil {
			return err
		}
		w, err := witness.Parse(text)
		if err == nil {
			err = w.Check(ctx)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			if c.JSON {
				printVerdict(c, "rejected", err.Error())
			}
			return cli.WithCode(cli.Failed, err)
		}
		if c.JSON {
			printVerdict(c, "verified", "")
		} else {
			c.Print("verified erdos:1056 witness k=%d p=%d", w.K, w.P)
		}
		return nil
	}
}
