package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/kernel"
	"github.com/erdos1056/erdos1056/kernel/campaign"
	"github.com/erdos1056/erdos1056/kernel/plan"
)

const smallRange = "20000..21000"

// plainSearch is the artifact of a range without a campaign.
func plainSearch(t *testing.T, args ...string) string {
	t.Helper()
	code, stdout, stderr := run1(t, args...)
	if code != 0 {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	return stdout
}

func TestCampaignGivesTheArtifactOfASearch(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "k15")
	want := plainSearch(t, "--range", smallRange)
	for _, saved := range []string{"240 units, 0 done", "240 units, 240 done"} {
		code, stdout, stderr := run1(t, "--range", smallRange, "--checkpoint", dir, "--double-check=0.1", "--nice")
		if code != 0 || stdout != want || !strings.Contains(stderr, saved) || !strings.Contains(stderr, "negative: no fiber of 16 cuts among 98 primes") {
			t.Errorf("exit %d, stdout %s, stderr %s", code, stdout, stderr)
		}
	}
	code, stdout, stderr := run1(t, "status", dir)
	for _, s := range []string{"240 of 240 units: 20000..21000, 100.00 %", "left      nothing", "witness   none with 16 cuts", "fibers    of at least 12 cuts: 0, expected 0.0",
		"planted   2 of 2 positives found before runs, 2 of 2 after", "Wilson 98 ok", "second run "} {
		if code != 0 || !strings.Contains(stdout, s) {
			t.Errorf("exit %d, status lacks %q:\n%s%s", code, s, stdout, stderr)
		}
	}
	code, stdout, _ = run1(t, "status", "--json", dir)
	var line struct {
		Type              string
		Complete          bool
		UnitsDone         int     `json:"units_done"`
		ExpectedWitnesses float64 `json:"expected_witnesses"`
		Fibers            []any
		Root              string
	}
	if err := json.Unmarshal([]byte(stdout), &line); err != nil || code != 0 || line.Type != "status" || !line.Complete || line.UnitsDone != 240 ||
		line.ExpectedWitnesses <= 0 || len(line.Fibers) != 4 || !strings.HasPrefix(line.Root, "sha256:") {
		t.Errorf("exit %d, %v, %+v", code, err, line)
	}
}

func TestCampaignEndsWithAWitness(t *testing.T) {
	want := plainSearch(t, "--range", "2..3000", "--k", "8")
	code, stdout, stderr := run1(t, "--range", "2..3000", "--k", "8", "--checkpoint", t.TempDir())
	if code != 0 || stdout != want || !strings.Contains(stderr, "WITNESS: p = 599 has 9 cuts of residue 175") {
		t.Errorf("exit %d, %s, %s", code, stdout, stderr)
	}
}

func TestStatusListsTheLeastPrimes(t *testing.T) {
	dir := t.TempDir()
	plainSearch(t, "--range", "2..3011", "--checkpoint", dir)
	code, stdout, _ := run1(t, "status", dir)
	if want := "records   2 at 2, 3 at 5, 5 at 17, 6 at 23, 7 at 71, 9 at 599, 11 at 3011\n"; code != 0 || !strings.Contains(stdout, want) {
		t.Errorf("exit %d, status lacks %q:\n%s", code, want, stdout)
	}
}

func TestCampaignOfResiduesWritesItsWitness(t *testing.T) {
	dir := t.TempDir()
	output := filepath.Join(dir, "witness.json")
	code, stdout, stderr := run1(t, "--range", "2..3000", "--k", "6", "--residue", "1,-1", "--checkpoint", filepath.Join(dir, "r"), "--output", output, "--double-check=0.2")
	if code != 0 || stdout != "" || !strings.Contains(stderr, "witness: p = 71 has 7 cuts of residue 70") {
		t.Errorf("exit %d, %s, %s", code, stdout, stderr)
	}
	if code, stdout, _ := run1(t, "witness", output); code != 0 || !strings.Contains(stdout, "verified erdos:1056 witness k=6 p=71") {
		t.Errorf("exit %d, %s", code, stdout)
	}
	code, stdout, stderr = run1(t, "--range", "100..200", "--residue", "1,-1", "--checkpoint", filepath.Join(dir, "n"), "--json")
	if code != 0 || !strings.Contains(stdout, `"type":"status"`) || !strings.Contains(stderr, "negative: no fiber of residues [1 -1] of 16 cuts") {
		t.Errorf("exit %d, %s, %s", code, stdout, stderr)
	}
}

// lines counts the whole lines of a ledger and the units among them.
func ledgerOf(t *testing.T, dir string) (text []byte, units int) {
	t.Helper()
	text, _ = os.ReadFile(filepath.Join(dir, "ledger.jsonl"))
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	return text, bytes.Count(text, []byte(`"type":"unit"`))
}

// A campaign killed at 100 random instants loses nothing: the ledger only ever grows by
// whole lines, no unit is done again once it is there, and the answer and the root are
// those of an uninterrupted run.
func TestHundredKillsLoseNothing(t *testing.T) {
	want := plainSearch(t, "--range", smallRange)
	root := regexp.MustCompile(`root +(sha256:[0-9a-f]{64})`)
	wholeDir := t.TempDir()
	plainSearch(t, "--range", smallRange, "--checkpoint", wholeDir)
	wantRoot := root.FindString(plainSearch(t, "status", wholeDir))
	kills, campaigns := 0, 0
	for ; kills < 100; campaigns++ {
		dir := t.TempDir()
		for {
			before, unitsBefore := ledgerOf(t, dir)
			cmd, stdout, stderr := process("--range", smallRange, "--checkpoint", dir)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			killed := killAtRandom(t, dir, len(before), cmd.Process.Kill, ended)
			if after, units := ledgerOf(t, dir); !bytes.HasPrefix(after, before) || units < unitsBefore {
				t.Fatalf("kill %d: the ledger lost lines: %d bytes before, %d after", kills, len(before), len(after))
			}
			if !killed {
				if stdout.String() != want {
					t.Fatalf("after %d kills: stdout %s, stderr %s", kills, stdout, stderr)
				}
				break
			}
			kills++
		}
		if got := root.FindString(plainSearch(t, "status", dir)); got != wantRoot || got == "" {
			t.Errorf("after %d kills: %s, want %s", kills, got, wantRoot)
		}
	}
	t.Logf("%d kills over %d campaigns", kills, campaigns)
}

// killAtRandom waits until the ledger grows, so that the program is past its start, lets it
// work for a random time, and kills it; it reports false if the program ended first.
func killAtRandom(t *testing.T, dir string, size int, kill func() error, ended <-chan error) bool {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		select {
		case <-ended:
			return false
		case <-time.After(time.Millisecond):
		}
		if text, _ := ledgerOf(t, dir); len(text) > max(size, 300) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the ledger does not grow")
		}
	}
	select {
	case <-ended:
		return false
	case <-time.After(time.Duration(rand.Int64N(int64(40 * time.Millisecond)))):
	}
	err := kill()
	<-ended
	return err == nil // otherwise it has just ended
}

func TestDamagedLedgerIsCutBackAndSaidByTheCommand(t *testing.T) {
	dir := t.TempDir()
	want := plainSearch(t, "--range", smallRange, "--checkpoint", dir)
	name := filepath.Join(dir, "ledger.jsonl")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	bad := bytes.Replace(text, []byte(`"range_start":20500`), []byte(`"range_start":20501`), 1)
	if bytes.Equal(bad, text) {
		bad[len(bad)/2] ^= 1
	}
	if err := os.WriteFile(name, bad, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"status", dir}, {"audit", dir}, {"merge", dir, "--output", filepath.Join(dir, "m")}} {
		if code, _, stderr := run1(t, args...); code != 1 || !strings.Contains(stderr, "ledger line ") || !strings.Contains(stderr, "the chain is broken") {
			t.Errorf("%s: exit %d, %s", args[0], code, stderr)
		}
	}
	code, stdout, stderr := run1(t, "--range", smallRange, "--checkpoint", dir)
	if code != 0 || stdout != want || !strings.Contains(stderr, "cut back to the ") || !strings.Contains(stderr, "ledger.jsonl.bad") {
		t.Errorf("exit %d, %s, %s", code, stdout, stderr)
	}
}

const longRange = "1e8..2e8"

// begin starts a campaign that takes hours and waits until it works.
func begin(t *testing.T, dir string, args ...string) (pid int, stderr *bytes.Buffer, interrupt func() int) {
	t.Helper()
	cmd, _, stderr := process(append([]string{"--range", longRange, "--threads", "1", "--checkpoint", dir}, args...)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if text, _ := ledgerOf(t, dir); bytes.Count(text, []byte("\n")) == 3 { // the campaign and two planted positives
			break
		}
		if time.Now().After(deadline) {
			cmd.Process.Kill()
			t.Fatalf("the campaign does not begin: %v", <-ended)
		}
	}
	return cmd.Process.Pid, stderr, func() int {
		cmd.Process.Signal(syscall.SIGTERM)
		return wait(t, cmd, ended)
	}
}

func TestSecondProcessInAFolderIsRefusedByName(t *testing.T) {
	dir := t.TempDir()
	pid, _, interrupt := begin(t, dir)
	code, _, stderr := run1(t, "--range", longRange, "--checkpoint", dir)
	if code != cli.TryAgain || !strings.Contains(stderr, fmt.Sprintf("is in use by process %d on ", pid)) {
		t.Errorf("exit %d, %s", code, stderr)
	}
	if code, _, stderr := run1(t, "status", dir); code != 0 {
		t.Errorf("status beside a running process: exit %d, %s", code, stderr)
	}
	if code := interrupt(); code != cli.TryAgain {
		t.Errorf("exit %d", code)
	}
}

func TestInterruptedCampaignSaysWhatIsSaved(t *testing.T) {
	_, stderr, interrupt := begin(t, t.TempDir())
	if code := interrupt(); code != cli.TryAgain || !strings.Contains(stderr.String(), "interrupted; saved: nothing. Resume with the same command") {
		t.Errorf("exit %d, %s", code, stderr)
	}
	dir := t.TempDir()
	code, stdout, text := run1(t, "--range", smallRange, "--checkpoint", dir, "--stop-after", "1ns")
	if code != cli.TryAgain || stdout != "" || !strings.Contains(text, "stopped, as --stop-after says; saved: 1 of 240 units, 20000..200") {
		t.Errorf("exit %d, %s, %s", code, stdout, text)
	}
}

// Shards in any number give the same artifact and the same ledger, by hand and with indices
// from 0; the audit of the merged ledger passes, with side files and without.
func TestShardsMergeToTheSameBytes(t *testing.T) {
	dir := t.TempDir()
	want := plainSearch(t, "--range", smallRange)
	var ledger []byte
	for _, n := range []int{1, 3, 8} {
		args := []string{"merge", "--output", filepath.Join(dir, "merged")}
		for i := n; i >= 1; i-- {
			shard := filepath.Join(dir, fmt.Sprintf("shard-%d-of-%d", i, n))
			which := []string{"--shard", fmt.Sprintf("%d/%d", i, n)}
			if n == 3 {
				which = []string{"--shard-index", fmt.Sprintf("%d/%d", i-1, n)}
			}
			plainSearch(t, append(which, "--range", smallRange, "--checkpoint", shard)...)
			args = append(args, shard)
		}
		if code, _, stderr := run1(t, args...); code != 0 || !strings.Contains(stderr, "240 units of 20000..21000") {
			t.Fatalf("exit %d, %s", code, stderr)
		}
		b, err := os.ReadFile(filepath.Join(dir, "merged"))
		if err != nil || string(b) != want {
			t.Errorf("%d shards: %v\n%s", n, err, b)
		}
		b, err = os.ReadFile(filepath.Join(dir, "merged.ledger"))
		if err != nil || ledger != nil && !bytes.Equal(ledger, b) {
			t.Errorf("%d shards: another ledger, %v", n, err)
		}
		ledger = b
	}
	for _, args := range [][]string{{"--draws", "30"}, {"--draws", "30", "--seed", "x", "--fingerprints", filepath.Join(dir, "shard-1-of-1", "fingerprints")}} {
		code, stdout, stderr := run1(t, append([]string{"audit", filepath.Join(dir, "merged.ledger")}, args...)...)
		if recomputed := !strings.Contains(stdout, " 0 units recomputed"); code != 0 || !strings.Contains(stdout, "passed: 30 draws from 98 primes") ||
			!strings.Contains(stdout, "excluded at 99 % confidence: that 14.2 %") || recomputed != (len(args) == 2) {
			t.Errorf("%v: exit %d, %s%s", args, code, stdout, stderr)
		}
	}
	if code, stdout, _ := run1(t, "audit", "--json", "--draws", "3", filepath.Join(dir, "shard-2-of-3")); code != 0 || !strings.Contains(stdout, `"type":"audit"`) {
		t.Errorf("exit %d, %s", code, stdout)
	}
	code, _, stderr := run1(t, "merge", "--output", filepath.Join(dir, "m"), filepath.Join(dir, "shard-1-of-3"), filepath.Join(dir, "shard-3-of-3"))
	if code != 1 || !strings.Contains(stderr, "gap: no unit covers") {
		t.Errorf("exit %d, %s", code, stderr)
	}
	code, _, stderr = run1(t, "merge", "--partial", "--output", filepath.Join(dir, "m"), filepath.Join(dir, "shard-1-of-3"), filepath.Join(dir, "shard-3-of-3"))
	if code != 0 || !strings.Contains(stderr, "80 behind the end left out") {
		t.Errorf("exit %d, %s", code, stderr)
	}
}

func TestArtifactsOfShardsMerge(t *testing.T) {
	dir := t.TempDir()
	args := []string{"merge", "--output", filepath.Join(dir, "all")}
	for i := 1; i <= 3; i++ {
		part := filepath.Join(dir, fmt.Sprint(i))
		plainSearch(t, "--range", smallRange, "--shard", fmt.Sprintf("%d/3", i), "--output", part)
		args = append(args, part)
	}
	if code, _, stderr := run1(t, args...); code != 0 || !strings.Contains(stderr, "merged 3 artifacts: negative of 20000..21000, 98 primes") {
		t.Errorf("exit %d, %s", code, stderr)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "all")); err != nil || string(b) != plainSearch(t, "--range", smallRange) {
		t.Errorf("%v\n%s", err, b)
	}
	if code, _, stderr := run1(t, args[0], args[1], args[2], args[3], args[5]); code != 1 || !strings.Contains(stderr, "gap") {
		t.Errorf("exit %d, %s", code, stderr)
	}
}

func TestAuditNamesADamagedSideFile(t *testing.T) {
	dir := t.TempDir()
	plainSearch(t, "--range", "20010..20012", "--checkpoint", dir) // 20011 is the only prime
	side, _ := filepath.Glob(filepath.Join(dir, "fingerprints", "*"))
	if len(side) != 1 {
		t.Fatalf("side files %v", side)
	}
	if err := os.WriteFile(side[0], []byte("altered"), 0o644); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := run1(t, "audit", "--json", dir)
	if code != 1 || !strings.Contains(stderr, side[0]) || !strings.Contains(stdout, `"verdict":"rejected"`) {
		t.Errorf("exit %d, %s, %s", code, stdout, stderr)
	}
}

func TestPlanSaysCostAndWritesJobs(t *testing.T) {
	code, stdout, _ := run1(t, "plan", "--range", "1e4..2e4", "--shards", "3")
	for _, s := range []string{"cost      1", "in 240 units", "on this machine with kernel", "fibers of 16 cuts", "shard     3/3"} {
		if code != 0 || !strings.Contains(stdout, s) {
			t.Errorf("exit %d, plan lacks %q:\n%s", code, s, stdout)
		}
	}
	code, stdout, _ = run1(t, "plan", "--range", "1e4..2e4", "--residue", "1,-1", "--json")
	var line struct {
		Type     string
		Campaign campaign.Header
		Units    int
		Seconds  float64
	}
	if err := json.Unmarshal([]byte(stdout), &line); err != nil || code != 0 || line.Type != "plan" || line.Campaign.Kind != campaign.Residues || line.Units != 240 || line.Seconds <= 0 {
		t.Errorf("exit %d, %v, %+v", code, err, line)
	}
	code, stdout, _ = run1(t, "plan", "--range", "1e4..2e4", "--shards", "8", "--slurm", "--checkpoint", "/shared/k15")
	if code != 0 || !strings.Contains(stdout, "#SBATCH --array=1-8") {
		t.Errorf("exit %d, %s", code, stdout)
	}
	image := "registry.example/erdos1056@sha256:" + strings.Repeat("0a", 32)
	code, stdout, _ = run1(t, "plan", "--range", "1e4..2e4", "--shards", "8", "--kubernetes", "--image", image, "--claim", "results")
	if code != 0 || !strings.Contains(stdout, "completions: 8") {
		t.Errorf("exit %d, %s", code, stdout)
	}
}

func TestProgressOfACampaignNamesUnits(t *testing.T) {
	r := &reporter{started: time.Now(), from: 0.25}
	r.SeeCampaign(campaign.Progress{Progress: kernel.Progress{Range: plan.Range{Lo: 2, Hi: 100}, P: 97, Primes: 3, Cuts: 300}, Units: 3310, Done: 412}, time.Now().Add(-14*time.Second))
	if line := r.line(); !strings.Contains(line, "p = 97") || !strings.HasSuffix(line, "  units 412/3 310  saved 14 s ago") {
		t.Errorf("%q", line)
	}
}

func TestUsageErrorsOfCampaigns(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	plainSearch(t, "--range", "100..110", "--checkpoint", filepath.Join(dir, "k15"))
	for args, want := range map[string]string{
		"--range 2..9 --residue 1":                                  "--residue needs --checkpoint DIR",
		"--range 2..9 --stop-after 2h":                              "--stop-after needs --checkpoint DIR",
		"--range 2..9 --stop-after soon":                            "--stop-after soon",
		"--range 2..9 --checkpoint x --stop-after -2h":              "expected a time",
		"--range 2..9 --checkpoint x --transcript y":                "exclude each other",
		"--range 2..9 --shard 9/8":                                  "--shard 9/8: \"9/8\" is not a shard; write i/n",
		"--range 2..9 --shard-index 8/8":                            "--shard-index 8/8",
		"--range 2..9 --shard-index x":                              "expected i/n with 0 <= i < n",
		"--range 2..9 --double-check=2":                             "--double-check 2: expected a fraction",
		"--range 100..111 --checkpoint " + dir + "/k15":             "another campaign: its range is \"100..110\", asked for is \"100..111\"",
		"--range 100..110 --checkpoint " + dir + "/k15 --residue 1": "its kind is",
		"--range 100..110 --checkpoint " + dir + "/r --residue 0":   "residue 0",
		"status":                                 "write erdos1056 status DIR",
		"merge":                                  "--output is missing",
		"merge --output " + dir + "/m":           "nothing to merge",
		"audit":                                  "write erdos1056 audit DIR",
		"audit x --draws 0":                      "expected 1 to",
		"plan":                                   "--range is missing",
		"plan --range 2..9 --slurm":              "--checkpoint is missing",
		"plan --range 2..9 --kubernetes":         "pinned by digest",
		"plan --range 2..9 --slurm --kubernetes": "exclude each other",
		"plan --range 2..9 --slurm --checkpoint /a;b": "expected a path of letters",
	} {
		if code, stdout, stderr := run1(t, strings.Fields(args)...); code != cli.Usage || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%q: exit %d, stdout %q, stderr %q; want exit 64 and %q", args, code, stdout, stderr, want)
		}
	}
	for _, args := range []string{"--range 2..9 --checkpoint " + file, "merge --output " + dir + "/no/m x", "--range 2..9 --output " + dir, "--range 2..9 --transcript " + dir + "/no/t"} {
		if code, stdout, stderr := run1(t, strings.Fields(args)...); code != cli.NoOutput || stdout != "" || !strings.Contains(stderr, "cannot be written") {
			t.Errorf("%q: exit %d, stdout %q, stderr %q; expected exit 73", args, code, stdout, stderr)
		}
	}
	for _, args := range []string{"status " + dir + "/absent", "audit " + dir, "merge --output " + dir + "/m " + dir + "/absent"} {
		if code, _, stderr := run1(t, strings.Fields(args)...); code != cli.NoInput || !strings.Contains(stderr, "no such file") {
			t.Errorf("%q: exit %d, %q", args, code, stderr)
		}
	}
	if code, _, stderr := run1(t, "status", file); code != cli.Failed || !strings.Contains(stderr, "expected the campaign, found nothing") {
		t.Errorf("exit %d, %s", code, stderr)
	}
}

// The first primes, at which workers take their memory, are left out where there are others;
// time is taken only where a whole group of primes has been seen.
func TestPaceLeavesTheFirstPrimesOut(t *testing.T) {
	m := pace{group: 2, warmUp: 4, began: time.Now().Add(-time.Second)}
	see := func(want error, primes ...uint32) {
		for i, p := range primes {
			if err := m.see(kernel.Finding{P: p}); err != nil && i < len(primes)-1 || i == len(primes)-1 && err != want {
				t.Errorf("prime %d: %v, want %v at the last of %d", p, err, want, primes)
			}
		}
	}
	seconds := func(cuts, want float64) {
		if got := m.secondsPerCut() * cuts; math.Abs(got-want) > want/10 {
			t.Errorf("%.2f s for %.0f cuts, want %.2f", got, cuts, want)
		}
	}
	see(nil, 101)
	seconds(101, 1) // nothing else is known
	see(nil, 103, 107, 109)
	seconds(101+103+107+109, 1)
	m.warm.at = m.warm.at.Add(-paceTime / 2)
	see(nil, 113, 127)
	seconds(113+127, paceTime.Seconds()/2)
	m.warm.at = m.warm.at.Add(-paceTime)
	see(errMeasured, 131, 137)
	seconds(113+127+131+137, 1.5*paceTime.Seconds())

	slow := pace{group: 1, warmUp: 4, began: time.Now().Add(-paceLimit)}
	if err := slow.see(kernel.Finding{P: 101}); err != errMeasured {
		t.Errorf("%v after %v, want %v", err, paceLimit, errMeasured)
	}
}

// What is published in campaigns/ can be read, and what it claims can be checked.
func TestPublishedCampaigns(t *testing.T) {
	const folder = "../../campaigns/residue-one/"
	code, stdout, stderr := run1(t, "status", folder)
	for _, want := range []string{"residues [1 -1]", "1 678 808 primes", "witness   p = 26927543", "failed    0 checks"} {
		if code != 0 || !strings.Contains(stdout, want) {
			t.Errorf("status: exit %d, %s; want %q in\n%s", code, stderr, want, stdout)
		}
	}
	code, stdout, stderr = run1(t, "status", "../../campaigns/k15")
	for _, want := range []string{"15 at 3408707, 16 at 26927543", "(complete)", "1 678 808 primes", "witness   p = 26927543", "failed    0 checks"} {
		if code != 0 || !strings.Contains(stdout, want) {
			t.Errorf("status: exit %d, %s; want %q in\n%s", code, stderr, want, stdout)
		}
	}
	merged := filepath.Join(t.TempDir(), "merged")
	if code, _, stderr := run1(t, "merge", "../../campaigns/k15", "--output", merged); code != 0 {
		t.Errorf("merge: exit %d, %s", code, stderr)
	}
	want, _ := os.ReadFile("../../campaigns/k15/erdos1056-k15-range-2-26927543.txt")
	if got, err := os.ReadFile(merged); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the ledger merges into %q (%v), want the published %q", got, err, want)
	}
	if code, stdout, stderr := run1(t, "witness", folder+"k15-26927543.witness.json"); code != 0 || stdout != "verified erdos:1056 witness k=15 p=26927543\n" {
		t.Errorf("witness: exit %d, %q, %s", code, stdout, stderr)
	}
	if code, stdout, stderr := run1(t, "replay", folder+"erdos1056-k15-range-26927543-26927543.txt"); code != 0 || stdout != "verified\n" {
		t.Errorf("replay: exit %d, %q, %s", code, stdout, stderr)
	}
}
