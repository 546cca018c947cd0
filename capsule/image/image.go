// Package image makes the container image of a capsule: the frozen verifiers of
// all platforms of one claim, packed so that anyone gets the same digest.
package image

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/erdos1056/erdos1056/capsule/attestation"
	"github.com/erdos1056/erdos1056/capsule/formal"
	"github.com/erdos1056/erdos1056/capsule/freeze"
	"github.com/erdos1056/erdos1056/internal/digest"
	"github.com/erdos1056/erdos1056/kernel/plan"
	"github.com/erdos1056/erdos1056/oci"
)

// VerifierPath is where the verifier lies in an image.
const VerifierPath = "capsule/verifier"

const (
	sourceURL = "https://github.com/erdos1056/erdos1056"
	licenses  = "Apache-2.0 OR MIT"
	user      = "65532:65532"
)

// A Capsule is one claim and the verifiers frozen to it.
type Capsule struct {
	Claim     plan.Plan
	Formal    *formal.Claim // of a formal capsule, which has no other claim
	Verifiers map[freeze.Platform][]byte
}

// Freeze makes the capsule of a claim.
func Freeze(ctx context.Context, source freeze.Source, claim plan.Plan, platforms []freeze.Platform) (Capsule, error) {
	c := Capsule{Claim: claim, Verifiers: make(map[freeze.Platform][]byte)}
	for _, p := range platforms {
		unfrozen, err := source.Unfrozen(ctx, freeze.Verifier, p)
		if err != nil {
			return Capsule{}, err
		}
		if c.Verifiers[p], err = freeze.Freeze(unfrozen, claim); err != nil {
			return Capsule{}, fmt.Errorf("%v: %w", p, err)
		}
	}
	return c, nil
}

// FreezeFormal makes the formal capsule of a claim.
func FreezeFormal(ctx context.Context, source freeze.Source, claim formal.Claim, platforms []freeze.Platform) (Capsule, error) {
	c := Capsule{Formal: &claim, Verifiers: make(map[freeze.Platform][]byte)}
	for _, p := range platforms {
		unfrozen, err := source.Unfrozen(ctx, freeze.FormalVerifier, p)
		if err != nil {
			return Capsule{}, err
		}
		if c.Verifiers[p], err = freeze.FreezeFormal(unfrozen, claim); err != nil {
			return Capsule{}, fmt.Errorf("%v: %w", p, err)
		}
	}
	return c, nil
}

// ReadCapsule returns the capsule of one verifier, by what it is frozen to.
func ReadCapsule(verifier []byte, p freeze.Platform) (Capsule, error) {
	c := Capsule{Verifiers: map[freeze.Platform][]byte{p: verifier}}
	var err error
	if freeze.IsFormal(verifier) {
		var claim formal.Claim
		claim, err = freeze.ReadFormalClaim(verifier)
		c.Formal = &claim
	} else {
		c.Claim, err = freeze.ReadClaim(verifier)
	}
	return c, err
}

// Name is the capsule's name, as in "erdos1056-k15-10428401-10428600" or
// "formal-erdos-505-test-dim-one-0a1b2c3d4e5f".
func (c Capsule) Name() string {
	if c.Formal != nil {
		return c.Formal.Name()
	}
	return fmt.Sprintf("erdos1056-k%d-%d-%d", c.Claim.K, c.Claim.Lo, c.Claim.Hi)
}

func (c Capsule) title() string {
	if c.Formal != nil {
		return "Verifier of Lean proofs of " + c.Formal.Target
	}
	return fmt.Sprintf("Verifier of Erdős problem 1056 for k = %d, primes of %v", c.Claim.K, c.Claim.Range)
}

// Parameters are the claim in words, for a statement of provenance.
func (c Capsule) Parameters() map[string]string {
	if f := c.Formal; f != nil {
		return map[string]string{
			"target": f.Target, "permit": strings.Join(f.Permit, ","), "challenge": string(digest.Of(f.Challenge)),
		}
	}
	return map[string]string{"range": c.Claim.Range.String(), "k": fmt.Sprint(c.Claim.K)}
}

// Options are what a user may choose about an image. All of them are part of
// its digest.
type Options struct {
	Created     int64 // seconds since 1970
	Annotations map[string]string
	Labels      map[string]string
	User        string // empty for 65532:65532
	Base        *oci.Image
	BaseName    string
}

// Tree is the file tree of the image for one platform.
func Tree(verifier []byte) (oci.Tree, error) {
	return oci.NewTree(oci.Entry{Path: VerifierPath, Mode: 0o555, Data: verifier})
}

// Image packs the capsule.
func (c Capsule) Image(o Options) (*oci.Image, error) {
	recipe := oci.Recipe{
		Trees:      make(map[oci.Platform]oci.Tree),
		Entrypoint: []string{"/" + VerifierPath},
		User:       user,
		Annotations: map[string]string{
			oci.AnnotationTitle:    c.title(),
			oci.AnnotationVersion:  c.Name(),
			oci.AnnotationSource:   sourceURL,
			oci.AnnotationLicenses: licenses,
		},
		Labels:   o.Labels,
		Created:  o.Created,
		Base:     o.Base,
		BaseName: o.BaseName,
	}
	maps.Copy(recipe.Annotations, o.Annotations)
	if o.User != "" {
		recipe.User = o.User
	}
	for p, verifier := range c.Verifiers {
		tree, err := Tree(verifier)
		if err != nil {
			return nil, err
		}
		recipe.Trees[oci.Platform{Architecture: p.Architecture, OS: p.OS}] = tree
	}
	return oci.Build(recipe)
}

// Verifier returns the program that an image runs on a platform.
func Verifier(im *oci.Image, p oci.Platform) ([]byte, error) {
	m, err := im.Manifest(p)
	if err != nil {
		return nil, err
	}
	tree, err := im.Tree(m)
	if err != nil {
		return nil, err
	}
	program := m.Entrypoint()
	if len(program) != 1 || len(program[0]) < 2 || program[0][0] != '/' {
		return nil, fmt.Errorf("image %s: entry point %q; a verifier is started by one absolute path", im.Digest(), program)
	}
	entry, ok := tree.Find(program[0][1:])
	if !ok || entry.Mode.IsDir() {
		return nil, fmt.Errorf("image %s: the entry point %s is not a file of the image", im.Digest(), program[0])
	}
	return entry.Data, nil
}

// Contents is the bill of materials of one platform's image.
func Contents(im *oci.Image, m oci.Manifest, created time.Time) (attestation.Statement, error) {
	tree, err := im.Tree(m)
	if err != nil {
		return attestation.Statement{}, err
	}
	c := attestation.Contents{
		Name: "erdos1056-verifier " + m.Platform.String(), Digest: m.Digest.Hex(), Created: created,
		Tool: "erdos1056-capsule", License: licenses,
	}
	for _, e := range tree {
		if e.Mode.IsDir() {
			continue
		}
		c.Files = append(c.Files, attestation.ContentFile{Path: e.Path, Data: e.Data})
		info, err := buildinfo.Read(bytes.NewReader(e.Data))
		if err != nil {
			continue // not a Go program
		}
		version := info.GoVersion
		c.Packages = append(c.Packages,
			attestation.ContentPackage{Name: info.Main.Path, Version: info.Main.Version, PURL: "pkg:golang/" + info.Main.Path},
			attestation.ContentPackage{Name: "std", Version: version, PURL: "pkg:golang/std@" + version[len("go"):]})
		for _, d := range info.Deps {
			c.Packages = append(c.Packages, attestation.ContentPackage{Name: d.Path, Version: d.Version, PURL: "pkg:golang/" + d.Path + "@" + d.Version})
		}
	}
	return attestation.NewContents(c)
}

// Provenance is how the image was built: the parameters of its capsule, the
// verifiers, the tool.
func Provenance(im *oci.Image, name string, parameters map[string]string, finished time.Time) (attestation.Statement, error) {
	build := attestation.Build{
		BuildType:  sourceURL + "/blob/main/docs/capsules.md#images",
		Parameters: parameters,
		Builder:    sourceURL + "/cmd/capsule",
		Finished:   finished,
	}
	subjects := []attestation.Subject{attestation.NewSubject(name, im.Digest().Hex())}
	for _, m := range im.Manifests {
		verifier, err := Verifier(im, *m.Platform)
		if err != nil {
			return attestation.Statement{}, err
		}
		build.Dependencies = append(build.Dependencies, attestation.Dependency{
			Name: "verifier " + m.Platform.String(), Digest: map[string]string{"sha256": digest.Of(verifier).Hex()},
		})
		subjects = append(subjects, attestation.NewSubject(name+" "+m.Platform.String(), m.Digest.Hex()))
	}
	return attestation.NewProvenance(build, subjects...)
}
