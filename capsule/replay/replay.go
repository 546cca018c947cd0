// Package replay asks a frozen verifier about an artifact, shut in, and tells a
// verdict from everything that is none.
package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"golang.org/x/sys/unix"

	"github.com/erdos1056/erdos1056/capsule/sandbox"
	"github.com/erdos1056/erdos1056/internal/disk"
)

// A Request is one question to one verifier.
type Request struct {
	Verifier []byte
	Platform string // what the verifier was built for, as in "linux/arm64"
	Artifact []byte
	Runtime  sandbox.Runtime
	Limits   sandbox.Limits
}

// Where the verifier finds itself and its artifact.
const (
	verifierPath = "/capsule/verifier"
	artifactPath = "/artifacts/0"
)

// Exit codes of a verifier that are a verdict.
const (
	exitVerified   = 0
	exitMismatched = 1
)

// A Verdict is a verifier's answer.
type Verdict struct {
	Verified bool
	Message  string // what the verifier said, one line of printable characters
	Outcome  sandbox.Outcome
}

// Ask runs the verifier. An error means that there is no verdict: the program
// could not be run, was stopped by a limit or a signal, or ended with an exit
// code that says neither yes nor no.
func Ask(ctx context.Context, r Request) (v Verdict, err error) {
	// What runs is a private copy of exactly the bytes that were handed over.
	folder, err := disk.NewScratch(disk.Replay)
	if err != nil {
		return Verdict{}, err
	}
	defer func() { err = errors.Join(err, folder.Remove()) }()
	program, text := filepath.Join(folder.Path, "verifier"), filepath.Join(folder.Path, "artifact")
	for name, data := range map[string][]byte{program: r.Verifier, text: r.Artifact} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			return Verdict{}, err
		}
	}
	command, err := sandbox.Command{
		Files: []sandbox.File{{Path: verifierPath, Source: program, Executable: true}, {Path: artifactPath, Source: text}},
		Args:  []string{verifierPath, artifactPath},
	}.For(r.Platform)
	if err != nil {
		return Verdict{}, err
	}
	outcome, err := r.Runtime.Run(ctx, command, r.Limits)
	if err != nil {
		return Verdict{}, err
	}
	v = Verdict{Outcome: outcome}
	switch {
	case outcome.End != sandbox.Exited:
		return v, fmt.Errorf("no verdict: the verifier was stopped (%s)", outcome.End)
	case outcome.ExitCode == exitVerified:
		v.Verified, v.Message = true, firstLine(outcome.Stdout)
	case outcome.ExitCode == exitMismatched:
		v.Message = firstLine(outcome.Stderr)
	default:
		return v, fmt.Errorf("no verdict: the verifier ended with exit code %d: %s", outcome.ExitCode, firstLine(outcome.Stderr))
	}
	return v, nil
}

// firstLine makes a stranger's output fit for a terminal and a log.
func firstLine(output []byte) string {
	const longest = 500
	line, _, _ := strings.Cut(string(output[:min(len(output), longest)]), "\n")
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(line, "?"))
}

// ReadArtifact reads a regular file of at most sandbox.MaxFileSize bytes. What is
// too large for a verifier is for the verifier to say.
func ReadArtifact(name string) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file (%v)", name, info.Mode().Type())
	}
	text, err := io.ReadAll(io.LimitReader(f, sandbox.MaxFileSize+1))
	if err == nil && len(text) > sandbox.MaxFileSize {
		err = fmt.Errorf("%s: more than the %d bytes that a sandbox takes", name, sandbox.MaxFileSize)
	}
	return text, err
}
