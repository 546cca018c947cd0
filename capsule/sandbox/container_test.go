package sandbox

import (
	"slices"
	"testing"

	specs "github.com/opencontainers/runtime-spec/specs-go"
)

func withoutNamespace(s *specs.Spec, kind specs.LinuxNamespaceType) {
	s.Linux.Namespaces = slices.DeleteFunc(s.Linux.Namespaces, func(n specs.LinuxNamespace) bool { return n.Type == kind })
}

func asRoot(s *specs.Spec) { s.Process.User = specs.User{} }

func unfiltered(s *specs.Spec) { s.Linux.Seccomp = nil }

// workspaceOptions replaces an option of the workspace's mount, which comes last.
func workspaceOptions(s *specs.Spec, old, new string) {
	options := s.Mounts[len(s.Mounts)-1].Options
	options[slices.Index(options, old)] = new
}

// TestRuncWalls takes single protections out of runc's configuration: the
// attempt that they are there for must then succeed.
func TestRuncWalls(t *testing.T) {
	if !slices.ContainsFunc(present(t), func(r Runtime) bool { return r.Name() == "runc" }) {
		return // the built-in runtime's walls are tested by TestWalls
	}
	for _, c := range []struct {
		attempt
		weaken func(*specs.Spec)
	}{
		{route, func(s *specs.Spec) { unfiltered(s); withoutNamespace(s, specs.NetworkNamespace) }},
		{unixSocket, unfiltered},
		{namespace, unfiltered},
		{kernelSurface, unfiltered},
		{write, func(s *specs.Spec) { asRoot(s); s.Root.Readonly = false; s.Process.Rlimits = nil }},
		{chmod, func(s *specs.Spec) { asRoot(s); unfiltered(s); s.Root.Readonly = false }},
		{rootUser, asRoot},
		{capabilities, func(s *specs.Spec) { s.Process.Capabilities.Bounding = []string{"CAP_NET_RAW"} }},
		{newPrivileges, func(s *specs.Spec) { unfiltered(s); s.Process.NoNewPrivileges = false }},
		{environ, func(s *specs.Spec) { s.Process.Env = append(s.Process.Env, "SECRET=1") }},
		{forkBomb, func(s *specs.Spec) { unfiltered(s); s.Linux.Resources.Pids, s.Linux.Resources.Memory = nil, nil }},
		{threads, func(s *specs.Spec) { s.Linux.Resources.Pids = nil }},
		{memory, func(s *specs.Spec) { s.Linux.Resources.Memory = nil }},
		{symlink, unfiltered},
		{hardLink, unfiltered},
		{execute, func(s *specs.Spec) { workspaceOptions(s, "noexec", "exec") }},
	} {
		t.Run(c.name, func(t *testing.T) { c.mustSucceed(t, &runc{weaken: c.weaken}) })
	}
}

// TestPodmanWalls does the same with podman's options.
func TestPodmanWalls(t *testing.T) {
	if !slices.ContainsFunc(present(t), func(r Runtime) bool { return r.Name() == "podman" }) {
		return // as above
	}
	unconfined := []string{"--security-opt=seccomp=unconfined", "--security-opt=no-new-privileges"}
	root, none := []string{"--user=0:0"}, []string{}
	for _, c := range []struct {
		attempt
		replace map[string][]string
	}{
		{namespace, map[string][]string{"--security-opt": unconfined}},
		{unixSocket, map[string][]string{"--security-opt": unconfined}},
		{newPrivileges, map[string][]string{"--security-opt": unconfined[:1]}},
		{write, map[string][]string{"--user": root, "--read-only": none}},
		{write, map[string][]string{"--ipc": none}},
		{write, map[string][]string{"--mount": none}},
		{write, map[string][]string{"--read-only-tmpfs": none}},
		{rootUser, map[string][]string{"--user": root}},
		{capabilities, map[string][]string{"--cap-drop": none}},
		{environ, map[string][]string{"--env": {"--env=SECRET=1"}}},
		{readHost, map[string][]string{"--passwd": none}},
		{threads, map[string][]string{"--pids-limit": none}},
		{memory, map[string][]string{"--memory": none, "--memory-swap": none}},
	} {
		t.Run(c.name, func(t *testing.T) { c.mustSucceed(t, &engine{program: "podman", replace: c.replace}) })
	}
}
