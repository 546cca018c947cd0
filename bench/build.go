package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// command runs a tool in a folder and returns its standard output without the blanks
// around it.
func command(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	var stdout bytes.Buffer
	var messages tail
	cmd.Stdout, cmd.Stderr = &stdout, &messages
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("%s was not found; install it (Debian: g++, git, golang) and try again", name)
	case err != nil:
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, messages)
	}
	return strings.TrimSpace(stdout.String()), nil
}

// moduleRoot is the folder of this module's go.mod.
func moduleRoot(ctx context.Context) (string, error) {
	return command(ctx, ".", "go", "list", "-m", "-f", "{{.Dir}}")
}

// buildSearcher builds the command erdos1056 of the tree at root, static as `make build` does.
func buildSearcher(ctx context.Context, root, path string) error {
	_, err := command(ctx, root, "env", "CGO_ENABLED=0", "go", "build", "-trimpath", "-o", path, "./cmd/erdos1056")
	return err
}

// buildBaseline builds the published method.
func buildBaseline(ctx context.Context, root, path string) error {
	_, err := command(ctx, root, "g++", "-O3", "-o", path, filepath.Join("bench", "baseline", "baseline.cpp"))
	return err
}
