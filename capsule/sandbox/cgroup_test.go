package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestHierarchiesAreFoundInBothVersions(t *testing.T) {
	const v1Mounts = `30 25 0:26 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory
31 25 0:27 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
32 25 0:28 /docker/x /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids
33 25 0:29 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd
34 25 0:30 / /proc rw - proc proc rw
`
	const v1Own = "4:memory:/user/a\n3:cpu,cpuacct:/\n2:pids:/docker/x/y\n1:name=systemd:/z\n"
	want := []hierarchy{
		{1, []string{"memory"}, "/sys/fs/cgroup/memory/user/a"},
		{1, []string{"cpu", "cpuacct"}, "/sys/fs/cgroup/cpu,cpuacct"},
		{1, []string{"pids"}, "/sys/fs/cgroup/pids/y"},
		{1, []string{"name=systemd"}, "/sys/fs/cgroup/systemd/z"},
	}
	if got := hierarchies([]byte(v1Mounts), []byte(v1Own)); !reflect.DeepEqual(got, want) {
		t.Errorf("version 1: got %v, want %v", got, want)
	}

	root := t.TempDir()
	own := filepath.Join(root, "user.slice")
	if err := os.Mkdir(own, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(own, "cgroup.subtree_control"), []byte("cpu memory pids\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	v2Mounts := "30 25 0:26 / " + root + " rw,relatime - cgroup2 cgroup2 rw,nsdelegate\n"
	want = []hierarchy{{2, []string{"cpu", "memory", "pids"}, own}}
	if got := hierarchies([]byte(v2Mounts), []byte("0::/user.slice\n")); !reflect.DeepEqual(got, want) {
		t.Errorf("version 2: got %v, want %v", got, want)
	}
}

// A folder stands in for the kernel's: what matters is which files get which
// values.
func TestSettingsAreWritten(t *testing.T) {
	limits := testLimits()
	for _, c := range []struct {
		version int
		want    map[string]string
	}{
		{1, map[string]string{
			"memory.limit_in_bytes": "201326592", "memory.memsw.limit_in_bytes": "201326592",
			"pids.max": "24", "cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "100000",
		}},
		{2, map[string]string{
			"memory.max": "201326592", "memory.swap.max": "0", "memory.oom.group": "1", "pids.max": "24", "cpu.max": "100000 100000",
		}},
	} {
		got := make(map[string]string)
		for _, controller := range []string{"memory", "pids", "cpu"} {
			for _, s := range settings(c.version, controller, limits) {
				got[s.file] = s.value
			}
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("version %d: got %v, want %v", c.version, got, c.want)
		}
	}
}

// TestKernelTakesTheLimits reads the limits back from a group of this machine,
// for those controllers that this process may use.
func TestKernelTakesTheLimits(t *testing.T) {
	trees, err := ownHierarchies()
	if err != nil {
		t.Fatal(err)
	}
	group := newCgroup(trees, []string{"memory", "pids", "cpu"}, testLimits())
	defer func() {
		if err := group.remove(); err != nil {
			t.Error(err)
		}
	}()
	for controller, tree := range group.limits {
		for _, s := range settings(tree.version, controller, testLimits()) {
			i := slices.IndexFunc(group.folders, func(f string) bool { return strings.HasPrefix(f, tree.own) })
			data, err := os.ReadFile(filepath.Join(group.folders[i], s.file))
			if os.IsNotExist(err) && s.optional {
				continue
			}
			if err != nil || strings.TrimSpace(string(data)) != s.value {
				t.Errorf("%s: got %q, %v; want %s", s.file, data, err, s.value)
			}
		}
	}
	if os.Geteuid() == 0 && len(group.limits) == 0 {
		t.Error("root may use no controller at all")
	}
}

func TestOutOfMemoryIsReadFromBothVersions(t *testing.T) {
	for _, c := range []struct {
		file, text string
		want       bool
	}{
		{"memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n", true},
		{"memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n", false},
		{"memory.events", "low 0\nhigh 0\nmax 8\noom 1\noom_kill 2\noom_group_kill 1\n", true},
		{"memory.events", "low 0\nhigh 0\nmax 8\noom 0\noom_kill 0\n", false},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := (&cgroup{folders: []string{dir}}).outOfMemory(); got != c.want {
			t.Errorf("%s %q: got %v", c.file, c.text, got)
		}
	}
}

func TestGroupsOfDeadCallersAreSwept(t *testing.T) {
	own := t.TempDir()
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	for name, keep := range map[string]bool{
		fmt.Sprintf("erdos1056-%d-dead", dead.Process.Pid):  false,
		fmt.Sprintf("erdos1056-%d-alive", os.Getpid()):      true,
		fmt.Sprintf("erdos1056-%d-young", dead.Process.Pid): true,
		"erdos1056-x-unknown":                               true,
		"system.slice":                                      true,
	} {
		folder := filepath.Join(own, name)
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(name, "young") {
			if err := os.Chtimes(folder, old, old); err != nil {
				t.Fatal(err)
			}
		}
		sweep(own)
		if _, err := os.Stat(folder); (err == nil) != keep {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzHierarchies(f *testing.F) {
	f.Add("30 25 0:26 / /cg rw - cgroup cgroup rw,memory\n", "4:memory:/a\n0::/b\n")
	f.Fuzz(func(t *testing.T, mountinfo, cgroup string) {
		for _, h := range hierarchies([]byte(mountinfo), []byte(cgroup)) {
			if h.version != 1 && h.version != 2 {
				t.Errorf("got %+v", h)
			}
		}
	})
}
