package replay

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/erdos1056/erdos1056/capsule/sandbox"
	"github.com/erdos1056/erdos1056/kernel/artifact"
)

// A scripted runtime ends every run in the same way.
type scripted struct {
	outcome sandbox.Outcome
	err     error
	seen    map[string][]byte
}

func (*scripted) Name() string                          { return "scripted" }
func (*scripted) Probe(context.Context) (string, error) { return "", nil }

func (s *scripted) Run(_ context.Context, c sandbox.Command, _ sandbox.Limits) (sandbox.Outcome, error) {
	s.seen = make(map[string][]byte)
	for _, f := range c.Files {
		data, err := os.ReadFile(f.Source)
		if err != nil {
			return sandbox.Outcome{}, err
		}
		s.seen[f.Path] = data
	}
	return s.outcome, s.err
}

func TestOnlyTwoExitCodesAreAVerdict(t *testing.T) {
	for name, c := range map[string]struct {
		outcome  sandbox.Outcome
		err      error
		verified bool
		message  string
		failure  string
	}{
		"verified":      {outcome: sandbox.Outcome{End: sandbox.Exited, Stdout: []byte("verified\nmore\n")}, verified: true, message: "verified"},
		"rejected":      {outcome: sandbox.Outcome{End: sandbox.Exited, ExitCode: 1, Stderr: []byte("line 7")}, message: "line 7"},
		"usage":         {outcome: sandbox.Outcome{End: sandbox.Exited, ExitCode: 64}, failure: "no verdict: the verifier ended with exit code 64"},
		"failed":        {outcome: sandbox.Outcome{End: sandbox.Exited, ExitCode: 70}, failure: "no verdict: the verifier ended with exit code 70"},
		"crashed":       {outcome: sandbox.Outcome{End: sandbox.Exited, ExitCode: 2}, failure: "no verdict"},
		"time":          {outcome: sandbox.Outcome{End: sandbox.TimeLimit, ExitCode: -1}, failure: "no verdict: the verifier was stopped (time limit)"},
		"memory":        {outcome: sandbox.Outcome{End: sandbox.MemoryLimit, ExitCode: -1}, failure: "stopped (memory limit)"},
		"output":        {outcome: sandbox.Outcome{End: sandbox.OutputLimit, ExitCode: -1}, failure: "stopped (output limit)"},
		"signal":        {outcome: sandbox.Outcome{End: sandbox.Signaled, ExitCode: -1}, failure: "stopped (killed by a signal)"},
		"not started":   {err: errors.New("no sandbox"), failure: "no sandbox"},
		"escape codes":  {outcome: sandbox.Outcome{End: sandbox.Exited, Stdout: []byte("ok\x1b[2J\xff")}, verified: true, message: "ok?[2J?"},
		"endless line":  {outcome: sandbox.Outcome{End: sandbox.Exited, Stdout: bytes.Repeat([]byte("x"), 9999)}, verified: true, message: strings.Repeat("x", 500)},
		"silent assent": {outcome: sandbox.Outcome{End: sandbox.Exited}, verified: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := &scripted{outcome: c.outcome, err: c.err}
			v, err := Ask(context.Background(), Request{Verifier: []byte("program"), Artifact: []byte("text"), Platform: sandbox.Native, Runtime: r})
			if (err == nil) != (c.failure == "") || err != nil && !strings.Contains(err.Error(), c.failure) {
				t.Errorf("got error %v, want %q", err, c.failure)
			}
			if v.Verified != c.verified || err == nil && v.Message != c.message {
				t.Errorf("got %+v", v)
			}
			if string(r.seen[verifierPath]) != "program" || string(r.seen[artifactPath]) != "text" || len(r.seen) != 2 {
				t.Errorf("the sandbox was given %q", r.seen)
			}
		})
	}
	if _, err := Ask(context.Background(), Request{Platform: "plan9/amd64", Runtime: &scripted{}}); err == nil {
		t.Error("an unknown platform was run")
	}
}

func TestArtifactsAreReadOnlyFromRegularFiles(t *testing.T) {
	dir := t.TempDir()
	pipe, long, huge := filepath.Join(dir, "pipe"), filepath.Join(dir, "long"), filepath.Join(dir, "huge")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(long, make([]byte, 2*artifact.MaxSize), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(huge, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(huge, sandbox.MaxFileSize+1); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{dir, pipe, filepath.Join(dir, "missing"), "/dev/zero", huge} {
		if _, err := ReadArtifact(name); err == nil {
			t.Errorf("%s was read", name)
		}
	}
	text, err := ReadArtifact(long)
	if err != nil || len(text) != 2*artifact.MaxSize {
		t.Errorf("a file that is too large for the verifier alone gave %d bytes, %v", len(text), err)
	}
}
