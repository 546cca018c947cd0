package sandbox

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// hostState describes everything on this machine that a sandbox could change by
// mistake: one line per mount, cgroup, binary format, device, file in the
// folders that runtimes use, and process that is or descends from a runtime.
func hostState(t *testing.T) []string {
	t.Helper()
	var state []string
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(mounts), "\n") {
		state = append(state, "mount "+line)
	}
	collect := func(kind, root string, depth int, keep func(string) bool) {
		filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil
			}
			if keep(path) {
				state = append(state, fmt.Sprintf("%s %v %s", kind, d.Type(), path))
			}
			if d.IsDir() && strings.Count(strings.TrimPrefix(path, root), "/") >= depth {
				return filepath.SkipDir
			}
			return nil
		})
	}
	// Other tests may run on this machine at the same time: what carries another
	// process's number is not looked at.
	own := fmt.Sprintf("erdos1056-%d-", os.Getpid())
	ours := func(path string) bool {
		name := filepath.Base(path)
		return strings.HasPrefix(name, own) || strings.HasPrefix(name, "libpod") || name == "conmon"
	}
	anything := func(string) bool { return true }
	collect("cgroup", "/sys/fs/cgroup", 6, ours)
	collect("binary format", "/proc/sys/fs/binfmt_misc", 1, anything)
	collect("device", "/dev", 1, anything)
	for _, root := range []string{os.TempDir(), "/var/tmp", "/dev/shm"} {
		collect("file", root, 1, ours)
	}
	collect("file", ".", 1, anything)
	for _, root := range []string{"/var/lib/containers", "/run/containers", "/run/libpod", "/etc/cni"} {
		collect("file", root, 2, anything)
	}
	containers, _ := filepath.Glob("/run/runc/*/state.json")
	for _, c := range containers {
		if text, _ := os.ReadFile(c); strings.Contains(string(text), own) {
			state = append(state, "container "+c)
		}
	}
	processes, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, p := range processes {
		line, _ := os.ReadFile(p)
		words := strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
		if slices.Contains(words, callerMark()) || strings.Contains(string(line), own) {
			state = append(state, "process "+strings.Join(words, " "))
		}
	}
	slices.Sort(state)
	return state
}

// callerMark is an argument of the fixture that tells whose process it is.
func callerMark() string { return fmt.Sprintf("caller=%d", os.Getpid()) }

// compareHost fails the test unless the machine becomes as it was before, within
// a few seconds: what is being torn down may need a moment.
func compareHost(t *testing.T, before []string) {
	t.Helper()
	var after []string
	for range 50 {
		if after = hostState(t); slices.Equal(before, after) {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	for _, line := range after {
		if !slices.Contains(before, line) {
			t.Errorf("is new on the host: %s", line)
		}
	}
	for _, line := range before {
		if !slices.Contains(after, line) {
			t.Errorf("is gone from the host: %s", line)
		}
	}
	null, err := os.Stat("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	if null.Mode().Type() != fs.ModeDevice|fs.ModeCharDevice {
		t.Errorf("/dev/null is %v, want a character device", null.Mode())
	}
}

func TestHostComparisonSeesWhatIsLeftBehind(t *testing.T) {
	before := hostState(t)
	dir, err := os.MkdirTemp("", runName())
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if slices.Equal(before, hostState(t)) {
		t.Error("a folder left behind was not seen")
	}
}
