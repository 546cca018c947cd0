package runner

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/mission"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/record"
	"github.com/erdos1056/erdos1056/internal/digest"
	"github.com/erdos1056/erdos1056/internal/disk"
)

// Given is an engine that hands over a finished artifact, made elsewhere, as the
// one artifact that its mission allows. It claims nothing about it.
type Given struct {
	Path string // a text file
}

// Identity names the file's digest as all that the result depends on.
func (g *Given) Identity(m mission.Mission) (record.Engine, error) {
	text, err := g.read(m)
	if err != nil {
		return record.Engine{}, err
	}
	configuration, err := canon.Marshal(struct {
		Artifact string `json:"artifact_sha256"`
	}{string(digest.Of(text))})
	if err != nil {
		return record.Engine{}, err
	}
	return record.Engine{Name: "given", Version: version(), ConfigurationSHA256: string(digest.Of(configuration))}, nil
}

func (g *Given) read(m mission.Mission) ([]byte, error) {
	if len(m.AllowedPaths) != 1 {
		return nil, fmt.Errorf("allowed_paths: one artifact is given, the mission allows %d", len(m.AllowedPaths))
	}
	return disk.Read(g.Path, maxFileBytes, disk.RefuseLinks)
}

// Work hands the artifact over.
func (g *Given) Work(_ context.Context, a Assignment) (Handover, error) {
	m := a.Bundle.Mission
	text, err := g.read(m)
	if err != nil {
		return Handover{}, err
	}
	if n := int64(len(text)); n > m.Budgets.MaxArtifactBytes {
		return Handover{}, &BudgetError{"artifact_bytes", n, m.Budgets.MaxArtifactBytes}
	}
	digest := string(digest.Of(text))
	if err := a.Trace.Add("artifact.given", word("sha256", digest), integer("bytes", int64(len(text)))); err != nil {
		return Handover{}, err
	}
	output := record.EngineOutput{
		Schema: record.EngineOutputSpec.ID, Status: "success",
		Claim:        fmt.Sprintf("The file with the digest %s is what the mission asks for.", digest),
		Artifacts:    []record.EngineArtifact{{Path: m.AllowedPaths[0], Kind: "text/plain", Encoding: "utf8", Content: string(text)}},
		Observations: []string{fmt.Sprintf("The artifact was given as %s; how it was made is not known here.", filepath.Base(g.Path))},
		Caveats:      []string{"Only the frozen verifier judges the artifact."},
	}
	if err := checkOutput(output, m); err != nil {
		return Handover{}, err
	}
	transcript, err := record.EngineOutputSpec.Encode(output)
	if err != nil {
		return Handover{}, err
	}
	return Handover{Output: output, Transcript: transcript, Stderr: []byte{}, OutputBytes: int64(len(transcript))}, nil
}
