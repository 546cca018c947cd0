package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/capsule/records/keys"
	"github.com/erdos1056/erdos1056/internal/cli"
)

// maxKeyText bounds a registry or passphrase file.
const maxKeyText = 1 << 20

// keyFlags name a private key.
type keyFlags struct{ path, passphrase string }

func (f *keyFlags) declare(flags *pflag.FlagSet) {
	flags.StringVar(&f.path, "key", "", "private key file, as capsule keygen makes it")
	flags.StringVar(&f.passphrase, "passphrase-file", "", "file with the passphrase of the key (default: ask the terminal)")
}

func (f *keyFlags) read(ctx context.Context, c *cli.Call) (keys.Key, error) {
	if f.path == "" {
		return keys.Key{}, cli.Usagef("no key given; write --key FILE")
	}
	key, err := keys.Read(f.path, func() (string, error) { return readPassphrase(ctx, c, f.passphrase, "passphrase of "+f.path) })
	return key, classified(cli.BadInput, err)
}

// readPassphrase reads the first line of a file, or asks the terminal.
func readPassphrase(ctx context.Context, c *cli.Call, file, prompt string) (string, error) {
	if file != "" {
		text, err := readFile("--passphrase-file", file, maxKeyText)
		if err != nil {
			return "", err
		}
		line, _, _ := strings.Cut(string(text), "\n")
		line = strings.TrimSuffix(line, "\r")
		if line == "" {
			return "", cli.BadInputf("--passphrase-file %s: expected a passphrase in its first line", file)
		}
		return line, nil
	}
	secret, err := c.Secret(ctx, prompt)
	if cli.ExitCode(err) == cli.Usage {
		err = fmt.Errorf("%w; write --passphrase-file FILE", err)
	}
	return secret, err
}

// trustFlags name the registry of trusted keys.
type trustFlags struct{ path string }

func (f *trustFlags) declare(flags *pflag.FlagSet) {
	flags.StringVar(&f.path, "keys", "", "registry of trusted keys (default: trust nobody)")
}

func (f *trustFlags) read() (keys.Registry, error) {
	if f.path == "" {
		return keys.Registry{}, nil
	}
	return readRegistry("--keys", f.path)
}

func readRegistry(flag, path string) (keys.Registry, error) {
	text, err := readFile(flag, path, maxKeyText)
	if err != nil {
		return keys.Registry{}, err
	}
	registry, err := keys.ParseRegistry(text)
	if err != nil {
		return keys.Registry{}, unfit(path, err)
	}
	return registry, nil
}
