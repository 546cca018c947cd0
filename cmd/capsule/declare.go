package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/capsule/freeze"
	capsuleimage "github.com/erdos1056/erdos1056/capsule/image"
	"github.com/erdos1056/erdos1056/capsule/records/cuecrux/declaration"
	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/internal/digest"
)

var declare = cli.Verb{
	Name:    "declare",
	Summary: "declare and sign what a frozen verifier does and within which bounds",
	Example: "capsule declare --range 10428401..10428600 --verified artifact.txt --refused altered.txt --key key.pem --output declaration",
	Declare: func(flags *pflag.FlagSet) func(context.Context, *cli.Call) error {
		f := new(declareFlags)
		f.claim.declare(flags)
		flags.StringArrayVar(&f.verified, "verified", nil, "an artifact that the verifier must verify")
		flags.StringArrayVar(&f.refused, "refused", nil, "an artifact that the verifier must refuse")
		flags.StringVar(&f.version, "version", "1.0.0", "version of the declaration")
		flags.Uint32Var(&f.bounds.LatencyMS, "max-latency", 60_000, "greatest wall time of a call, in milliseconds")
		flags.Int64Var(&f.memory, "max-memory", 0, "greatest memory of a call, in MiB (default 512, or 1024 with --lean)")
		flags.Int64Var(&f.bounds.Processes, "max-pids", 64, "greatest number of processes and threads of a call")
		flags.Uint32Var(&f.bounds.ResponseBytes, "max-output", 4096, "greatest output of a call, in bytes")
		f.key.declare(flags)
		flags.StringVar(&f.output, "output", "", "folder to write the declaration into")
		return f.run
	},
}

type declareFlags struct {
	claim             capsuleFlags
	verified, refused []string
	version, output   string
	memory            int64
	bounds            declaration.Bounds
	key               keyFlags
}

func (f *declareFlags) run(ctx context.Context, c *cli.Call) error {
	if f.output == "" {
		return cli.Usagef("no folder given; write --output DIR")
	}
	key, err := f.key.read(ctx, c)
	if err != nil {
		return err
	}
	cases, err := f.cases()
	if err != nil {
		return err
	}
	capsule, err := f.claim.freeze(ctx, c)
	if err != nil {
		return err
	}
	p := f.plan(capsule)
	p.Cases = cases
	for _, platform := range freeze.Platforms {
		if verifier, ok := capsule.Verifiers[platform]; ok {
			p.Verifiers = append(p.Verifiers, declaration.Verifier{Platform: platform.String(), Content: verifier})
		}
	}
	if err := declaration.Write(f.output, p, key); err != nil {
		return err
	}
	return c.Result(map[string]any{
		"type": "declaration", "path": f.output, "id": p.ID, "version": p.Version, "publisher": key.Fingerprint(), "cases": len(p.Cases),
	}, "%s  %s %s, %d cases, signed by %s", f.output, p.ID, p.Version, len(p.Cases), key.Fingerprint())
}

// plan says what the capsule does. What the verifier is frozen to is in its
// bytes, which the declaration names by digest; the summary says it to people.
func (f *declareFlags) plan(capsule capsuleimage.Capsule) declaration.Plan {
	p := declaration.Plan{Version: f.version, Bounds: f.bounds}
	memory := int64(512)
	if t := capsule.Formal; t != nil {
		memory = 1024 // what leancheck may use, and the program itself
		p.ID = capsule.Name()
		p.Name = fmt.Sprintf("Proofs of %q", t.Target)
		p.Summary = fmt.Sprintf("Judges an export of Lean 4: whether it proves the theorem %q as the challenge %s states it, with no axioms but %q.",
			t.Target, digest.Of(t.Challenge), t.Permit)
	} else {
		claim := capsule.Claim
		p.ID = fmt.Sprintf("erdos1056.k%d.%d-%d", claim.K, claim.Lo, claim.Hi)
		p.Name = fmt.Sprintf("Erdős 1056, k = %d, %v", claim.K, claim.Range)
		p.Summary = fmt.Sprintf("Recomputes the greatest fibers of t -> t! mod p for all primes p of %v and compares an artifact with them.", claim.Range)
	}
	if f.memory != 0 {
		memory = f.memory
	}
	p.Bounds.MemoryBytes = memory << 20
	return p
}

// cases reads the artifacts and says what the verifier must make of each.
func (f *declareFlags) cases() ([]declaration.Case, error) {
	var cases []declaration.Case
	for _, list := range []struct {
		files    []string
		flag     string
		expected declaration.Expectation
	}{{f.verified, "--verified", declaration.Verified}, {f.refused, "--refused", declaration.Refused}} {
		for _, name := range list.files {
			text, err := readFile(list.flag, name, declaration.MaxArtifact)
			if err != nil {
				return nil, err
			}
			cases = append(cases, declaration.Case{ID: filepath.Base(name), Artifact: text, Expected: list.expected})
		}
	}
	return cases, nil
}
