package record

import (
	"regexp"
	"slices"

	"github.com/erdos1056/erdos1056/capsule/records/canopus/mission"
	"github.com/erdos1056/erdos1056/capsule/records/schema"
)

// Candidate is the file candidate.json: what a run proposes.
type Candidate struct {
	Schema       string           `json:"schema"`
	MissionID    string           `json:"mission_id"`
	Status       string           `json:"status"`
	Claim        string           `json:"claim"`
	Artifacts    []Artifact       `json:"artifacts"`
	Observations []string         `json:"observations"`
	Tests        []VerifierRecord `json:"tests"`
	Costs        Costs            `json:"costs"`
	Caveats      []string         `json:"caveats"`
	Engine       Engine           `json:"engine"`
	Repair       *Repair          `json:"repair,omitempty"`
}

// Costs is what a candidate cost up to its record.
type Costs struct {
	WallTimeMs   int64 `json:"wall_time_ms"`
	Attempt      int64 `json:"attempt"`
	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
}

// Repair names the candidate that this one repairs.
type Repair struct {
	ParentCandidate string `json:"parent_candidate"`
	Reason          string `json:"reason"`
}

// CandidateSpec is the file candidate.json.
var CandidateSpec = schema.Spec[Candidate]{
	Name: "candidate", ID: "canopus.candidate.v0", Title: "Candidate", Canonical: true,
	Fields: schema.Object{
		schema.Required("schema", schema.Const("canopus.candidate.v0")),
		schema.Required("mission_id", mission.ID),
		schema.Required("status", status),
		schema.Required("claim", claim),
		schema.Required("artifacts", schema.Array{Max: 10, Items: artifactType}),
		schema.Required("observations", observations),
		schema.Required("tests", schema.Array{Max: 2, Items: testType}),
		schema.Required("costs", schema.Object{
			schema.Required("wall_time_ms", milliseconds),
			schema.Required("attempt", schema.Integer{Min: 1, Max: 8}),
			schema.Required("input_tokens", schema.Integer{Min: 0, Max: 1000000}),
			schema.Required("output_tokens", schema.Integer{Min: 0, Max: 1000000}),
		}),
		schema.Required("caveats", schema.Array{Max: 10, Items: sentence}),
		schema.Required("engine", engineType),
		schema.Optional("repair", schema.Object{
			schema.Required("parent_candidate", schema.Digest),
			schema.Required("reason", sentence),
		}),
	},
}

const (
	notADecision  = "Canopus produced this record; it is not a human acceptance decision."
	handedOff     = "The worker handed off without verifier authority; Canopus subsequently recorded the separate verifier outcome."
	notPassed     = "The engine proposed a candidate, but the declared verifier did not pass: "
	outcomePrefix = "Declared verifier outcome: "
)

// pendingVerification finds an engine's remark that the verifier has not run,
// which is out of date once the outcome is recorded beside it.
var pendingVerification = regexp.MustCompile(`(?i)verif(?:y|ication|ier).*(?:pending|has not run)|pending.*verif(?:y|ication|ier)`)

// Propose makes the candidate of an engine's result, its frozen artifacts with
// both manifests at the end, and the verifier's outcome.
func Propose(m mission.Mission, result EngineResult, artifacts []Artifact, outcome VerifierOutcome, costs Costs) Candidate {
	revised := make([]string, len(result.Draft.Caveats))
	for i, caveat := range result.Draft.Caveats {
		if pendingVerification.MatchString(caveat) {
			caveat = handedOff
		}
		revised[i] = caveat
	}
	result.Draft.Caveats = revised
	return ProposeAsWritten(m, result, artifacts, outcome, costs)
}

// ProposeAsWritten is Propose with the engine's caveats as they are, which is
// what version 0.4 of the original made.
func ProposeAsWritten(m mission.Mission, result EngineResult, artifacts []Artifact, outcome VerifierOutcome, costs Costs) Candidate {
	c := Candidate{
		Schema: "canopus.candidate.v0", MissionID: m.ID, Status: result.Draft.Status, Claim: result.Draft.Claim,
		Artifacts: artifacts, Observations: result.Draft.Observations, Tests: []VerifierRecord{outcome.Record},
		Costs: costs, Engine: result.Engine,
	}
	for _, caveat := range result.Draft.Caveats {
		c.addCaveat(caveat)
	}
	c.addCaveat(outcomePrefix + outcome.Status + ".")
	c.addCaveat(notADecision)
	switch {
	case c.Status == "success" && outcome.Status != Passed:
		c.Status, c.Claim = "failed", notPassed+c.Claim
	case c.Status == "success" && m.ResultContract != nil:
		c.Claim = m.ResultContract.ClaimExact
	}
	if m.ParentCandidate != "" {
		c.Repair = &Repair{m.ParentCandidate, m.RepairReason}
	}
	return c
}

func (c *Candidate) addCaveat(caveat string) {
	if !slices.Contains(c.Caveats, caveat) {
		c.Caveats = append(c.Caveats, caveat)
	}
}

// CheckContract reports whether the candidate has what a result contract asks
// for.
func (c Candidate) CheckContract(contract mission.ResultContract) error {
	if c.Status != contract.CandidateStatus || c.Claim != contract.ClaimExact {
		return schema.Violation("candidate.claim", "expected status %s and the contract's claim %q, found %s and %q", contract.CandidateStatus, contract.ClaimExact, c.Status, c.Claim)
	}
	for _, kind := range contract.RequiredArtifactKinds {
		if !slices.ContainsFunc(c.Artifacts, func(a Artifact) bool { return a.Kind == kind }) {
			return schema.Violation("candidate.artifacts", "the contract requires an artifact of kind %s", kind)
		}
	}
	return nil
}
