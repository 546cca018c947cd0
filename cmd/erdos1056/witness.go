package main

import (
	"context"
	"fmt"

	"github.com/erdos1056/erdos1056/kernel/witness"
)

const witnessHelp = `erdos1056 witness FILE checks an interval_product witness: p is prime, the k+1 cuts ascend below
p, and the product of every interval between them is 1 mod p.

  erdos1056 witness erdos1056-k14.witness.json
`

func runWitness(ctx context.Context, args []string) error {
	f := newFlags("witness", witnessHelp)
	asJSON := f.Bool("json", false, "a JSON line on stdout")
	if err := parse(f, args, 1, "erdos1056 witness FILE"); err != nil {
		return helped(err)
	}
	text, err := readInput(f.Arg(0), witness.MaxSize)
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
		if *asJSON {
			printVerdict("rejected", err.Error())
		}
		return &codedError{exitMismatch, err}
	}
	if *asJSON {
		printVerdict("verified", "")
	} else {
		fmt.Printf("verified erdos:1056 witness k=%d p=%d\n", w.K, w.P)
	}
	return nil
}
