package oci

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/erdos1056/erdos1056/internal/digest"
)

// Annotations that sigstore's tools put on a bundle and look for.
const (
	annotationBundleContent = "dev.sigstore.bundle.content"
	annotationPredicateType = "dev.sigstore.bundle.predicateType"
)

// emptyJSON is the content of the specification's empty descriptor.
var emptyJSON = []byte("{}")

// maxReferrers bounds the bundles that are read for one image.
const maxReferrers = 256

// Attach uploads a sigstore bundle as an OCI 1.1 referrer of the manifest or
// index with the given digest. Registries without the referrers API get the
// fallback tag that the distribution specification describes. It returns the
// digest of the referrer's manifest.
func (r Registry) Attach(ctx context.Context, repository string, subject Digest, bundle []byte, predicateType string) (Digest, error) {
	repo, err := r.repository(repository)
	if err != nil {
		return "", err
	}
	target, err := remote.Head(repo.Digest(string(subject)), remoteOptions(ctx)...)
	if err != nil {
		return "", fmt.Errorf("oci: %s@%s: %w", repository, subject, err)
	}
	empty := Descriptor{MediaType: emptyType, Digest: digest.Of(emptyJSON), Size: int64(len(emptyJSON))}
	layer := Descriptor{MediaType: BundleType, Digest: digest.Of(bundle), Size: int64(len(bundle))}
	manifest, err := encode(manifestDocument{
		SchemaVersion: schemaVersion,
		MediaType:     ManifestType,
		ArtifactType:  BundleType,
		Config:        empty,
		Layers:        []Descriptor{layer},
		Subject:       &Descriptor{MediaType: string(target.MediaType), Digest: subject, Size: target.Size},
		Annotations:   map[string]string{annotationBundleContent: "dsse-envelope", annotationPredicateType: predicateType},
	})
	if err != nil {
		return "", err
	}
	for _, blob := range []remoteBlob{{empty, emptyJSON}, {layer, bundle}} {
		upload, err := partial.CompressedToLayer(blob)
		if err != nil {
			return "", err
		}
		if err := remote.WriteLayer(repo, upload, remoteOptions(ctx)...); err != nil {
			return "", fmt.Errorf("oci: pushing the bundle: %w", err)
		}
	}
	digest := digest.Of(manifest)
	if err := remote.Put(repo.Digest(string(digest)), rawManifest(manifest), remoteOptions(ctx)...); err != nil {
		return "", fmt.Errorf("oci: pushing the referrer: %w", err)
	}
	return digest, nil
}

type rawManifest []byte

func (m rawManifest) RawManifest() ([]byte, error)        { return m, nil }
func (m rawManifest) MediaType() (types.MediaType, error) { return types.OCIManifestSchema1, nil }

// Bundles returns the sigstore bundles attached to the manifest or index with
// the given digest, in the order of their referrers' digests. Each was checked
// against the digests that lead to it; what it says was not.
func (r Registry) Bundles(ctx context.Context, repository string, subject Digest) ([][]byte, error) {
	repo, err := r.repository(repository)
	if err != nil {
		return nil, err
	}
	index, err := remote.Referrers(repo.Digest(string(subject)), remoteOptions(ctx)...)
	if err != nil {
		return nil, fmt.Errorf("oci: referrers of %s@%s: %w", repository, subject, err)
	}
	list, err := index.IndexManifest()
	if err != nil {
		return nil, fmt.Errorf("oci: referrers of %s@%s: %w", repository, subject, err)
	}
	if len(list.Manifests) > maxReferrers {
		return nil, fmt.Errorf("oci: %s@%s has %d referrers; the limit is %d", repository, subject, len(list.Manifests), maxReferrers)
	}
	slices.SortFunc(list.Manifests, func(a, b v1.Descriptor) int { return strings.Compare(a.Digest.String(), b.Digest.String()) })
	var bundles [][]byte
	for _, d := range list.Manifests {
		referrer := reader{blobs: make(map[Digest][]byte), get: func(d Descriptor) ([]byte, error) { return download(ctx, repo, d) }}
		bundle, err := referrer.bundle(Descriptor{MediaType: ManifestType, Digest: Digest(d.Digest.String()), Size: d.Size}, subject)
		if err != nil {
			return nil, fmt.Errorf("oci: referrer %v: %w", d.Digest, err)
		}
		if bundle != nil {
			bundles = append(bundles, bundle)
		}
	}
	return bundles, nil
}

// bundle reads the one layer of a referrer and checks that it refers to the
// subject. It returns nil for a referrer that is something else than a bundle,
// which only the manifest tells: some registries list it by its configuration.
func (r *reader) bundle(d Descriptor, subject Digest) ([]byte, error) {
	data, err := r.blob(d, MaxDocument)
	if err != nil {
		return nil, err
	}
	var manifest manifestDocument
	if err := json.Unmarshal(data, &manifest); err != nil {
		return nil, err
	}
	if manifest.Subject == nil || manifest.Subject.Digest != subject {
		return nil, fmt.Errorf("its subject is not %s", subject)
	}
	if manifest.ArtifactType != BundleType {
		return nil, nil
	}
	if len(manifest.Layers) != 1 || manifest.Layers[0].MediaType != BundleType {
		return nil, fmt.Errorf("want one layer of type %s", BundleType)
	}
	return r.blob(manifest.Layers[0], MaxDocument)
}
