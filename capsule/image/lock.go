package image

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/erdos1056/erdos1056/capsule/freeze"
	"github.com/erdos1056/erdos1056/kernel/plan"
	"github.com/erdos1056/erdos1056/oci"
)

const (
	lockSchema = "erdos1056.images-lock.v1"
	maxLock    = 1 << 20 // bytes
)

// A Lock pins images: what they are made with and every digest on the way, so
// that a rebuild that differs can say where.
type Lock struct {
	Schema string        `json:"schema"`
	Go     string        `json:"go"` // the toolchain of the verifiers
	Images []LockedImage `json:"images"`
}

// A LockedImage pins one image.
type LockedImage struct {
	Range     string           `json:"range"`
	K         int              `json:"k"`
	Created   int64            `json:"created"` // SOURCE_DATE_EPOCH
	Index     oci.Digest       `json:"index"`
	Platforms []LockedPlatform `json:"platforms"`
}

// A LockedPlatform pins the part of an image for one platform.
type LockedPlatform struct {
	Platform string       `json:"platform"`
	Manifest oci.Digest   `json:"manifest"`
	Files    []LockedFile `json:"files"`
}

// A LockedFile pins one file or folder of a tree.
type LockedFile struct {
	Path   string     `json:"path"`
	Mode   string     `json:"mode"`
	Digest oci.Digest `json:"digest,omitempty"` // of a file
}

// LockImage returns the pins of an image.
func LockImage(im *oci.Image, claim plan.Plan, created int64) (LockedImage, error) {
	locked := LockedImage{Range: claim.Range.String(), K: claim.K, Created: created, Index: im.Digest()}
	for _, m := range im.Manifests {
		tree, err := im.Tree(m)
		if err != nil {
			return LockedImage{}, err
		}
		locked.Platforms = append(locked.Platforms, LockedPlatform{m.Platform.String(), m.Digest, LockTree(tree)})
	}
	return locked, nil
}

// LockTree returns the pins of a tree.
func LockTree(tree oci.Tree) []LockedFile {
	var files []LockedFile
	for _, e := range tree {
		f := LockedFile{Path: e.Path, Mode: fmt.Sprintf("%04o", e.Mode.Perm())}
		if e.Mode.IsDir() {
			f.Path += "/"
		} else {
			f.Digest = oci.DigestOf(e.Data)
		}
		files = append(files, f)
	}
	return files
}

// Claim returns what the image's verifiers are frozen to.
func (l LockedImage) Claim() (plan.Plan, error) {
	r, err := plan.ParseRange(l.Range)
	if err != nil {
		return plan.Plan{}, err
	}
	p := plan.Plan{Range: r, K: l.K}
	return p, p.Validate()
}

// FreezePlatforms returns the image's platforms.
func (l LockedImage) FreezePlatforms() ([]freeze.Platform, error) {
	var list string
	for i, p := range l.Platforms {
		if i > 0 {
			list += ","
		}
		list += p.Platform
	}
	return freeze.ParsePlatforms(list)
}

// ParseLock reads a lock file. Unknown fields are refused: they would pin
// nothing.
func ParseLock(text []byte) (Lock, error) {
	var l Lock
	if len(text) > maxLock {
		return l, fmt.Errorf("lock file of %d bytes; the limit is %d", len(text), maxLock)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&l); err != nil {
		return l, fmt.Errorf("lock file: %w", err)
	}
	if decoder.More() {
		return l, fmt.Errorf("lock file: something follows the object")
	}
	if l.Schema != lockSchema {
		return l, fmt.Errorf("lock file: schema %q; want %q", l.Schema, lockSchema)
	}
	for i, im := range l.Images {
		if _, err := im.Claim(); err != nil {
			return l, fmt.Errorf("lock file: image %d: %w", i+1, err)
		}
		if _, err := im.FreezePlatforms(); err != nil {
			return l, fmt.Errorf("lock file: image %d: %w", i+1, err)
		}
	}
	return l, nil
}

// Encode returns the text of the lock file.
func (l Lock) Encode() ([]byte, error) {
	l.Schema, l.Go = lockSchema, freeze.GoVersion
	text, err := json.MarshalIndent(l, "", "  ")
	return append(text, '\n'), err
}

// Put adds the image, in the place of one with the same claim.
func (l *Lock) Put(im LockedImage) {
	i := slices.IndexFunc(l.Images, func(other LockedImage) bool { return other.Range == im.Range && other.K == im.K })
	if i < 0 {
		l.Images = append(l.Images, im)
		return
	}
	l.Images[i] = im
}

// Differences compares what was built with the pins, from the files outwards,
// and says every difference in one line. There are none if the images are the
// same.
func (want LockedImage) Differences(got LockedImage) []string {
	var lines []string
	differ := func(what string, expected, found any) {
		if expected != found {
			lines = append(lines, fmt.Sprintf("%s: expected %v, found %v", what, expected, found))
		}
	}
	for _, w := range want.Platforms {
		i := slices.IndexFunc(got.Platforms, func(p LockedPlatform) bool { return p.Platform == w.Platform })
		if i < 0 {
			lines = append(lines, w.Platform+": not built")
			continue
		}
		g := got.Platforms[i]
		lines = append(lines, FileDifferences(w.Platform, w.Files, g.Files)...)
		differ(w.Platform+": manifest", w.Manifest, g.Manifest)
	}
	differ("time (SOURCE_DATE_EPOCH)", want.Created, got.Created)
	differ("index", want.Index, got.Index)
	return lines
}

// FileDifferences compares two trees by path, mode and digest.
func FileDifferences(where string, want, got []LockedFile) []string {
	var lines []string
	find := func(files []LockedFile, path string) (LockedFile, bool) {
		i := slices.IndexFunc(files, func(f LockedFile) bool { return f.Path == path })
		if i < 0 {
			return LockedFile{}, false
		}
		return files[i], true
	}
	for _, w := range want {
		g, ok := find(got, w.Path)
		switch {
		case !ok:
			lines = append(lines, fmt.Sprintf("%s: %s is missing", where, w.Path))
		case w.Mode != g.Mode:
			lines = append(lines, fmt.Sprintf("%s: %s: expected mode %s, found %s", where, w.Path, w.Mode, g.Mode))
		case w.Digest != g.Digest:
			lines = append(lines, fmt.Sprintf("%s: %s: expected %s, found %s", where, w.Path, w.Digest, g.Digest))
		}
	}
	for _, g := range got {
		if _, ok := find(want, g.Path); !ok {
			lines = append(lines, fmt.Sprintf("%s: %s is not expected", where, g.Path))
		}
	}
	return lines
}
