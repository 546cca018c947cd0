package record

import (
	"fmt"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/mission"
	"github.com/erdos1056/erdos1056/capsule/records/schema"
	"github.com/erdos1056/erdos1056/internal/digest"
)

// The identities of a completed run. A diagnostic run ends before landing.
const (
	RunV0Schema      = "canopus.run.v0"
	RunV1Schema      = "canopus.run.v1"
	DiagnosticSchema = "canopus.diagnostic-run.v1"
)

// Run is the file run.json. Observations exist in version 1 of a landed run;
// Mode only in a diagnostic run, which has neither Landing nor FinalRoots.
type Run struct {
	Schema             string          `json:"schema"`
	RunID              string          `json:"run_id"`
	Status             string          `json:"status"` // completed
	Authority          string          `json:"authority"`
	ExternalGateCredit bool            `json:"external_gate_credit"` // false
	Mission            RunMission      `json:"mission"`
	Candidate          RunCandidate    `json:"candidate"`
	Observations       *Observations   `json:"observations,omitempty"`
	Verifier           VerifierOutcome `json:"verifier"`
	Landing            *RunLanding     `json:"landing"`
	FinalRoots         *Roots          `json:"final_roots,omitempty"`
	Mode               string          `json:"mode,omitempty"` // no_land
	Reproduction       Reproduction    `json:"reproduction"`
	Budget             BudgetUse       `json:"budget"`
}

// RunMission names the mission of a run.
type RunMission struct {
	ID            string `json:"id"`
	Target        string `json:"target"`
	Digest        string `json:"digest"`
	StartingRoots Roots  `json:"starting_roots"`
}

// RunCandidate repeats the parts of the candidate that a reader of the run needs.
type RunCandidate struct {
	Digest    string     `json:"digest"`
	Status    string     `json:"status"`
	Claim     string     `json:"claim"`
	Artifacts []Artifact `json:"artifacts"`
	Caveats   []string   `json:"caveats"`
}

// Observations separates what the worker saw from what the verifier did.
type Observations struct {
	WorkerObservations   []string `json:"worker_observations"`
	VerifierObservations []string `json:"verifier_observations"`
	StandingCaveats      []string `json:"standing_caveats"`
}

// RunLanding is how the candidate entered the frontier.
type RunLanding struct {
	OperationID        string  `json:"operation_id"`
	ReceiptRoot        string  `json:"receipt_root"`
	ProposalID         string  `json:"proposal_id"`
	Route              string  `json:"route"` // permit, defer or exact_retry
	OriginalRoute      *string `json:"original_route"`
	AcceptedEventDelta *int64  `json:"accepted_event_delta"`
	PublicationState   string  `json:"publication_state"`
}

// Reproduction is the second call of the verifier, from a clean folder.
type Reproduction struct {
	Matched        bool   `json:"matched"` // true
	Roots          Roots  `json:"roots"`
	VerifierStatus string `json:"verifier_status"`
	StdoutDigest   string `json:"stdout_digest"`
	StderrDigest   string `json:"stderr_digest"`
}

// BudgetUse is what a run used of its budgets.
type BudgetUse struct {
	ResearchElapsedMs   int64 `json:"research_elapsed_ms"`
	ResearchProcesses   int64 `json:"research_processes"`
	ResearchOutputBytes int64 `json:"research_output_bytes"`
	PromptBytes         int64 `json:"prompt_bytes"`
	ArtifactBytes       int64 `json:"artifact_bytes"`
	Attempts            int64 `json:"attempts"`
	ObservedTokens      int64 `json:"observed_tokens"`
}

var (
	landingFields = schema.Object{
		schema.Required("operation_id", schema.String{Min: 1, Max: 256}),
		schema.Required("receipt_root", schema.Digest),
		schema.Required("proposal_id", schema.String{Min: 1, Max: 256}),
		schema.Required("route", schema.Enum{"permit", "defer", "exact_retry"}),
		schema.Required("original_route", schema.Nullable{Type: route}),
		schema.Required("accepted_event_delta", schema.Nullable{Type: count}),
		schema.Required("publication_state", schema.String{Min: 1, Max: 64}),
	}
	observationsFields = schema.Object{
		schema.Required("worker_observations", observations),
		schema.Required("verifier_observations", observations),
		schema.Required("standing_caveats", observations),
	}
)

func runFields(version string, own ...schema.Field) schema.Object {
	return append(schema.Object{
		schema.Required("schema", schema.Const(version)),
		schema.Required("run_id", runID),
		schema.Required("status", schema.Const("completed")),
		schema.Required("authority", schema.Const(NonAuthoritative)),
		schema.Required("external_gate_credit", schema.Truth(false)),
		schema.Required("mission", schema.Object{
			schema.Required("id", mission.ID),
			schema.Required("target", mission.Target),
			schema.Required("digest", schema.Digest),
			schema.Required("starting_roots", mission.RootsType),
		}),
		schema.Required("candidate", schema.Object{
			schema.Required("digest", schema.Digest),
			schema.Required("status", status),
			schema.Required("claim", claim),
			schema.Required("artifacts", schema.Array{Max: 10, Items: artifactType}),
			schema.Required("caveats", schema.Array{Max: 10, Items: sentence}),
		}),
		schema.Required("verifier", verifierOutcomeFields),
		schema.Required("reproduction", schema.Object{
			schema.Required("matched", schema.Truth(true)),
			schema.Required("roots", mission.RootsType),
			schema.Required("verifier_status", verdict),
			schema.Required("stdout_digest", schema.Digest),
			schema.Required("stderr_digest", schema.Digest),
		}),
		schema.Required("budget", schema.Object{
			schema.Required("research_elapsed_ms", count),
			schema.Required("research_processes", count),
			schema.Required("research_output_bytes", count),
			schema.Required("prompt_bytes", count),
			schema.Required("artifact_bytes", count),
			schema.Required("attempts", count),
			schema.Required("observed_tokens", count),
		}),
	}, own...)
}

var routeRule = schema.Rule[Run]{
	Text: "original_route is given exactly for the route exact_retry; accepted_event_delta is 1 for an effective permit and 0 for an effective defer, or null.",
	Check: func(r Run) error {
		_, err := r.Landing.Effect()
		return err
	},
}

// RunV0Spec is run.json of version 0, which is read only.
var RunV0Spec = schema.Spec[Run]{
	Name: "run", ID: RunV0Schema, Title: "Completed run, version 0", Canonical: true,
	Fields: runFields(RunV0Schema, schema.Required("landing", landingFields), schema.Required("final_roots", mission.RootsType)),
	Rules:  []schema.Rule[Run]{routeRule},
}

// RunV1Spec is run.json of a landed run.
var RunV1Spec = schema.Spec[Run]{
	Name: "run", ID: RunV1Schema, Title: "Completed run, version 1", Canonical: true,
	Fields: runFields(RunV1Schema, schema.Required("landing", landingFields), schema.Required("final_roots", mission.RootsType),
		schema.Required("observations", observationsFields)),
	Rules: []schema.Rule[Run]{routeRule},
}

// DiagnosticSpec is run.json of a run that does not land.
var DiagnosticSpec = schema.Spec[Run]{
	Name: "run", ID: DiagnosticSchema, Title: "Diagnostic run", Canonical: true,
	Fields: runFields(DiagnosticSchema, schema.Required("landing", schema.Nothing{}), schema.Required("mode", schema.Const("no_land"))),
}

func runSpec(version string) (schema.Spec[Run], error) {
	for _, spec := range []schema.Spec[Run]{RunV0Spec, RunV1Spec, DiagnosticSpec} {
		if spec.ID == version {
			return spec, nil
		}
	}
	return schema.Spec[Run]{}, unknownFormat("run", version, RunV0Schema, RunV1Schema, DiagnosticSchema)
}

// ParseRun reads run.json of any version.
func ParseRun(data []byte) (Run, error) {
	spec, err := runSpec(formatOf(data))
	if err != nil {
		return Run{}, err
	}
	return spec.Parse(data)
}

// Encode returns the bytes of run.json.
func (r Run) Encode() ([]byte, error) {
	spec, err := runSpec(r.Schema)
	if err != nil {
		return nil, err
	}
	return spec.Encode(r)
}

// Digest returns the digest of run.json.
func (r Run) Digest() (digest.Digest, error) {
	data, err := r.Encode()
	if err != nil {
		return "", err
	}
	return digest.Of(data), nil
}

// VerifierRoot returns the content digest of the verifier's outcome.
func (r Run) VerifierRoot() (digest.Digest, error) {
	v, err := canon.Of(r.Verifier)
	if err != nil {
		return "", err
	}
	return canon.ContentDigest(v)
}

// Observe returns the observations of a landed run.
func Observe(c Candidate, outcome VerifierOutcome) *Observations {
	return &Observations{
		WorkerObservations: c.Observations,
		VerifierObservations: []string{
			fmt.Sprintf("Frozen verifier %s in %s.", outcome.Status, outcome.Sandbox),
			fmt.Sprintf("Verifier stdout %s; stderr %s.", outcome.Record.StdoutDigest, outcome.Record.StderrDigest),
		},
		StandingCaveats: c.Caveats,
	}
}

// The effects of a landing on the accepted state of the frontier.
const (
	PolicyAdmitted   = "policy_admitted"
	UnchangedPending = "unchanged_pending"
	ExactRetry       = "exact_retry"
)

// Effect returns what the landing did to the accepted state, or an error if its
// fields contradict each other.
func (l *RunLanding) Effect() (string, error) {
	if (l.Route == ExactRetry) != (l.OriginalRoute != nil) {
		return "", schema.Violation("run.landing.original_route", "expected an original route exactly for the route exact_retry, found route %s", l.Route)
	}
	effective, effect := l.Route, UnchangedPending
	if l.OriginalRoute != nil {
		effective, effect = *l.OriginalRoute, ExactRetry
	}
	want := int64(0)
	if effective == "permit" {
		want = 1
		if effect != ExactRetry {
			effect = PolicyAdmitted
		}
	}
	if l.AcceptedEventDelta != nil && *l.AcceptedEventDelta != want {
		return "", schema.Violation("run.landing.accepted_event_delta", "expected %d or null for the route %s, found %d", want, effective, *l.AcceptedEventDelta)
	}
	return effect, nil
}
