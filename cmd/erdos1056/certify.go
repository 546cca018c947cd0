package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/erdos1056/erdos1056/internal/disk"
	"github.com/erdos1056/erdos1056/kernel/witness"
	"github.com/erdos1056/erdos1056/lean/certificate"
)

const certifyHelp = `erdos1056 certify FILE turns an interval_product witness into a proof: an export that leancheck, or any
other checker of Lean 4 exports, can judge. Nothing in it rests on this program.

  erdos1056 certify erdos1056-k09.witness.json --output proof.ndjson && leancheck proof.ndjson

With --lean it writes the same as Lean source, against the statement of formal-conjectures.
`

func runCertify(ctx context.Context, args []string) error {
	f := newFlags("certify", certifyHelp)
	output := f.String("output", "", "write the proof to this file, whole or not at all, instead of stdout")
	source := f.Bool("lean", false, "write Lean source instead of an export")
	if err := parse(f, args, 1, "erdos1056 certify FILE"); err != nil {
		return helped(err)
	}
	text, err := readInput(f.Arg(0), witness.MaxSize)
	if err != nil {
		return err
	}
	if *output != "" {
		if err := disk.CheckReplaceable(*output); err != nil {
			return usageError("--output %s: %v", *output, err)
		}
	}
	w, err := witness.Parse(text)
	if err == nil {
		err = w.Check(ctx)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return &codedError{exitMismatch, err}
	}
	return writeCertificate(w, *source, *output)
}

func writeCertificate(w witness.Witness, source bool, output string) error {
	claim := certificate.Witness{K: w.K, P: uint64(w.P)}
	for _, t := range w.Cuts {
		claim.Cuts = append(claim.Cuts, uint64(t))
	}
	write := certificate.Write
	if source {
		write = certificate.WriteLean
	}
	if output == "" {
		return writeTo(os.Stdout, write, claim)
	}
	var proof bytes.Buffer
	if err := write(&proof, claim); err != nil {
		return err
	}
	if err := disk.Replace(output, proof.Bytes(), 0o644); err != nil {
		return fmt.Errorf("--output: the proof was not written: %w", err)
	}
	fmt.Fprintf(os.Stderr, "proof of %s for k = %d, p = %d: %d bytes\n", certificate.Theorem, w.K, w.P, proof.Len())
	return nil
}

func writeTo(out io.Writer, write func(io.Writer, certificate.Witness) error, claim certificate.Witness) error {
	if err := write(out, claim); err != nil {
		return fmt.Errorf("writing to stdout: %w", err)
	}
	return nil
}
