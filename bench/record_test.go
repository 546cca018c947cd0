package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var exampleMachine = Machine{Date: "2030-01-02T03:04:05Z", Revision: "v1.2.3", CPU: "Example(R) CPU @ 2.00GHz", Cores: 2, L1Data: 32 << 10,
	L2: 1 << 20, L3: 32 << 20, Go: "go1.26.8", Platform: "linux/amd64", Compiler: "g++ 12.2.0"}

func TestRecordsAreOneLineForEachRunRoundByRound(t *testing.T) {
	lines, err := records(exampleMachine, exampleTrials()[:2])
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "records.jsonl", string(lines))
}

func TestResultsFileIsNamedAfterTheProcessor(t *testing.T) {
	for name, want := range map[string]string{
		"AMD EPYC": "amd-epyc", "Example(R) CPU @ 2.00GHz": "example-r-cpu-2-00ghz", "unknown arm64": "unknown-arm64", "../x": "x",
	} {
		if got := resultsFile("root", Machine{CPU: name}); got != filepath.Join("root", "bench", "results", want+".jsonl") {
			t.Errorf("%q is kept in %s, want %s.jsonl", name, got, want)
		}
	}
}

func TestThisMachineHasNameDateAndVersions(t *testing.T) {
	m := thisMachine(t.Context(), ".", 1, time.Date(2030, 1, 2, 4, 4, 5, 0, time.FixedZone("", 3600)))
	if m.Date != exampleMachine.Date || m.CPU == "" || m.Go == "" || m.slug() == "" {
		t.Errorf("%+v lacks a name, a version or the date in UTC", m)
	}
}

func TestUnknownRevisionAndCompilerAreSaidToBeUnknown(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if m := thisMachine(t.Context(), ".", 1, time.Now()); m.Revision != "unknown" || m.Compiler != "unknown" {
		t.Errorf("revision %q, compiler %q; want unknown", m.Revision, m.Compiler)
	}
}

func TestKeepAddsToWhatThereIs(t *testing.T) {
	name := filepath.Join(t.TempDir(), "results", "cpu.jsonl")
	for _, lines := range []string{"1\n", "2\n3\n"} {
		if err := canKeep(name); err != nil {
			t.Fatal(err)
		}
		if err := keep(name, []byte(lines)); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != "1\n2\n3\n" {
		t.Errorf("kept %q, %v", got, err)
	}
}

func TestResultsThatCannotBeWrittenAreKnownBeforeTheRun(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "cpu.jsonl")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{folder, filepath.Join(os.DevNull, "cpu.jsonl")} {
		if err := canKeep(name); err == nil {
			t.Errorf("%s passes for a file that can be written", name)
		}
	}
}

func TestKeepRefusesATornFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "cpu.jsonl")
	if err := os.WriteFile(name, []byte("1\n{\"type\""), 0o644); err != nil {
		t.Fatal(err)
	}
	for when, err := range map[string]error{"before the run": canKeep(name), "after it": keep(name, []byte("2\n"))} {
		if err == nil || !strings.Contains(err.Error(), "the last line has no end") {
			t.Errorf("%s: error %v, want one about the last line", when, err)
		}
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != "1\n{\"type\"" {
		t.Errorf("the file became %q, %v", got, err)
	}
}
