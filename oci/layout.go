package oci

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/erdos1056/erdos1056/internal/disk"
)

const layoutFile = `{"imageLayoutVersion":"1.0.0"}`

// files returns the image as the files of an OCI image layout: its blobs, an
// index that points to the image under the given name, and the version.
func (im *Image) files(name string) (Tree, error) {
	root := im.Root
	if name != "" {
		root.Annotations = map[string]string{annotationRefName: name}
	}
	index, err := encode(indexDocument{SchemaVersion: schemaVersion, MediaType: IndexType, Manifests: []Descriptor{root}})
	if err != nil {
		return nil, err
	}
	entries := []Entry{
		{Path: "oci-layout", Mode: 0o644, Data: []byte(layoutFile)},
		{Path: "index.json", Mode: 0o644, Data: index},
	}
	for digest, data := range im.blobs {
		entries = append(entries, Entry{Path: blobPath(digest), Mode: 0o644, Data: data})
	}
	return NewTree(entries...)
}

func blobPath(d Digest) string { return "blobs/sha256/" + d.Hex() }

// WriteLayout writes the image as an OCI image layout into a new folder. The
// folder appears complete or not at all.
func (im *Image) WriteLayout(dir, name string) error {
	tree, err := im.files(name)
	if err != nil {
		return err
	}
	return disk.CreateFolder(dir, func(draft string) error {
		for _, e := range tree {
			if e.Mode.IsDir() {
				continue // made on the way to what is in it
			}
			if err := disk.CreateBelow(draft, e.Path, e.Data, e.Mode); err != nil {
				return err
			}
		}
		return nil
	})
}

// WriteArchive writes one archive that is both an OCI archive (podman and skopeo
// read oci-archive:FILE, by digest) and a Docker archive (docker load, crane;
// these know an image by its configuration's digest only). repository names the
// images in Docker's list, as in "erdos1056-verifier".
func (im *Image) WriteArchive(name, repository, tag string) error {
	tree, err := im.files(tag)
	if err != nil {
		return err
	}
	list, err := im.dockerList(repository, tag)
	if err != nil {
		return err
	}
	var files []Entry
	for _, e := range append(tree, Entry{Path: "manifest.json", Mode: 0o644, Data: list}) {
		if !e.Mode.IsDir() {
			files = append(files, e)
		}
	}
	if tree, err = NewTree(files...); err != nil {
		return err
	}
	archive, err := tarBytes(tree, 0)
	if err != nil {
		return err
	}
	return disk.Replace(name, archive, 0o644)
}

// dockerList is manifest.json of the Docker image archive. A tag names one
// platform there, so the architecture is part of it.
func (im *Image) dockerList(repository, tag string) ([]byte, error) {
	type image struct {
		Config   string
		RepoTags []string
		Layers   []string
	}
	var list []image
	for _, m := range im.Manifests {
		entry := image{Config: blobPath(m.Config.Digest), RepoTags: []string{repository + ":" + tag + "-" + m.Platform.Architecture}}
		for _, layer := range m.Layers {
			entry.Layers = append(entry.Layers, blobPath(layer.Digest))
		}
		list = append(list, entry)
	}
	return encode(list)
}

// ReadLayout reads the image with the digest from an OCI image layout.
func ReadLayout(dir string, want Digest) (*Image, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	get := func(name string, limit int64) ([]byte, error) {
		f, err := disk.OpenBelow(root, name, limit, disk.FollowLinks)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return readBounded(f, name, limit)
	}
	return readFiles(get, want)
}

// maxArchive bounds an archive, in bytes.
const maxArchive = 8 * MaxLayer

// ReadArchive reads the image with the digest from an OCI archive.
func ReadArchive(name string, want Digest) (*Image, error) {
	f, err := disk.Open(name, maxArchive, disk.FollowLinks)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	files := make(map[string][]byte)
	total := int64(0)
	for archive := tar.NewReader(f); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("oci: %s: %w", name, err)
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		if total += header.Size; total > 4*MaxLayer || len(files) == maxEntries {
			return nil, fmt.Errorf("oci: %s: more than %d bytes or %d files", name, int64(4*MaxLayer), maxEntries)
		}
		entry := path.Clean(header.Name)
		if files[entry], err = readBounded(archive, entry, MaxLayer); err != nil {
			return nil, fmt.Errorf("oci: %s: %w", name, err)
		}
	}
	get := func(file string, limit int64) ([]byte, error) {
		data, ok := files[file]
		if !ok {
			return nil, fmt.Errorf("%s has no %s", name, file)
		}
		if int64(len(data)) > limit {
			return nil, fmt.Errorf("%s: more than %d bytes", file, limit)
		}
		return data, nil
	}
	return readFiles(get, want)
}

func readBounded(r io.Reader, name string, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s: more than %d bytes", name, limit)
	}
	return data, err
}

// readFiles reads an image out of the files of a layout.
func readFiles(get func(name string, limit int64) ([]byte, error), want Digest) (*Image, error) {
	data, err := get("index.json", MaxDocument)
	if err != nil {
		return nil, fmt.Errorf("oci: not an image layout: %w", err)
	}
	var index indexDocument
	if err := json.Unmarshal(data, &index); err != nil {
		return nil, fmt.Errorf("oci: index.json: %w", err)
	}
	i := slices.IndexFunc(index.Manifests, func(d Descriptor) bool { return d.Digest == want })
	if i < 0 {
		var have []string
		for _, d := range index.Manifests {
			have = append(have, string(d.Digest))
		}
		return nil, fmt.Errorf("oci: no image %s; found %s", want, strings.Join(have, ", "))
	}
	return Read(index.Manifests[i], func(d Descriptor) ([]byte, error) { return get(blobPath(d.Digest), d.Size) })
}
