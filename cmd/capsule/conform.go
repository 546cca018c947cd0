package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/capsule/records/cuecrux/declaration"
	"github.com/erdos1056/erdos1056/capsule/records/keys"
	"github.com/erdos1056/erdos1056/capsule/sandbox"
	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/internal/disk"
)

var conform = cli.Verb{
	Name:    "conform",
	Args:    "DIR",
	Summary: "replay a declaration in the sandbox and sign whether it holds",
	Example: "capsule conform declaration --keys keys.json --key key.pem --output conformance",
	Declare: func(flags *pflag.FlagSet) func(context.Context, *cli.Call) error {
		f := new(conformFlags)
		f.trust.declare(flags)
		f.key.declare(flags)
		flags.StringVar(&f.output, "output", "", "folder to write evidence.json and verdict.json into")
		flags.StringVar(&f.sandbox, "sandbox", "", "built-in, runc, podman or docker (default: the first that works here)")
		flags.StringVar(&f.platform, "platform", sandbox.Native, "which of the verifiers to run")
		flags.StringVar(&f.check, "check", "", "a folder written before: judge its evidence again and verify its verdict, run nothing")
		return f.run
	},
}

type conformFlags struct {
	trust                            trustFlags
	key                              keyFlags
	output, sandbox, platform, check string
}

// The names of the two files of a conformance folder.
const (
	evidenceName = "evidence.json"
	verdictName  = "verdict.json"
)

func (f *conformFlags) run(ctx context.Context, c *cli.Call) error {
	folder := c.Args[0]
	registry, err := f.trust.read()
	if err != nil {
		return err
	}
	d, err := declaration.Open(folder, registry)
	if err != nil {
		return refused(folder, err)
	}
	if f.check != "" {
		return f.checkAgain(c, d, registry)
	}
	if f.output == "" {
		return cli.Usagef("no folder given; write --output DIR")
	}
	key, err := f.key.read(ctx, c)
	if err != nil {
		return err
	}
	runtime, err := sandbox.Choose(ctx, f.sandbox)
	if err != nil {
		return err
	}
	c.Say("replaying %s twice in the sandbox %s", quantityOf(len(d.Corpus.Cases), "case"), runtime.Name())
	evidence, err := d.Replay(ctx, runtime, f.platform)
	if err != nil {
		return err
	}
	return f.record(c, d, evidence, key)
}

// record writes the evidence first, then the verdict on it.
func (f *conformFlags) record(c *cli.Call, d *declaration.Declared, evidence declaration.Evidence, key keys.Key) error {
	text, err := declaration.EvidenceSpec.Encode(evidence)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.output, 0o755); err != nil {
		return err
	}
	if err := disk.Create(filepath.Join(f.output, evidenceName), text, 0o644); err != nil {
		return err
	}
	v, err := d.SignVerdict(text, key)
	if err != nil {
		return err
	}
	verdict, err := declaration.VerdictSpec.Encode(v)
	if err != nil {
		return err
	}
	if err := disk.Create(filepath.Join(f.output, verdictName), verdict, 0o644); err != nil {
		return err
	}
	return conclude(c, v)
}

func (f *conformFlags) checkAgain(c *cli.Call, d *declaration.Declared, registry keys.Registry) error {
	evidence, err := readFile("--check", filepath.Join(f.check, evidenceName), 8<<20)
	if err != nil {
		return err
	}
	verdict, err := readFile("--check", filepath.Join(f.check, verdictName), 8<<20)
	if err != nil {
		return err
	}
	v, err := d.VerifyVerdict(verdict, evidence, registry)
	if err != nil {
		return cli.Failf("%s: %v", f.check, err)
	}
	return conclude(c, v)
}

// conclude prints the lines of a verdict, then the whole of it.
func conclude(c *cli.Call, v declaration.Verdict) error {
	broken := 0
	for _, l := range v.Lines {
		if !l.Holds {
			broken++
		}
		err := c.Result(map[string]any{"type": "line", "subject": l.Subject, "bound": l.Bound, "observed": l.Observed, "holds": l.Holds},
			"%-6s  %-42s  bound %s  observed %s", hold(l.Holds), l.Subject, l.Bound, l.Observed)
		if err != nil {
			return err
		}
	}
	err := c.Result(map[string]any{"type": "verdict", "holds": v.Holds, "manifest_hash": v.ManifestHash, "evidence_sha256": v.EvidenceSHA256, "signer": v.Signer},
		"%-6s  %s of %s, signed by %s", hold(v.Holds), quantityOf(len(v.Lines), "line"), v.ManifestHash, v.Signer)
	if err == nil && broken > 0 {
		err = cli.Failf("the declaration does not hold: %s broken", quantityOf(broken, "line"))
	}
	return err
}

// hold formats whether a line of a verdict holds.
func hold(holds bool) string {
	if holds {
		return "holds"
	}
	return "BROKEN"
}

// quantityOf counts things for people: "1 case", "2 cases".
func quantityOf(n int, thing string) string {
	if n == 1 {
		return fmt.Sprintf("1 %s", thing)
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
