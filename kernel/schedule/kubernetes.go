package schedule

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

// pinned is an image reference that names its bytes.
var pinned = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9./_:-]*@sha256:[0-9a-f]{64}$`)

// Interrupted is the exit code of a run that can be resumed.
const Interrupted = 75

// Kubernetes returns the manifest of an indexed Job that runs the image, whose entry point is
// erdos1056, once for each shard: not as root, without privileges, on a read-only
// root. An interrupted shard runs again and goes on where it was saved; other failures end
// the shard. Results lie on the persistent volume claim of the given name; claim may be
// "" if they are pushed to a registry.
func (j Job) Kubernetes(image, claim string) ([]byte, error) {
	if err := j.Validate(); err != nil {
		return nil, err
	}
	if !pinned.MatchString(image) {
		return nil, fmt.Errorf("image %q: expected a reference that is pinned by digest, NAME@sha256:HEX", image)
	}
	if claim != "" && !regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`).MatchString(claim) {
		return nil, fmt.Errorf("claim %q: expected a name of small letters, digits and hyphens", claim)
	}
	if claim == "" && j.Push == "" {
		return nil, fmt.Errorf("results would be lost with their pods: name a persistent volume claim, or a repository to push to")
	}
	volume := "emptyDir: {}"
	if claim != "" {
		volume = fmt.Sprintf("persistentVolumeClaim: {claimName: %q}", claim)
	}
	args := append(j.arguments(), fmt.Sprintf("--shard-index=$(JOB_COMPLETION_INDEX)/%d", j.Shards),
		fmt.Sprintf("--checkpoint=%s/shard-$(JOB_COMPLETION_INDEX)", j.Folder), fmt.Sprintf("--threads=%d", j.Threads))
	var b bytes.Buffer
	fmt.Fprintf(&b, `apiVersion: batch/v1
kind: Job
metadata:
  name: %s
spec:
  completionMode: Indexed
  completions: %d
  parallelism: %d
  backoffLimitPerIndex: 3
  podFailurePolicy:
    rules:
    - action: Ignore
      onPodConditions:
      - {type: DisruptionTarget, status: "True"}
    - action: Ignore
      onExitCodes: {containerName: search, operator: In, values: [%d]}
    - action: FailIndex
      onExitCodes: {containerName: search, operator: In, values: [1, 64, 70]}
  template:
    spec:
      restartPolicy: Never
      automountServiceAccountToken: false
      terminationGracePeriodSeconds: 30
      securityContext:
        runAsNonRoot: true
        runAsUser: 65532
        runAsGroup: 65532
        fsGroup: 65532
        seccompProfile: {type: RuntimeDefault}
      containers:
      - name: search
        image: %q
        args:
        - %s
        resources:
          requests: {cpu: "%d", memory: %dMi}
          limits: {cpu: "%d", memory: %dMi}
        securityContext:
          allowPrivilegeEscalation: false
          readOnlyRootFilesystem: true
          capabilities: {drop: [ALL]}
        volumeMounts:
        - {name: results, mountPath: %s}
      volumes:
      - name: results
        %s
`, j.Name(), j.Shards, j.Shards, Interrupted, image, quoted(args), j.Threads, j.Mebibytes(), j.Threads, j.Mebibytes(), j.Folder, volume)
	return b.Bytes(), nil
}

// quoted lists YAML strings, one an item.
func quoted(args []string) string {
	items := make([]string, len(args))
	for i, a := range args {
		items[i] = fmt.Sprintf("%q", a)
	}
	return strings.Join(items, "\n        - ")
}
