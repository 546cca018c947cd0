package record

import (
	"slices"

	"github.com/erdos1056/erdos1056/capsule/records/canopus/mission"
	"github.com/erdos1056/erdos1056/capsule/records/schema"
	"github.com/erdos1056/erdos1056/internal/digest"
)

// Evidence is the file evidence-manifest.json: the digests of everything that a
// completed run consists of. Its own digest is the evidence root.
type Evidence struct {
	Schema        string        `json:"schema"`
	Authority     string        `json:"authority"`
	MissionRoot   string        `json:"mission_root"`
	RunID         string        `json:"run_id"`
	Target        string        `json:"target"`
	Files         EvidenceFiles `json:"files"`
	ArtifactRoots []string      `json:"artifact_roots"` // sorted
	VerifierRoot  string        `json:"verifier_root"`
	ReceiptRoot   *string       `json:"receipt_root"`
	FinalRoots    Roots         `json:"final_roots"`
}

// EvidenceFiles are the digests of the files of a run.
type EvidenceFiles struct {
	Activity     string `json:"activity"`
	Transcript   string `json:"transcript"`
	ToolTrace    string `json:"tool_trace"`
	WorkerStderr string `json:"worker_stderr"`
	EngineResult string `json:"engine_result"`
	Candidate    string `json:"candidate"`
	Run          string `json:"run"`
}

// Names of the files of a run.
const (
	ActivityFile     = "activity.jsonl"
	TranscriptFile   = "worker-final.json"
	ToolTraceFile    = "worker-events.jsonl"
	WorkerStderrFile = "worker-stderr.bin"
	EngineResultFile = "engine-result.json"
	CandidateFile    = "candidate.json"
	ProjectionFile   = "projection.json"
	RunFile          = "run.json"
	EvidenceFile     = "evidence-manifest.json"
	FailureFile      = "failure.json"
	TipFile          = "activity-tip.json"
	ArtifactFolder   = "artifacts"

	LandingCommandFile     = "landing-command.json"
	LandingObservationFile = "landing-observation.json"
	LandingRecoveryFile    = "landing-recovery.json"
)

// EvidenceSpec is the file evidence-manifest.json.
var EvidenceSpec = schema.Spec[Evidence]{
	Name: "evidence", ID: "canopus.run-evidence.v1", Title: "Evidence manifest of a run", Canonical: true,
	Fields: schema.Object{
		schema.Required("schema", schema.Const("canopus.run-evidence.v1")),
		schema.Required("authority", schema.Const(NonAuthoritative)),
		schema.Required("mission_root", schema.Digest),
		schema.Required("run_id", runID),
		schema.Required("target", mission.Target),
		schema.Required("files", schema.Object{
			schema.Required("activity", schema.Digest),
			schema.Required("transcript", schema.Digest),
			schema.Required("tool_trace", schema.Digest),
			schema.Required("worker_stderr", schema.Digest),
			schema.Required("engine_result", schema.Digest),
			schema.Required("candidate", schema.Digest),
			schema.Required("run", schema.Digest),
		}),
		schema.Required("artifact_roots", schema.Array{Max: 10, Items: schema.Digest}),
		schema.Required("verifier_root", schema.Digest),
		schema.Required("receipt_root", schema.Nullable{Type: schema.Digest}),
		schema.Required("final_roots", mission.RootsType),
	},
	Rules: []schema.Rule[Evidence]{{Text: "artifact_roots ascend.", Check: func(e Evidence) error {
		return ascending([]string{"artifact_roots"}, e.ArtifactRoots)
	}}},
}

// EvidenceOf returns the evidence manifest of a run whose files are read by
// read.
func EvidenceOf(run Run, read func(name string) ([]byte, error)) (Evidence, error) {
	verifierRoot, err := run.VerifierRoot()
	if err != nil {
		return Evidence{}, err
	}
	e := Evidence{
		Schema: "canopus.run-evidence.v1", Authority: NonAuthoritative, MissionRoot: run.Mission.Digest,
		RunID: run.RunID, Target: run.Mission.Target, ArtifactRoots: run.artifactRoots(), VerifierRoot: string(verifierRoot),
		FinalRoots: run.Mission.StartingRoots,
	}
	if run.Landing != nil {
		e.ReceiptRoot, e.FinalRoots = &run.Landing.ReceiptRoot, *run.FinalRoots
	}
	for _, f := range []struct {
		name   string
		digest *string
	}{
		{ActivityFile, &e.Files.Activity}, {TranscriptFile, &e.Files.Transcript}, {ToolTraceFile, &e.Files.ToolTrace},
		{WorkerStderrFile, &e.Files.WorkerStderr}, {EngineResultFile, &e.Files.EngineResult},
		{CandidateFile, &e.Files.Candidate}, {RunFile, &e.Files.Run},
	} {
		data, err := read(f.name)
		if err != nil {
			return Evidence{}, err
		}
		*f.digest = string(digest.Of(data))
	}
	return e, nil
}

func (r Run) artifactRoots() []string {
	roots := make([]string, len(r.Candidate.Artifacts))
	for i, a := range r.Candidate.Artifacts {
		roots[i] = a.Digest
	}
	slices.Sort(roots)
	return roots
}
