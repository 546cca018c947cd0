package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/capsule/declaration"
	capsuleimage "github.com/erdos1056/erdos1056/capsule/image"
	"github.com/erdos1056/erdos1056/kernel/plan"
)

var declare = verb{
	name:    "declare",
	summary: "declare and sign what a frozen verifier does and within which bounds",
	example: "capsule declare --range 10428401..10428600 --verified artifact.txt --refused altered.txt --key key.pem --output declaration",
	declare: func(flags *pflag.FlagSet) func(context.Context, *call) error {
		f := new(declareFlags)
		f.claim.declare(flags)
		flags.StringArrayVar(&f.verified, "verified", nil, "an artifact that the verifier must verify")
		flags.StringArrayVar(&f.refused, "refused", nil, "an artifact that the verifier must refuse")
		flags.StringVar(&f.version, "version", "1.0.0", "version of the declaration")
		flags.Uint32Var(&f.bounds.LatencyMS, "max-latency", 60_000, "greatest wall time of a call, in milliseconds")
		flags.Int64Var(&f.memory, "max-memory", 512, "greatest memory of a call, in MiB")
		flags.Int64Var(&f.bounds.Processes, "max-pids", 64, "greatest number of processes and threads of a call")
		flags.Uint32Var(&f.bounds.ResponseBytes, "max-output", 4096, "greatest output of a call, in bytes")
		f.key.declare(flags)
		flags.StringVar(&f.output, "output", "", "folder to write the declaration into")
		return f.run
	},
}

type declareFlags struct {
	claim             claimFlags
	verified, refused []string
	version, output   string
	memory            int64
	bounds            declaration.Bounds
	key               keyFlags
}

func (f *declareFlags) run(ctx context.Context, c *call) error {
	if err := c.noArguments(); err != nil {
		return err
	}
	if f.output == "" {
		return usageError("no folder given; write --output DIR")
	}
	claim, platforms, err := f.claim.parse()
	if err != nil {
		return err
	}
	key, err := f.key.read()
	if err != nil {
		return err
	}
	p, err := f.plan(claim)
	if err != nil {
		return err
	}
	capsule, err := capsuleimage.Freeze(ctx, f.claim.source, claim, platforms)
	if err != nil {
		return err
	}
	for _, platform := range platforms {
		p.Verifiers = append(p.Verifiers, declaration.Verifier{Platform: platform.String(), Content: capsule.Verifiers[platform]})
	}
	if err := declaration.Write(f.output, p, key); err != nil {
		return err
	}
	return c.print(map[string]any{
		"type": "declaration", "path": f.output, "id": p.ID, "version": p.Version, "publisher": key.Fingerprint(), "cases": len(p.Cases),
	}, "%s  %s %s, %d cases, signed by %s", f.output, p.ID, p.Version, len(p.Cases), key.Fingerprint())
}

func (f *declareFlags) plan(claim plan.Plan) (declaration.Plan, error) {
	p := declaration.Plan{
		ID:      fmt.Sprintf("erdos1056.k%d.%d-%d", claim.K, claim.Lo, claim.Hi),
		Name:    fmt.Sprintf("Erdős 1056, k = %d, %v", claim.K, claim.Range),
		Version: f.version,
		Summary: fmt.Sprintf("Recomputes the greatest fibers of t -> t! mod p for all primes p of %v and compares an artifact with them.", claim.Range),
		Bounds:  f.bounds,
	}
	p.Bounds.MemoryBytes = f.memory << 20
	for _, list := range []struct {
		files    []string
		flag     string
		expected declaration.Expectation
	}{{f.verified, "--verified", declaration.Verified}, {f.refused, "--refused", declaration.Refused}} {
		for _, name := range list.files {
			text, err := readFile(list.flag, name, 1<<20)
			if err != nil {
				return p, err
			}
			p.Cases = append(p.Cases, declaration.Case{ID: filepath.Base(name), Artifact: text, Expected: list.expected})
		}
	}
	return p, nil
}
