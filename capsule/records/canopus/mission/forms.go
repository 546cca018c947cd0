package mission

import (
	"regexp"

	"github.com/erdos1056/erdos1056/capsule/records/schema"
)

// The types below occur in several formats of a run, in this package and in
// packages record and profile.
var (
	// ID is the identity of a mission.
	ID = schema.Named{Name: "missionId", Type: schema.String{Min: 9, Max: 134,
		Pattern: regexp.MustCompile(`^mission_[a-z0-9][a-z0-9._-]{0,126}$`),
		Form:    "a mission id (mission_ and lower-case letters, digits, '.', '_', '-')"}}

	// Target is what the work is about, for example erdos:1056.
	Target = schema.String{Min: 1, Max: 256}

	// RootsType is the type of Roots.
	RootsType = schema.Named{Name: "roots", Type: schema.Object{
		schema.Required("git_commit", schema.GitObject),
		schema.Required("git_tree", schema.GitObject),
		schema.Required("vela_event_log", schema.Digest),
		schema.Required("vela_snapshot", schema.Digest),
	}}

	// Argv is a command with its arguments.
	Argv = schema.Array{Min: 1, Max: 64, Items: schema.String{Min: 1, Max: 4096}}

	// LandingType is the type of Landing.
	LandingType = schema.Named{Name: "landing", Type: schema.Object{
		schema.Required("expected_routes", schema.Array{Min: 1, Max: 1, Items: schema.Enum{"permit", "defer"}}),
		schema.Required("max_accepted_delta", schema.Integer{Min: 0, Max: 1}),
	}}

	budgetsType = schema.Named{Name: "budgets", Type: schema.Object{
		schema.Required("max_research_wall_time_ms", schema.Integer{Min: 100, Max: 3600000}),
		schema.Required("max_research_processes", schema.Integer{Min: 1, Max: 64}),
		schema.Required("max_research_output_bytes", schema.Integer{Min: 1024, Max: 64 << 20}),
		schema.Required("max_prompt_bytes", schema.Integer{Min: 1024, Max: 8 << 20}),
		schema.Required("max_artifact_bytes", schema.Integer{Min: 1, Max: 1 << 30}),
		schema.Required("max_attempts", schema.Integer{Min: 1, Max: 8}),
		schema.Required("max_observed_tokens", schema.Integer{Min: 1, Max: 1000000}),
	}}

	scientificChainType = schema.Named{Name: "scientificChain", Type: schema.Object{
		schema.Required("performed_test", schema.String{Min: 1, Max: 16384}),
		schema.Optional("predicted_observable", schema.String{Min: 1, Max: 16384}),
		schema.Optional("not_applicable", schema.Truth(true)),
	}}
)

// Roots names the state of a frontier: the commit and tree of its repository,
// and the roots of its event log and of its snapshot.
type Roots struct {
	GitCommit    string `json:"git_commit"`
	GitTree      string `json:"git_tree"`
	VelaEventLog string `json:"vela_event_log"`
	VelaSnapshot string `json:"vela_snapshot"`
}

// Landing says how the result may enter the frontier.
type Landing struct {
	// ExpectedRoutes holds one route: "permit" or "defer".
	ExpectedRoutes []string `json:"expected_routes"`
	// MaxAcceptedDelta is 1 for permit and 0 for defer.
	MaxAcceptedDelta int `json:"max_accepted_delta"`
}

// Route returns the one expected route.
func (l Landing) Route() string {
	if len(l.ExpectedRoutes) == 0 {
		return ""
	}
	return l.ExpectedRoutes[0]
}

// Check reports whether the accepted delta fits the route. The path of the
// error starts with the given field name.
func (l Landing) Check(field string) error {
	want := 0
	if l.Route() == "permit" {
		want = 1
	}
	if l.MaxAcceptedDelta != want {
		return schema.Violation(field+".max_accepted_delta", "expected %d for the route %s, found %d", want, l.Route(), l.MaxAcceptedDelta)
	}
	return nil
}

// Deferred is the landing of a result that people decide on.
func Deferred() Landing { return Landing{ExpectedRoutes: []string{"defer"}} }

// Budgets bounds what a run may use. Times are in milliseconds.
type Budgets struct {
	MaxResearchWallTimeMs  int64 `json:"max_research_wall_time_ms"`
	MaxResearchProcesses   int64 `json:"max_research_processes"`
	MaxResearchOutputBytes int64 `json:"max_research_output_bytes"`
	MaxPromptBytes         int64 `json:"max_prompt_bytes"`
	MaxArtifactBytes       int64 `json:"max_artifact_bytes"`
	MaxAttempts            int64 `json:"max_attempts"`
	MaxObservedTokens      int64 `json:"max_observed_tokens"`
}

// ScientificChain says which test was performed and what it was to show.
// Exactly one of PredictedObservable and NotApplicable is given.
type ScientificChain struct {
	PerformedTest       string `json:"performed_test"`
	PredictedObservable string `json:"predicted_observable,omitempty"`
	NotApplicable       bool   `json:"not_applicable,omitempty"`
}

func (c ScientificChain) check() error {
	if (c.PredictedObservable != "") == c.NotApplicable {
		return schema.Violation("scientific_chain", "expected exactly one of predicted_observable and not_applicable")
	}
	return nil
}
