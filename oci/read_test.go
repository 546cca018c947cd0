package oci

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/internal/digest"
)

func TestLayoutAndArchiveAreReadBack(t *testing.T) {
	im := build(t, sample(t))
	dir := t.TempDir()
	layout, archive := filepath.Join(dir, "layout"), filepath.Join(dir, "image.tar")
	if err := im.WriteLayout(layout, "latest"); err != nil {
		t.Fatal(err)
	}
	if err := im.WriteArchive(archive, "sample", "latest"); err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func() (*Image, error){
		"layout":  func() (*Image, error) { return ReadLayout(layout, im.Digest()) },
		"archive": func() (*Image, error) { return ReadArchive(archive, im.Digest()) },
	} {
		got, err := read()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.Digest() != im.Digest() || len(got.Manifests) != 2 || len(got.blobs) != len(im.blobs) {
			t.Errorf("%s: got %s with %d blobs", name, got.Digest(), len(got.blobs))
		}
	}
	if err := im.WriteLayout(layout, "latest"); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("an existing folder was overwritten: %v", err)
	}
	other := digest.Of([]byte("other"))
	if _, err := ReadLayout(layout, other); err == nil || !strings.Contains(err.Error(), "no image "+string(other)) {
		t.Errorf("a missing image gave %v", err)
	}
	leftovers, err := filepath.Glob(filepath.Join(dir, "*.new"))
	if err != nil || len(leftovers) > 0 {
		t.Errorf("left behind: %v, %v", leftovers, err)
	}
}

// TestArchiveBytesDoNotDependOnTheFolder writes from another folder under
// another umask.
func TestArchiveBytesDoNotDependOnTheFolder(t *testing.T) {
	im := build(t, sample(t))
	var all [][]byte
	for _, name := range []string{"a.tar", "b.tar"} {
		name = filepath.Join(t.TempDir(), name)
		if err := im.WriteArchive(name, "sample", "latest"); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data)
	}
	if !bytes.Equal(all[0], all[1]) {
		t.Error("the archives differ")
	}
}

// TestDamageIsFound changes one thing in a layout at a time.
func TestDamageIsFound(t *testing.T) {
	im := build(t, sample(t))
	manifest := im.Manifests[0]
	blob := func(d Digest) string { return filepath.FromSlash(blobPath(d)) }
	flip := func(name string) func(dir string) error {
		return func(dir string) error {
			name := filepath.Join(dir, name)
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			data[len(data)/2] ^= 1
			return os.WriteFile(name, data, 0o644)
		}
	}
	for name, c := range map[string]struct {
		damage func(dir string) error
		want   string
	}{
		"index changed":         {flip(blob(im.Digest())), "expected a blob with digest"},
		"manifest changed":      {flip(blob(manifest.Digest)), "expected a blob with digest"},
		"configuration changed": {flip(blob(manifest.Config.Digest)), "expected a blob with digest"},
		"layer changed":         {flip(blob(manifest.Layers[0].Digest)), "expected a blob with digest"},
		"layer missing": {func(dir string) error { return os.Remove(filepath.Join(dir, blob(manifest.Layers[0].Digest))) },
			"no such file"},
		"layer truncated": {func(dir string) error { return os.Truncate(filepath.Join(dir, blob(manifest.Layers[0].Digest)), 100) },
			"bytes, found 100"},
		"layer grown": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, blob(manifest.Layers[0].Digest)), make([]byte, manifest.Layers[0].Size+1), 0o644)
		}, "exceeds the limit"},
		"layer is a pipe": {func(dir string) error {
			name := filepath.Join(dir, blob(manifest.Layers[0].Digest))
			if err := os.Remove(name); err != nil {
				return err
			}
			return exec.Command("mkfifo", name).Run()
		}, "found a named pipe"},
		"layer is a link out": {func(dir string) error {
			name := filepath.Join(dir, blob(manifest.Layers[0].Digest))
			if err := os.Remove(name); err != nil {
				return err
			}
			return os.Symlink("/etc/hostname", name)
		}, "escapes"},
		"outer index is no JSON": {func(dir string) error { return os.WriteFile(filepath.Join(dir, "index.json"), []byte("{"), 0o644) }, "index.json"},
		"outer index missing":    {func(dir string) error { return os.Remove(filepath.Join(dir, "index.json")) }, "not an image layout"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "layout")
			if err := im.WriteLayout(dir, ""); err != nil {
				t.Fatal(err)
			}
			if err := c.damage(dir); err != nil {
				t.Fatal(err)
			}
			if _, err := ReadLayout(dir, im.Digest()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

// TestInconsistentImagesAreRefused gives every document its right digest, but
// lets them contradict each other.
func TestInconsistentImagesAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(index, manifest, config map[string]any)
		want string
	}{
		"nothing changed": {func(_, _, _ map[string]any) {}, ""},
		"no manifests":    {func(index, _, _ map[string]any) { index["manifests"] = []any{} }, "0 manifests"},
		"index version":   {func(index, _, _ map[string]any) { index["schemaVersion"] = 1 }, "schema version 1"},
		"index type":      {func(index, _, _ map[string]any) { index["mediaType"] = ManifestType }, "media type"},
		"same platform twice": {func(index, _, _ map[string]any) {
			list := index["manifests"].([]any)
			index["manifests"] = append(list, list[0])
		}, "there twice"},
		"no platform": {func(index, _, _ map[string]any) {
			delete(index["manifests"].([]any)[0].(map[string]any), "platform")
		}, "and a platform"},
		"manifest version":       {func(_, manifest, _ map[string]any) { manifest["schemaVersion"] = 3 }, "schema version 3"},
		"no layers":              {func(_, manifest, _ map[string]any) { manifest["layers"] = []any{} }, "0 layers"},
		"other platform":         {func(_, _, config map[string]any) { config["architecture"] = "arm64" }, "the index says linux/amd64"},
		"other diff id":          {func(_, _, config map[string]any) { setDiffIDs(config, string(digest.Of(nil))) }, "expected the uncompressed layer"},
		"too many diff ids":      {func(_, _, config map[string]any) { setDiffIDs(config, "a", "b") }, "2 diff ids"},
		"layer type unknown":     {func(_, manifest, _ map[string]any) { layerOf(manifest)["mediaType"] = "text/plain" }, "text/plain"},
		"layer digest malformed": {func(_, manifest, _ map[string]any) { layerOf(manifest)["digest"] = "sha256:AB" }, "64 lower-case"},
		"layer size negative":    {func(_, manifest, _ map[string]any) { layerOf(manifest)["size"] = -1 }, "size -1"},
		"layer size enormous":    {func(_, manifest, _ map[string]any) { layerOf(manifest)["size"] = int64(1) << 60 }, "the limit is"},
	} {
		t.Run(name, func(t *testing.T) {
			r := sample(t)
			delete(r.Trees, arm64)
			im := build(t, r)
			blobs := im.blobs
			m := im.Manifests[0]
			index, manifest, config := document(t, blobs[im.Digest()]), document(t, blobs[m.Digest]), document(t, blobs[m.Config.Digest])
			put := func(v map[string]any, in map[string]any) {
				data, err := json.Marshal(v)
				if err != nil {
					t.Fatal(err)
				}
				blobs[digest.Of(data)] = data
				in["digest"], in["size"] = string(digest.Of(data)), len(data)
			}
			first := index["manifests"].([]any)[0].(map[string]any)
			// The documents are edited and then tied together again from the
			// innermost one on.
			c.edit(index, manifest, config)
			put(config, manifest["config"].(map[string]any))
			put(manifest, first)
			root := map[string]any{}
			put(index, root)
			_, err := Read(
				Descriptor{MediaType: IndexType, Digest: Digest(root["digest"].(string)), Size: int64(root["size"].(int))},
				func(d Descriptor) ([]byte, error) { return blobs[d.Digest], nil })
			switch {
			case c.want == "" && err != nil:
				t.Errorf("got %v, want no error", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

func document(t *testing.T, data []byte) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func layerOf(manifest map[string]any) map[string]any {
	return manifest["layers"].([]any)[0].(map[string]any)
}

func setDiffIDs(config map[string]any, ids ...string) {
	config["rootfs"].(map[string]any)["diff_ids"] = ids
}

func FuzzRead(f *testing.F) {
	im := build(f, sample(f))
	for _, data := range im.blobs {
		if len(data) < 4096 {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		root := Descriptor{MediaType: IndexType, Digest: digest.Of(data), Size: int64(len(data))}
		Read(root, func(d Descriptor) ([]byte, error) {
			if d.Digest == root.Digest {
				return data, nil
			}
			return im.blobs[d.Digest], nil
		})
	})
}
