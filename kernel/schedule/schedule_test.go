package schedule

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

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

// The manifest decodes without unknown or misspelt fields into the published types, and
// asks for what a careful cluster wants.
func TestKubernetesManifestFollowsThePublishedTypes(t *testing.T) {
	j := job(1, -1)
	j.Push = "registry.example:5000/k15"
	for name, claim := range map[string]string{"kubernetes-claim.yaml": "results", "kubernetes-push.yaml": ""} {
		text, err := j.Kubernetes(image, claim)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, name, text)
		var m batch.Job
		if err := yaml.UnmarshalStrict(text, &m); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if m.APIVersion != "batch/v1" || m.Kind != "Job" || *m.Spec.CompletionMode != batch.IndexedCompletion || *m.Spec.Completions != 64 || *m.Spec.Parallelism != 64 {
			t.Errorf("%+v", m.Spec)
		}
		pod := m.Spec.Template.Spec
		if pod.RestartPolicy != core.RestartPolicyNever || !*pod.SecurityContext.RunAsNonRoot || *pod.AutomountServiceAccountToken {
			t.Errorf("%+v", pod)
		}
		c := pod.Containers[0]
		if s := c.SecurityContext; !*s.ReadOnlyRootFilesystem || *s.AllowPrivilegeEscalation || s.Capabilities.Drop[0] != "ALL" {
			t.Errorf("%+v", s)
		}
		if c.Image != image || c.Resources.Limits.Memory().IsZero() || c.Resources.Limits.Cpu().Value() != 4 || c.Resources.Requests.Memory().IsZero() {
			t.Errorf("%+v", c)
		}
		volume := pod.Volumes[0]
		if (volume.PersistentVolumeClaim == nil) != (claim == "") || c.VolumeMounts[0].Name != volume.Name {
			t.Errorf("%+v", volume)
		}
		ignored := 0
		for _, rule := range m.Spec.PodFailurePolicy.Rules {
			if rule.Action == batch.PodFailurePolicyActionIgnore && rule.OnExitCodes != nil && rule.OnExitCodes.Values[0] == Interrupted {
				ignored++
			}
		}
		if ignored != 1 {
			t.Errorf("interrupted pods are not run again: %+v", m.Spec.PodFailurePolicy)
		}
	}
}

// A misspelt field would be found.
func TestStrictDecodingFindsAMisspeltField(t *testing.T) {
	text, err := job().Kubernetes(image, "results")
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"completionMode", "runAsNonRoot", "mountPath", "onExitCodes"} {
		bad := strings.Replace(string(text), field, field+"s", 1)
		if err := yaml.UnmarshalStrict([]byte(bad), &batch.Job{}); err == nil {
			t.Errorf("%ss was accepted", field)
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
