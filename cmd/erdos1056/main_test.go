package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/lean"
)

const testdata = "../../testdata/erdos-frontier/"

// TestMain lets the test binary stand in for the command, so that the tests see real
// exit codes, streams and signals.
func TestMain(m *testing.M) {
	if os.Getenv("ERDOS1056_TEST_COMMAND") == "1" {
		main()
	}
	os.Exit(m.Run())
}

func process(args ...string) (cmd *exec.Cmd, stdout, stderr *bytes.Buffer) {
	cmd = exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "ERDOS1056_TEST_COMMAND=1")
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	return cmd, stdout, stderr
}

func codeOf(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	t.Fatal(err)
	return -1
}

func run1(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd, out, errs := process(args...)
	code = codeOf(t, cmd.Run())
	return code, out.String(), errs.String()
}

func TestSearchPrintsTheArtifactAndNothingElse(t *testing.T) {
	want, err := os.ReadFile(testdata + "artifacts/erdos1056-k15-range-10428401-10428600.txt")
	if err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := run1(t, "--range", "10428401..10428600")
	if code != 0 || stdout != string(want) {
		t.Errorf("exit %d, stdout\n%s", code, stdout)
	}
	for _, s := range []string{"15 primes", "negative: no fiber of 16 cuts", "Wilson 15 ok"} {
		if !strings.Contains(stderr, s) {
			t.Errorf("stderr lacks %q:\n%s", s, stderr)
		}
	}
}

func TestSearchWritesFiles(t *testing.T) {
	dir := t.TempDir()
	artifact, record := filepath.Join(dir, "artifact"), filepath.Join(dir, "transcript")
	code, stdout, stderr := run1(t, "search", "--range", "2..2000", "--k", "8", "--output", artifact, "--transcript", record, "--double-check", "--threads", "2")
	if code != 0 || stdout != "" || !strings.Contains(stderr, "witness: p = 599 has 9 cuts") {
		t.Errorf("exit %d, stdout %q, stderr %s", code, stdout, stderr)
	}
	if code, stdout, _ := run1(t, "replay", artifact); code != 0 || stdout != "verified\n" {
		t.Errorf("replay: exit %d, %q", code, stdout)
	}
	if b, err := os.ReadFile(record); err != nil || !bytes.HasPrefix(b, []byte("erdos1056.transcript.v1 2..2000\n2 1 0 0\n")) {
		t.Errorf("transcript %.80s, %v", b, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.new")); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

func TestJSONResult(t *testing.T) {
	code, stdout, _ := run1(t, "--range", "1e2+20", "--json", "--kernel", "reference", "--progress", "json")
	var line struct {
		Type, Status, Artifact, Kernel string
		PrimesTested                   int `json:"primes_tested"`
		WorkerBytes                    int `json:"worker_bytes"`
	}
	if err := json.Unmarshal([]byte(stdout), &line); err != nil || code != 0 || line.Type != "result" || line.PrimesTested != 5 ||
		line.Kernel != "reference" || line.WorkerBytes == 0 || !strings.HasPrefix(line.Artifact, "schema=") {
		t.Errorf("exit %d, %v, %+v from %s", code, err, line, stdout)
	}
}

func TestUsageErrorsNameFlagAndForm(t *testing.T) {
	for _, c := range []struct {
		args string
		want string
	}{
		{"", "no verb given"},
		{"frobnicate", `"frobnicate" is not a verb`},
		{"--k 15", "--range is missing"},
		{"--range 10428600..10428401", "--range 10428600..10428401: the end lies before the start; write A..B with A <= B, for example 10428401..10428600"},
		{"--range 0..10", "the start must be at least 1"},
		{"--range 0", "is not a range"},
		{"--range -5..10", "negative"},
		{"--range 1..2^31", "below 2^31"},
		{"--range garbage", "--range garbage: \"garbage\" is not a range; write A..B"},
		{"--range 1..10 --k 0", "--k 0: expected 1 to 250"},
		{"--range 1..10 --threads 0", "--threads 0: expected 1 to 1024"},
		{"--range 1..10 --kernel abacus", "--kernel abacus: expected one of auto"},
		{"--range 1..10 --progress loud", "--progress loud: expected one of auto, bar, lines, json, none"},
		{"--range 1..10 --frobnicate", "unknown flag"},
		{"--range 1..10 surplus", `found "surplus"`},
		{"replay", "write erdos1056 replay ARTIFACT"},
		{"witness a b", "write erdos1056 witness FILE"},
		{"fibers --range 1..10", "--at-least is missing"},
		{"fibers --at-least 3", "--range is missing"},
		{"fibers --range 1..10 --at-least 3 --csv --json", "--csv and --json exclude each other"},
		{"cpu now", "write erdos1056 cpu"},
	} {
		code, stdout, stderr := run1(t, strings.Fields(c.args)...)
		if code != cli.Usage || stdout != "" && !strings.Contains(c.args, "--json") || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: exit %d, stdout %q, stderr %q; want exit 64 and %q", c.args, code, stdout, stderr, c.want)
		}
	}
}

func TestReplayOfVariants(t *testing.T) {
	rows, err := os.ReadFile(testdata + "derived/artifact-variants/ORIGINAL-VERDICTS.tsv")
	if err != nil {
		t.Fatal(err)
	}
	replayed := 0
	for row := range strings.Lines(string(rows)) {
		name, verdict, _ := strings.Cut(strings.TrimSpace(row), "\t")
		file := testdata + "derived/artifact-variants/" + name + ".txt"
		if _, err := os.Stat(file); err != nil {
			continue // the header and rows without a file: their cases are in the next test
		}
		replayed++
		code, stdout, stderr := run1(t, "replay", file)
		if good := strings.HasPrefix(verdict, "0"); good != (code == 0) || !good && (code != 1 || !strings.Contains(stderr, "artifact")) {
			t.Errorf("%s: exit %d, %q, %q; the original says %s", name, code, stdout, stderr, verdict)
		}
	}
	if replayed != 10 {
		t.Errorf("%d variants replayed, want 10", replayed)
	}
}

func TestReplayRefusesBadInput(t *testing.T) {
	dir := t.TempDir()
	good, err := os.ReadFile(testdata + "derived/edge-ranges/2-2000.txt")
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}
	huge := write("huge", "")
	if err := os.Truncate(huge, 1<<30); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file string
		code int
		want string
	}{
		{filepath.Join(dir, "absent"), cli.NoInput, "no such file"},
		{dir, cli.BadInput, "found a directory"},
		{huge, cli.BadInput, "file of 1073741824 bytes exceeds the limit of 65536 bytes"},
		{write("empty", ""), cli.Failed, "line 1 (schema)"},
		{write("count", strings.Replace(string(good), "primes_tested=303", "primes_tested=302", 1)), cli.Failed, "artifact differs at line 7 (primes_tested): expected 303, found 302"},
		{write("residue", strings.Replace(string(good), "best_residue=", "best_residue=1", 1)), cli.Failed, "artifact"},
	} {
		if code, stdout, stderr := run1(t, "replay", c.file); code != c.code || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit %d, %q, %q; want exit %d and %q", filepath.Base(c.file), code, stdout, stderr, c.code, c.want)
		}
	}
	if code, stdout, _ := run1(t, "replay", "--json", write("short", "schema=")); code != 1 || !strings.Contains(stdout, `"verdict":"rejected"`) {
		t.Errorf("--json: exit %d, %q", code, stdout)
	}
}

func TestFibersListsWhatIsAskedFor(t *testing.T) {
	for args, want := range map[string]string{
		"fibers --range 2..20 --at-least 4 --csv":           "p,residue,multiplicity,cuts\n17,1,5,0 1 5 11 15\n",
		"fibers --range 71..71 --residue -1 --json":         `{"type":"fiber","p":71,"residue":70,"multiplicity":7,"cuts":[7,9,19,51,61,63,70]}` + "\n",
		"fibers --range 23..23 --residue 1":                 "p = 23  residue 1  6 cuts: 0 1 4 8 11 21\n",
		"fibers --range 24..28 --at-least 1":                "",
		"fibers --range 17..23 --residue 1 --at-least 6":    "p = 23  residue 1  6 cuts: 0 1 4 8 11 21\n",
		"fibers --range 2..3 --at-least 2 --kernel generic": "p = 2  residue 1  2 cuts: 0 1\np = 3  residue 1  2 cuts: 0 1\n",
	} {
		if code, stdout, stderr := run1(t, strings.Fields(args)...); code != 0 || stdout != want {
			t.Errorf("%s: exit %d, stdout %q, stderr %q; want %q", args, code, stdout, stderr, want)
		}
	}
}

func TestWitness(t *testing.T) {
	if code, stdout, _ := run1(t, "witness", testdata+"witnesses/erdos1056-k13.witness.json"); code != 0 || !strings.HasPrefix(stdout, "verified erdos:1056 witness k=13") {
		t.Errorf("exit %d, %q", code, stdout)
	}
	code, stdout, stderr := run1(t, "witness", "--json", testdata+"derived/witness-variants/product-not-one.witness.json")
	if code != 1 || !strings.Contains(stdout, `"verdict":"rejected"`) || !strings.Contains(stderr, "has product 5 mod 11") {
		t.Errorf("exit %d, %q, %q", code, stdout, stderr)
	}
}

func TestCertify(t *testing.T) {
	proof := filepath.Join(t.TempDir(), "proof.ndjson")
	code, stdout, stderr := run1(t, "certify", testdata+"witnesses/erdos1056-k05.witness.json", "--output", proof)
	if code != 0 || stdout != "" || !strings.Contains(stderr, "proof of Erdos1056.certificate for k = 5") {
		t.Errorf("exit %d, %q, %q", code, stdout, stderr)
	}
	b, err := os.ReadFile(proof)
	if err != nil {
		t.Fatal(err)
	}
	report, err := lean.Judge(context.Background(), bytes.NewReader(b), lean.Options{Target: "Erdos1056.certificate"})
	if err != nil || report.Verdict != "accept" {
		t.Errorf("the proof is judged %q: %s; %v", report.Verdict, report.Reason, err)
	}
	if code, stdout, _ := run1(t, "certify", "--lean", testdata+"witnesses/erdos1056-k02.witness.json"); code != 0 || !strings.Contains(stdout, "theorem") {
		t.Errorf("--lean: exit %d, %q", code, stdout)
	}
	if code, _, stderr := run1(t, "certify", testdata+"derived/witness-variants/product-not-one.witness.json"); code != cli.Failed || !strings.Contains(stderr, "has product 5 mod 11") {
		t.Errorf("a false witness: exit %d, %q", code, stderr)
	}
}

func TestSelftest(t *testing.T) {
	code, stdout, _ := run1(t, "selftest")
	if code != 0 || !strings.Contains(stdout, "\n0 failures in ") || strings.Count(stdout, "OK") < 20 {
		t.Errorf("exit %d\n%s", code, stdout)
	}
}

func TestHelpVersionAndCPU(t *testing.T) {
	for args, want := range map[string]string{
		"help": "Exit codes", "--help": "replay ARTIFACT", "search --help": "--double-check", "replay --help": "three steps",
		"version": "erdos1056", "cpu": "chosen",
	} {
		if code, stdout, _ := run1(t, strings.Fields(args)...); code != 0 || !strings.Contains(stdout, want) {
			t.Errorf("%s: exit %d, %q lacks %q", args, code, stdout, want)
		}
	}
}

func TestFullStdoutIsReported(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	for _, args := range []string{"--range 2..100", "fibers --range 2..100 --at-least 3"} {
		cmd, _, stderr := process(strings.Fields(args)...)
		cmd.Stdout = full
		if code := codeOf(t, cmd.Run()); code != cli.TryAgain || !strings.Contains(stderr.String(), "no space left on device") {
			t.Errorf("%s: exit %d, %q", args, code, stderr)
		}
	}
}

// start runs a search that takes minutes and waits until it works.
func start(t *testing.T, args ...string) (cmd *exec.Cmd, stderr *bytes.Buffer, ended chan error) {
	t.Helper()
	cmd, _, stderr = process(append([]string{"--range", "2e9..2.1e9", "--threads", "1"}, args...)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended = make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	time.Sleep(time.Second)
	return cmd, stderr, ended
}

func wait(t *testing.T, cmd *exec.Cmd, ended chan error) int {
	t.Helper()
	select {
	case err := <-ended:
		return codeOf(t, err)
	case <-time.After(30 * time.Second):
		cmd.Process.Kill()
		t.Fatal("the command does not end")
		return -1
	}
}

func TestInterruptStopsCleanly(t *testing.T) {
	artifact := filepath.Join(t.TempDir(), "artifact")
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		cmd, stderr, ended := start(t, "--output", artifact)
		cmd.Process.Signal(sig)
		if code := wait(t, cmd, ended); code != cli.TryAgain || !strings.Contains(stderr.String(), "interrupted; nothing was written") {
			t.Errorf("%v: exit %d, %s", sig, code, stderr)
		}
		if left, _ := filepath.Glob(artifact + "*"); left != nil {
			t.Errorf("left behind: %v", left)
		}
	}
}

func TestUserSignalAsksForALine(t *testing.T) {
	cmd, stderr, ended := start(t, "--progress", "none")
	cmd.Process.Signal(syscall.SIGUSR1)
	time.Sleep(500 * time.Millisecond)
	cmd.Process.Signal(os.Interrupt)
	if wait(t, cmd, ended); !strings.Contains(stderr.String(), "no prime finished yet") && !strings.Contains(stderr.String(), "cuts/s") {
		t.Errorf("no line of progress in %q", stderr)
	}
}

func TestNumbersForPeople(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{timeLeft(10, 0), "unknown"}, {timeLeft(10, 0.5), "10 s"}, {size(1 << 20), "1 MiB"}, {size(32 << 10), "32 KiB"}, {size(-1), "unknown"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
