package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/oci"
	"github.com/erdos1056/erdos1056/oci/registrytest"
)

// Shards that are pushed to a registry merge to the bytes of a single run, and their
// fingerprints can be audited.
func TestShardsTravelThroughARegistry(t *testing.T) {
	dir := t.TempDir()
	repository := registrytest.InProcess(t, true) + "/k15"
	want := plainSearch(t, "--range", smallRange)
	var digests []string
	for i := 1; i <= 3; i++ {
		code, _, stderr := run1(t, "--range", smallRange, "--shard", fmt.Sprintf("%d/3", i), "--checkpoint", filepath.Join(dir, fmt.Sprint(i)), "--push", repository)
		at := strings.Index(stderr, "pushed "+repository+"@sha256:")
		if code != 0 || at < 0 {
			t.Fatalf("exit %d, %s", code, stderr)
		}
		digests = append(digests, strings.Fields(stderr[at:])[1])
	}
	output, side := filepath.Join(dir, "merged"), filepath.Join(dir, "side")
	for _, pull := range [][]string{{"--pull", repository}, {"--pull", digests[2], "--pull", digests[0], "--pull", digests[1]}, {"--pull", digests[0], filepath.Join(dir, "2"), filepath.Join(dir, "3")}} {
		if code, _, stderr := run1(t, append([]string{"merge", "--output", output, "--fingerprints", side}, pull...)...); code != 0 {
			t.Fatalf("%v: exit %d, %s", pull, code, stderr)
		}
		if b, err := os.ReadFile(output); err != nil || string(b) != want {
			t.Errorf("%v: %v\n%s", pull, err, b)
		}
	}
	if code, stdout, stderr := run1(t, "audit", output+".ledger", "--draws", "40", "--fingerprints", side); code != 0 || !strings.Contains(stdout, " 0 units recomputed") {
		t.Errorf("exit %d, %s%s", code, stdout, stderr)
	}
	code, _, stderr := run1(t, "merge", "--output", output, "--pull", digests[0], "--pull", digests[2])
	if code != 1 || !strings.Contains(stderr, "gap: no unit covers") {
		t.Errorf("exit %d, %s", code, stderr)
	}
}

func TestBadResultsInARegistryAreRefused(t *testing.T) {
	ctx := context.Background()
	repository := registrytest.InProcess(t, true) + "/k15"
	push := func(artifactType string, files ...oci.File) string {
		digest, err := oci.Registry{}.PushFiles(ctx, repository, artifactType, files)
		if err != nil {
			t.Fatal(err)
		}
		return repository + "@" + string(digest)
	}
	output := filepath.Join(t.TempDir(), "m")
	for _, c := range []struct {
		reference string
		code      int
		want      string
	}{
		{push(resultType, oci.File{Name: "ledger.jsonl", MediaType: "application/jsonl", Data: []byte("garbage\n")}), cli.Failed, "ledger line 1"},
		{push(resultType, oci.File{Name: "other", MediaType: "text/plain", Data: []byte("x")}), cli.Failed, "it has no ledger.jsonl"},
		{push("application/other", oci.File{Name: "ledger.jsonl", MediaType: "text/plain", Data: []byte("x")}), cli.Internal, "artifact type"},
		{repository + "@sha256:12", cli.Internal, "digest"},
		{repository, cli.NoInput, "there are no results"},
	} {
		if code, _, stderr := run1(t, "merge", "--output", output, "--pull", c.reference); code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit %d, %s, want exit %d and %q", c.reference, code, stderr, c.code, c.want)
		}
	}
	if left, _ := filepath.Glob(output + "*"); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

func TestFailedPushSaysThatTheResultIsSafe(t *testing.T) {
	dir := t.TempDir()
	code, stdout, stderr := run1(t, "--range", "100..110", "--checkpoint", dir, "--push", "127.0.0.1:1/k15")
	if code != cli.TryAgain || !bytes.HasPrefix([]byte(stdout), []byte("schema=")) || !strings.Contains(stderr, "The result is safe in "+dir) {
		t.Errorf("exit %d, %s, %s", code, stdout, stderr)
	}
}
