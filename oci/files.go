package oci

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"

	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/erdos1056/erdos1056/internal/digest"
)

// A File is one of the files of an artifact that is not an image: a manifest with an artifact
// type, an empty configuration and one layer for each file, which has the file's name as
// title.
type File struct {
	Name      string // relative and clean, with slashes
	MediaType string
	Data      []byte
}

// maxFiles bounds the files of an artifact, and maxFileBytes their sizes together, in bytes.
const (
	maxFiles     = 1 << 13
	maxFileBytes = 1 << 30
)

// PushFiles uploads files as an artifact under its digest, and under the tag if the reference
// has one, and returns the digest. The same files give the same digest.
func (r Registry) PushFiles(ctx context.Context, reference, artifactType string, files []File) (Digest, error) {
	base, tag := SplitTag(reference)
	repo, err := r.repository(base)
	if err != nil {
		return "", err
	}
	m := manifestDocument{SchemaVersion: schemaVersion, MediaType: ManifestType, ArtifactType: artifactType,
		Config: Descriptor{MediaType: emptyType, Digest: digest.Of(emptyJSON), Size: int64(len(emptyJSON))}}
	blobs := []remoteBlob{{m.Config, emptyJSON}}
	for _, f := range files {
		layer := Descriptor{MediaType: f.MediaType, Digest: digest.Of(f.Data), Size: int64(len(f.Data)), Annotations: map[string]string{AnnotationTitle: f.Name}}
		m.Layers = append(m.Layers, layer)
		blobs = append(blobs, remoteBlob{layer, f.Data})
	}
	if err := checkFiles(m); err != nil {
		return "", fmt.Errorf("oci: %w", err)
	}
	for _, blob := range blobs {
		upload, err := partial.CompressedToLayer(blob)
		if err != nil {
			return "", err
		}
		if err := remote.WriteLayer(repo, upload, remoteOptions(ctx)...); err != nil {
			return "", fmt.Errorf("oci: pushing %s: %w", blob.descriptor.Annotations[AnnotationTitle], err)
		}
	}
	manifest, err := encode(m)
	if err != nil {
		return "", err
	}
	digest := digest.Of(manifest)
	if err := remote.Put(repo.Digest(string(digest)), rawManifest(manifest), remoteOptions(ctx)...); err != nil {
		return "", fmt.Errorf("oci: pushing the manifest: %w", err)
	}
	if tag != "" {
		if err := remote.Put(repo.Tag(tag), rawManifest(manifest), remoteOptions(ctx)...); err != nil {
			return "", fmt.Errorf("oci: tagging: %w", err)
		}
	}
	return digest, nil
}

// PullFiles downloads those files of the artifact with the digest that are wanted by name, and
// checks the type, the names, the sizes and the digests.
func (r Registry) PullFiles(ctx context.Context, repository string, digest Digest, artifactType string, want func(name string) bool) ([]File, error) {
	repo, err := r.repository(repository)
	if err != nil {
		return nil, err
	}
	answer, err := remote.Get(repo.Digest(string(digest)), remoteOptions(ctx)...)
	if err != nil {
		return nil, fmt.Errorf("oci: %s@%s: %w", repository, digest, err)
	}
	blobs := reader{blobs: make(map[Digest][]byte), get: func(d Descriptor) ([]byte, error) {
		if d.Digest == digest {
			return answer.Manifest, nil
		}
		return download(ctx, repo, d)
	}}
	files, err := blobs.files(Descriptor{MediaType: ManifestType, Digest: digest, Size: int64(len(answer.Manifest))}, artifactType, want)
	if err != nil {
		return nil, fmt.Errorf("oci: %s@%s: %w", repository, digest, err)
	}
	return files, nil
}

func (r *reader) files(d Descriptor, artifactType string, want func(name string) bool) ([]File, error) {
	data, err := r.blob(d, MaxDocument)
	if err != nil {
		return nil, err
	}
	var m manifestDocument
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, err
	}
	if m.SchemaVersion != schemaVersion || m.MediaType != ManifestType || m.ArtifactType != artifactType {
		return nil, fmt.Errorf("schema version %d, media type %q, artifact type %q; want %d, %q, %q", m.SchemaVersion, m.MediaType, m.ArtifactType, schemaVersion, ManifestType, artifactType)
	}
	if err := checkFiles(m); err != nil {
		return nil, err
	}
	var files []File
	for _, layer := range m.Layers {
		if name := layer.Annotations[AnnotationTitle]; want(name) {
			data, err := r.blob(layer, maxFileBytes)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			files = append(files, File{name, layer.MediaType, data})
		}
	}
	return files, nil
}

// checkFiles checks the number, the names and the sizes of an artifact's files.
func checkFiles(m manifestDocument) error {
	if len(m.Layers) == 0 || len(m.Layers) > maxFiles {
		return fmt.Errorf("%d files; want 1 to %d", len(m.Layers), maxFiles)
	}
	seen := map[string]bool{}
	total := int64(0)
	for _, layer := range m.Layers {
		name := layer.Annotations[AnnotationTitle]
		if !fs.ValidPath(name) || name == "." || strings.ContainsAny(name, "\x00\n\\:") || seen[name] {
			return fmt.Errorf("file name %q: want relative clean paths, each once", name)
		}
		seen[name] = true
		if total += layer.Size; layer.Size < 0 || total > maxFileBytes {
			return fmt.Errorf("files of more than %d bytes", maxFileBytes)
		}
	}
	return nil
}

// Tags lists the tags of a repository, each with the digest that it names now.
func (r Registry) Tags(ctx context.Context, repository string) (map[string]Digest, error) {
	repo, err := r.repository(repository)
	if err != nil {
		return nil, err
	}
	list, err := remote.List(repo, remoteOptions(ctx)...)
	if err != nil {
		return nil, fmt.Errorf("oci: tags of %s: %w", repository, err)
	}
	tags := map[string]Digest{}
	for _, tag := range list {
		answer, err := remote.Head(repo.Tag(tag), remoteOptions(ctx)...)
		if err != nil {
			return nil, fmt.Errorf("oci: %s:%s: %w", repository, tag, err)
		}
		tags[tag] = Digest(answer.Digest.String())
	}
	return tags, nil
}
