package main

import (
	"context"
	"crypto/ed25519"
	"errors"
	"io/fs"
	"strings"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/capsule/records/keys"
	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/internal/disk"
)

var trust = cli.Verb{
	Name:    "trust",
	Args:    "KEY",
	Summary: "enter somebody's public key in a registry of trusted keys",
	Example: `capsule trust academy-public-key.pem --registry keys.json --holder "Academy" --role proctor`,
	Declare: func(flags *pflag.FlagSet) func(context.Context, *cli.Call) error {
		f := new(entryFlags)
		f.declare(flags)
		return func(ctx context.Context, c *cli.Call) error {
			name := c.Args[0]
			text, err := readFile("key", name, maxKeyText)
			if err != nil {
				return err
			}
			public, err := parsePublic(string(text))
			if err != nil {
				return cli.Failf("%s: %v", name, err)
			}
			if f.registry == "" {
				return cli.Usagef("no registry given; write --registry FILE")
			}
			if err := f.enter(ctx, public); err != nil {
				return err
			}
			fingerprint := keys.FingerprintOf(public)
			return c.Result(map[string]any{"type": "trust", "fingerprint": fingerprint, "holder": f.holder, "roles": f.roles},
				"%s  %s  %s", fingerprint, f.holder, strings.Join(f.roles, ","))
		}
	},
}

// parsePublic reads a public key as PEM or as hexadecimal digits.
func parsePublic(text string) (ed25519.PublicKey, error) {
	if strings.Contains(text, "-----BEGIN") {
		return keys.ParsePublicPEM(text)
	}
	return keys.ParsePublic(strings.TrimSpace(text))
}

// entryFlags say how a key is entered in a registry.
type entryFlags struct {
	registry, holder string
	roles            []string
}

func (f *entryFlags) declare(flags *pflag.FlagSet) {
	flags.StringVar(&f.registry, "registry", "", "registry to enter the public key in; made when absent")
	flags.StringVar(&f.holder, "holder", "", "who holds the key, for the registry")
	flags.StringSliceVar(&f.roles, "role", []string{"publisher", "entrant"}, "what the key may sign: publisher, entrant, proctor")
}

// enter adds a key to the registry, if one is named. Others who do so at the
// same time wait.
func (f *entryFlags) enter(ctx context.Context, public ed25519.PublicKey) error {
	if f.registry == "" {
		return nil
	}
	return disk.Update(ctx, f.registry, maxKeyText, 0o644, func(old []byte) ([]byte, error) { return f.with(old, public) })
}

// check reports whether enter can be expected to succeed.
func (f *entryFlags) check(public ed25519.PublicKey) error {
	if f.registry == "" {
		return nil
	}
	old, err := disk.Read(f.registry, maxKeyText, disk.FollowLinks)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := f.with(old, public); err != nil {
		return err
	}
	return disk.CheckReplaceable(f.registry)
}

// with returns the text of the registry, nil for none, with the key in it.
func (f *entryFlags) with(old []byte, public ed25519.PublicKey) ([]byte, error) {
	if f.holder == "" {
		return nil, cli.Usagef("a registry says who holds a key; write --holder NAME")
	}
	var registry keys.Registry
	if old != nil {
		var err error
		if registry, err = keys.ParseRegistry(old); err != nil {
			return nil, unfit(f.registry, err)
		}
	}
	entry := keys.Entry{Public: public, Holder: f.holder}
	for _, role := range f.roles {
		entry.Roles = append(entry.Roles, keys.Role(role))
	}
	text, err := registry.With(entry).Encode()
	if err != nil {
		return nil, cli.Usagef("%v", err)
	}
	return text, nil
}
