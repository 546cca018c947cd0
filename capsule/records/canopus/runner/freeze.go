package runner

import (
	"fmt"

	"github.com/erdos1056/erdos1056/capsule/records/canopus/record"
	"github.com/erdos1056/erdos1056/internal/digest"
	"github.com/erdos1056/erdos1056/internal/disk"
)

// freeze writes the engine's texts into output/ and takes them from there, as
// it would take the files of any program, then adds both manifests.
func (r *run) freeze(result record.EngineResult) ([]record.Artifact, error) {
	var artifacts []record.Artifact
	output := r.folder.Record("output")
	for _, a := range result.Draft.Artifacts {
		if err := disk.CreateBelow(output, a.Path, []byte(a.Content), 0o600); err != nil {
			return nil, err
		}
		frozen, err := r.store.Freeze(output, a.Path, a.Kind)
		if err != nil {
			return nil, failedIn(record.PhaseEngine, err)
		}
		artifacts = append(artifacts, frozen)
	}
	engine, err := record.EngineManifestSpec.Encode(result.Manifest())
	if err != nil {
		return nil, err
	}
	verifier, err := record.VerifierManifestSpec.Encode(record.ManifestOf(r.bundle.Mission))
	if err != nil {
		return nil, err
	}
	for _, manifest := range manifestFiles(engine, verifier) {
		frozen, err := r.store.FreezeBytes(manifest.path, manifest.kind, manifest.data)
		if err != nil {
			return nil, failedIn(record.PhaseEngine, err)
		}
		artifacts = append(artifacts, frozen)
	}
	for _, a := range artifacts {
		r.budget.use.ArtifactBytes += a.Bytes
		if err := r.append(record.ArtifactFrozen, object{"artifact": a}); err != nil {
			return nil, err
		}
	}
	r.order.Report("frozen", fmt.Sprintf("%d artifacts of %d bytes", len(artifacts), r.budget.use.ArtifactBytes))
	return artifacts, r.store.Seal(artifacts)
}

type manifestFile struct {
	path, kind string
	data       []byte
}

// manifestFiles places both manifests under their digests.
func manifestFiles(engine, verifier []byte) []manifestFile {
	return []manifestFile{
		{"canopus/engine-manifests/" + digest.Of(engine).Hex() + ".json", "engine-manifest", engine},
		{"canopus/verifier-manifests/" + digest.Of(verifier).Hex() + ".json", "verifier-manifest", verifier},
	}
}
