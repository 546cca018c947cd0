package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/capsule/records/academy"
	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/keys"
	"github.com/erdos1056/erdos1056/internal/cli"
)

var bundleVerify = cli.Verb{
	Name:    "bundle verify",
	Args:    "FILE",
	Summary: "check a run bundle or a certificate against a registry of keys",
	Example: "capsule bundle verify run1.cosigned.json --keys keys.json",
	Declare: func(flags *pflag.FlagSet) func(context.Context, *cli.Call) error {
		f := new(bundleVerifyFlags)
		f.trust.declare(flags)
		f.strictness.declare(flags)
		flags.StringArrayVar(&f.tasks, "task", nil, "a task of the suite, to compare the run with")
		flags.StringVar(&f.at, "at", "", "the moment at which a certificate must be valid, as 2026-07-20T00:00:00Z (default: now)")
		return f.run
	},
}

type bundleVerifyFlags struct {
	trust      trustFlags
	strictness strictnessFlags
	tasks      []string
	at         string
}

func (f *bundleVerifyFlags) run(_ context.Context, c *cli.Call) error {
	name := c.Args[0]
	registry, err := f.trust.read()
	if err != nil {
		return err
	}
	text, err := readFile("bundle", name, maxBundleText)
	if err != nil {
		return err
	}
	if isCertificate(text) {
		return f.verifyCertificate(c, name, text, registry)
	}
	tasks, err := f.readTasks()
	if err != nil {
		return err
	}
	r := academy.Verify(text, registry)
	r.InspectFlags(tasks)
	details := map[string]any{"bundle_hash": r.Hash, "entrant": r.Entrant, "proctor": r.Proctor}
	return f.strictness.conclude(c, name, r.Verdict, details, fmt.Sprintf("run bundle %s  entrant %s  proctor %s", r.Hash, orNone(r.Entrant), orNone(r.Proctor)))
}

// isCertificate tells the two kinds of file apart.
func isCertificate(text []byte) bool {
	doc, err := canon.Parse(text, canon.Limits{Bytes: maxBundleText, Depth: 64})
	if err != nil {
		return false
	}
	_, found := doc.Root.Lookup("certVersion")
	return found
}

func (f *bundleVerifyFlags) verifyCertificate(c *cli.Call, name string, text []byte, registry keys.Registry) error {
	at := time.Now()
	if f.at != "" {
		var err error
		if at, err = time.Parse(time.RFC3339, f.at); err != nil {
			return cli.Usagef("--at %s: expected a time such as 2026-07-20T00:00:00Z", f.at)
		}
	}
	r := academy.VerifyCertificate(text, registry, at)
	return f.strictness.conclude(c, name, r.Verdict, map[string]any{"certificate_hash": r.Hash, "signer": r.Signer},
		fmt.Sprintf("certificate %s  signed by %s", r.Hash, orNone(r.Signer)))
}

func orNone(f keys.Fingerprint) string {
	if f == "" {
		return "none"
	}
	return string(f)
}

func (f *bundleVerifyFlags) readTasks() ([]academy.Task, error) {
	var tasks []academy.Task
	for _, name := range f.tasks {
		text, err := readFile("--task", name, maxBundleText)
		if err != nil {
			return nil, err
		}
		task, err := academy.ReadTask(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		tasks = append(tasks, task)
	}
	return tasks, nil
}
