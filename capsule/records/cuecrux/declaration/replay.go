package declaration

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"time"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/schema"
	"github.com/erdos1056/erdos1056/capsule/sandbox"
	"github.com/erdos1056/erdos1056/internal/digest"
	"github.com/erdos1056/erdos1056/internal/disk"
)

// Evidence is what a replay observed.
type Evidence struct {
	Schema         string `json:"schema"`
	ManifestHash   string `json:"manifest_hash"`
	CorpusSHA256   string `json:"corpus_sha256"`
	VerifierSHA256 string `json:"verifier_sha256"`
	Platform       string `json:"platform"`
	Sandbox        string `json:"sandbox"` // the runtime that shut the verifier in
	Calls          []Call `json:"calls"`   // every case of the corpus, twice, in order
}

// Call is one run of the verifier on one artifact.
type Call struct {
	CaseID       string `json:"case_id"`
	End          string `json:"end"`       // how the run ended, in the words of package sandbox
	ExitCode     int64  `json:"exit_code"` // -1 when the run did not end by itself
	LatencyMS    int64  `json:"latency_ms"`
	PeakMemory   int64  `json:"peak_memory_bytes"` // 0 where the sandbox cannot tell
	StdoutBytes  int64  `json:"stdout_bytes"`
	StdoutSHA256 string `json:"stdout_sha256"`
	StderrBytes  int64  `json:"stderr_bytes"`
	StderrSHA256 string `json:"stderr_sha256"`
}

// EvidenceSpec is the format of an evidence file.
var EvidenceSpec = schema.Spec[Evidence]{
	Name:      "evidence",
	ID:        "erdos1056.conformance-evidence.v1",
	Title:     "What a replay of a declaration observed",
	Canonical: true,
	Fields: schema.Object{
		schema.Required("schema", schema.Const("erdos1056.conformance-evidence.v1")),
		schema.Required("manifest_hash", manifestHash),
		schema.Required("corpus_sha256", schema.Digest),
		schema.Required("verifier_sha256", schema.Digest),
		schema.Required("platform", platform),
		schema.Required("sandbox", name),
		schema.Required("calls", schema.Array{Min: repetitions, Max: 64 * repetitions, Items: schema.Object{
			schema.Required("case_id", name),
			schema.Required("end", schema.Enum{
				string(sandbox.Exited), string(sandbox.Signaled), string(sandbox.TimeLimit), string(sandbox.MemoryLimit), string(sandbox.OutputLimit)}),
			schema.Required("exit_code", schema.Integer{Min: -1, Max: 255}),
			schema.Required("latency_ms", schema.Integer{Min: 0, Max: canon.MaxSafeInteger}),
			schema.Required("peak_memory_bytes", schema.Integer{Min: 0, Max: canon.MaxSafeInteger}),
			schema.Required("stdout_bytes", schema.Integer{Min: 0, Max: canon.MaxSafeInteger}),
			schema.Required("stdout_sha256", schema.Digest),
			schema.Required("stderr_bytes", schema.Integer{Min: 0, Max: canon.MaxSafeInteger}),
			schema.Required("stderr_sha256", schema.Digest),
		}}),
	},
}

// Replay runs every case of the corpus twice with the verifier of a platform,
// which must be one that this machine can run, if need be by emulation. Time and output may exceed
// their bounds by half, so that the excess is measured; memory and processes
// may not.
func (d *Declared) Replay(ctx context.Context, runtime sandbox.Runtime, platform string) (Evidence, error) {
	v, err := d.Corpus.verifier(platform)
	if err != nil {
		return Evidence{}, err
	}
	content, err := read(d.folder, v.Path, v.SHA256, v.Bytes)
	if err != nil {
		return Evidence{}, err
	}
	folder, err := disk.NewScratch(disk.Conform)
	if err != nil {
		return Evidence{}, err
	}
	defer folder.Remove()
	verifier := filepath.Join(folder.Path, "verifier")
	if err := disk.Create(verifier, content, 0o700); err != nil {
		return Evidence{}, err
	}
	e := Evidence{
		Schema:         EvidenceSpec.ID,
		ManifestHash:   d.Hash,
		CorpusSHA256:   "sha256:" + d.Manifest.Conformance.ReplayCorpus.SHA256,
		VerifierSHA256: v.SHA256,
		Platform:       platform,
		Sandbox:        runtime.Name(),
	}
	for i, k := range d.Corpus.Cases {
		artifact := filepath.Join(folder.Path, fmt.Sprintf("artifact-%d", i))
		content, err := read(d.folder, k.Args.Artifact, k.SHA256, k.Bytes)
		if err != nil {
			return Evidence{}, err
		}
		if err := disk.Create(artifact, content, 0o600); err != nil {
			return Evidence{}, err
		}
		command, err := call(verifier, artifact, k.Args.Artifact).For(platform)
		if err != nil {
			return Evidence{}, err
		}
		for range repetitions {
			outcome, err := runtime.Run(ctx, command, d.limits())
			if err != nil {
				return Evidence{}, fmt.Errorf("case %s: %w", k.CaseID, err)
			}
			e.Calls = append(e.Calls, observe(k.CaseID, outcome))
		}
	}
	return e, nil
}

// call runs the verifier on one artifact, which it sees under its path of the
// folder.
func call(verifier, artifact, path string) sandbox.Command {
	return sandbox.Command{
		Files: []sandbox.File{
			{Path: "/capsule/verifier", Source: verifier, Executable: true},
			{Path: "/" + path, Source: artifact},
		},
		Args: []string{"/capsule/verifier", "/" + path},
	}
}

func (d *Declared) limits() sandbox.Limits {
	envelope, bounds := d.Manifest.Conformance.Envelope, d.Corpus.Bounds
	return sandbox.Limits{
		Memory:    bounds.MaxMemoryBytesPerCall,
		Processes: int(bounds.MaxProcessesPerCall),
		CPUs:      1,
		Time:      time.Duration(envelope.MaxLatencyMSPerCall) * time.Millisecond * 3 / 2,
		Output:    int64(envelope.MaxResponseBytesPerCall)*3/2 + 1,
	}
}

func observe(caseID string, o sandbox.Outcome) Call {
	return Call{
		CaseID:       caseID,
		End:          string(o.End),
		ExitCode:     int64(o.ExitCode),
		LatencyMS:    int64(math.Ceil(float64(o.Elapsed) / float64(time.Millisecond))),
		PeakMemory:   o.PeakMemory,
		StdoutBytes:  int64(len(o.Stdout)),
		StdoutSHA256: string(digest.Of(o.Stdout)),
		StderrBytes:  int64(len(o.Stderr)),
		StderrSHA256: string(digest.Of(o.Stderr)),
	}
}
