package schedule

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/kernel/campaign"
	"github.com/erdos1056/erdos1056/kernel/plan"
)

var image = "registry.example:5000/erdos1056@sha256:" + strings.Repeat("0a", 32)

func job(residues ...int64) Job {
	h := campaign.NewHeader(plan.Plan{Range: plan.Range{Lo: 2, Hi: 50_000_000}, K: 15}, residues, plan.Shard{})
	return Job{Campaign: h, Shards: 64, Threads: 4, Folder: "/shared/k15"}
}

// golden compares a text with a file of testdata; UPDATE=1 writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if os.Getenv("UPDATE") == "1" {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s is now\n%s", file, got)
	}
}

func TestSlurmScript(t *testing.T) {
	text, err := job().Slurm("erdos1056")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "slurm.sh", text)
}

// The manifests decode into the published types of Kubernetes: .ci/kubernetes checks these goldens.
func TestKubernetesManifest(t *testing.T) {
	j := job(1, -1)
	j.Push = "registry.example:5000/k15"
	for name, claim := range map[string]string{"kubernetes-claim.yaml": "results", "kubernetes-push.yaml": ""} {
		text, err := j.Kubernetes(image, claim)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, name, text)
		ignored := fmt.Sprintf("- action: Ignore\n      onExitCodes: {containerName: search, operator: In, values: [%d]}", Interrupted)
		if strings.Count(string(text), ignored) != 1 {
			t.Errorf("%s: interrupted pods are not run again:\n%s", name, text)
		}
	}
}

func TestMemoryGrowsWithPrimesAndThreads(t *testing.T) {
	small, large, special := job(), job(), job(1, -1)
	large.Threads = 16
	if a, b, c := small.Mebibytes(), large.Mebibytes(), special.Mebibytes(); a != 256+381 || b != 256+1525 || c != 260 {
		t.Errorf("%d, %d and %d MiB", a, b, c)
	}
}

func TestBadJobsAreRefused(t *testing.T) {
	bad := func(change func(*Job)) Job {
		j := job()
		change(&j)
		return j
	}
	for want, j := range map[string]Job{
		"0 shards":            bad(func(j *Job) { j.Shards = 0 }),
		"0 threads":           bad(func(j *Job) { j.Threads = 0 }),
		"expected a path of":  bad(func(j *Job) { j.Folder = "/a b" }),
		"expected host[:port": bad(func(j *Job) { j.Push = "$(rm)" }),
	} {
		if _, err := j.Slurm("erdos1056"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
		if _, err := j.Kubernetes(image, "results"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
	if _, err := job().Slurm("rm -rf"); err == nil {
		t.Error("a program with blanks was accepted")
	}
	for _, name := range []string{"", "erdos1056:latest", "erdos1056@sha256:12", "x y@sha256:" + strings.Repeat("0", 64)} {
		if _, err := job().Kubernetes(name, "results"); err == nil || !strings.Contains(err.Error(), "pinned by digest") {
			t.Errorf("image %q: %v", name, err)
		}
	}
	if _, err := job().Kubernetes(image, ""); err == nil || !strings.Contains(err.Error(), "would be lost") {
		t.Errorf("%v", err)
	}
	if _, err := job().Kubernetes(image, "My Claim"); err == nil {
		t.Error("a claim with blanks was accepted")
	}
}
