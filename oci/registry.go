package oci

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/erdos1056/erdos1056/internal/digest"
)

// A Registry talks to container registries, with the credentials of the user's
// Docker configuration.
type Registry struct {
	Insecure bool // allow plain HTTP
	Offline  bool // refuse to talk to any
}

// Open returns the image that a reference names by its digest:
// HOST/REPOSITORY@sha256:... in a registry, oci:FOLDER@sha256:... in a layout, or
// oci-archive:FILE@sha256:... in an archive. Names without a digest are refused,
// since what they name can change.
func (r Registry) Open(ctx context.Context, reference string) (*Image, error) {
	place, digest, err := SplitDigest(reference)
	if err != nil {
		return nil, err
	}
	if dir, ok := strings.CutPrefix(place, "oci:"); ok {
		return ReadLayout(dir, digest)
	}
	if file, ok := strings.CutPrefix(place, "oci-archive:"); ok {
		return ReadArchive(file, digest)
	}
	return r.Pull(ctx, place, digest)
}

// SplitDigest splits "place@sha256:...".
func SplitDigest(reference string) (place string, pinned Digest, err error) {
	place, text, ok := strings.Cut(reference, "@")
	if !ok || place == "" {
		return "", "", fmt.Errorf("oci: %q does not pin an image: what a tag names can change, so write NAME@sha256:<digest>", reference)
	}
	pinned, err = digest.Parse(text)
	return place, pinned, err
}

func (r Registry) nameOptions() []name.Option {
	if r.Insecure {
		return []name.Option{name.StrictValidation, name.Insecure}
	}
	return []name.Option{name.StrictValidation}
}

func remoteOptions(ctx context.Context) []remote.Option {
	return []remote.Option{
		remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain), remote.WithUserAgent("erdos1056-capsule"),
	}
}

// repository parses "host/path" with nothing behind.
func (r Registry) repository(s string) (name.Repository, error) {
	if r.Offline {
		return name.Repository{}, fmt.Errorf("oci: %s lies in a registry, and this run is offline; use oci:FOLDER@sha256:<digest> or oci-archive:FILE@sha256:<digest>", s)
	}
	repository, err := name.NewRepository(s, r.nameOptions()...)
	if err != nil {
		return name.Repository{}, fmt.Errorf("oci: repository %q: %w", s, err)
	}
	return repository, nil
}

// Push uploads the image under its digest, and under the tag if the reference
// has one, and reads it back. It is an error if the registry answers another
// digest.
func (r Registry) Push(ctx context.Context, reference string, im *Image) error {
	base, tag := SplitTag(reference)
	repository, err := r.repository(base)
	if err != nil {
		return err
	}
	targets := []name.Reference{repository.Digest(string(im.Digest()))}
	if tag != "" {
		targets = append(targets, repository.Tag(tag))
	}
	for _, target := range targets {
		if err := remote.WriteIndex(target, remoteIndex{im}, remoteOptions(ctx)...); err != nil {
			return fmt.Errorf("oci: pushing %v: %w", target, err)
		}
		answer, err := remote.Head(target, remoteOptions(ctx)...)
		if err != nil {
			return fmt.Errorf("oci: asking for %v: %w", target, err)
		}
		if answer.Digest.String() != string(im.Digest()) {
			return fmt.Errorf("oci: %v: expected the registry to answer %s, it answers %s", target, im.Digest(), answer.Digest)
		}
	}
	if _, err := r.Pull(ctx, base, im.Digest()); err != nil {
		return fmt.Errorf("reading back what was pushed: %w", err)
	}
	return nil
}

// SplitTag splits "repository:tag"; the colon of a port is none.
func SplitTag(reference string) (repository, tag string) {
	i := strings.LastIndexByte(reference, ':')
	if i < 0 || strings.ContainsRune(reference[i:], '/') {
		return reference, ""
	}
	return reference[:i], reference[i+1:]
}

// Pull downloads the image with the digest and checks all of it.
func (r Registry) Pull(ctx context.Context, repository string, digest Digest) (*Image, error) {
	repo, err := r.repository(repository)
	if err != nil {
		return nil, err
	}
	answer, err := remote.Get(repo.Digest(string(digest)), remoteOptions(ctx)...)
	if err != nil {
		return nil, fmt.Errorf("oci: %s@%s: %w", repository, digest, err)
	}
	root := Descriptor{MediaType: string(answer.MediaType), Digest: digest, Size: int64(len(answer.Manifest))}
	return Read(root, func(d Descriptor) ([]byte, error) {
		if d.Digest == root.Digest {
			return answer.Manifest, nil
		}
		return download(ctx, repo, d)
	})
}

func download(ctx context.Context, repo name.Repository, d Descriptor) ([]byte, error) {
	if d.MediaType == ManifestType || d.MediaType == IndexType {
		answer, err := remote.Get(repo.Digest(string(d.Digest)), remoteOptions(ctx)...)
		if err != nil {
			return nil, err
		}
		return answer.Manifest, nil
	}
	layer, err := remote.Layer(repo.Digest(string(d.Digest)), remoteOptions(ctx)...)
	if err != nil {
		return nil, err
	}
	body, err := layer.Compressed()
	if err != nil {
		return nil, err
	}
	data, err := readBounded(body, string(d.Digest), d.Size)
	return data, errors.Join(err, body.Close())
}

// remoteIndex shows an Image to the registry client. Unlike the client's own
// index builder it hands on the very bytes that were digested.
type remoteIndex struct{ image *Image }

func (i remoteIndex) MediaType() (types.MediaType, error) { return types.OCIImageIndex, nil }
func (i remoteIndex) Digest() (v1.Hash, error)            { return v1.NewHash(string(i.image.Digest())) }
func (i remoteIndex) Size() (int64, error)                { return i.image.Root.Size, nil }
func (i remoteIndex) RawManifest() ([]byte, error)        { return i.image.blobs[i.image.Digest()], nil }

func (i remoteIndex) IndexManifest() (*v1.IndexManifest, error) {
	var m v1.IndexManifest
	return &m, json.Unmarshal(i.image.blobs[i.image.Digest()], &m)
}

func (i remoteIndex) Image(h v1.Hash) (v1.Image, error) {
	for _, m := range i.image.Manifests {
		if string(m.Digest) == h.String() {
			return partial.CompressedToImage(remoteImage{i.image, m})
		}
	}
	return nil, fmt.Errorf("oci: no manifest %v", h)
}

func (i remoteIndex) ImageIndex(h v1.Hash) (v1.ImageIndex, error) {
	return nil, fmt.Errorf("oci: no index %v", h)
}

type remoteImage struct {
	image    *Image
	manifest Manifest
}

func (i remoteImage) MediaType() (types.MediaType, error) { return types.OCIManifestSchema1, nil }
func (i remoteImage) RawManifest() ([]byte, error)        { return i.image.blobs[i.manifest.Digest], nil }
func (i remoteImage) RawConfigFile() ([]byte, error) {
	return i.image.blobs[i.manifest.Config.Digest], nil
}

func (i remoteImage) LayerByDigest(h v1.Hash) (partial.CompressedLayer, error) {
	for _, d := range append([]Descriptor{i.manifest.Config}, i.manifest.Layers...) {
		if string(d.Digest) == h.String() {
			return remoteBlob{d, i.image.blobs[d.Digest]}, nil
		}
	}
	return nil, fmt.Errorf("oci: no blob %v", h)
}

type remoteBlob struct {
	descriptor Descriptor
	data       []byte
}

func (b remoteBlob) Digest() (v1.Hash, error) { return v1.NewHash(string(b.descriptor.Digest)) }
func (b remoteBlob) Size() (int64, error)     { return b.descriptor.Size, nil }
func (b remoteBlob) MediaType() (types.MediaType, error) {
	return types.MediaType(b.descriptor.MediaType), nil
}
func (b remoteBlob) Compressed() (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(b.data)), nil
}
