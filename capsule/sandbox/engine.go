package sandbox

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// An engine is podman or docker. The files are imported as an image for this
// run alone, so that no folder of this machine is mounted.
type engine struct {
	program string
	replace map[string][]string // options to use instead, for the tests of this package
}

func (e *engine) Name() string { return e.program }

func (e *engine) Probe(ctx context.Context) (string, error) {
	if _, err := exec.LookPath(e.program); err != nil {
		return "", fmt.Errorf("not installed: no %s in PATH", e.program)
	}
	if e.program == "docker" {
		version, err := answer(ctx, func(ctx context.Context) *exec.Cmd {
			return exec.CommandContext(ctx, "docker", "version", "--format", "{{.Server.Version}}")
		})
		if err != nil {
			return "", errors.New("no engine answers the docker command")
		}
		return version, nil
	}
	if os.Geteuid() != 0 {
		return "", errors.New("needs root here")
	}
	version, err := answer(ctx, func(ctx context.Context) *exec.Cmd { return exec.CommandContext(ctx, "podman", "--version") })
	version = strings.TrimPrefix(version, "podman version ")
	if err == nil && lowLevelRuntime() != "" {
		version += " with runc"
	}
	return version, err
}

// lowLevelRuntime returns runc if it is installed, since crun refuses to run
// where cgroup versions 1 and 2 are both mounted; else podman chooses.
func lowLevelRuntime() string {
	if _, err := exec.LookPath("runc"); err == nil {
		return "runc"
	}
	return ""
}

func (e *engine) Run(ctx context.Context, command Command, limits Limits) (outcome Outcome, err error) {
	if err := errors.Join(command.validate(), limits.validate()); err != nil {
		return Outcome{}, err
	}
	if e.program == "docker" && command.Workspace != nil {
		return Outcome{}, errors.New("sandbox: docker: its daemon would keep the workspace to itself, where it is gone with the program; choose built-in, runc or podman")
	}
	if _, err := e.Probe(ctx); err != nil {
		return Outcome{}, fmt.Errorf("sandbox: %s: %w", e.program, err)
	}
	c, err := newContainer()
	if err != nil {
		return Outcome{}, fmt.Errorf("sandbox: %s: %w", e.program, err)
	}
	defer func() { err = errors.Join(err, c.remove()) }()
	outcome, err = e.run(ctx, c, command, limits)
	if err != nil {
		return Outcome{}, fmt.Errorf("sandbox: %s: %w", e.program, err)
	}
	outcome.Runtime = e.Name()
	return outcome, nil
}

func (e *engine) run(ctx context.Context, c *container, command Command, limits Limits) (outcome Outcome, err error) {
	root, err := c.plant(command)
	if err != nil {
		return Outcome{}, err
	}
	profile, err := json.Marshal(command.seccompProfile())
	if err != nil {
		return Outcome{}, err
	}
	if err := os.WriteFile(c.path("seccomp.json"), profile, 0o600); err != nil {
		return Outcome{}, err
	}
	if err := writeTar(c.path("root.tar"), root); err != nil {
		return Outcome{}, err
	}
	if err := e.configure(c); err != nil {
		return Outcome{}, err
	}
	ask := func(args ...string) (string, error) {
		return answer(ctx, func(ctx context.Context) *exec.Cmd { return e.client(ctx, c, args...) })
	}
	if _, err := ask("import", c.path("root.tar"), c.name); err != nil {
		return Outcome{}, err
	}
	ended := false
	defer func() { err = errors.Join(err, e.cleanUp(c, ask, ended)) }()
	kill := func() {
		for range 50 {
			if _, err := ask("kill", "--signal", "KILL", c.name); err == nil {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	args := append(e.options(c, command, limits), c.name)
	staged := command
	if e.program == "docker" {
		staged.Folders = nil // its daemon mounts them itself
	}
	outcome, workspace, err := c.supervise(ctx, staged, e.client(context.WithoutCancel(ctx), c, append(args, command.Args...)...), kill, limits)
	if err != nil {
		return Outcome{}, err
	}
	defer workspace.Close()
	defer func() { err = errors.Join(err, outcome.collected(command, workspace)) }()
	// The client's exit code may be its own; the engine knows the program's.
	state, err := ask("inspect", "--format", "{{.State.Status}} {{.State.ExitCode}} {{.State.OOMKilled}}", c.name)
	if err != nil {
		return Outcome{}, fmt.Errorf("the program was not started: %s", lastLine(string(outcome.Stderr)))
	}
	var status string
	var oom bool
	if _, err := fmt.Sscan(state, &status, &outcome.ExitCode, &oom); err != nil {
		return Outcome{}, fmt.Errorf("the state %q of the run is not understood: %w", state, err)
	}
	if _, err := os.Stat(c.path("oom")); err == nil {
		oom = true
	}
	ended = status == "exited"
	const cannotStart, signalBase = 125, 128
	switch {
	case outcome.End != Exited:
	case oom:
		outcome.End = MemoryLimit
	case !ended:
		return Outcome{}, fmt.Errorf("the program was not started (%s): %s", status, lastLine(string(outcome.Stderr)))
	case outcome.ExitCode > signalBase:
		outcome.End = Signaled
	case outcome.ExitCode >= cannotStart:
		return Outcome{}, fmt.Errorf("the program was not started (exit code %d): %s", outcome.ExitCode, lastLine(string(outcome.Stderr)))
	}
	if outcome.End != Exited {
		outcome.ExitCode = -1
	}
	return outcome, nil
}

// cleanUp removes the container and its image. podman's vanish with their store,
// once the program has ended.
func (e *engine) cleanUp(c *container, ask func(...string) (string, error), ended bool) error {
	var failures []error
	if !ended || e.program != "podman" {
		_, err := ask("rm", "--force", c.name)
		failures = append(failures, err)
	}
	if e.program != "podman" {
		_, err := ask("rmi", "--force", c.name)
		failures = append(failures, err)
	}
	return errors.Join(append(failures, e.removeGroups(c))...)
}

// options are the arguments of "run", one protection each.
func (e *engine) options(c *container, command Command, limits Limits) []string {
	user := fmt.Sprintf("%d:%d", UserID, UserID)
	options := []string{
		"--network=none",
		"--read-only",
		"--ipc=none", // else /dev/shm is writable
		"--cap-drop=ALL",
		"--security-opt=no-new-privileges",
		"--security-opt=seccomp=" + c.path("seccomp.json"),
		"--user=" + user,
		fmt.Sprintf("--memory=%d", limits.Memory),
		fmt.Sprintf("--memory-swap=%d", limits.Memory),
		fmt.Sprintf("--pids-limit=%d", limits.Processes),
		fmt.Sprintf("--cpus=%d", limits.CPUs),
		"--ulimit=core=0:0",
		"--ulimit=nofile=64:64",
		// Left alone, podman raises this one, which root without CAP_SYS_RESOURCE may
		// not. It counts the user's processes on the whole machine, so it cannot
		// take the place of the process limit above.
		"--ulimit=nproc=4096:4096",
		"--hostname=capsule",
		"--workdir=" + command.workingFolder(),
		"--env=HOME=/nonexistent",
		"--pull=never",
		"--log-driver=none",
	}
	if e.program == "podman" {
		options = append(options,
			"--read-only-tmpfs=false", // else /tmp, /run and /var/tmp are writable
			"--unsetenv-all",
			"--http-proxy=false",
			"--no-hosts",
			"--passwd=false",
			"--mount=type=tmpfs,destination=/dev/mqueue,ro", // else message queues can be made
			"--security-opt=mask=/sys",                      // else the machine's devices and cgroups can be listed
			"--image-volume=ignore",
			// In case nobody is left to keep the time.
			fmt.Sprintf("--timeout=%d", limits.Time/time.Second+10),
			"--cgroups=no-conmon",
			"--cgroup-parent=/"+c.name,
		)
	}
	options = append(options, e.mounts(c, command)...)
	for _, entry := range command.Env {
		options = append(options, "--env="+entry)
	}
	args := []string{"run", "--name=" + c.name}
	for _, option := range options {
		name, _, _ := strings.Cut(option, "=")
		if other, ok := e.replace[name]; ok {
			args = append(args, other...)
			continue
		}
		args = append(args, option)
	}
	return args
}

// mounts are the options for folders and workspace. podman finds them where the
// stage mounted them; docker's daemon sees the machine's own folders only.
func (e *engine) mounts(c *container, command Command) (options []string) {
	for i, f := range command.Folders {
		if e.program == "podman" {
			options = append(options, fmt.Sprintf("--mount=type=bind,source=%s,destination=%s,ro,nosuid,nodev,bind-propagation=rprivate", c.folderMount(i), f.Path))
		} else {
			options = append(options, fmt.Sprintf("--mount=type=bind,source=%s,destination=%s,readonly,bind-recursive=readonly,bind-propagation=rprivate", f.Source, f.Path))
		}
	}
	if w := command.Workspace; w != nil {
		options = append(options, fmt.Sprintf("--mount=type=bind,source=%s,destination=%s,bind-propagation=rprivate,%s", c.workspace(), w.Path, strings.Join(w.options(), ",")))
	}
	return options
}

// configure gives podman a configuration of its own, so that nothing of the
// user's applies and nothing is left behind.
func (e *engine) configure(c *container) error {
	if e.program != "podman" {
		return nil
	}
	lines := []string{
		"[containers]", "[engine]",
		`cgroup_manager = "cgroupfs"`,
		`events_logger = "none"`,
		`lock_type = "file"`,
	}
	if runtime := lowLevelRuntime(); runtime != "" {
		lines = append(lines, "runtime = "+strconv.Quote(runtime))
	}
	return os.WriteFile(c.path("containers.conf"), []byte(strings.Join(lines, "\n")+"\n"), 0o600)
}

// client returns a call of the engine. podman works in a store and in a mount
// namespace of its own, both of which vanish with the run.
func (e *engine) client(ctx context.Context, c *container, args ...string) *exec.Cmd {
	if e.program != "podman" {
		return exec.CommandContext(ctx, e.program, args...)
	}
	global := []string{
		"--root", c.path("store"), "--runroot", c.path("run"), "--tmpdir", c.path("tmp"), "--storage-driver", "vfs",
	}
	cmd := exec.CommandContext(ctx, "podman", append(global, args...)...)
	cmd.Dir = c.folder // where podman's monitor notes an end for lack of memory
	cmd.Env = append(os.Environ(), "CONTAINERS_CONF="+c.path("containers.conf"), "TMPDIR="+c.folder)
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	return cmd
}

// removeGroups removes the empty parent cgroups that podman leaves.
func (e *engine) removeGroups(c *container) error {
	if e.program != "podman" {
		return nil
	}
	folders, err := filepath.Glob("/sys/fs/cgroup/*/" + c.name)
	if err != nil {
		return err
	}
	unified, err := filepath.Glob("/sys/fs/cgroup/" + c.name)
	group := &cgroup{folders: append(folders, unified...)}
	return errors.Join(err, group.remove())
}

// writeTar writes the tree below root, owned by root.
func writeTar(name, root string) (err error) {
	out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	w := tar.NewWriter(out)
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		header := &tar.Header{Name: relative, Mode: int64(info.Mode().Perm()), Typeflag: tar.TypeReg, Size: info.Size()}
		if d.IsDir() {
			header.Name, header.Typeflag, header.Size = relative+"/", tar.TypeDir, 0
		}
		if err := w.WriteHeader(header); err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	})
	return errors.Join(err, w.Close())
}
