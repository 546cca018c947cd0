package oci

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/erdos1056/erdos1056/internal/digest"
	"github.com/erdos1056/erdos1056/oci/registrytest"
)

const sampleType = "application/vnd.example.sample.v1"

func all(string) bool { return true }

func TestFilesTravelByDigest(t *testing.T) {
	ctx := context.Background()
	files := []File{{"a.txt", "text/plain", []byte("a")}, {"sub/b.bin", "application/octet-stream", bytes.Repeat([]byte("b"), 5000)}, {"empty", "text/plain", nil}}
	for name, address := range map[string]string{"in process": registrytest.InProcess(t, true), "docker-registry": registrytest.Debian(t)} {
		if address == "" {
			continue
		}
		repository := address + "/sample"
		pushed, err := (Registry{}).PushFiles(ctx, repository+":v1", sampleType, files)
		if err != nil {
			t.Fatal(name, err)
		}
		if again, err := (Registry{}).PushFiles(ctx, repository, sampleType, files); err != nil || again != pushed {
			t.Errorf("%s: the same files have digests %s and %s, %v", name, pushed, again, err)
		}
		got, err := (Registry{}).PullFiles(ctx, repository, pushed, sampleType, all)
		if err != nil || len(got) != 3 {
			t.Fatalf("%s: %d files, %v", name, len(got), err)
		}
		for i, f := range got {
			if f.Name != files[i].Name || f.MediaType != files[i].MediaType || !bytes.Equal(f.Data, files[i].Data) {
				t.Errorf("%s: file %+v, want %+v", name, f, files[i])
			}
		}
		got, err = (Registry{}).PullFiles(ctx, repository, pushed, sampleType, func(name string) bool { return name == "a.txt" })
		if err != nil || len(got) != 1 {
			t.Errorf("%s: %d files, %v", name, len(got), err)
		}
		tags, err := (Registry{}).Tags(ctx, repository)
		if err != nil || len(tags) != 1 || tags["v1"] != pushed {
			t.Errorf("%s: tags %v, %v", name, tags, err)
		}
		if _, err := (Registry{}).PullFiles(ctx, repository, pushed, "application/other", all); err == nil || !strings.Contains(err.Error(), "artifact type") {
			t.Errorf("%s: an artifact of another type was pulled: %v", name, err)
		}
		if _, err := (Registry{}).PullFiles(ctx, repository, digest.Of([]byte("x")), sampleType, all); err == nil {
			t.Errorf("%s: an artifact that is not there was pulled", name)
		}
	}
}

func TestBadFilesAreNotPushed(t *testing.T) {
	repository := registrytest.InProcess(t, true) + "/sample"
	for want, files := range map[string][]File{
		"0 files":             nil,
		`file name "../a"`:    {{"../a", "text/plain", nil}},
		`file name "/a"`:      {{"/a", "text/plain", nil}},
		`file name "c:\\a"`:   {{`c:\a`, "text/plain", nil}},
		`file name "a": want`: {{"a", "text/plain", nil}, {"a", "text/plain", []byte("x")}},
		"8193 files":          make([]File, maxFiles+1),
	} {
		if _, err := (Registry{}).PushFiles(context.Background(), repository, sampleType, files); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
	if _, err := (Registry{Offline: true}).PushFiles(context.Background(), repository, sampleType, nil); err == nil || !strings.Contains(err.Error(), "offline") {
		t.Errorf("%v", err)
	}
}

// A manifest that lies about its files is refused before anything is used.
func TestManifestsThatLieAreRefused(t *testing.T) {
	ctx := context.Background()
	repository := registrytest.InProcess(t, true) + "/sample"
	repo, err := Registry{}.repository(repository)
	if err != nil {
		t.Fatal(err)
	}
	data := []byte("data")
	if _, err := (Registry{}).PushFiles(ctx, repository, sampleType, []File{{"a", "text/plain", data}}); err != nil {
		t.Fatal(err)
	}
	layer := func(name string, size int64) Descriptor {
		return Descriptor{MediaType: "text/plain", Digest: digest.Of(data), Size: size, Annotations: map[string]string{AnnotationTitle: name}}
	}
	for want, layers := range map[string][]Descriptor{
		"more than 3 bytes": {layer("a", 3)},
		"of more than":      {layer("a", maxFileBytes+1)},
		"bytes":             {layer("a", -1)},
		"file name":         {layer("../../etc/passwd", 4)},
	} {
		manifest, err := encode(manifestDocument{SchemaVersion: schemaVersion, MediaType: ManifestType, ArtifactType: sampleType,
			Config: Descriptor{MediaType: emptyType, Digest: digest.Of(emptyJSON), Size: 2}, Layers: layers})
		if err != nil {
			t.Fatal(err)
		}
		pushed := digest.Of(manifest)
		if err := remote.Put(repo.Digest(string(pushed)), rawManifest(manifest)); err != nil {
			t.Fatal(err)
		}
		if files, err := (Registry{}).PullFiles(ctx, repository, pushed, sampleType, all); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d files, %v, want an error with %q", len(files), err, want)
		}
	}
}
