package image

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/erdos1056/erdos1056/capsule/formal"
	"github.com/erdos1056/erdos1056/capsule/freeze"
	"github.com/erdos1056/erdos1056/internal/digest"
	"github.com/erdos1056/erdos1056/internal/disk"
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
	LockedClaim
	Created   int64            `json:"created"` // SOURCE_DATE_EPOCH
	Index     digest.Digest    `json:"index"`
	Platforms []LockedPlatform `json:"platforms"`
}

// A LockedClaim says what the verifiers of an image are frozen to: a range and k,
// or a theorem.
type LockedClaim struct {
	Range   string         `json:"range,omitempty"`
	K       int            `json:"k,omitempty"`
	Theorem *LockedTheorem `json:"theorem,omitempty"`
}

// A LockedTheorem is the claim of a formal capsule. Its challenge is a file of
// its own, which a rebuild needs.
type LockedTheorem struct {
	Target    string          `json:"target"`
	Permit    []string        `json:"permit"` // sorted
	Challenge LockedChallenge `json:"challenge"`
}

// A LockedChallenge names a challenge and pins its bytes.
type LockedChallenge struct {
	Path   string        `json:"path"` // below the folder of the lock file
	Digest digest.Digest `json:"digest"`
}

// A LockedPlatform pins the part of an image for one platform.
type LockedPlatform struct {
	Platform string        `json:"platform"`
	Manifest digest.Digest `json:"manifest"`
	Files    []LockedFile  `json:"files"`
}

// A LockedFile pins one file or folder of a tree.
type LockedFile struct {
	Path   string        `json:"path"`
	Mode   string        `json:"mode"`
	Digest digest.Digest `json:"digest,omitempty"` // of a file
}

// LockClaim returns the pins of a capsule's claim. For a formal capsule,
// challenge is where its challenge lies, below the folder of the lock file and
// with slashes.
func LockClaim(c Capsule, challenge string) LockedClaim {
	if f := c.Formal; f != nil {
		return LockedClaim{Theorem: &LockedTheorem{f.Target, f.Permit, LockedChallenge{challenge, digest.Of(f.Challenge)}}}
	}
	return LockedClaim{Range: c.Claim.Range.String(), K: c.Claim.K}
}

// LockImage returns the pins of an image.
func LockImage(im *oci.Image, claim LockedClaim, created int64) (LockedImage, error) {
	locked := LockedImage{LockedClaim: claim, Created: created, Index: im.Digest()}
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
			f.Digest = digest.Of(e.Data)
		}
		files = append(files, f)
	}
	return files
}

// String names the claim, as in "10428401..10428600 k=15".
func (l LockedClaim) String() string {
	if t := l.Theorem; t != nil {
		return fmt.Sprintf("%s of %s, permitting [%s]", t.Target, t.Challenge.Path, strings.Join(t.Permit, " "))
	}
	return fmt.Sprintf("%s k=%d", l.Range, l.K)
}

// same compares claims, but not the bytes of a challenge.
func (l LockedClaim) same(m LockedClaim) bool {
	if l.Theorem == nil || m.Theorem == nil {
		return l == m
	}
	return l.Theorem.Target == m.Theorem.Target && l.Theorem.Challenge.Path == m.Theorem.Challenge.Path &&
		slices.Equal(l.Theorem.Permit, m.Theorem.Permit)
}

// plan returns the claim about a range.
func (l LockedClaim) plan() (plan.Plan, error) {
	r, err := plan.ParseRange(l.Range)
	if err != nil {
		return plan.Plan{}, err
	}
	p := plan.Plan{Range: r, K: l.K}
	return p, p.Validate()
}

func (l LockedClaim) validate() error {
	t := l.Theorem
	if t == nil {
		_, err := l.plan()
		return err
	}
	if l.Range != "" || l.K != 0 {
		return errors.New("both a range and a theorem are claimed; want one")
	}
	if !fs.ValidPath(t.Challenge.Path) || t.Challenge.Path == "." {
		return fmt.Errorf("challenge %q: want a path below the folder of the lock file, with slashes", t.Challenge.Path)
	}
	if _, err := digest.Parse(string(t.Challenge.Digest)); err != nil {
		return fmt.Errorf("challenge %s: %w", t.Challenge.Path, err)
	}
	// Any challenge will do: names and their order are what is looked at.
	claim, err := formal.New(t.Target, t.Permit, []byte{0})
	if err == nil && !slices.Equal(claim.Permit, t.Permit) {
		err = errors.New("the permitted axioms are not sorted, or one comes twice")
	}
	return err
}

// ErrOtherChallenge is the error of a rebuild whose challenge has other bytes than
// the pinned one.
var ErrOtherChallenge = errors.New("not the challenge that is pinned")

// claim returns the claim of a formal capsule, with the challenge below folder.
func (t *LockedTheorem) claim(folder string) (formal.Claim, error) {
	challenge, err := disk.ReadBelow(folder, t.Challenge.Path, formal.MaxChallenge)
	if err != nil {
		return formal.Claim{}, err
	}
	if found := digest.Of(challenge); found != t.Challenge.Digest {
		return formal.Claim{}, fmt.Errorf("%s: %w: expected %s, found %s", t.Challenge.Path, ErrOtherChallenge, t.Challenge.Digest, found)
	}
	return formal.New(t.Target, t.Permit, challenge)
}

// Rebuild makes the image anew from the source and returns its pins. Challenges
// are looked for below folder, that of the lock file.
func (l LockedImage) Rebuild(ctx context.Context, source freeze.Source, folder string) (LockedImage, error) {
	platforms, err := l.FreezePlatforms()
	if err != nil {
		return LockedImage{}, err
	}
	capsule, err := l.freeze(ctx, source, folder, platforms)
	if err != nil {
		return LockedImage{}, err
	}
	im, err := capsule.Image(Options{Created: l.Created})
	if err != nil {
		return LockedImage{}, err
	}
	return LockImage(im, l.LockedClaim, l.Created)
}

func (l LockedClaim) freeze(ctx context.Context, source freeze.Source, folder string, platforms []freeze.Platform) (Capsule, error) {
	if l.Theorem != nil {
		claim, err := l.Theorem.claim(folder)
		if err != nil {
			return Capsule{}, err
		}
		return FreezeFormal(ctx, source, claim, platforms)
	}
	claim, err := l.plan()
	if err != nil {
		return Capsule{}, err
	}
	return Freeze(ctx, source, claim, platforms)
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
		if err := im.validate(); err != nil {
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

// Put adds the image, in the place of one with the same claim. The bytes of a
// challenge are no part of that: a new version of it takes the place of the old.
func (l *Lock) Put(im LockedImage) {
	i := slices.IndexFunc(l.Images, func(other LockedImage) bool { return other.same(im.LockedClaim) })
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
