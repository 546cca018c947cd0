package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	RunInit()
	os.Exit(m.Run())
}

// hostile builds the hostile fixture once and returns a command that makes it
// run one attempt.
func hostile(t *testing.T, attempt string, args ...string) Command {
	t.Helper()
	program, marker := hostileFiles(t)
	return Command{
		Files: []File{
			{Path: "/capsule/verifier", Source: program, Executable: true},
			{Path: "/hostile-fixture-may-run-here", Source: marker},
		},
		Args: append([]string{"/capsule/verifier", attempt}, args...),
	}
}

var fixture struct {
	once sync.Once
	dir  string
	err  error
}

func hostileFiles(t *testing.T) (program, marker string) {
	t.Helper()
	fixture.once.Do(func() {
		if fixture.dir, fixture.err = os.MkdirTemp("", "erdos1056-hostile-"); fixture.err != nil {
			return
		}
		build := exec.Command("go", "build", "-trimpath", "-o", filepath.Join(fixture.dir, "hostile"), ".")
		build.Dir = "testdata/hostile"
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if output, err := build.CombinedOutput(); err != nil {
			fixture.err = fmt.Errorf("building the hostile fixture: %w\n%s", err, output)
			return
		}
		fixture.err = os.WriteFile(filepath.Join(fixture.dir, "marker"), []byte("marker\n"), 0o600)
	})
	if fixture.err != nil {
		t.Fatal(fixture.err)
	}
	return filepath.Join(fixture.dir, "hostile"), filepath.Join(fixture.dir, "marker")
}

// testLimits are small enough that every attempt ends soon.
func testLimits() Limits {
	return Limits{Memory: 96 << 20, Processes: 24, CPUs: 1, Time: 20 * time.Second, Output: 64 << 10}
}

// An attempt is one thing that the hostile verifier tries, and the walls that
// stand against it: each of them alone must suffice, and with all of them down
// the attempt must succeed, or the test would prove nothing.
type attempt struct {
	name  string
	args  []string
	walls []protection
	ends  End // how a held attempt ends, if not by itself
}

var attempts = []attempt{
	{name: "route", walls: []protection{networkNamespace, seccompFilter}},
	{name: "interfaces", walls: []protection{networkNamespace, seccompFilter}},
	{name: "unix-socket", walls: []protection{seccompFilter}},
	{name: "write", walls: []protection{readOnlyRoot, landlockRules}},
	{name: "links", walls: []protection{readOnlyRoot, landlockRules, seccompFilter}},
	{name: "chmod", walls: []protection{readOnlyRoot, seccompFilter}},
	{name: "other-processes", walls: []protection{processNamespace}},
	{name: "namespace", walls: []protection{seccompFilter}},
	{name: "capabilities", walls: []protection{noCapabilities}},
	{name: "new-privileges", walls: []protection{noNewPrivileges, landlockRules, seccompFilter}},
	{name: "mount", walls: []protection{noCapabilities, landlockRules, seccompFilter}},
	{name: "kernel-surface", walls: []protection{seccompFilter}},
	{name: "environment", walls: []protection{cleanEnvironment}},
	{name: "fork-bomb", walls: []protection{seccompFilter, processLimit}},
	{name: "threads", walls: []protection{processLimit}},
	{name: "parallel", walls: []protection{processorLimit}},
	{name: "memory", args: []string{"192"}, walls: []protection{memoryLimit}},
	{name: "endless-output", args: []string{"1000000"}, walls: []protection{outputLimit}, ends: OutputLimit},
	{name: "sleep", args: []string{"3s"}, walls: []protection{timeLimit}, ends: TimeLimit},
}

func (a attempt) limits() Limits {
	limits := testLimits()
	if a.ends == TimeLimit {
		limits.Time = 500 * time.Millisecond
	}
	return limits
}

// succeeded runs the attempt and reports whether it got what it wanted.
func (a attempt) succeeded(t *testing.T, r Runtime) bool {
	t.Helper()
	outcome, err := r.Run(context.Background(), hostile(t, a.name, a.args...), a.limits())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %s %d: %s%s", a.name, outcome.End, outcome.ExitCode, outcome.Stdout[:min(200, len(outcome.Stdout))], outcome.Stderr[:min(200, len(outcome.Stderr))])
	if outcome.ExitCode == 2 && !strings.Contains(string(outcome.Stderr), "runtime") {
		t.Fatalf("the fixture did not run: %s", outcome.Stderr)
	}
	return outcome.ExitCode == 3
}

func TestBuiltinDeniesEveryAttempt(t *testing.T) {
	for _, a := range attempts {
		t.Run(a.name, func(t *testing.T) {
			if a.succeeded(t, &builtin{}) {
				t.Error("succeeded although every protection was up")
			}
		})
	}
}

func TestEveryAttemptIsReal(t *testing.T) {
	for _, a := range attempts {
		t.Run(a.name, func(t *testing.T) {
			var all protection
			for _, wall := range a.walls {
				all |= wall
			}
			if !a.succeeded(t, &builtin{lowered: all}) {
				t.Errorf("was denied although every protection against it was down")
			}
		})
	}
}

func TestEachWallHoldsAlone(t *testing.T) {
	for _, a := range attempts {
		for i := range a.walls {
			if len(a.walls) == 1 {
				continue // shown by the two tests above
			}
			t.Run(fmt.Sprintf("%s/%d", a.name, i), func(t *testing.T) {
				var others protection
				for j, wall := range a.walls {
					if j != i {
						others |= wall
					}
				}
				if a.succeeded(t, &builtin{lowered: others}) {
					t.Error("succeeded against this protection alone")
				}
			})
		}
	}
}
