package runner

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"runtime"

	"github.com/erdos1056/erdos1056/capsule/canon"
	"github.com/erdos1056/erdos1056/capsule/file"
	"github.com/erdos1056/erdos1056/capsule/mission"
	"github.com/erdos1056/erdos1056/capsule/record"
	"github.com/erdos1056/erdos1056/capsule/sandbox"
)

// Worker is an engine that is a program: it runs in the sandbox, finds its
// mission under /mission, and prints its output, a canopus.engine-output.v0, on
// standard output. It has no network and no place to write, so that the texts
// of its artifacts stand in the output.
type Worker struct {
	Runtime sandbox.Runtime
	Program string   // path of a static executable
	Args    []string // its arguments
	Memory  int64    // bytes that it may use
}

const maxExecutableBytes = 1 << 30

// Identity names the program by its file name and its digest.
func (w *Worker) Identity(m mission.Mission) (record.Engine, error) {
	data, err := file.ReadRegular(w.Program, maxExecutableBytes)
	if err != nil {
		return record.Engine{}, err
	}
	binary := string(canon.Sum(data))
	configuration, err := canon.Marshal(struct {
		Args   []string       `json:"args"`
		Memory int64          `json:"memory_bytes"`
		Worker mission.Worker `json:"worker"`
	}{append([]string{}, w.Args...), w.Memory, *m.Worker})
	if err != nil {
		return record.Engine{}, err
	}
	return record.Engine{Name: filepath.Base(w.Program), Version: "file", BinarySHA256: &binary, ConfigurationSHA256: string(canon.Sum(configuration))}, nil
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
		},
		Args: append([]string{program}, w.Args...),
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
		canon.Member{Key: "stdout_sha256", Value: canon.NewString(string(canon.Sum(outcome.Stdout)))})
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
	return h, checkOutput(h.Output, b.Mission)
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
		if a.Content == "" {
			return fmt.Errorf("engine_output.artifacts[%d].content: the text of %s must stand here; a worker has no place to write", i, a.Path)
		}
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
