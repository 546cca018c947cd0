package oci

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/internal/digest"
	"github.com/erdos1056/erdos1056/oci/registrytest"
)

func TestPushAndPullByDigest(t *testing.T) {
	im := build(t, sample(t))
	ctx := context.Background()
	for name, address := range map[string]string{"in process": registrytest.InProcess(t, true), "docker-registry": registrytest.Debian(t)} {
		if address == "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			repository := address + "/erdos1056/sample"
			for _, reference := range []string{repository, repository + ":v1"} {
				if err := (Registry{}).Push(ctx, reference, im); err != nil {
					t.Fatal(err)
				}
			}
			got, err := (Registry{}).Pull(ctx, repository, im.Digest())
			if err != nil {
				t.Fatal(err)
			}
			if got.Digest() != im.Digest() || len(got.blobs) != len(im.blobs) {
				t.Errorf("got %s with %d blobs", got.Digest(), len(got.blobs))
			}
			if _, err := (Registry{}).Pull(ctx, repository, digest.Of([]byte("other"))); err == nil {
				t.Error("an image that is not there was pulled")
			}
			// A platform's manifest is not the name of an image.
			if _, err := (Registry{}).Pull(ctx, repository, im.Manifests[0].Digest); err == nil || !strings.Contains(err.Error(), "named by its index") {
				t.Errorf("a manifest's digest gave %v", err)
			}
		})
	}
}

func TestBundlesTravelAsReferrers(t *testing.T) {
	im := build(t, sample(t))
	ctx := context.Background()
	registries := map[string]string{
		"referrers API": registrytest.InProcess(t, true), "fallback tag": registrytest.InProcess(t, false), "docker-registry": registrytest.Debian(t),
	}
	for name, address := range registries {
		if address == "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			repository := address + "/erdos1056/sample"
			if err := (Registry{}).Push(ctx, repository, im); err != nil {
				t.Fatal(err)
			}
			none, err := (Registry{}).Bundles(ctx, repository, im.Digest())
			if err != nil || len(none) > 0 {
				t.Fatalf("before anything was attached: %q, %v", none, err)
			}
			for _, bundle := range []string{`{"first":1}`, `{"second":2}`} {
				if _, err := (Registry{}).Attach(ctx, repository, im.Digest(), []byte(bundle), "https://example.org/predicate"); err != nil {
					t.Fatal(err)
				}
			}
			got, err := (Registry{}).Bundles(ctx, repository, im.Digest())
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != 2 || !bytes.Contains(bytes.Join(got, nil), []byte(`{"first":1}`)) || !bytes.Contains(bytes.Join(got, nil), []byte(`{"second":2}`)) {
				t.Errorf("got %q", got)
			}
			other, err := (Registry{}).Bundles(ctx, repository, im.Manifests[0].Digest)
			if err != nil || len(other) > 0 {
				t.Errorf("another subject has %q, %v", other, err)
			}
			if name == "referrers API" {
				return
			}
			tag := strings.Replace(string(im.Digest()), ":", "-", 1)
			request, err := http.NewRequest(http.MethodGet, "http://"+address+"/v2/erdos1056/sample/manifests/"+tag, nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Accept", IndexType)
			answer, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			index, err := io.ReadAll(answer.Body)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{`"artifactType":"` + BundleType, annotationPredicateType} {
				if !bytes.Contains(index, []byte(want)) {
					t.Errorf("the fallback tag has no %s: %s", want, index)
				}
			}
		})
	}
}

// TestReferrerMustReferToItsSubject: a registry that lists a stranger's bundle is
// not believed.
func TestReferrerMustReferToItsSubject(t *testing.T) {
	subject, other := digest.Of([]byte("subject")), digest.Of([]byte("other"))
	blobs := make(map[Digest][]byte)
	put := func(mediaType string, data []byte) Descriptor {
		d := Descriptor{MediaType: mediaType, Digest: digest.Of(data), Size: int64(len(data))}
		blobs[d.Digest] = data
		return d
	}
	layer := put(BundleType, []byte("{}"))
	for name, c := range map[string]struct {
		manifest manifestDocument
		want     string
	}{
		"good":          {manifestDocument{ArtifactType: BundleType, Subject: &Descriptor{Digest: subject}, Layers: []Descriptor{layer}}, ""},
		"other subject": {manifestDocument{Subject: &Descriptor{Digest: other}, Layers: []Descriptor{layer}}, "its subject is not"},
		"no subject":    {manifestDocument{Layers: []Descriptor{layer}}, "its subject is not"},
		"two layers":    {manifestDocument{ArtifactType: BundleType, Subject: &Descriptor{Digest: subject}, Layers: []Descriptor{layer, layer}}, "want one layer"},
	} {
		data, err := encode(c.manifest)
		if err != nil {
			t.Fatal(err)
		}
		r := reader{blobs: make(map[Digest][]byte), get: func(d Descriptor) ([]byte, error) { return blobs[d.Digest], nil }}
		_, err = r.bundle(put(ManifestType, data), subject)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// TestOtherToolsSeeTheSameDigest lets skopeo and podman, where they are
// installed, read the registry, the layout and the archive.
func TestOtherToolsSeeTheSameDigest(t *testing.T) {
	im := build(t, sample(t))
	dir := t.TempDir()
	layout, archive := filepath.Join(dir, "layout"), filepath.Join(dir, "image.tar")
	if err := im.WriteLayout(layout, "latest"); err != nil {
		t.Fatal(err)
	}
	if err := im.WriteArchive(archive, "localhost/sample", "latest"); err != nil {
		t.Fatal(err)
	}
	address := registrytest.Debian(t)
	if _, err := exec.LookPath("skopeo"); err != nil || address == "" {
		return // nothing to compare with
	}
	repository := address + "/erdos1056/sample"
	if err := (Registry{}).Push(context.Background(), repository+":v1", im); err != nil {
		t.Fatal(err)
	}
	skopeo := func(args ...string) []byte {
		t.Helper()
		output, err := exec.Command("skopeo", args...).Output()
		if err != nil {
			t.Fatalf("skopeo %s: %v %s", strings.Join(args, " "), err, err.(*exec.ExitError).Stderr)
		}
		return output
	}
	for _, source := range []string{"docker://" + repository + "@" + string(im.Digest()), "docker://" + repository + ":v1", "oci:" + layout + ":latest", "oci-archive:" + archive + ":latest"} {
		raw := skopeo("inspect", "--tls-verify=false", "--raw", source)
		if digest.Of(raw) != im.Digest() {
			t.Errorf("%s: skopeo sees %s, want %s", source, digest.Of(raw), im.Digest())
		}
	}
	// All platforms, every digest kept.
	skopeo("copy", "--all", "--preserve-digests", "--src-tls-verify=false", "docker://"+repository+"@"+string(im.Digest()), "oci:"+filepath.Join(dir, "copy")+":latest")
	if _, err := ReadLayout(filepath.Join(dir, "copy"), im.Digest()); err != nil {
		t.Errorf("skopeo's copy: %v", err)
	}
	// A Docker archive keeps the configuration's digest.
	m, err := im.Manifest(arm64)
	if err != nil {
		t.Fatal(err)
	}
	config := skopeo("inspect", "--raw", "--config", "docker-archive:"+archive+":localhost/sample:latest-arm64")
	if digest.Of(config) != m.Config.Digest {
		t.Errorf("the Docker archive's configuration is %s, want %s", digest.Of(config), m.Config.Digest)
	}
}

func TestReferencesAreSplitAtTheTag(t *testing.T) {
	for reference, want := range map[string][2]string{
		"localhost:5000/a":    {"localhost:5000/a", ""},
		"localhost:5000/a:v1": {"localhost:5000/a", "v1"},
		"ghcr.io/a/b":         {"ghcr.io/a/b", ""},
	} {
		repository, tag := SplitTag(reference)
		if got := [2]string{repository, tag}; got != want {
			t.Errorf("%s: got %q, want %q", reference, got, want)
		}
	}
	if err := (Registry{}).Push(context.Background(), "Bad Name", build(t, sample(t))); err == nil {
		t.Error("a malformed repository was accepted")
	}
}
