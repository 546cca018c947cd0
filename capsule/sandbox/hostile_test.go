package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) {
	RunInit()
	// A careless caller: this folder stays open in every program that is started.
	if _, err := unix.Open("/", unix.O_RDONLY|unix.O_DIRECTORY, 0); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(fixture.dir)
	os.Exit(code)
}

// hostile builds the hostile fixture once and returns a command that makes it
// run one attempt.
func hostile(t testing.TB, attempt string, args ...string) Command {
	t.Helper()
	program, marker := hostileFiles(t)
	return Command{
		Files: []File{
			{Path: "/capsule/verifier", Source: program, Executable: true},
			{Path: "/hostile-fixture-may-run-here", Source: marker},
		},
		Args: slices.Concat([]string{"/capsule/verifier", attempt}, args, []string{callerMark()}),
	}
}

var fixture struct {
	once sync.Once
	dir  string
	err  error
}

func hostileFiles(t testing.TB) (program, marker string) {
	t.Helper()
	fixture.once.Do(func() {
		if fixture.dir, fixture.err = os.MkdirTemp("", "erdos1056-hostile-"); fixture.err != nil {
			return
		}
		fixture.err = os.WriteFile(filepath.Join(fixture.dir, "marker"), []byte("marker\n"), 0o600)
	})
	if fixture.err != nil {
		t.Fatal(fixture.err)
	}
	return buildHostile(t, ""), filepath.Join(fixture.dir, "marker")
}

// buildHostile returns the fixture built with a setting of the go command, such
// as GOARCH=arm64, or as it is for this machine.
func buildHostile(t testing.TB, setting string) string {
	t.Helper()
	program := filepath.Join(fixture.dir, "hostile"+setting)
	if _, err := os.Stat(program); err == nil {
		return program
	}
	build := exec.Command("go", "build", "-trimpath", "-o", program, ".")
	build.Dir = "testdata/hostile"
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if setting != "" {
		build.Env = append(build.Env, setting)
	}
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the hostile fixture: %v\n%s", err, output)
	}
	return program
}

// testLimits are small enough that every attempt ends soon.
func testLimits() Limits {
	return Limits{Memory: 192 << 20, Processes: 24, CPUs: 1, Time: 20 * time.Second, Output: 256 << 10}
}

// An attempt is one thing that the hostile verifier tries.
type attempt struct {
	name      string
	args      []string
	ends      End        // how a held attempt ends if not by itself, else ""
	workspace *Workspace // that it is made in, if any
}

func (a attempt) limits() Limits {
	limits := testLimits()
	if a.ends == TimeLimit {
		limits.Time = time.Second
	}
	return limits
}

// run runs the attempt, and reports whether it got what it wanted and the whole
// story.
func (a attempt) run(t *testing.T, r Runtime) (succeeded bool, story string) {
	t.Helper()
	command := hostile(t, a.name, a.args...)
	command.Workspace = a.workspace
	outcome, err := r.Run(context.Background(), command, a.limits())
	if err != nil {
		t.Fatal(err)
	}
	story = fmt.Sprintf("%s, exit code %d: %.300q %.300q", outcome.End, outcome.ExitCode, outcome.Stdout, outcome.Stderr)
	switch {
	case outcome.End != Exited:
		if a.ends != "" && outcome.End != a.ends {
			t.Errorf("want an end by the %s: %s", a.ends, story)
		}
		return false, story
	case outcome.ExitCode == 3:
		return true, story
	case outcome.ExitCode == 0:
		return false, story
	// A Go program dies with 2 when it is refused a thread or memory.
	case outcome.ExitCode == 2 && (a.name == "threads" || a.name == "memory"):
		return false, story
	}
	t.Fatalf("the fixture did not do its work: %s", story)
	return false, story
}

// mustFail and mustSucceed run the attempt and judge the outcome.
func (a attempt) mustFail(t *testing.T, r Runtime) {
	t.Helper()
	if succeeded, story := a.run(t, r); succeeded {
		t.Errorf("not denied: %s", story)
	}
}

func (a attempt) mustSucceed(t *testing.T, r Runtime) {
	t.Helper()
	if succeeded, story := a.run(t, r); !succeeded {
		t.Errorf("denied although the protection was off: %s", story)
	}
}

var (
	route          = attempt{name: "route"}
	interfaces     = attempt{name: "interfaces"}
	unixSocket     = attempt{name: "unix-socket"}
	write          = attempt{name: "write"}
	links          = attempt{name: "links"}
	chmod          = attempt{name: "chmod"}
	device         = attempt{name: "device"}
	otherProcesses = attempt{name: "other-processes"}
	signal         = attempt{name: "signal"}
	namespace      = attempt{name: "namespace"}
	mount          = attempt{name: "mount"}
	capabilities   = attempt{name: "capabilities"}
	newPrivileges  = attempt{name: "new-privileges"}
	rootUser       = attempt{name: "root-user"}
	kernelSurface  = attempt{name: "kernel-surface"}
	environ        = attempt{name: "environment"}
	descriptors    = attempt{name: "descriptors"}
	forkBomb       = attempt{name: "fork-bomb"}
	threads        = attempt{name: "threads"}
	processors     = attempt{name: "processors"}
	memory         = attempt{name: "memory", args: []string{"400"}}
	endlessOutput  = attempt{name: "endless-output", args: []string{"4000000"}, ends: OutputLimit}
	sleep          = attempt{name: "sleep", args: []string{"3s"}, ends: TimeLimit}

	// readHost is told which files are its own, and which podman makes for a
	// container.
	readHost = attempt{name: "read-host", args: []string{
		"/capsule/verifier", "/hostile-fixture-may-run-here", "/etc/hosts", "/etc/hostname", "/etc/resolv.conf", "/run/.containerenv",
	}}
)

// The attempts on a workspace, and one on everything else beside it.
var (
	smallWorkspace = &Workspace{Path: "/workspace", Size: 4 << 20, Entries: 100}
	fill           = attempt{name: "workspace-fill", args: []string{"5"}, workspace: smallWorkspace}
	inodes         = attempt{name: "workspace-inodes", args: []string{"101"}, workspace: smallWorkspace}
	symlink        = attempt{name: "workspace-symlink", workspace: smallWorkspace}
	hardLink       = attempt{name: "workspace-hard-link", workspace: smallWorkspace}
	pipe           = attempt{name: "workspace-pipe", workspace: smallWorkspace}
	execute        = attempt{name: "workspace-execute", workspace: smallWorkspace}
	writeElsewhere = attempt{name: "write", workspace: smallWorkspace}
)

// atOnce are the attempts that one process can make one after the other.
var atOnce = attempt{
	name: join(route, interfaces, unixSocket, write, links, chmod, device, otherProcesses, signal, readHost, namespace, mount,
		capabilities, newPrivileges, rootUser, kernelSurface, environ, descriptors, forkBomb),
	args: readHost.args,
}

func join(attempts ...attempt) string {
	var names []string
	for _, a := range attempts {
		names = append(names, a.name)
	}
	return strings.Join(names, ",")
}

// inWorkspaceAtOnce likewise. Filling it comes last.
var inWorkspaceAtOnce = attempt{
	name:      join(symlink, hardLink, pipe, writeElsewhere, execute, fill, inodes),
	args:      inodes.args,
	workspace: smallWorkspace,
}

var everything = []attempt{atOnce, inWorkspaceAtOnce, threads, memory, endlessOutput, sleep}

// TestEveryRuntimeDeniesEveryAttempt runs all attempts in all runtimes that this
// machine offers.
func TestEveryRuntimeDeniesEveryAttempt(t *testing.T) {
	before := hostState(t)
	for _, r := range append(present(t), &builtin{withoutCgroups: true}) {
		t.Run(r.Name(), func(t *testing.T) {
			for _, a := range everything {
				t.Run(a.name[:min(len(a.name), 20)], func(t *testing.T) { a.mustFail(t, r) })
			}
		})
	}
	compareHost(t, before)
}

// present returns the runtimes that this machine offers.
func present(t *testing.T) []Runtime {
	t.Helper()
	var found []Runtime
	for _, r := range Runtimes() {
		if _, err := r.Probe(context.Background()); err == nil {
			found = append(found, r)
		}
	}
	if len(found) == 0 {
		t.Fatal("this machine offers no runtime at all")
	}
	return found
}

// TestFixtureRefusesToRunOutsideASandbox: nothing may be tried on a bare host.
func TestFixtureRefusesToRunOutsideASandbox(t *testing.T) {
	command := hostile(t, "exit", "0")
	command.Files = command.Files[:1]
	outcome, err := (&builtin{}).Run(context.Background(), command, testLimits())
	if err != nil || outcome.End != Exited || outcome.ExitCode != 2 {
		t.Errorf("got %+v, %v; want exit code 2", outcome, err)
	}
}

// A case of TestWalls names the walls that stand against one attempt.
var wallCases = []struct {
	attempt
	walls    []protection
	rootless bool // the wall is seen only without cgroups
}{
	{attempt: route, walls: []protection{networkNamespace, seccompFilter}},
	{attempt: interfaces, walls: []protection{networkNamespace, seccompFilter}},
	{attempt: unixSocket, walls: []protection{seccompFilter}},
	{attempt: write, walls: []protection{readOnlyRoot, landlockRules}},
	{attempt: links, walls: []protection{readOnlyRoot, landlockRules, seccompFilter}},
	{attempt: chmod, walls: []protection{readOnlyRoot, seccompFilter}},
	{attempt: otherProcesses, walls: []protection{processNamespace}},
	{attempt: namespace, walls: []protection{seccompFilter}},
	{attempt: mount, walls: []protection{noCapabilities, landlockRules, seccompFilter}},
	{attempt: capabilities, walls: []protection{noCapabilities}},
	{attempt: newPrivileges, walls: []protection{noNewPrivileges, landlockRules, seccompFilter}},
	{attempt: kernelSurface, walls: []protection{seccompFilter}},
	{attempt: environ, walls: []protection{cleanEnvironment}},
	{attempt: descriptors, walls: []protection{closedDescriptors}},
	{attempt: forkBomb, walls: []protection{seccompFilter, processLimit}},
	{attempt: forkBomb, walls: []protection{seccompFilter, processLimit}, rootless: true},
	{attempt: threads, walls: []protection{processLimit}},
	{attempt: threads, walls: []protection{processLimit}, rootless: true},
	{attempt: processors, walls: []protection{processorLimit}, rootless: true},
	{attempt: memory, walls: []protection{memoryLimit}},
	{attempt: memory, walls: []protection{memoryLimit}, rootless: true},
	{attempt: endlessOutput, walls: []protection{outputLimit}},
	{attempt: symlink, walls: []protection{landlockRules, seccompFilter}},
	{attempt: hardLink, walls: []protection{seccompFilter}},
	{attempt: pipe, walls: []protection{landlockRules, seccompFilter}},
	{attempt: writeElsewhere, walls: []protection{readOnlyRoot, landlockRules}},
	{attempt: attempt{name: "sleep", args: []string{"1500ms"}, ends: TimeLimit}, walls: []protection{timeLimit}},
}

// TestWalls lowers the protections of the built-in runtime. With all walls
// against an attempt down the attempt must succeed, or denying it would prove
// nothing; with any single one of them up it must fail.
func TestWalls(t *testing.T) {
	for _, c := range wallCases {
		name := c.name
		if c.rootless {
			name += " without cgroups"
		}
		t.Run(name, func(t *testing.T) {
			var all protection
			for _, wall := range c.walls {
				all |= wall
			}
			c.mustSucceed(t, &builtin{lowered: all, withoutCgroups: c.rootless})
			for _, wall := range c.walls {
				c.mustFail(t, &builtin{lowered: all &^ wall, withoutCgroups: c.rootless})
			}
		})
	}
}
