package main

import (
	"bytes"
	"context"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/capsule/formal"
	capsuleimage "github.com/erdos1056/erdos1056/capsule/image"
	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/lean"
	"github.com/erdos1056/erdos1056/lean/audit"
)

// capsuleFlags say what a capsule is frozen to: a range, or a theorem.
type capsuleFlags struct {
	claimFlags
	theorem theoremFlags
}

func (f *capsuleFlags) declare(flags *pflag.FlagSet) {
	f.claimFlags.declare(flags)
	f.theorem.declare(flags)
}

// given reports whether there is any claim.
func (f *capsuleFlags) given() bool { return f.rangeText != "" || f.theorem.given() }

// freeze makes the capsule.
func (f *capsuleFlags) freeze(ctx context.Context, c *cli.Call) (capsuleimage.Capsule, error) {
	if f.theorem.given() {
		return f.freezeTheorem(ctx, c)
	}
	if f.rangeText == "" {
		return capsuleimage.Capsule{}, cli.Usagef("no claim given; write --range A..B, or --lean --challenge FILE --target NAME")
	}
	claim, platforms, err := f.parse()
	if err != nil {
		return capsuleimage.Capsule{}, err
	}
	return capsuleimage.Freeze(ctx, f.source, claim, platforms)
}

func (f *capsuleFlags) freezeTheorem(ctx context.Context, c *cli.Call) (capsuleimage.Capsule, error) {
	if f.rangeText != "" {
		return capsuleimage.Capsule{}, cli.Usagef("a capsule has one claim: --range, or --lean with --challenge and --target")
	}
	claim, err := f.theorem.claim(c)
	if err != nil {
		return capsuleimage.Capsule{}, err
	}
	platforms, err := f.origin()
	if err != nil {
		return capsuleimage.Capsule{}, err
	}
	return capsuleimage.FreezeFormal(ctx, f.source, claim, platforms)
}

// theoremFlags say what a formal verifier is frozen to.
type theoremFlags struct {
	lean              bool
	challenge, target string
	permit            []string
	permitFlag        *pflag.Flag
}

func (f *theoremFlags) declare(flags *pflag.FlagSet) {
	flags.BoolVar(&f.lean, "lean", false, "claim a theorem instead of a range: a formal capsule")
	flags.StringVar(&f.challenge, "challenge", "", "with --lean: trusted export that states the theorem, plain or gzip")
	flags.StringVar(&f.target, "target", "", "with --lean: name of the theorem")
	flags.StringSliceVar(&f.permit, "permit", audit.Standard, "with --lean: axioms that a proof may rest on")
	f.permitFlag = flags.Lookup("permit")
}

func (f *theoremFlags) given() bool {
	return f.lean || f.challenge != "" || f.target != "" || f.permitFlag.Changed
}

// claim reads the challenge and shows how it states the theorem.
func (f *theoremFlags) claim(c *cli.Call) (formal.Claim, error) {
	switch {
	case !f.lean:
		return formal.Claim{}, cli.Usagef("--challenge, --target and --permit belong to a formal capsule; add --lean")
	case f.challenge == "" || f.target == "":
		return formal.Claim{}, cli.Usagef("a formal capsule needs --challenge FILE and --target NAME")
	}
	challenge, err := readFile("--challenge", f.challenge, formal.MaxChallenge)
	if err != nil {
		return formal.Claim{}, err
	}
	claim, err := formal.New(f.target, f.permit, challenge)
	if err != nil {
		return formal.Claim{}, cli.Usagef("%v", err)
	}
	statement, err := lean.Statement(bytes.NewReader(challenge), claim.Target, claim.Permit)
	if err != nil {
		return formal.Claim{}, cli.Failf("%s: %v", f.challenge, err)
	}
	c.Say("%s : %s", claim.Target, statement)
	return claim, nil
}
