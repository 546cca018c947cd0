package main

import (
	"context"
	"crypto/ed25519"
	"strings"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/capsule/records/keys"
	"github.com/erdos1056/erdos1056/kernel/durable"
)

var trust = verb{
	name:    "trust",
	summary: "enter somebody's public key in a registry of trusted keys",
	example: `capsule trust academy-public-key.pem --registry keys.json --holder "Academy" --role proctor`,
	declare: func(flags *pflag.FlagSet) func(context.Context, *call) error {
		f := new(entryFlags)
		f.declare(flags)
		return func(_ context.Context, c *call) error {
			name, err := c.oneFile("a file with a public key")
			if err != nil {
				return err
			}
			text, err := readFile("key", name, maxKeyText)
			if err != nil {
				return err
			}
			public, err := parsePublic(string(text))
			if err != nil {
				return mismatchError("%s: %v", name, err)
			}
			if f.registry == "" {
				return usageError("no registry given; write --registry FILE")
			}
			if err := f.enter(public); err != nil {
				return err
			}
			fingerprint := keys.FingerprintOf(public)
			return c.print(map[string]any{"type": "trust", "fingerprint": fingerprint, "holder": f.holder, "roles": f.roles},
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

// enter adds a key to the registry, if one is named.
func (f *entryFlags) enter(public ed25519.PublicKey) error {
	text, err := f.prepare(public)
	if err != nil || text == nil {
		return err
	}
	return durable.WriteFile(f.registry, text, 0o644)
}

// prepare returns the registry with the key in it, nil if none is named.
func (f *entryFlags) prepare(public ed25519.PublicKey) ([]byte, error) {
	if f.registry == "" {
		return nil, nil
	}
	if f.holder == "" {
		return nil, usageError("a registry says who holds a key; write --holder NAME")
	}
	registry, err := readOrNewRegistry("--registry", f.registry)
	if err != nil {
		return nil, err
	}
	entry := keys.Entry{Public: public, Holder: f.holder}
	for _, role := range f.roles {
		entry.Roles = append(entry.Roles, keys.Role(role))
	}
	text, err := registry.With(entry).Encode()
	if err != nil {
		return nil, usageError("%v", err)
	}
	return text, nil
}
