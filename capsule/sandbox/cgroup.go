package sandbox

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A hierarchy is one mounted cgroup tree and the place of this process in it.
type hierarchy struct {
	version     int      // 1 or 2
	controllers []string // what the tree can limit
	own         string   // folder of this process's cgroup
}

// ownHierarchies returns the cgroup trees of this process.
func ownHierarchies() ([]hierarchy, error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	return hierarchies(mounts, own), nil
}

func offers(trees []hierarchy, controller string) bool {
	return slices.ContainsFunc(trees, func(h hierarchy) bool { return slices.Contains(h.controllers, controller) })
}

// hierarchies reads the cgroup trees from the two files of /proc/self
// (cgroups(7), proc_pid_mountinfo(5)).
func hierarchies(mountinfo, cgroup []byte) []hierarchy {
	var found []hierarchy
	for _, mount := range strings.Split(string(mountinfo), "\n") {
		before, after, ok := strings.Cut(mount, " - ")
		fields, kind := strings.Fields(before), strings.Fields(after)
		if !ok || len(fields) < 5 || len(kind) < 3 {
			continue
		}
		root, point := fields[3], fields[4]
		switch kind[0] {
		case "cgroup":
			options := strings.Split(kind[2], ",")
			for _, line := range strings.Split(string(cgroup), "\n") {
				id := strings.SplitN(line, ":", 3)
				if len(id) != 3 || id[1] == "" {
					continue
				}
				controllers := strings.Split(id[1], ",")
				if slices.Contains(options, controllers[0]) {
					found = append(found, hierarchy{1, controllers, place(point, root, id[2])})
				}
			}
		case "cgroup2":
			for _, line := range strings.Split(string(cgroup), "\n") {
				if name, ok := strings.CutPrefix(line, "0::"); ok {
					own := place(point, root, name)
					found = append(found, hierarchy{2, delegated(own), own})
				}
			}
		}
	}
	return found
}

// place returns the folder of the cgroup called name in the tree whose folder
// root is mounted at point.
func place(point, root, name string) string {
	if rest, ok := strings.CutPrefix(name, root); ok && root != "/" {
		name = rest
	}
	return filepath.Join(point, name)
}

// delegated returns the controllers that children of a version 2 cgroup can use.
func delegated(own string) []string {
	data, err := os.ReadFile(filepath.Join(own, "cgroup.subtree_control"))
	if err != nil {
		return nil
	}
	return strings.Fields(string(data))
}

// A setting is one file of a cgroup and what is written to it.
type setting struct {
	file, value string
	optional    bool // the file exists only where the kernel accounts swap
}

// settings returns how a controller applies the limits.
func settings(version int, controller string, limits Limits) []setting {
	memory, processes := strconv.FormatInt(limits.Memory, 10), strconv.Itoa(limits.Processes)
	switch {
	case controller == "pids":
		return []setting{{file: "pids.max", value: processes}}
	case controller == "memory" && version == 1:
		return []setting{
			{file: "memory.limit_in_bytes", value: memory},
			{file: "memory.memsw.limit_in_bytes", value: memory, optional: true},
		}
	case controller == "memory":
		return []setting{
			{file: "memory.max", value: memory},
			{file: "memory.swap.max", value: "0", optional: true},
			{file: "memory.oom.group", value: "1", optional: true},
		}
	case controller == "cpu" && version == 1:
		return []setting{
			{file: "cpu.cfs_period_us", value: "100000"},
			{file: "cpu.cfs_quota_us", value: strconv.Itoa(100000 * limits.CPUs)},
		}
	case controller == "cpu":
		return []setting{{file: "cpu.max", value: fmt.Sprintf("%d 100000", 100000*limits.CPUs)}}
	}
	return nil
}

// A cgroup is a group of our own, one folder per hierarchy that it needs.
type cgroup struct {
	folders []string
	limits  map[string]hierarchy // by controller
}

// newCgroup makes a group below this process's own that applies those of the
// named controllers (memory, pids, cpu) that the machine lets this process use.
// Which they are is in cgroup.limits.
func newCgroup(trees []hierarchy, controllers []string, limits Limits) *cgroup {
	g := &cgroup{limits: make(map[string]hierarchy)}
	name := runName()
	for _, controller := range controllers {
		i := slices.IndexFunc(trees, func(h hierarchy) bool { return slices.Contains(h.controllers, controller) })
		if i < 0 {
			continue
		}
		if err := g.apply(trees[i], name, settings(trees[i].version, controller, limits)); err != nil {
			continue
		}
		g.limits[controller] = trees[i]
	}
	return g
}

func (g *cgroup) apply(tree hierarchy, name string, settings []setting) error {
	folder := filepath.Join(tree.own, name)
	if !slices.Contains(g.folders, folder) {
		sweep(tree.own)
		if err := os.Mkdir(folder, 0o755); err != nil {
			return err
		}
		g.folders = append(g.folders, folder)
	}
	for _, s := range settings {
		err := os.WriteFile(filepath.Join(folder, s.file), []byte(s.value), 0)
		if err != nil && !(s.optional && errors.Is(err, os.ErrNotExist)) {
			return err
		}
	}
	return nil
}

// sweep removes the empty groups of callers that were killed before they could
// do so themselves. A group is left alone for a minute: it may belong to a
// caller whose process number means nothing here.
func sweep(own string) {
	stale, _ := filepath.Glob(filepath.Join(own, "erdos1056-*-*"))
	for _, folder := range stale {
		var pid int
		info, err := os.Stat(folder)
		if _, scanErr := fmt.Sscanf(filepath.Base(folder), "erdos1056-%d-", &pid); err != nil || scanErr != nil || time.Since(info.ModTime()) < time.Minute {
			continue
		}
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); errors.Is(err, os.ErrNotExist) {
			os.Remove(folder) // fails while a process is in it
		}
	}
}

// add moves a process, and with it its future children, into the group.
func (g *cgroup) add(pid int) error {
	for _, folder := range g.folders {
		if err := os.WriteFile(filepath.Join(folder, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0); err != nil {
			return fmt.Errorf("cgroup: %w", err)
		}
	}
	return nil
}

// outOfMemory reports whether the kernel killed a process of the group because
// of the memory limit.
func (g *cgroup) outOfMemory() bool {
	for _, folder := range g.folders {
		for _, file := range []string{"memory.oom_control", "memory.events"} {
			data, err := os.ReadFile(filepath.Join(folder, file))
			if err != nil {
				continue
			}
			for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
				if count, ok := strings.CutPrefix(lines.Text(), "oom_kill "); ok && count != "0" {
					return true
				}
			}
		}
	}
	return false
}

// peakMemory returns the greatest memory of the group in bytes, 0 where the
// kernel did not account it.
func (g *cgroup) peakMemory() int64 {
	for _, folder := range g.folders {
		for _, file := range []string{"memory.max_usage_in_bytes", "memory.peak"} {
			data, err := os.ReadFile(filepath.Join(folder, file))
			if err != nil {
				continue
			}
			if peak, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64); err == nil {
				return peak
			}
		}
	}
	return 0
}

// remove removes the group. Its processes are dead; the kernel may take a
// moment to notice.
func (g *cgroup) remove() error {
	var failures []error
	for _, folder := range g.folders {
		var err error
		for wait := time.Millisecond; wait < time.Second; wait *= 2 {
			if err = os.Remove(folder); err == nil || errors.Is(err, os.ErrNotExist) {
				err = nil
				break
			}
			time.Sleep(wait)
		}
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}
