package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/capsule/bundle"
	"github.com/erdos1056/erdos1056/capsule/canon"
	"github.com/erdos1056/erdos1056/capsule/file"
	"github.com/erdos1056/erdos1056/capsule/keys"
)

// maxBundleText bounds a bundle, a certificate or a task in bytes.
const maxBundleText = 64 << 20

var bundleExport = verb{
	name:    "bundle export",
	summary: "write a completed run as one run bundle",
	example: "capsule bundle export run1 --key key.pem --output run1.bundle.json",
	declare: func(flags *pflag.FlagSet) func(context.Context, *call) error {
		var proctor, output string
		var key keyFlags
		flags.StringVar(&proctor, "proctored-by", "", "who drove the run (default: self-reported)")
		flags.StringVar(&output, "output", "", "file to write the bundle into")
		key.declare(flags)
		return func(_ context.Context, c *call) error {
			run, err := c.oneFile("the folder of a run")
			if err != nil {
				return err
			}
			d, err := bundle.Export(run, proctor)
			if err != nil {
				return fmt.Errorf("%s: %w", run, err)
			}
			if key.path != "" {
				if err := signWith(d, key); err != nil {
					return err
				}
			}
			return writeBundle(c, d, output)
		}
	},
}

var bundleSign = verb{
	name:    "bundle sign",
	summary: "sign a run bundle as its entrant",
	example: "capsule bundle sign run1.bundle.json --key key.pem --output run1.signed.json",
	declare: func(flags *pflag.FlagSet) func(context.Context, *call) error {
		var output string
		var key keyFlags
		key.declare(flags)
		flags.StringVar(&output, "output", "", "file to write the signed bundle into")
		return func(_ context.Context, c *call) error {
			d, err := readBundle(c)
			if err != nil {
				return err
			}
			if err := signWith(d, key); err != nil {
				return err
			}
			return writeBundle(c, d, output)
		}
	},
}

var bundleCosign = verb{
	name:    "bundle cosign",
	summary: "co-sign a proctored run bundle that its entrant has signed",
	example: "capsule bundle cosign run1.signed.json --key proctor.pem --keys keys.json --output run1.cosigned.json",
	declare: func(flags *pflag.FlagSet) func(context.Context, *call) error {
		var output string
		var key keyFlags
		var trust trustFlags
		key.declare(flags)
		trust.declare(flags)
		flags.StringVar(&output, "output", "", "file to write the co-signed bundle into")
		return func(_ context.Context, c *call) error {
			d, err := readBundle(c)
			if err != nil {
				return err
			}
			registry, err := trust.read()
			if err != nil {
				return err
			}
			private, err := key.read()
			if err != nil {
				return err
			}
			if err := d.Cosign(private, registry); err != nil {
				return mismatchError("%v", err)
			}
			return writeBundle(c, d, output)
		}
	},
}

func signWith(d *bundle.Document, f keyFlags) error {
	key, err := f.read()
	if err != nil {
		return err
	}
	if err := d.Sign(key); err != nil {
		return mismatchError("%v", err)
	}
	return nil
}

func readBundle(c *call) (*bundle.Document, error) {
	name, err := c.oneFile("a run bundle")
	if err != nil {
		return nil, err
	}
	text, err := readFile("bundle", name, maxBundleText)
	if err != nil {
		return nil, err
	}
	d, err := bundle.Read(text)
	if err != nil {
		return nil, mismatchError("%s: %v", name, err)
	}
	return d, nil
}

// writeBundle writes a bundle into a new file, or prints it.
func writeBundle(c *call, d *bundle.Document, output string) error {
	text, err := d.Encode()
	if err != nil {
		return err
	}
	if output == "" {
		_, err := c.stdout.Write(text)
		return err
	}
	if err := file.Create(output, text, 0o644); err != nil {
		return err
	}
	return c.print(map[string]any{"type": "bundle", "path": output, "run_id": d.RunID, "bundle_hash": d.Integrity.BundleHash},
		"%s  bundle hash %s", output, d.Integrity.BundleHash)
}

var bundleVerify = verb{
	name:    "bundle verify",
	summary: "check a run bundle or a certificate against a registry of keys",
	example: "capsule bundle verify run1.cosigned.json --keys keys.json",
	declare: func(flags *pflag.FlagSet) func(context.Context, *call) error {
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

func (f *bundleVerifyFlags) run(_ context.Context, c *call) error {
	name, err := c.oneFile("a run bundle or a certificate")
	if err != nil {
		return err
	}
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
	r := bundle.Verify(text, registry)
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

func (f *bundleVerifyFlags) verifyCertificate(c *call, name string, text []byte, registry keys.Registry) error {
	at := time.Now()
	if f.at != "" {
		var err error
		if at, err = time.Parse(time.RFC3339, f.at); err != nil {
			return usageError("--at %s: expected a time such as 2026-07-20T00:00:00Z", f.at)
		}
	}
	r := bundle.VerifyCertificate(text, registry, at)
	return f.strictness.conclude(c, name, r.Verdict, map[string]any{"certificate_hash": r.Hash, "signer": r.Signer},
		fmt.Sprintf("certificate %s  signed by %s", r.Hash, orNone(r.Signer)))
}

func orNone(f keys.Fingerprint) string {
	if f == "" {
		return "none"
	}
	return string(f)
}

func (f *bundleVerifyFlags) readTasks() ([]bundle.Task, error) {
	var tasks []bundle.Task
	for _, name := range f.tasks {
		text, err := readFile("--task", name, maxBundleText)
		if err != nil {
			return nil, err
		}
		task, err := bundle.ReadTask(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		tasks = append(tasks, task)
	}
	return tasks, nil
}
