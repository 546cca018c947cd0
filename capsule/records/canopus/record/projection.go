package record

import (
	"github.com/erdos1056/erdos1056/capsule/records/canopus/mission"
	"github.com/erdos1056/erdos1056/capsule/records/schema"
)

// ReadOnly is the authority of a projection.
const ReadOnly = "read_only_projection"

// Projection is what a reader of a landed run sees. Its fields print in this
// order when it is inspected; the file projection.json is canonical.
type Projection struct {
	Schema               string   `json:"schema"`
	Authority            string   `json:"authority"`
	RunID                string   `json:"run_id"`
	MissionID            string   `json:"mission_id"`
	Target               string   `json:"target"`
	StartingRoots        Roots    `json:"starting_roots"`
	FinalRoots           Roots    `json:"final_roots"`
	CandidateDigest      string   `json:"candidate_digest"`
	CandidateStatus      string   `json:"candidate_status"`
	ArtifactDigests      []string `json:"artifact_digests"`
	VerifierStatus       string   `json:"verifier_status"`
	ReceiptRoot          string   `json:"receipt_root"`
	ProposalID           string   `json:"proposal_id"`
	Route                string   `json:"route"`
	OriginalRoute        *string  `json:"original_route"`
	AcceptedStateEffect  string   `json:"accepted_state_effect"`
	PublicationState     string   `json:"publication_state"`
	CleanCloneReproduced bool     `json:"clean_clone_reproduced"`
	DeletionTest         string   `json:"deletion_test"`
}

// ProjectionSpec is projection.json of a landed run.
var ProjectionSpec = schema.Spec[Projection]{
	Name: "projection", ID: "canopus.run-projection.v0", Title: "Projection of a landed run", Canonical: true,
	Fields: schema.Object{
		schema.Required("schema", schema.Const("canopus.run-projection.v0")),
		schema.Required("authority", schema.Const(ReadOnly)),
		schema.Required("run_id", runID),
		schema.Required("mission_id", mission.ID),
		schema.Required("target", mission.Target),
		schema.Required("starting_roots", mission.RootsType),
		schema.Required("final_roots", mission.RootsType),
		schema.Required("candidate_digest", schema.Digest),
		schema.Required("candidate_status", status),
		schema.Required("artifact_digests", schema.Array{Max: 10, Items: schema.Digest}),
		schema.Required("verifier_status", verdict),
		schema.Required("receipt_root", schema.Digest),
		schema.Required("proposal_id", schema.String{Min: 1, Max: 256}),
		schema.Required("route", schema.Enum{"permit", "defer", "exact_retry"}),
		schema.Required("original_route", schema.Nullable{Type: route}),
		schema.Required("accepted_state_effect", schema.Enum{PolicyAdmitted, UnchangedPending, ExactRetry}),
		schema.Required("publication_state", schema.String{Min: 1, Max: 64}),
		schema.Required("clean_clone_reproduced", schema.Truth(true)),
		schema.Required("deletion_test", sentence),
	},
}

// DiagnosticProjection is what a reader of a diagnostic run sees.
type DiagnosticProjection struct {
	Schema               string `json:"schema"`
	Authority            string `json:"authority"`
	RunID                string `json:"run_id"`
	Target               string `json:"target"`
	CandidateDigest      string `json:"candidate_digest"`
	VerifierStatus       string `json:"verifier_status"`
	Landed               bool   `json:"landed"`
	CleanCloneReproduced bool   `json:"clean_clone_reproduced"`
}

// DiagnosticProjectionSpec is projection.json of a diagnostic run.
var DiagnosticProjectionSpec = schema.Spec[DiagnosticProjection]{
	Name: "projection", ID: "canopus.diagnostic-projection.v1", Title: "Projection of a diagnostic run", Canonical: true,
	Fields: schema.Object{
		schema.Required("schema", schema.Const("canopus.diagnostic-projection.v1")),
		schema.Required("authority", schema.Const(ReadOnly)),
		schema.Required("run_id", runID),
		schema.Required("target", mission.Target),
		schema.Required("candidate_digest", schema.Digest),
		schema.Required("verifier_status", verdict),
		schema.Required("landed", schema.Truth(false)),
		schema.Required("clean_clone_reproduced", schema.Truth(true)),
	},
}

// Project returns the projection of a run, a Projection or a
// DiagnosticProjection, and the bytes of its file.
func (r Run) Project() (projection any, file []byte, err error) {
	if r.Schema == DiagnosticSchema {
		p := DiagnosticProjection{"canopus.diagnostic-projection.v1", ReadOnly, r.RunID, r.Mission.Target,
			r.Candidate.Digest, r.Verifier.Status, false, r.Reproduction.Matched}
		file, err = DiagnosticProjectionSpec.Encode(p)
		return p, file, err
	}
	effect, err := r.Landing.Effect()
	if err != nil {
		return nil, nil, err
	}
	digests := make([]string, len(r.Candidate.Artifacts))
	for i, a := range r.Candidate.Artifacts {
		digests[i] = a.Digest
	}
	p := Projection{
		Schema: "canopus.run-projection.v0", Authority: ReadOnly, RunID: r.RunID, MissionID: r.Mission.ID, Target: r.Mission.Target,
		StartingRoots: r.Mission.StartingRoots, FinalRoots: *r.FinalRoots,
		CandidateDigest: r.Candidate.Digest, CandidateStatus: r.Candidate.Status, ArtifactDigests: digests, VerifierStatus: r.Verifier.Status,
		ReceiptRoot: r.Landing.ReceiptRoot, ProposalID: r.Landing.ProposalID, Route: r.Landing.Route, OriginalRoute: r.Landing.OriginalRoute,
		AcceptedStateEffect: effect, PublicationState: r.Landing.PublicationState, CleanCloneReproduced: r.Reproduction.Matched,
		DeletionTest: "Vela replay and accepted state do not depend on this projection.",
	}
	file, err = ProjectionSpec.Encode(p)
	return p, file, err
}
