package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	specs "github.com/opencontainers/runtime-spec/specs-go"
)

// runc is the runtime of the Open Container Initiative, used with a
// configuration of our own. It needs root.
type runc struct {
	weaken func(*specs.Spec) // for the tests of this package
}

func (*runc) Name() string { return "runc" }

func (*runc) Probe(ctx context.Context) (string, error) {
	if os.Geteuid() != 0 {
		return "", errors.New("needs root here")
	}
	version, err := answer(ctx, func(ctx context.Context) *exec.Cmd { return exec.CommandContext(ctx, "runc", "--version") })
	if err != nil {
		return "", err
	}
	version, _, _ = strings.Cut(version, "\n")
	trees, err := ownHierarchies()
	if err != nil {
		return "", err
	}
	for _, controller := range []string{"memory", "pids", "cpu"} {
		if !offers(trees, controller) {
			return "", fmt.Errorf("no cgroup hierarchy offers the controller %s to this process", controller)
		}
	}
	return strings.TrimPrefix(version, "runc version "), nil
}

func (r *runc) Run(ctx context.Context, command Command, limits Limits) (outcome Outcome, err error) {
	if err := errors.Join(command.validate(), limits.validate()); err != nil {
		return Outcome{}, err
	}
	if _, err := r.Probe(ctx); err != nil {
		return Outcome{}, fmt.Errorf("sandbox: runc: %w", err)
	}
	c, err := newContainer()
	if err != nil {
		return Outcome{}, fmt.Errorf("sandbox: runc: %w", err)
	}
	defer func() { err = errors.Join(err, c.remove()) }()
	outcome, err = r.run(ctx, c, command, limits)
	if err != nil {
		return Outcome{}, fmt.Errorf("sandbox: runc: %w", err)
	}
	outcome.Runtime = r.Name()
	return outcome, nil
}

func (r *runc) run(ctx context.Context, c *container, command Command, limits Limits) (outcome Outcome, err error) {
	if _, err := c.plant(command); err != nil {
		return Outcome{}, err
	}
	spec := runcSpec(command, limits, c)
	if r.weaken != nil {
		r.weaken(spec)
	}
	config, err := json.Marshal(spec)
	if err != nil {
		return Outcome{}, err
	}
	if err := os.WriteFile(c.path("config.json"), config, 0o600); err != nil {
		return Outcome{}, err
	}
	trees, err := ownHierarchies()
	if err != nil {
		return Outcome{}, err
	}
	group := &cgroup{}
	for _, tree := range trees {
		group.folders = append(group.folders, filepath.Join(tree.own, c.name))
	}
	client := func(ctx context.Context, args ...string) *exec.Cmd {
		global := []string{"--root", c.path("state"), "--log", c.path("log"), "--log-format", "json"}
		return exec.CommandContext(ctx, "runc", append(global, args...)...)
	}
	kill := func() {
		// The program may be about to start: insist until the container is gone.
		for range 50 {
			if _, err := answer(ctx, func(ctx context.Context) *exec.Cmd { return client(ctx, "kill", c.name, "KILL") }); err != nil {
				time.Sleep(20 * time.Millisecond)
				continue
			}
			return
		}
	}
	defer func() {
		_, failure := answer(ctx, func(ctx context.Context) *exec.Cmd { return client(ctx, "delete", "--force", c.name) })
		err = errors.Join(err, failure, group.remove())
	}()
	outcome, workspace, err := c.supervise(ctx, command, client(context.WithoutCancel(ctx), "run", "--keep", "--bundle", c.folder, c.name), kill, limits)
	if err != nil {
		return Outcome{}, err
	}
	defer workspace.Close()
	defer func() { err = errors.Join(err, outcome.collected(command, workspace)) }()
	if outcome.End == Exited {
		// runc and the program share the streams and the exit code, but only
		// runc writes the log.
		if message := runcError(c.path("log")); message != "" {
			return Outcome{}, errors.New(message)
		}
	}
	if outcome.End == Exited && group.outOfMemory() {
		outcome.End = MemoryLimit
	}
	const signalBase = 128
	if outcome.End == Exited && outcome.ExitCode > signalBase {
		outcome.End = Signaled
	}
	if outcome.End != Exited {
		outcome.ExitCode = -1
	}
	return outcome, nil
}

// runcError returns the last error in runc's log, if there is one.
func runcError(log string) (message string) {
	data, err := os.ReadFile(log)
	if err != nil {
		return ""
	}
	for _, line := range bytes.Split(data, []byte("\n")) {
		var entry struct{ Level, Msg string }
		if json.Unmarshal(line, &entry) == nil && entry.Level == "error" {
			message = entry.Msg
		}
	}
	return message
}

// runcSpec returns the configuration of one run: every namespace but the user
// namespace, no capability, no device beyond the harmless ones that runc makes
// itself, a read-only tree.
func runcSpec(command Command, limits Limits, c *container) *specs.Spec {
	memory, processes := limits.Memory, int64(limits.Processes)
	period := uint64(100000)
	quota := int64(period) * int64(limits.CPUs)
	rlimit := func(name string, value uint64) specs.POSIXRlimit {
		return specs.POSIXRlimit{Type: name, Hard: value, Soft: value}
	}
	spec := &specs.Spec{
		Version: "1.0.2",
		Root:    &specs.Root{Path: "root", Readonly: true},
		Process: &specs.Process{
			User:            specs.User{UID: UserID, GID: UserID},
			Args:            command.Args,
			Env:             command.environment(),
			Cwd:             "/",
			NoNewPrivileges: true,
			Capabilities:    &specs.LinuxCapabilities{},
			Rlimits: []specs.POSIXRlimit{
				rlimit("RLIMIT_CORE", 0), rlimit("RLIMIT_FSIZE", command.fileSize()), rlimit("RLIMIT_MEMLOCK", 0),
				rlimit("RLIMIT_MSGQUEUE", 0), rlimit("RLIMIT_NOFILE", 64), rlimit("RLIMIT_STACK", 8<<20),
			},
		},
		Hostname: "capsule",
		Mounts: []specs.Mount{
			{Destination: "/proc", Type: "proc", Source: "proc", Options: []string{"nosuid", "noexec", "nodev"}},
			{Destination: "/dev", Type: "tmpfs", Source: "tmpfs", Options: []string{"nosuid", "noexec", "ro", "mode=755", "size=64k"}},
		},
		Linux: &specs.Linux{
			CgroupsPath: c.name, // relative: below this process's own cgroup
			Namespaces: []specs.LinuxNamespace{
				{Type: specs.PIDNamespace}, {Type: specs.NetworkNamespace}, {Type: specs.IPCNamespace},
				{Type: specs.UTSNamespace}, {Type: specs.MountNamespace}, {Type: specs.CgroupNamespace},
			},
			Resources: &specs.LinuxResources{
				Memory:  &specs.LinuxMemory{Limit: &memory, Swap: &memory},
				Pids:    &specs.LinuxPids{Limit: &processes},
				CPU:     &specs.LinuxCPU{Period: &period, Quota: &quota},
				Devices: []specs.LinuxDeviceCgroup{{Allow: false, Access: "rwm"}},
			},
			Seccomp: command.seccompProfile(),
			MaskedPaths: []string{
				"/proc/acpi", "/proc/asound", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list",
				"/proc/timer_stats", "/proc/sched_debug", "/proc/scsi", "/proc/interrupts", "/proc/kallsyms",
			},
			ReadonlyPaths: []string{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"},
		},
	}
	for i, f := range command.Folders {
		spec.Mounts = append(spec.Mounts, specs.Mount{Destination: f.Path, Type: "bind", Source: c.folderMount(i),
			Options: []string{"rbind", "ro", "nosuid", "nodev", "rprivate"}})
	}
	if w := command.Workspace; w != nil {
		spec.Process.Cwd = w.Path
		spec.Mounts = append(spec.Mounts, specs.Mount{Destination: w.Path, Type: "bind", Source: c.workspace(),
			Options: append([]string{"bind", "rw", "rprivate"}, w.options()...)})
	}
	return spec
}
