package main

import (
	"bytes"
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/kernel/witness"
	"github.com/erdos1056/erdos1056/lean/certificate"
)

var certifyVerb = cli.Verb{
	Name:    "certify",
	Args:    "FILE",
	Summary: "turn a witness into a Lean proof",
	Details: `Turns an interval_product witness into a proof: an export that leancheck, or any other checker of
Lean 4 exports, can judge. Nothing in it rests on this program. With --lean it writes the same as Lean
source, against the statement of formal-conjectures.`,
	Example: `erdos1056 certify erdos1056-k09.witness.json --output proof.ndjson && leancheck proof.ndjson`,
	Text:    true,
	Declare: declareCertify,
}

func declareCertify(f *pflag.FlagSet) func(context.Context, *cli.Call) error {
	output := f.String("output", cli.Stdout, "write the proof to this file, whole or not at all, instead of stdout")
	source := f.Bool("lean", false, "write Lean source instead of an export")
	return func(ctx context.Context, c *cli.Call) error {
		text, err := readInput(c.Args[0], witness.MaxSize)
		if err != nil {
			return err
		}
		if err := cli.CheckOutput(*output); err != nil {
			return fmt.Errorf("--output: %w", err)
		}
		w, err := witness.Parse(text)
		if err != nil {
			return cli.BadInputf("%s: %w", c.Args[0], err)
		}
		err = w.Check(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return cli.WithCode(cli.Failed, err)
		}
		return writeCertificate(c, w, *source, *output)
	}
}

func writeCertificate(c *cli.Call, w witness.Witness, source bool, output string) error {
	claim := certificate.Witness{K: w.K, P: uint64(w.P)}
	for _, t := range w.Cuts {
		claim.Cuts = append(claim.Cuts, uint64(t))
	}
	write := certificate.Write
	if source {
		write = certificate.WriteLean
	}
	if output == cli.Stdout {
		return write(c.Stdout, claim)
	}
	var proof bytes.Buffer
	if err := write(&proof, claim); err != nil {
		return err
	}
	if err := c.Output(output, proof.Bytes()); err != nil {
		return fmt.Errorf("--output: the proof was not written: %w", err)
	}
	c.Say("proof of %s for k = %d, p = %d: %d bytes", certificate.Theorem, w.K, w.P, proof.Len())
	return nil
}
