package main

import (
	"context"
	"encoding/hex"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/capsule/records/keys"
	"github.com/erdos1056/erdos1056/internal/cli"
)

var keygen = cli.Verb{
	Name:    "keygen",
	Summary: "make a signing key, and enter it in a registry of trusted keys",
	Example: `capsule keygen --output key.pem --encrypt --registry keys.json --holder "Ada" --role publisher,entrant`,
	Declare: func(flags *pflag.FlagSet) func(context.Context, *cli.Call) error {
		f := new(keygenFlags)
		flags.StringVar(&f.output, "output", "", "file to write the private key into, readable by its owner alone")
		flags.BoolVar(&f.encrypt, "encrypt", false, "encrypt the key with a passphrase (age)")
		flags.StringVar(&f.passphrase, "passphrase-file", "", "file with the passphrase (default: ask the terminal)")
		f.entry.declare(flags)
		return f.run
	},
}

type keygenFlags struct {
	output, passphrase string
	encrypt            bool
	entry              entryFlags
}

func (f *keygenFlags) run(ctx context.Context, c *cli.Call) error {
	if f.output == "" {
		return cli.Usagef("no file given; write --output FILE")
	}
	passphrase, err := f.choosePassphrase(ctx, c)
	if err != nil {
		return err
	}
	key, err := keys.Generate()
	if err != nil {
		return err
	}
	// A registry that cannot be written must not leave a key behind.
	if err := f.entry.check(key.Public()); err != nil {
		return err
	}
	if err := keys.Create(f.output, key, passphrase); err != nil {
		return err
	}
	if err := f.entry.enter(ctx, key.Public()); err != nil {
		return err
	}
	return c.Result(map[string]any{
		"type": "key", "path": f.output, "fingerprint": key.Fingerprint(), "public_key_hex": hex.EncodeToString(key.Public()),
	}, "%s  public key %x  %s", key.Fingerprint(), []byte(key.Public()), f.output)
}

// choosePassphrase returns the passphrase of a new key, "" for none.
func (f *keygenFlags) choosePassphrase(ctx context.Context, c *cli.Call) (string, error) {
	if !f.encrypt {
		return "", nil
	}
	first, err := readPassphrase(ctx, c, f.passphrase, "passphrase")
	if err != nil || f.passphrase != "" {
		return first, err
	}
	again, err := readPassphrase(ctx, c, "", "passphrase again")
	switch {
	case err != nil:
		return "", err
	case first == "":
		return "", cli.Usagef("an empty passphrase encrypts nothing")
	case first != again:
		return "", cli.Usagef("the passphrases differ")
	}
	return first, nil
}
