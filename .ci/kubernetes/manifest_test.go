// Package kubernetes checks the golden manifests of kernel/schedule against the types that
// Kubernetes publishes. It is a module of its own, so that the product depends on none of
// their modules.
package kubernetes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// golden returns the text of one of the manifests that the tests of kernel/schedule compare with
// what the package writes.
func golden(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "kernel", "schedule", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The manifests decode without unknown or misspelt fields, and ask for what a careful cluster
// administrator expects.
func TestManifestsFollowThePublishedTypes(t *testing.T) {
	for name, claimed := range map[string]bool{"kubernetes-claim.yaml": true, "kubernetes-push.yaml": false} {
		t.Run(name, func(t *testing.T) {
			var m batch.Job
			if err := yaml.UnmarshalStrict([]byte(golden(t, name)), &m); err != nil {
				t.Fatal(err)
			}
			if m.APIVersion != "batch/v1" || m.Kind != "Job" || *m.Spec.CompletionMode != batch.IndexedCompletion || *m.Spec.Completions != *m.Spec.Parallelism {
				t.Errorf("not an indexed job that runs all its shards at once: %v", m.Spec)
			}
			pod := m.Spec.Template.Spec
			if pod.RestartPolicy != core.RestartPolicyNever || !*pod.SecurityContext.RunAsNonRoot || *pod.AutomountServiceAccountToken {
				t.Errorf("the pod is restarted, runs as root or has a token: %v", pod)
			}
			c := pod.Containers[0]
			if s := c.SecurityContext; !*s.ReadOnlyRootFilesystem || *s.AllowPrivilegeEscalation || s.Capabilities.Drop[0] != "ALL" {
				t.Errorf("the container has more rights than it needs: %v", s)
			}
			if c.Resources.Limits.Memory().IsZero() || c.Resources.Limits.Cpu().IsZero() || c.Resources.Requests.Memory().IsZero() {
				t.Errorf("resources without bounds: %v", c.Resources)
			}
			volume := pod.Volumes[0]
			if (volume.PersistentVolumeClaim != nil) != claimed || c.VolumeMounts[0].Name != volume.Name {
				t.Errorf("volume %v is mounted as %v", volume, c.VolumeMounts[0])
			}
		})
	}
}

func TestStrictDecodingFindsAMisspeltField(t *testing.T) {
	text := golden(t, "kubernetes-claim.yaml")
	for _, field := range []string{"completionMode", "runAsNonRoot", "mountPath", "onExitCodes"} {
		bad := strings.Replace(text, field, field+"s", 1)
		if err := yaml.UnmarshalStrict([]byte(bad), &batch.Job{}); err == nil {
			t.Errorf("%ss was accepted", field)
		}
	}
}
