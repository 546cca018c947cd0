package runner

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/erdos1056/erdos1056/capsule/records/canopus/mission"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/record"
	"github.com/erdos1056/erdos1056/capsule/sandbox"
	"github.com/erdos1056/erdos1056/internal/digest"
)

// verifierMemory is what the frozen verifier may use, in bytes.
const verifierMemory = 1 << 30

// Where the verifier sees its files.
const (
	capsuleInside  = "/capsule/verifier"
	inputInside    = "/input"
	artifactInside = "/artifacts/"
)

// judgement is one call of the frozen verifier.
type judgement struct {
	record.VerifierOutcome
	Error  string // why the status is error; "" otherwise
	Stdout []byte
	Stderr []byte
}

// outputBytes is what the call wrote, for the budget.
func (j judgement) outputBytes() int64 { return int64(len(j.Stdout) + len(j.Stderr)) }

// judge runs the frozen verifier of a bundle on frozen artifacts, within the
// mission's limits and the given time and output.
func judge(ctx context.Context, runtime sandbox.Runtime, b *mission.Bundle, store *record.Store, artifacts []record.Artifact, timeLeft time.Duration, outputLeft int64) (judgement, error) {
	command, err := verifierCommand(b, store, artifacts)
	if err != nil {
		return judgement{}, err
	}
	argv := slices.Clone(command.Args)
	if platform := b.Mission.Verifier.Platform; platform != "" {
		if command, err = command.For(platform); err != nil {
			return judgement{}, err
		}
	}
	v := b.Mission.Verifier
	limits := sandbox.Limits{Memory: verifierMemory, Processes: 64, CPUs: 1,
		Time: min(time.Duration(v.TimeoutMs)*time.Millisecond, timeLeft), Output: min(v.MaxOutputBytes, outputLeft)}
	if limits.Time <= 0 || limits.Output <= 0 {
		return judgement{}, errors.New("nothing is left of the mission's budget for the verifier")
	}
	if err := checkAll(store, artifacts); err != nil {
		return judgement{}, err
	}
	outcome, err := runtime.Run(ctx, command, limits)
	if err != nil {
		return judgement{}, err
	}
	if err := checkAll(store, artifacts); err != nil {
		return judgement{}, fmt.Errorf("after the verifier ran: %w", err)
	}
	return judged(outcome, limits, argv, v.ExecutableSHA256), nil
}

func checkAll(store *record.Store, artifacts []record.Artifact) error {
	for _, a := range artifacts {
		if err := store.Check(a.Digest); err != nil {
			return err
		}
	}
	return nil
}

// judged puts an outcome in the words of the records: a limit is an error, never
// a verdict.
func judged(outcome sandbox.Outcome, limits sandbox.Limits, argv []string, executable string) judgement {
	j := judgement{Stdout: outcome.Stdout, Stderr: outcome.Stderr}
	j.Sandbox = record.Sandboxed
	j.Record = record.VerifierRecord{Argv: argv, ExecutableDigest: executable, ExitCode: outcome.ExitCode,
		StdoutDigest: string(digest.Of(outcome.Stdout)), StderrDigest: string(digest.Of(outcome.Stderr)), DurationMs: milliseconds(outcome.Elapsed)}
	switch outcome.End {
	case sandbox.Exited:
		j.Status = record.Passed
		if outcome.ExitCode != 0 {
			j.Status = record.Failed
		}
		return j
	case sandbox.Signaled:
		j.Status = record.Failed
		return j
	case sandbox.TimeLimit:
		j.Error = fmt.Sprintf("timeout:command exceeded %d milliseconds", limits.Time.Milliseconds())
	case sandbox.OutputLimit:
		j.Error = fmt.Sprintf("output_limit:command output exceeded %d bytes", limits.Output)
	default:
		j.Error = fmt.Sprintf("memory_limit:command exceeded %d bytes of memory", limits.Memory)
	}
	_, message, _ := strings.Cut(j.Error, ":")
	j.Status, j.Record.ExitCode = record.Errored, -1
	j.Record.StdoutDigest, j.Record.StderrDigest = string(digest.Of(nil)), string(digest.Of([]byte(message)))
	return j
}

// verifierCommand lays out the capsule, the packet and the artifacts, and puts
// their places into the mission's arguments.
func verifierCommand(b *mission.Bundle, store *record.Store, artifacts []record.Artifact) (sandbox.Command, error) {
	c := sandbox.Command{
		Files: []sandbox.File{
			{Path: capsuleInside, Source: b.Capsule(), Executable: true},
			{Path: path.Join(inputInside, b.Mission.TargetPacket.Path), Source: filepath.Join(b.Folder, filepath.FromSlash(mission.PacketPath))},
		},
		Args: []string{capsuleInside},
	}
	for i, a := range artifacts {
		c.Files = append(c.Files, sandbox.File{Path: fmt.Sprint(artifactInside, i), Source: store.Path(a.Digest)})
	}
	for i, argument := range b.Mission.Verifier.Argv[1:] {
		wanted, isArtifact := mission.ArtifactArgument(argument)
		switch {
		case argument == "{input}":
			argument = inputInside
		case isArtifact:
			at := slices.IndexFunc(artifacts, func(a record.Artifact) bool { return a.Path == wanted })
			if at < 0 {
				return sandbox.Command{}, fmt.Errorf("mission.verifier.argv[%d]: no artifact %q was frozen", i+1, wanted)
			}
			argument = fmt.Sprint(artifactInside, at)
		}
		c.Args = append(c.Args, argument)
	}
	return c, nil
}
