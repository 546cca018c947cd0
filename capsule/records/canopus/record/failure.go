package record

import (
	"regexp"

	"github.com/erdos1056/erdos1056/capsule/records/schema"
)

// Failure is the file failure.json of a run that did not complete.
type Failure struct {
	Schema          string  `json:"schema"`
	RunID           string  `json:"run_id"`
	Error           string  `json:"error"`
	Phase           string  `json:"phase"`
	LandingObserved bool    `json:"landing_observed"`
	LandingRecovery *string `json:"landing_recovery"` // path of the recovery record
	ActivityTip     string  `json:"activity_tip"`     // digest of the last event
	Authority       string  `json:"authority"`
}

// The phases in which a run can fail.
const (
	PhaseInitializing    = "initializing"
	PhaseEngine          = "engine_non_success"
	PhaseVerifier        = "verifier_non_success"
	PhaseLandingCommand  = "landing_command"
	PhaseLandingCheck    = "landing_validation"
	PhaseReceiptBinding  = "receipt_binding"
	PhaseReproduction    = "clean_clone_reproduction"
	PhaseWithdrawal      = "withdrawal_capability"
	PhaseFinalization    = "record_finalization"
	maxFailureErrorUnits = 16384
)

var phase = schema.String{Min: 1, Max: 128, Pattern: regexp.MustCompile(`^[a-z][a-z0-9_]*$`), Form: "a phase (lower-case letters, digits, '_')"}

// FailureSpec is the file failure.json.
var FailureSpec = schema.Spec[Failure]{
	Name: "failure", ID: "canopus.failure.v0", Title: "Failed run", Canonical: true,
	Fields: schema.Object{
		schema.Required("schema", schema.Const("canopus.failure.v0")),
		schema.Required("run_id", runID),
		schema.Required("error", schema.String{Min: 1, Max: maxFailureErrorUnits}),
		schema.Required("phase", phase),
		schema.Required("landing_observed", schema.Boolean{}),
		schema.Required("landing_recovery", schema.Nullable{Type: schema.RelativePath}),
		schema.Required("activity_tip", schema.Digest),
		schema.Required("authority", schema.Const(NonAuthoritative)),
	},
	Rules: []schema.Rule[Failure]{{Text: "landing_recovery is given exactly if a landing was observed.", Check: func(f Failure) error {
		if f.LandingObserved != (f.LandingRecovery != nil) {
			return schema.Violation("landing_recovery", "expected a recovery record exactly if a landing was observed (%t)", f.LandingObserved)
		}
		return nil
	}}},
}

// FailureProjection is what a reader of a failed run sees.
type FailureProjection struct {
	Schema          string  `json:"schema"`
	Authority       string  `json:"authority"`
	RunID           string  `json:"run_id"`
	Status          string  `json:"status"`
	Phase           string  `json:"phase"`
	Error           string  `json:"error"`
	LandingStatus   string  `json:"landing_status"`
	LandingRecovery *string `json:"landing_recovery"`
	ActivityTip     string  `json:"activity_tip"`
	DeletionTest    string  `json:"deletion_test"`
}

// Project returns the projection of a failed run.
func (f Failure) Project() FailureProjection {
	landing := "not_attempted"
	if f.LandingObserved {
		landing = "observed_requires_recovery"
	}
	return FailureProjection{"canopus.failure-projection.v0", ReadOnly, f.RunID, "failed", f.Phase, f.Error, landing, f.LandingRecovery, f.ActivityTip,
		"Vela state does not depend on this projection; inspect retained recovery evidence for any observed landing effect."}
}
