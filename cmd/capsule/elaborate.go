package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/capsule/sandbox"
	"github.com/erdos1056/erdos1056/capsule/toolchain"
	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/lean"
	"github.com/erdos1056/erdos1056/lean/audit"
	"github.com/erdos1056/erdos1056/lean/elaborate"
)

// declined is the exit code of a judgement that could not be made, as
// leancheck's.
const declined = 2

// Bounds of what Lean writes and of what it is compared with, in bytes.
const (
	maxExport    = 256 << 20
	maxChallenge = 256 << 20
)

var elaborateVerb = cli.Verb{
	Name:    "elaborate",
	Args:    "TERM",
	Summary: "judge a Lean proof term (by ...) with a real lean, shut in, and leancheck",
	Example: "capsule elaborate proof.lean --module FormalConjectures.ErdosProblems.«505» --theorem Erdos505.erdos_505.test_dim_one --challenge statement.ndjson --lean-path build/lib/lean",
	Details: "Without lean and lean4export the term is declined, and what is missing is named.\nExit codes: 0 accepted, 1 rejected, 2 declined, else as of every verb.",
	Declare: func(flags *pflag.FlagSet) func(context.Context, *cli.Call) error {
		f := new(elaborateFlags)
		f.declare(flags)
		return f.act
	},
}

type elaborateFlags struct {
	problem               elaborate.Problem
	challenge             string
	permit                []string
	toolchain, exporter   string
	packages              []string
	sandbox               string
	memory, checkerMemory int64
	timeout               time.Duration
	threads               int
}

func (f *elaborateFlags) declare(flags *pflag.FlagSet) {
	flags.StringVar(&f.problem.Module, "module", "", "module that states the theorem")
	flags.StringVar(&f.problem.Theorem, "theorem", "", "name of the theorem")
	flags.StringVar(&f.challenge, "challenge", "", "trusted export of the theorem \""+elaborate.Candidate+"\" with the statement")
	flags.StringSliceVar(&f.permit, "permit", audit.Standard, "axioms that the proof may rest on")
	flags.StringVar(&f.toolchain, "toolchain", "", "folder of a Lean toolchain (default: that of the lean on PATH)")
	flags.StringVar(&f.exporter, "exporter", "", "the program lean4export (default: in the toolchain or on PATH)")
	flags.StringArrayVar(&f.packages, "lean-path", nil, "folder of compiled modules that the module needs, as in LEAN_PATH; may be repeated")
	flags.StringVar(&f.sandbox, "sandbox", "", "built-in, runc or podman (default: the first that works here)")
	flags.Int64Var(&f.memory, "memory", 8192, "memory limit of Lean in MiB")
	flags.DurationVar(&f.timeout, "timeout", 10*time.Minute, "limit of wall time of each program of Lean")
	flags.Int64Var(&f.checkerMemory, "checker-memory", lean.DefaultMemory>>20, "bound on the checker's memory in MiB")
	flags.IntVar(&f.threads, "threads", 0, "threads of the checker (default: all)")
}

func (f *elaborateFlags) act(ctx context.Context, c *cli.Call) error {
	name := c.Args[0]
	switch {
	case f.problem.Module == "" || f.problem.Theorem == "":
		return cli.Usagef("say what the term proves: --module MODULE --theorem NAME")
	case strings.ContainsAny(f.problem.Module+f.problem.Theorem, " \t\r\n"):
		return cli.Usagef("--module and --theorem are names, without blanks")
	case f.memory < 16 || f.memory > 1<<20 || f.checkerMemory < 64 || f.checkerMemory > 1<<20:
		return cli.Usagef("--memory and --checker-memory: want 16 (64) to %d MiB", 1<<20)
	case f.threads < 0 || f.threads > 1024:
		return cli.Usagef("--threads %d: want 0 to 1024", f.threads)
	}
	challenge, err := readFile("--challenge", f.challenge, maxChallenge)
	if err != nil {
		return err
	}
	opts := elaborate.Options{Challenge: bytes.NewReader(challenge), Permit: f.permit, Threads: f.threads, Memory: f.checkerMemory << 20}
	term, err := elaborate.ReadTerm(name)
	if term == nil && err != nil {
		return err
	}
	found, missing := toolchain.Find(f.toolchain, f.exporter)
	if opts.Missing = missing; len(missing) == 0 {
		if opts.Runner, err = f.runner(ctx, c, found); err != nil {
			return err
		}
	}
	result, err := elaborate.Elaborate(ctx, f.problem, term, opts)
	if err != nil {
		return err
	}
	return printElaboration(c, result)
}

// shutIn has the sandboxed programs do what package elaborate asks for.
type shutIn struct{ programs *toolchain.Runner }

func (s shutIn) Run(ctx context.Context, task elaborate.Task) (elaborate.Output, error) {
	out, err := s.programs.Run(ctx, toolchain.Task{Program: task.Program, Args: task.Args,
		InputName: task.Input.Name, InputData: task.Input.Data, Keep: task.Keep})
	return elaborate.Output(out), err
}

func (f *elaborateFlags) runner(ctx context.Context, c *cli.Call, found toolchain.Toolchain) (elaborate.Runner, error) {
	runtime, err := sandbox.Choose(ctx, f.sandbox)
	if err != nil {
		return nil, err
	}
	c.Say("lean of %s and %s in the sandbox %s", found.Folder, found.Exporter, runtime.Name())
	return shutIn{&toolchain.Runner{Toolchain: found, Packages: f.packages, Runtime: runtime,
		Limits: sandbox.Limits{Memory: f.memory << 20, Processes: 64, CPUs: 1, Time: f.timeout, Output: maxExport}}}, nil
}

// printElaboration prints the verdict, and fails unless the term was accepted.
func printElaboration(c *cli.Call, r *elaborate.Result) error {
	if r.Report != nil {
		for line := range strings.Lines(r.Report.Text(0)) {
			printText(c, "%s", strings.TrimSuffix(line, "\n"))
		}
	} else {
		printText(c, "%s: %s", map[string]string{"reject": "rejected", "decline": "declined"}[r.Verdict], r.Reason)
	}
	if c.JSON {
		if err := c.Line(map[string]any{"type": "elaboration", "verdict": r.Verdict, "reason": r.Reason,
			"missing": append([]string{}, r.Missing...), "axioms_reported": append([]string{}, r.Axioms...), "report": r.Report}); err != nil {
			return err
		}
	}
	switch r.Verdict {
	case "accept":
		return nil
	case "reject":
		return cli.Failf("the term is rejected")
	}
	return cli.WithCode(declined, fmt.Errorf("the term is declined, which says nothing about it"))
}
