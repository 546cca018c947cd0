package runner

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/mission"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/record"
	"github.com/erdos1056/erdos1056/capsule/sandbox"
	"github.com/erdos1056/erdos1056/internal/digest"
	"github.com/erdos1056/erdos1056/internal/disk"
)

// Worker is an engine that is a program: it runs in the sandbox, finds its
// mission under /mission and the target packet below {input}, and prints its
// output, a canopus.engine-output.v0, on standard output. It has no network, and
// one folder to write to, in which it starts. The text of an artifact stands in
// the output, or, with an empty content there, in that folder under the
// artifact's path.
type Worker struct {
	Runtime sandbox.Runtime
	Program string   // path of a static executable
	Args    []string // its arguments; {input} stands for the folder of the packet
	Memory  int64    // bytes that it may use, its files among them
}

// The worker's workspace holds its artifacts, as large as the mission lets them
// be, and some scratch files.
const (
	workspaceInside  = "/workspace"
	scratchBytes     = 64 << 20
	workspaceEntries = 4096
)

const maxExecutableBytes = 1 << 30

// Identity names the program by its file name and its digest.
func (w *Worker) Identity(m mission.Mission) (record.Engine, error) {
	data, err := disk.Read(w.Program, maxExecutableBytes, disk.RefuseLinks)
	if err != nil {
		return record.Engine{}, err
	}
	binary := string(digest.Of(data))
	configuration, err := canon.Marshal(struct {
		Args   []string       `json:"args"`
		Memory int64          `json:"memory_bytes"`
		Worker mission.Worker `json:"worker"`
	}{append([]string{}, w.Args...), w.Memory, *m.Worker})
	if err != nil {
		return record.Engine{}, err
	}
	return record.Engine{Name: filepath.Base(w.Program), Version: "file", BinarySHA256: &binary, ConfigurationSHA256: string(digest.Of(configuration))}, nil
}

// Work runs the program once.
func (w *Worker) Work(ctx context.Context, a Assignment) (Handover, error) {
	b := &a.Bundle
	program := "/worker/" + filepath.Base(w.Program)
	command := sandbox.Command{
		Files: []sandbox.File{
			{Path: program, Source: w.Program, Executable: true},
			{Path: "/mission/mission.json", Source: filepath.Join(b.Folder, "mission.json")},
			{Path: path.Join("/mission", mission.PacketPath), Source: filepath.Join(b.Folder, mission.PacketPath)},
			{Path: path.Join("/mission", mission.OutputSchemaPath), Source: filepath.Join(b.Folder, mission.OutputSchemaPath)},
			{Path: path.Join(inputInside, b.Mission.TargetPacket.Path), Source: filepath.Join(b.Folder, mission.PacketPath)},
		},
		Workspace: &sandbox.Workspace{Path: workspaceInside, Size: b.Mission.Budgets.MaxArtifactBytes + scratchBytes, Entries: workspaceEntries,
			Wanted: func(path string) bool { return b.Mission.CheckAllowed(path) == nil }},
		Args: append([]string{program}, w.arguments()...),
	}
	limits := sandbox.Limits{Memory: w.Memory, Processes: int(b.Mission.Budgets.MaxResearchProcesses), CPUs: runtime.NumCPU(), Time: a.Time, Output: a.Output}
	outcome, err := w.Runtime.Run(ctx, command, limits)
	if err != nil {
		return Handover{}, err
	}
	err = a.Trace.Add("worker.ended",
		canon.Member{Key: "attempt", Value: canon.NewInteger(a.Attempt)},
		canon.Member{Key: "end", Value: canon.NewString(string(outcome.End))},
		canon.Member{Key: "exit_code", Value: canon.NewInteger(int64(outcome.ExitCode))},
		canon.Member{Key: "stdout_sha256", Value: canon.NewString(string(digest.Of(outcome.Stdout)))})
	if err != nil {
		return Handover{}, err
	}
	h := Handover{Transcript: outcome.Stdout, Stderr: outcome.Stderr, Processes: 1,
		OutputBytes: int64(len(outcome.Stdout) + len(outcome.Stderr)), ActionTypes: []string{"command_execution"}}
	if err := ended(outcome, a, b.Mission.Budgets); err != nil {
		return h, err
	}
	h.Output, err = record.EngineOutputSpec.Parse(outcome.Stdout)
	if err != nil {
		return h, fmt.Errorf("the worker's output: %w", err)
	}
	if err := a.traceRefused(outcome.Refused); err != nil {
		return h, err
	}
	if err := takeFiles(h.Output.Artifacts, outcome); err != nil {
		return h, err
	}
	return h, checkOutput(h.Output, b.Mission)
}

// arguments are those of the program, with the input's place in them.
func (w *Worker) arguments() []string {
	arguments := slices.Clone(w.Args)
	for i, argument := range arguments {
		if argument == "{input}" {
			arguments[i] = inputInside
		}
	}
	return arguments
}

// maxTracedRefusals bounds what the trace holds of things in the workspace that
// are no files.
const maxTracedRefusals = 64

func (a Assignment) traceRefused(refused []sandbox.RefusedEntry) error {
	for _, entry := range refused[:min(len(refused), maxTracedRefusals)] {
		err := a.Trace.Add("workspace.refused",
			canon.Member{Key: "attempt", Value: canon.NewInteger(a.Attempt)},
			canon.Member{Key: "path", Value: canon.NewString(strconv.QuoteToASCII(entry.Path))},
			canon.Member{Key: "reason", Value: canon.NewString(entry.Reason)})
		if err != nil {
			return err
		}
	}
	return nil
}

// takeFiles puts the texts that lie in the workspace into the artifacts that
// have none.
func takeFiles(artifacts []record.EngineArtifact, outcome sandbox.Outcome) error {
	for i := range artifacts {
		a := &artifacts[i]
		if a.Content != "" {
			continue
		}
		at := slices.IndexFunc(outcome.Files, func(f sandbox.WorkspaceFile) bool { return f.Path == a.Path })
		if at < 0 {
			return fmt.Errorf("engine_output.artifacts[%d]: %w", i, whyMissing(a.Path, outcome.Refused))
		}
		data := outcome.Files[at].Data
		if err := record.CheckText(data); err != nil {
			return fmt.Errorf("engine_output.artifacts[%d]: %s in the workspace: %w", i, a.Path, err)
		}
		a.Content = string(data)
	}
	return nil
}

// whyMissing says why an artifact is not among the files of a workspace.
func whyMissing(path string, refused []sandbox.RefusedEntry) error {
	for _, entry := range refused {
		if path == entry.Path || strings.HasPrefix(path, entry.Path+"/") {
			return fmt.Errorf("%s in the workspace is refused: %q: %s", path, entry.Path, entry.Reason)
		}
	}
	return fmt.Errorf("%s: the content is empty, and the worker left no such file in its workspace", path)
}

// ended reports how a worker ended unless it exited with status 0. A limit that
// is one of the mission's ends the whole run.
func ended(outcome sandbox.Outcome, a Assignment, budgets mission.Budgets) error {
	switch outcome.End {
	case sandbox.Exited:
		if outcome.ExitCode != 0 {
			return fmt.Errorf("the worker exited with status %d", outcome.ExitCode)
		}
		return nil
	case sandbox.TimeLimit:
		return &BudgetError{"wall_time_ms", budgets.MaxResearchWallTimeMs + 1, budgets.MaxResearchWallTimeMs}
	case sandbox.OutputLimit:
		return &BudgetError{"output_bytes", budgets.MaxResearchOutputBytes + 1, budgets.MaxResearchOutputBytes}
	}
	return fmt.Errorf("the worker ended by %s", outcome.End)
}

// checkOutput refuses what cannot be frozen, before anything is.
func checkOutput(output record.EngineOutput, m mission.Mission) error {
	if err := output.CheckAllowed(m); err != nil {
		return err
	}
	total := int64(0)
	for i, a := range output.Artifacts {
		if err := record.CheckText([]byte(a.Content)); err != nil {
			return fmt.Errorf("engine_output.artifacts[%d].content: %w", i, err)
		}
		total += int64(len(a.Content))
	}
	if total > m.Budgets.MaxArtifactBytes {
		return &BudgetError{"artifact_bytes", total, m.Budgets.MaxArtifactBytes}
	}
	if output.Status == "success" && len(output.Artifacts) == 0 {
		return errors.New("engine_output.artifacts: a successful output has an artifact")
	}
	return nil
}
