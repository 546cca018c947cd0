package runner

import (
	"fmt"
	"os"
	"reflect"

	"github.com/erdos1056/erdos1056/capsule/records/canopus/record"
	"github.com/erdos1056/erdos1056/internal/digest"
)

func (x *examiner) engine() (string, error) {
	data, err := x.folder.read(record.EngineResultFile)
	if err != nil {
		return "", err
	}
	result, err := record.EngineResultSpec.Parse(data)
	if err != nil {
		return "", err
	}
	if err := x.event(record.EngineCompleted, completedPayload(result)); err != nil {
		return "", err
	}
	x.result = &result
	return fmt.Sprintf("engine %s %s", result.Engine.Name, result.Engine.Version), nil
}

func (x *examiner) workerFiles() (string, error) {
	if x.result == nil {
		return "", errUnread
	}
	result := *x.result
	for _, stream := range []struct{ name, digest string }{{record.ToolTraceFile, result.EventsDigest}, {record.WorkerStderrFile, result.StderrDigest}} {
		data, err := x.folder.read(stream.name)
		if err != nil {
			return "", err
		}
		if found := string(digest.Of(data)); found != stream.digest {
			return "", fmt.Errorf("%s: expected %s, found %s", stream.name, stream.digest, found)
		}
	}
	transcript, err := x.folder.read(record.TranscriptFile)
	if err != nil {
		return "", err
	}
	output, err := record.EngineOutputSpec.Parse(transcript)
	if err != nil {
		return "", fmt.Errorf("%s: %w", record.TranscriptFile, err)
	}
	// A text that lay in the workspace is held against the frozen artifact alone.
	for i := range min(len(output.Artifacts), len(result.Draft.Artifacts)) {
		if output.Artifacts[i].Content == "" {
			output.Artifacts[i].Content = result.Draft.Artifacts[i].Content
		}
	}
	if !reflect.DeepEqual(output, result.Draft) {
		return "", fmt.Errorf("%s: the engine's output is not the one of %s", record.TranscriptFile, record.EngineResultFile)
	}
	return "the transcript is the engine's output; trace and stderr have their digests", nil
}

func (x *examiner) artifacts() (string, error) {
	if x.run == nil || x.result == nil {
		return "", errUnread
	}
	store, artifacts := x.folder.store(), x.run.Candidate.Artifacts
	known := map[string]bool{}
	for i, a := range artifacts {
		data, err := store.Bytes(a.Digest)
		if err != nil {
			return "", err
		}
		if int64(len(data)) != a.Bytes {
			return "", fmt.Errorf("run.candidate.artifacts[%d].bytes: expected %d, found %d", i, len(data), a.Bytes)
		}
		known[digest.Digest(a.Digest).Hex()] = true
		if i >= len(x.result.Draft.Artifacts) {
			continue
		}
		if declared := x.result.Draft.Artifacts[i]; declared.Path != a.Path || declared.Kind != a.Kind || declared.Content != string(data) {
			return "", fmt.Errorf("run.candidate.artifacts[%d]: not the artifact that the engine declared as %s", i, declared.Path)
		}
	}
	entries, err := os.ReadDir(store.Folder)
	if err != nil {
		return "", err
	}
	for _, entry := range entries {
		if !known[entry.Name()] {
			return "", fmt.Errorf("%s: %q is no artifact of the candidate", store.Folder, entry.Name())
		}
	}
	if err := x.frozenEvents(artifacts); err != nil {
		return "", err
	}
	x.frozenOK = true
	return fmt.Sprintf("%d artifacts with their digests and sizes", len(artifacts)), nil
}

func (x *examiner) frozenEvents(artifacts []record.Artifact) error {
	i := 0
	for _, e := range x.events {
		if e.Type != record.ArtifactFrozen {
			continue
		}
		if i >= len(artifacts) {
			return fmt.Errorf("%s: more artifacts were frozen than the candidate has", record.ActivityFile)
		}
		if err := samePayload(e.Type, e.Payload, object{"artifact": artifacts[i]}); err != nil {
			return err
		}
		i++
	}
	if i != len(artifacts) {
		return fmt.Errorf("%s: %d artifacts were frozen, the candidate has %d", record.ActivityFile, i, len(artifacts))
	}
	return nil
}

func (x *examiner) manifests() (string, error) {
	if x.bundle == nil || x.result == nil || !x.frozenOK {
		return "", errUnread
	}
	engine, err := record.EngineManifestSpec.Encode(x.result.Manifest())
	if err != nil {
		return "", err
	}
	verifier, err := record.VerifierManifestSpec.Encode(record.ManifestOf(x.bundle.Mission))
	if err != nil {
		return "", err
	}
	artifacts := x.run.Candidate.Artifacts[len(x.result.Draft.Artifacts):]
	if len(artifacts) != 2 {
		return "", fmt.Errorf("expected the engine's and the verifier's manifest after the engine's artifacts, found %d", len(artifacts))
	}
	for i, manifest := range manifestFiles(engine, verifier) {
		want := record.Artifact{Path: manifest.path, Kind: manifest.kind, Digest: string(digest.Of(manifest.data)), Bytes: int64(len(manifest.data))}
		if artifacts[i] != want {
			return "", fmt.Errorf("expected %+v, found %+v", want, artifacts[i])
		}
	}
	return "derived again from the engine result and the mission", nil
}
