package main

import (
	"context"

	"github.com/erdos1056/erdos1056/capsule/records/academy"
	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/internal/disk"
)

// maxBundleText bounds a bundle, a certificate or a task in bytes.
const maxBundleText = 64 << 20

func signWith(ctx context.Context, c *cli.Call, d *academy.Document, f keyFlags) error {
	key, err := f.read(ctx, c)
	if err != nil {
		return err
	}
	if err := d.Sign(key); err != nil {
		return cli.Failf("%v", err)
	}
	return nil
}

func readBundle(c *cli.Call) (*academy.Document, error) {
	name := c.Args[0]
	text, err := readFile("bundle", name, maxBundleText)
	if err != nil {
		return nil, err
	}
	d, err := academy.Read(text)
	if err != nil {
		return nil, refused(name, err)
	}
	return d, nil
}

// writeBundle writes a bundle into a new file, or prints it.
func writeBundle(c *cli.Call, d *academy.Document, output string) error {
	text, err := d.Encode()
	if err != nil {
		return err
	}
	if output == "" {
		_, err := c.Stdout.Write(text)
		return err
	}
	if err := disk.Create(output, text, 0o644); err != nil {
		return err
	}
	return c.Result(map[string]any{"type": "bundle", "path": output, "run_id": d.RunID, "bundle_hash": d.Integrity.BundleHash},
		"%s  bundle hash %s", output, d.Integrity.BundleHash)
}
