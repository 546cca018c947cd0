package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/erdos1056/erdos1056/capsule/records/keys"
)

// maxKeyText bounds a registry or passphrase file.
const maxKeyText = 1 << 20

// keyFlags name a private key.
type keyFlags struct{ path, passphrase string }

func (f *keyFlags) declare(flags *pflag.FlagSet) {
	flags.StringVar(&f.path, "key", "", "private key file, as capsule keygen makes it")
	flags.StringVar(&f.passphrase, "passphrase-file", "", "file with the passphrase of the key (default: ask the terminal)")
}

func (f *keyFlags) read() (keys.Key, error) {
	if f.path == "" {
		return keys.Key{}, usageError("no key given; write --key FILE")
	}
	return keys.Read(f.path, func() (string, error) { return readPassphrase(f.passphrase, "passphrase of "+f.path) })
}

// readPassphrase reads the first line of a file, or asks the terminal.
func readPassphrase(file, prompt string) (string, error) {
	if file != "" {
		text, err := readFile("--passphrase-file", file, maxKeyText)
		if err != nil {
			return "", err
		}
		line, _, _ := strings.Cut(string(text), "\n")
		if line == "" {
			return "", fmt.Errorf("--passphrase-file %s: expected a passphrase in its first line", file)
		}
		return line, nil
	}
	terminal := int(os.Stdin.Fd())
	if !term.IsTerminal(terminal) {
		return "", usageError("a passphrase is needed and standard input is no terminal; write --passphrase-file FILE")
	}
	fmt.Fprintf(os.Stderr, "%s: ", prompt)
	line, err := term.ReadPassword(terminal)
	fmt.Fprintln(os.Stderr)
	return string(line), err
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
		return keys.Registry{}, fmt.Errorf("%s: %w", path, err)
	}
	return registry, nil
}
