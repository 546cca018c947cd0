package main

import (
	"context"
	"strings"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/capsule/freeze"
	"github.com/erdos1056/erdos1056/capsule/sandbox"
	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/kernel/plan"
	"github.com/erdos1056/erdos1056/oci"
)

// claimFlags say which range a verifier is frozen to, and where the unfrozen one
// is.
type claimFlags struct {
	rangeText string
	k         int
	platforms string
	source    freeze.Source
}

func (f *claimFlags) declare(flags *pflag.FlagSet) {
	flags.StringVar(&f.rangeText, "range", "", "the range of the claim, "+plan.RangeForms)
	flags.IntVar(&f.k, "k", 15, "number of consecutive intervals")
	flags.StringVar(&f.platforms, "platform", "linux/amd64,linux/arm64", "platforms, separated by commas")
	flags.StringVar(&f.source.Verifiers, "verifiers", "", "folder with the unfrozen verifiers of a release (default: beside this program)")
	flags.StringVar(&f.source.Module, "source", "", "folder of this project's source, to build them with Go "+strings.TrimPrefix(freeze.GoVersion, "go"))
}

func (f *claimFlags) parse() (plan.Plan, []freeze.Platform, error) {
	if f.rangeText == "" {
		return plan.Plan{}, nil, cli.Usagef("no claim given; write --range A..B")
	}
	r, err := plan.ParseRange(f.rangeText)
	if err != nil {
		return plan.Plan{}, nil, cli.Usagef("--range %s: %v", f.rangeText, err)
	}
	claim := plan.Plan{Range: r, K: f.k}
	if err := claim.Validate(); err != nil {
		return plan.Plan{}, nil, cli.Usagef("%v", err)
	}
	platforms, err := f.origin()
	return claim, platforms, err
}

// origin reads the platforms, and makes sure that there is a source.
func (f *claimFlags) origin() ([]freeze.Platform, error) {
	platforms, err := freeze.ParsePlatforms(f.platforms)
	if err != nil {
		return nil, cli.Usagef("--platform: %v", err)
	}
	return platforms, f.findSource()
}

func (f *claimFlags) findSource() error {
	if f.source != (freeze.Source{}) {
		return nil
	}
	found, err := freeze.FindSource()
	if err != nil {
		return cli.WithCode(cli.NoInput, err)
	}
	f.source = found
	return nil
}

// registryFlags say how to talk to registries.
type registryFlags struct{ oci.Registry }

func (f *registryFlags) declare(flags *pflag.FlagSet) {
	flags.BoolVar(&f.Insecure, "insecure-registry", false, "talk to registries by plain HTTP")
	flags.BoolVar(&f.Offline, "offline", false, "refuse everything that would need the network")
}

// sandboxFlags choose a runtime and the limits.
type sandboxFlags struct {
	name   string
	memory int64
	limits sandbox.Limits
}

func (f *sandboxFlags) declare(flags *pflag.FlagSet) {
	f.limits = sandbox.DefaultLimits()
	flags.StringVar(&f.name, "sandbox", "", "built-in, runc, podman or docker (default: the first that works here)")
	flags.Int64Var(&f.memory, "memory", f.limits.Memory>>20, "memory limit in MiB")
	flags.IntVar(&f.limits.Processes, "pids", f.limits.Processes, "limit of processes and threads")
	flags.IntVar(&f.limits.CPUs, "cpus", f.limits.CPUs, "limit of processors")
	flags.DurationVar(&f.limits.Time, "timeout", f.limits.Time, "limit of wall time")
}

func (f *sandboxFlags) choose(ctx context.Context, c *cli.Call) (sandbox.Runtime, sandbox.Limits, error) {
	if f.memory < 16 || f.memory > 1<<20 {
		return nil, f.limits, cli.Usagef("--memory %d: want 16 to %d MiB", f.memory, 1<<20)
	}
	f.limits.Memory = f.memory << 20
	runtime, err := sandbox.Choose(ctx, f.name)
	if err != nil {
		return nil, f.limits, err
	}
	c.Say("sandbox %s: no network, read-only, no capabilities, seccomp, uid %d, %d MB, %d pids, %v",
		runtime.Name(), sandbox.UserID, f.memory, f.limits.Processes, f.limits.Time)
	return runtime, f.limits, nil
}
