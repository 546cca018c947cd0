package oci

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/erdos1056/erdos1056/internal/digest"
)

// Annotation and label names of the image specification.
const (
	AnnotationTitle    = "org.opencontainers.image.title"
	AnnotationVersion  = "org.opencontainers.image.version"
	AnnotationSource   = "org.opencontainers.image.source"
	AnnotationLicenses = "org.opencontainers.image.licenses"

	annotationCreated    = "org.opencontainers.image.created"
	annotationBaseName   = "org.opencontainers.image.base.name"
	annotationBaseDigest = "org.opencontainers.image.base.digest"
	annotationRefName    = "org.opencontainers.image.ref.name"
)

// A Recipe says everything that an image is made of.
type Recipe struct {
	Trees       map[Platform]Tree
	Entrypoint  []string          // the program and its first arguments
	User        string            // user and group, as in "65532:65532"
	Annotations map[string]string // of the index and of every manifest
	Labels      map[string]string // of the configuration
	Created     int64             // seconds since 1970 (SOURCE_DATE_EPOCH)
	Base        *Image            // nil for an image with nothing below
	BaseName    string            // the name that Base was pinned by
}

// An Image is a complete multi-platform image in memory: an index and all that
// it points to. Every blob of it is known to have its digest.
type Image struct {
	Root      Descriptor // of the index
	Manifests []Manifest // in the order of the index
	blobs     map[Digest][]byte
}

// A Manifest is the part of an image for one platform.
type Manifest struct {
	Descriptor
	Config Descriptor
	Layers []Descriptor
	config configDocument
}

// Entrypoint is the program that the image runs, with its first arguments.
func (m Manifest) Entrypoint() []string { return m.config.Config.Entrypoint }

// User is the user and group that the image's program is meant to run as.
func (m Manifest) User() string { return m.config.Config.User }

// Digest is the name of the image: the digest of its index.
func (im *Image) Digest() Digest { return im.Root.Digest }

// Manifest returns the part for a platform.
func (im *Image) Manifest(p Platform) (Manifest, error) {
	var have []string
	for _, m := range im.Manifests {
		if *m.Platform == p {
			return m, nil
		}
		have = append(have, m.Platform.String())
	}
	return Manifest{}, fmt.Errorf("oci: image %s has no part for %v; it has %v", im.Digest(), p, have)
}

// Build makes the image of a recipe. The same recipe gives the same bytes
// everywhere.
func Build(r Recipe) (*Image, error) {
	if len(r.Trees) == 0 {
		return nil, errors.New("oci: an image needs the tree of at least one platform")
	}
	b := builder{recipe: r, blobs: make(map[Digest][]byte)}
	platforms := slices.SortedFunc(maps.Keys(r.Trees), func(a, b Platform) int {
		return strings.Compare(a.String(), b.String())
	})
	index := indexDocument{SchemaVersion: schemaVersion, MediaType: IndexType, Annotations: b.annotations()}
	for _, p := range platforms {
		manifest, err := b.platform(p)
		if err != nil {
			return nil, err
		}
		index.Manifests = append(index.Manifests, manifest)
	}
	root, err := b.document(IndexType, index)
	if err != nil {
		return nil, err
	}
	// What was built goes through the same gate as what is read.
	return Read(root, func(d Descriptor) ([]byte, error) { return b.blobs[d.Digest], nil })
}

type builder struct {
	recipe Recipe
	blobs  map[Digest][]byte
}

func (b *builder) blob(mediaType string, data []byte) Descriptor {
	d := Descriptor{MediaType: mediaType, Digest: digest.Of(data), Size: int64(len(data))}
	b.blobs[d.Digest] = data
	return d
}

func (b *builder) document(mediaType string, document any) (Descriptor, error) {
	data, err := encode(document)
	if err != nil {
		return Descriptor{}, err
	}
	return b.blob(mediaType, data), nil
}

func (b *builder) annotations() map[string]string {
	all := maps.Clone(b.recipe.Annotations)
	if all == nil {
		all = make(map[string]string)
	}
	all[annotationCreated] = timestamp(b.recipe.Created)
	if b.recipe.Base != nil {
		all[annotationBaseName] = b.recipe.BaseName
		all[annotationBaseDigest] = string(b.recipe.Base.Digest())
	}
	return all
}

// platform adds the layer, configuration and manifest of one platform.
func (b *builder) platform(p Platform) (Descriptor, error) {
	created := timestamp(b.recipe.Created)
	archive, err := tarBytes(b.recipe.Trees[p], b.recipe.Created)
	if err != nil {
		return Descriptor{}, err
	}
	manifest := manifestDocument{SchemaVersion: schemaVersion, MediaType: ManifestType, Annotations: b.annotations()}
	config := configDocument{
		Created: created, Author: "erdos1056", Architecture: p.Architecture, OS: p.OS,
		RootFS: rootFS{Type: "layers"},
	}
	if b.recipe.Base != nil {
		if err := b.startFrom(p, &manifest, &config); err != nil {
			return Descriptor{}, err
		}
	}
	manifest.Layers = append(manifest.Layers, b.blob(LayerType, storedGzip(archive)))
	config.RootFS.DiffIDs = append(config.RootFS.DiffIDs, digest.Of(archive))
	config.History = append(config.History, history{Created: created, CreatedBy: "capsule image"})
	config.Config.User = b.recipe.User
	config.Config.Entrypoint = b.recipe.Entrypoint
	config.Config.WorkingDir = "/"
	config.Config.Labels = b.recipe.Labels
	if manifest.Config, err = b.document(ConfigType, config); err != nil {
		return Descriptor{}, err
	}
	descriptor, err := b.document(ManifestType, manifest)
	descriptor.Platform = &p
	return descriptor, err
}

// startFrom takes over the base's layers, environment and history.
func (b *builder) startFrom(p Platform, manifest *manifestDocument, config *configDocument) error {
	base, err := b.recipe.Base.Manifest(p)
	if err != nil {
		return fmt.Errorf("oci: base %s: %w", b.recipe.BaseName, err)
	}
	for _, layer := range base.Layers {
		b.blobs[layer.Digest] = b.recipe.Base.blobs[layer.Digest]
	}
	manifest.Layers = append(manifest.Layers, base.Layers...)
	config.RootFS.DiffIDs = append(config.RootFS.DiffIDs, base.config.RootFS.DiffIDs...)
	config.History = append(config.History, base.config.History...)
	config.Config.Env = base.config.Config.Env
	return nil
}
