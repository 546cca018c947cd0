package toolchain

import (
	"bytes"
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
	"github.com/erdos1056/erdos1056/lean/audit"
	"github.com/erdos1056/erdos1056/lean/elaborate"
	"github.com/erdos1056/erdos1056/lean/export"
	"github.com/erdos1056/erdos1056/lean/source"
	"github.com/erdos1056/erdos1056/lean/term"
)

func TestMain(m *testing.M) {
	sandbox.RunInit()
	os.Exit(m.Run())
}

const statement = "candidate : ∀ (p : Prop), p → p"

// exportOf writes declarations as an export.
func exportOf(t *testing.T, text string) []byte {
	t.Helper()
	store := term.NewStore(nil)
	decls, err := source.Parse(store, text)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := export.Write(&b, store, export.Meta{}, decls); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// standIn makes a folder that looks like a toolchain. Its programs are stand-ins
// and its export is made up: nothing is proved with it.
func standIn(t *testing.T) Toolchain {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "toolchain")
	for _, name := range []string{elaborate.Lean, elaborate.Exporter} {
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
	if err := os.WriteFile(filepath.Join(lib, "export.ndjson"), exportOf(t, "theorem "+statement+" := fun (p : Prop) (h : p) => h"), 0o644); err != nil {
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
		compiled, err := r.Run(context.Background(), elaborate.Task{Program: elaborate.Lean, Args: []string{"-o", "Candidate.olean", "{input}/Candidate.lean"},
			Input: elaborate.File{Name: "Candidate.lean", Data: []byte("the source\n")}, Keep: "Candidate.olean"})
		if err != nil || compiled.Exit != 0 || compiled.Kept == nil {
			t.Fatalf("%s: %+v, %v", runtime.Name(), compiled, err)
		}
		exported, err := r.Run(context.Background(), elaborate.Task{Program: elaborate.Exporter, Args: []string{"Candidate", "--", "candidate"},
			Input: elaborate.File{Name: "Candidate.olean", Data: compiled.Kept}})
		if err != nil || exported.Exit != 0 || exported.Kept != nil || !bytes.Contains(exported.Stdout, []byte("candidate")) {
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

func TestTermIsElaboratedShutInAndOnlyTheExportDecides(t *testing.T) {
	toolchain := standIn(t)
	r := &Runner{Toolchain: toolchain, Runtime: runtimes(t)[0], Limits: limits()}
	r.Limits.Time = 2 * time.Second
	for _, c := range []struct{ term, verdict, reason string }{
		{"by\n  intro p h\n  exact h", "accept", ""},
		{"by sorry", "reject", "forbidden word"},
		{"by\n-- stand-in: error\n  simp", "reject", "lean ended with status 1: \"Candidate.lean:4:2: error: unsolved goals\""},
		{"by\n-- stand-in: sleep\n  simp", "decline", "lean was stopped: time limit"},
		{"by\n-- stand-in: nothing\n  simp", "decline", "lean left no Candidate.olean"},
	} {
		result, err := elaborate.Elaborate(context.Background(), elaborate.Problem{Module: "M", Theorem: "M.t"}, []byte(c.term),
			elaborate.Options{Runner: r, Challenge: bytes.NewReader(exportOf(t, "axiom "+statement)), Permit: audit.Standard})
		if err != nil || result.Verdict != c.verdict || !strings.Contains(result.Reason, c.reason) {
			t.Errorf("%q: %+v, %v; want %s with %q", c.term, result, err, c.verdict, c.reason)
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
