package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// builtin is the runtime made of the kernel's own means: new user, mount,
// process, network, IPC, host name and cgroup namespaces, a memory file system
// as root, Landlock, seccomp, resource limits and, where this process may make
// them, cgroups. It needs no privilege where the kernel lets unprivileged
// processes create user namespaces.
type builtin struct {
	lowered        protection
	withoutCgroups bool // use the means of an unprivileged user
}

func (*builtin) Name() string { return "built-in" }

// Probe goes all the way up to the start of a program, with every protection.
func (b *builtin) Probe(ctx context.Context) (string, error) {
	version, err := landlockVersion()
	if err != nil {
		return "", err
	}
	limits := DefaultLimits()
	limits.Time = 10 * time.Second
	var applied mechanism
	if _, applied, err = b.run(ctx, order{Rehearsal: true}, nil, limits); err != nil {
		return "", err
	}
	return fmt.Sprintf("user, mount, pid, net, ipc and uts namespaces, seccomp, landlock ABI %d, %s", version, applied), nil
}

func (b *builtin) Run(ctx context.Context, command Command, limits Limits) (Outcome, error) {
	if err := errors.Join(command.validate(), limits.validate()); err != nil {
		return Outcome{}, err
	}
	sources, err := command.open()
	if err != nil {
		return Outcome{}, err
	}
	defer closeAll(sources)
	folders, detached, err := command.openFolders()
	if err != nil {
		return Outcome{}, err
	}
	defer closeAll(folders)
	outcome, _, err := b.run(ctx, order{Command: command, Detached: detached}, append(sources, folders...), limits)
	return outcome, err
}

// A mechanism says what applies each of the limits that cgroups are for.
type mechanism struct {
	memory, processes, processors string
}

func (m mechanism) String() string {
	return fmt.Sprintf("memory by %s, processes by %s, processors by %s", m.memory, m.processes, m.processors)
}

// divide decides which limits a cgroup applies, and gives the rest to the init
// stage as limits of the process. Without cgroups, memory is bounded by
// RLIMIT_DATA: that bounds the whole run, since the system call filter allows
// neither a second process nor shared memory. Processes are bounded by
// RLIMIT_NPROC, which counts within the new user namespace, and processors by
// pinning.
func (b *builtin) divide(o *order, limits Limits) (*cgroup, mechanism, error) {
	var wanted []string
	for _, c := range []struct {
		controller string
		protection protection
	}{{"memory", memoryLimit}, {"pids", processLimit}, {"cpu", processorLimit}} {
		if !b.lowered.has(c.protection) {
			wanted = append(wanted, c.controller)
		}
	}
	var trees []hierarchy
	if !b.withoutCgroups {
		var err error
		if trees, err = ownHierarchies(); err != nil {
			return nil, mechanism{}, err
		}
	}
	group := newCgroup(trees, wanted, limits)
	applied := mechanism{"RLIMIT_DATA", "RLIMIT_NPROC", "pinning"}
	for _, controller := range wanted {
		tree, ok := group.limits[controller]
		name := fmt.Sprintf("cgroup v%d", tree.version)
		switch {
		case controller == "memory" && ok:
			applied.memory = name
		case controller == "memory":
			o.Memory = uint64(limits.Memory)
		case controller == "pids" && ok:
			applied.processes = name
		case controller == "pids":
			o.Processes = uint64(limits.Processes)
		case controller == "cpu" && ok:
			applied.processors = name
		case controller == "cpu":
			o.CPUs = limits.CPUs
		}
	}
	return group, applied, nil
}

func (b *builtin) run(ctx context.Context, o order, sources []*os.File, limits Limits) (outcome Outcome, applied mechanism, err error) {
	if !initReady {
		return Outcome{}, applied, fmt.Errorf("sandbox: built-in: %w", errNotReady)
	}
	o.Lowered = b.lowered
	o.Seconds = uint64(limits.CPUs)*uint64(limits.Time/time.Second+1) + 1
	group, applied, err := b.divide(&o, limits)
	if err != nil {
		return Outcome{}, applied, fmt.Errorf("sandbox: built-in: %w", err)
	}
	defer func() {
		if failure := group.remove(); failure != nil && err == nil {
			err = fmt.Errorf("sandbox: built-in: removing the cgroup: %w", failure)
		}
	}()
	outcome, err = b.start(ctx, o, sources, limits, group)
	if err != nil {
		err = fmt.Errorf("sandbox: built-in: %w", err)
	}
	return outcome, applied, err
}

// start starts the init stage, gives it its order, and waits for the end.
func (b *builtin) start(ctx context.Context, o order, sources []*os.File, limits Limits, group *cgroup) (Outcome, error) {
	instructions, err := json.Marshal(o)
	if err != nil {
		return Outcome{}, err
	}
	pipes, err := newPipes()
	if err != nil {
		return Outcome{}, err
	}
	defer pipes.close()

	child := exec.Command("/proc/self/exe")
	child.Args = []string{initName}
	child.Env = []string{}
	if b.lowered.has(cleanEnvironment) {
		child.Env = os.Environ()
	}
	child.Dir = "/"
	child.Stdin = pipes.nothing
	child.ExtraFiles = append([]*os.File{pipes.orderRead, pipes.report.stage}, sources...)
	child.SysProcAttr = b.namespaces()

	var timedOut atomic.Bool
	kill := func() { child.Process.Kill() } // the first process of its namespace: all others die with it
	output := &budget{left: limits.Output, stop: kill}
	if b.lowered.has(outputLimit) {
		output.left = 64 * limits.Output
	}
	stdout, stderr := &capture{budget: output}, &capture{budget: output}
	child.Stdout, child.Stderr = stdout, stderr

	// The kernel kills the child when the thread that started it ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := time.Now()
	if err := child.Start(); err != nil {
		return Outcome{}, fmt.Errorf("starting in new namespaces: %w (for users other than root they may be switched off: "+
			"see user.max_user_namespaces, kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns)", err)
	}
	pipes.closeChildEnds()
	limit := limits.Time
	if b.lowered.has(timeLimit) {
		limit *= 8
	}
	timer := time.AfterFunc(limit, func() { timedOut.Store(true); kill() })
	defer timer.Stop()
	defer context.AfterFunc(ctx, kill)()

	startErr := group.add(child.Process.Pid)
	if startErr == nil {
		_, startErr = pipes.orderWrite.Write(instructions)
	}
	pipes.orderWrite.Close() // without an order the child gives up
	workspace, refusal := pipes.report.hear()
	if workspace != nil {
		defer workspace.Close()
	}
	waitErr := child.Wait()
	elapsed := time.Since(began)
	switch {
	case ctx.Err() != nil:
		return Outcome{}, context.Cause(ctx)
	case startErr != nil:
		return Outcome{}, startErr
	case refusal != nil:
		return Outcome{}, refusal
	}
	var status *exec.ExitError
	if waitErr != nil && !errors.As(waitErr, &status) {
		return Outcome{}, waitErr
	}
	outcome := Outcome{
		Runtime: b.Name(), End: Exited, ExitCode: child.ProcessState.ExitCode(),
		Stdout: stdout.kept.Bytes(), Stderr: stderr.kept.Bytes(), Elapsed: elapsed, PeakMemory: group.peakMemory(),
	}
	if usage, ok := child.ProcessState.SysUsage().(*syscall.Rusage); ok && outcome.PeakMemory == 0 {
		outcome.PeakMemory = usage.Maxrss << 10 // of the largest process
	}
	switch {
	case output.overrun():
		outcome.End = OutputLimit
	case group.outOfMemory():
		outcome.End = MemoryLimit
	case timedOut.Load():
		outcome.End = TimeLimit
	case outcome.ExitCode < 0:
		outcome.End = Signaled
	}
	if outcome.End != Exited {
		outcome.ExitCode = -1
	}
	return outcome, outcome.collected(o.Command, workspace)
}

// namespaces returns the attributes of the init stage: it is [UserID] in a user
// namespace of its own, with the capabilities that it needs there to shut
// itself in. Outside it is nobody in particular: the same number if this
// process is root, else this process's own user.
func (b *builtin) namespaces() *syscall.SysProcAttr {
	flags := unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
	if !b.lowered.has(processNamespace) {
		flags |= unix.CLONE_NEWPID
	}
	if !b.lowered.has(networkNamespace) {
		flags |= unix.CLONE_NEWNET
	}
	root := os.Geteuid() == 0
	hostUser, hostGroup := os.Geteuid(), os.Getegid()
	if root {
		hostUser, hostGroup = UserID, UserID
	}
	return &syscall.SysProcAttr{
		Cloneflags:                 uintptr(flags),
		UidMappings:                []syscall.SysProcIDMap{{ContainerID: UserID, HostID: hostUser, Size: 1}},
		GidMappings:                []syscall.SysProcIDMap{{ContainerID: UserID, HostID: hostGroup, Size: 1}},
		GidMappingsEnableSetgroups: root,
		Credential:                 &syscall.Credential{Uid: UserID, Gid: UserID, NoSetGroups: !root},
		AmbientCaps:                []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP},
		Setsid:                     true,
	}
}

// pipes connect the caller and the init stage.
type pipes struct {
	orderRead, orderWrite *os.File
	nothing               *os.File // standard input: at its end from the start
	report                *report
}

func newPipes() (p *pipes, err error) {
	p = new(pipes)
	var unused *os.File
	for _, ends := range [][2]**os.File{
		{&p.orderRead, &p.orderWrite}, {&p.nothing, &unused},
	} {
		if *ends[0], *ends[1], err = os.Pipe(); err != nil {
			p.close()
			return nil, err
		}
	}
	unused.Close()
	if p.report, err = newReport(); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *pipes) closeChildEnds() {
	closeAll([]*os.File{p.orderRead, p.report.stage, p.nothing})
}

func (p *pipes) close() {
	closeAll([]*os.File{p.orderRead, p.orderWrite, p.nothing})
	if p.report != nil {
		p.report.close()
	}
}
