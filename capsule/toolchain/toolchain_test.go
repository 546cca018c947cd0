package toolchain

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/erdos1056/erdos1056/capsule/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.RunInit()
	os.Exit(m.Run())
}

// standIn makes a folder that looks like a toolchain. Its programs are stand-ins
// and its export is made up: nothing is proved with it.
func standIn(t *testing.T) Toolchain {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "toolchain")
	for _, name := range []string{Lean, Exporter} {
		build := exec.Command("go", "build", "-o", filepath.Join(folder, "bin", name), "./testdata/standin")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if text, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
	lib := filepath.Join(folder, "lib/lean")
	if err := os.MkdirAll(lib, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(lib, "export.ndjson"), []byte("an export\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	found, missing := Find(folder, "")
	if len(missing) > 0 {
		t.Fatal(missing)
	}
	return found
}

func limits() sandbox.Limits {
	return sandbox.Limits{Memory: 256 << 20, Processes: 32, CPUs: 1, Time: 20 * time.Second, Output: 1 << 20}
}

// runtimes are those of this machine that can have a workspace.
func runtimes(t *testing.T) (found []sandbox.Runtime) {
	t.Helper()
	for _, r := range sandbox.Runtimes() {
		if _, err := r.Probe(context.Background()); err == nil && r.Name() != "docker" {
			found = append(found, r)
		}
	}
	if len(found) == 0 {
		t.Fatal("this machine offers no runtime")
	}
	return found
}

// record is what the stand-ins record.
type record struct {
	Args        []string
	Folder      string
	Environment []string
	Itself      string
	Source      string
	Written     []string
}

func TestProgramsOfAToolchainRunShutIn(t *testing.T) {
	toolchain, packages := standIn(t), t.TempDir()
	for _, runtime := range runtimes(t) {
		r := &Runner{Toolchain: toolchain, Packages: []string{packages}, Runtime: runtime, Limits: limits()}
		compiled, err := r.Run(context.Background(), Task{Program: Lean, Args: []string{"-o", "Candidate.olean", "{input}/Candidate.lean"},
			InputName: "Candidate.lean", InputData: []byte("the source\n"), Keep: "Candidate.olean"})
		if err != nil || compiled.Exit != 0 || compiled.Kept == nil {
			t.Fatalf("%s: %+v, %v", runtime.Name(), compiled, err)
		}
		exported, err := r.Run(context.Background(), Task{Program: Exporter, Args: []string{"Candidate", "--", "candidate"},
			InputName: "Candidate.olean", InputData: compiled.Kept})
		if err != nil || exported.Exit != 0 || exported.Kept != nil || string(exported.Stdout) != "an export\n" {
			t.Fatalf("%s: %+v, %v", runtime.Name(), exported, err)
		}
		var records []record
		if err := json.Unmarshal(exported.Stderr, &records); err != nil {
			t.Fatal(err)
		}
		for i, want := range []record{
			{Args: []string{"/toolchain/bin/lean", "-o", "Candidate.olean", "/input/Candidate.lean"}, Folder: "/workspace", Itself: "/toolchain/bin/lean", Source: "the source\n"},
			{Args: []string{"/exporter/lean4export", "Candidate", "--", "candidate"}, Folder: "/workspace", Itself: "/exporter/lean4export"},
		} {
			got := records[i]
			for _, entry := range []string{"LEAN_PATH=/input:/packages/0", "LEAN_SYSROOT=/toolchain", "HOME=/nonexistent"} {
				if !slices.Contains(got.Environment, entry) {
					t.Errorf("%s: the environment %q lacks %s", runtime.Name(), got.Environment, entry)
				}
			}
			got.Environment = nil
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %+v, want %+v", runtime.Name(), got, want)
			}
		}
	}
	if entries, err := os.ReadDir(packages); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v in the folder of packages", entries, err)
	}
}

func TestProgramThatDoesNotEndWellIsReported(t *testing.T) {
	r := &Runner{Toolchain: standIn(t), Runtime: runtimes(t)[0], Limits: limits()}
	r.Limits.Time = time.Second
	for behaviour, want := range map[string]Output{
		"error": {Exit: 1}, "sleep": {Exit: -1, Stopped: "time limit"}, "nothing": {},
	} {
		got, err := r.Run(context.Background(), Task{Program: Lean, Args: []string{"-o", "Candidate.olean", "{input}/Candidate.lean"},
			InputName: "Candidate.lean", InputData: []byte("-- stand-in: " + behaviour), Keep: "Candidate.olean"})
		if err != nil || got.Exit != want.Exit || got.Stopped != want.Stopped || got.Kept != nil {
			t.Errorf("%s: %+v, %v", behaviour, got, err)
		}
	}
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	toolchain, empty := standIn(t), t.TempDir()
	bare := filepath.Join(empty, "bare/bin")
	if err := os.MkdirAll(bare, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bare, "lean"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, path, folder, exporter string
		want                         []string
	}{
		{"nothing", empty, "", "", []string{"lean: not on PATH", "lean4export: neither in the toolchain nor on PATH"}},
		{"on PATH", filepath.Join(toolchain.Folder, "bin"), "", "", nil},
		{"in a folder", empty, toolchain.Folder, "", nil},
		{"a folder that is none", empty, empty, "", []string{"is no toolchain: there is no bin/lean in it", "lean4export: neither"}},
		{"a lean without its library", bare, "", "", []string{"is no toolchain: there is no lib/lean in it", "lean4export: neither"}},
		{"an exporter that is missing", empty, toolchain.Folder, filepath.Join(empty, "none"), []string{"no such file"}},
	} {
		t.Setenv("PATH", c.path)
		_, missing := Find(c.folder, c.exporter)
		if len(missing) != len(c.want) {
			t.Errorf("%s: %q, want %q", c.name, missing, c.want)
			continue
		}
		for i, want := range c.want {
			if !strings.Contains(missing[i], want) {
				t.Errorf("%s: %q, want %q", c.name, missing[i], want)
			}
		}
	}
}
