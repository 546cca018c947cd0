package oci

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/erdos1056/erdos1056/internal/digest"
)

// Bounds on what is read, in bytes.
const (
	MaxDocument = 4 << 20   // an index, a manifest or a configuration
	MaxLayer    = 512 << 20 // a layer, compressed or not
	maxImages   = 64        // manifests of an index, and layers of a manifest
)

// Read reads an image from its index on, through get, and checks everything:
// digests, sizes, media types, platforms, and that the layers are those that
// the configurations name. get may return anything; only what has the digest is
// used.
func Read(root Descriptor, get func(Descriptor) ([]byte, error)) (*Image, error) {
	r := reader{get: get, blobs: make(map[Digest][]byte)}
	var index indexDocument
	if root.MediaType != IndexType {
		return nil, fmt.Errorf("oci: %s is a %s; an image is named by its index (%s)", root.Digest, root.MediaType, IndexType)
	}
	if err := r.document(root, &index); err != nil {
		return nil, fmt.Errorf("oci: index: %w", err)
	}
	if index.SchemaVersion != schemaVersion || index.MediaType != IndexType {
		return nil, fmt.Errorf("oci: index: schema version %d, media type %q; want %d, %q", index.SchemaVersion, index.MediaType, schemaVersion, IndexType)
	}
	if len(index.Manifests) == 0 || len(index.Manifests) > maxImages {
		return nil, fmt.Errorf("oci: index: %d manifests; want 1 to %d", len(index.Manifests), maxImages)
	}
	image := &Image{Root: root, blobs: r.blobs}
	seen := make(map[Platform]bool)
	for i, d := range index.Manifests {
		m, err := r.manifest(d)
		if err != nil {
			return nil, fmt.Errorf("oci: manifest %d of the index: %w", i+1, err)
		}
		if seen[*d.Platform] {
			return nil, fmt.Errorf("oci: manifest %d of the index: platform %v is there twice", i+1, d.Platform)
		}
		seen[*d.Platform] = true
		image.Manifests = append(image.Manifests, m)
	}
	return image, nil
}

type reader struct {
	get   func(Descriptor) ([]byte, error)
	blobs map[Digest][]byte
}

// blob fetches what the descriptor points to and keeps it.
func (r *reader) blob(d Descriptor, limit int64) ([]byte, error) {
	if _, err := digest.Parse(string(d.Digest)); err != nil {
		return nil, err
	}
	if d.Size < 0 || d.Size > limit {
		return nil, fmt.Errorf("%s: size %d; the limit is %d", d.Digest, d.Size, limit)
	}
	if data, ok := r.blobs[d.Digest]; ok && int64(len(data)) == d.Size {
		return data, nil
	}
	data, err := r.get(d)
	if err != nil {
		return nil, err
	}
	if int64(len(data)) != d.Size {
		return nil, fmt.Errorf("%s: expected %d bytes, found %d", d.Digest, d.Size, len(data))
	}
	if found := digest.Of(data); found != d.Digest {
		return nil, fmt.Errorf("expected a blob with digest %s, found %s", d.Digest, found)
	}
	r.blobs[d.Digest] = data
	return data, nil
}

func (r *reader) document(d Descriptor, document any) error {
	data, err := r.blob(d, MaxDocument)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, document); err != nil {
		return fmt.Errorf("%s: not the JSON expected: %w", d.Digest, err)
	}
	return nil
}

func (r *reader) manifest(d Descriptor) (Manifest, error) {
	if d.MediaType != ManifestType || d.Platform == nil {
		return Manifest{}, fmt.Errorf("media type %q, platform %v; want %q and a platform", d.MediaType, d.Platform, ManifestType)
	}
	var document manifestDocument
	if err := r.document(d, &document); err != nil {
		return Manifest{}, err
	}
	if document.SchemaVersion != schemaVersion || document.MediaType != ManifestType || document.Config.MediaType != ConfigType {
		return Manifest{}, fmt.Errorf("schema version %d, media type %q, configuration type %q; want %d, %q, %q",
			document.SchemaVersion, document.MediaType, document.Config.MediaType, schemaVersion, ManifestType, ConfigType)
	}
	if len(document.Layers) == 0 || len(document.Layers) > maxImages {
		return Manifest{}, fmt.Errorf("%d layers; want 1 to %d", len(document.Layers), maxImages)
	}
	m := Manifest{Descriptor: d, Config: document.Config, Layers: document.Layers}
	if err := r.document(document.Config, &m.config); err != nil {
		return Manifest{}, fmt.Errorf("configuration: %w", err)
	}
	if p := (Platform{m.config.Architecture, m.config.OS}); p != *d.Platform {
		return Manifest{}, fmt.Errorf("configuration: platform %v; the index says %v", p, d.Platform)
	}
	if m.config.RootFS.Type != "layers" || len(m.config.RootFS.DiffIDs) != len(document.Layers) {
		return Manifest{}, fmt.Errorf("configuration: %d diff ids of type %q for %d layers", len(m.config.RootFS.DiffIDs), m.config.RootFS.Type, len(document.Layers))
	}
	for i, layer := range document.Layers {
		data, err := r.blob(layer, MaxLayer)
		if err != nil {
			return Manifest{}, fmt.Errorf("layer %d: %w", i+1, err)
		}
		if err := checkDiffID(layer, data, m.config.RootFS.DiffIDs[i]); err != nil {
			return Manifest{}, fmt.Errorf("layer %d: %w", i+1, err)
		}
	}
	return m, nil
}

// uncompressed returns a reader of a layer's tar archive.
func uncompressed(layer Descriptor, data []byte) (io.Reader, error) {
	switch {
	case layer.MediaType == LayerType:
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		return io.LimitReader(z, MaxLayer+1), nil
	case layer.MediaType == strings.TrimSuffix(LayerType, "+gzip"):
		return bytes.NewReader(data), nil
	}
	return nil, fmt.Errorf("media type %q; want %q", layer.MediaType, LayerType)
}

func checkDiffID(layer Descriptor, data []byte, want Digest) error {
	archive, err := uncompressed(layer, data)
	if err != nil {
		return err
	}
	sum := digest.New()
	n, err := io.Copy(sum, archive)
	if err != nil {
		return err
	}
	if n > MaxLayer {
		return fmt.Errorf("more than %d bytes uncompressed", MaxLayer)
	}
	if found := digest.From(sum); found != want {
		return fmt.Errorf("expected the uncompressed layer to have digest %s (the configuration's diff id), found %s", want, found)
	}
	return nil
}

// Tree returns the regular files and folders of the part for a platform, its
// layers applied in order. Links and devices are left out: nothing that this
// program makes has any.
func (im *Image) Tree(m Manifest) (Tree, error) {
	files := make(map[string]Entry)
	for i, layer := range m.Layers {
		archive, err := uncompressed(layer, im.blobs[layer.Digest])
		if err == nil {
			err = applyLayer(files, tar.NewReader(archive))
		}
		if err != nil {
			return nil, fmt.Errorf("oci: layer %d: %w", i+1, err)
		}
	}
	var entries []Entry
	for _, e := range files {
		entries = append(entries, e)
	}
	return NewTree(entries...)
}

// maxEntries bounds the files of a layer.
const maxEntries = 1 << 16

func applyLayer(files map[string]Entry, archive *tar.Reader) error {
	const whiteout, opaque = ".wh.", ".wh..wh..opq"
	for n := 0; ; n++ {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if n == maxEntries {
			return fmt.Errorf("more than %d entries", maxEntries)
		}
		name := path.Clean(strings.TrimPrefix(header.Name, "/"))
		if name == "." {
			continue
		}
		if !fs.ValidPath(name) {
			return fmt.Errorf("entry %q leaves the tree", header.Name)
		}
		dir, base := path.Split(name)
		delete(files, name)
		switch {
		case base == opaque:
			removeBelow(files, path.Clean(dir))
			continue
		case strings.HasPrefix(base, whiteout):
			gone := dir + strings.TrimPrefix(base, whiteout)
			delete(files, gone)
			removeBelow(files, gone)
			continue
		case header.Typeflag != tar.TypeReg:
			continue
		}
		data, err := io.ReadAll(archive)
		if err != nil {
			return err
		}
		files[name] = Entry{Path: name, Mode: fs.FileMode(header.Mode).Perm(), Data: data}
	}
}

func removeBelow(files map[string]Entry, folder string) {
	for p := range files {
		if folder == "." || strings.HasPrefix(p, folder+"/") {
			delete(files, p)
		}
	}
}
