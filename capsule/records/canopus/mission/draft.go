package mission

import (
	"regexp"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/schema"
)

// Draft is what a person writes; preparing adds the rest.
type Draft struct {
	ID                  string          `json:"id"`
	Target              string          `json:"target,omitempty"` // "auto" or absent: the first offer
	Frontier            string          `json:"frontier"`
	Actor               string          `json:"actor"`
	Role                string          `json:"role"`
	ClaimType           string          `json:"claim_type"`
	Replayability       string          `json:"replayability"`
	Objective           string          `json:"objective"`
	CompletionCondition string          `json:"completion_condition"`
	AllowedPaths        []string        `json:"allowed_paths"`
	Budgets             Budgets         `json:"budgets"`
	Worker              DraftWorker     `json:"worker"`
	Verifier            DraftVerifier   `json:"verifier"`
	ScientificChain     ScientificChain `json:"scientific_chain"`
	Landing             *Landing        `json:"landing,omitempty"` // absent: defer
	ParentCandidate     string          `json:"parent_candidate,omitempty"`
	RepairReason        string          `json:"repair_reason,omitempty"`
}

// DraftWorker names the model that the worker is to use.
type DraftWorker struct {
	Model string `json:"model"`
}

// DraftVerifier says how the verifier is to be called.
type DraftVerifier struct {
	Argv           []string `json:"argv"`
	Cwd            string   `json:"cwd"`
	TimeoutMs      int64    `json:"timeout_ms"`
	MaxOutputBytes int64    `json:"max_output_bytes"`
	CapsulePath    string   `json:"capsule_path"`
}

// DraftSpec is the file of a draft.
var DraftSpec = schema.Spec[Draft]{
	Name: "draft", ID: "canopus.mission-draft", Title: "Mission draft",
	Limits: canon.DocumentLimits,
	Fields: schema.Object{
		schema.Required("id", ID),
		schema.Optional("target", Target),
		schema.Required("frontier", pathOrDot),
		schema.Required("actor", actor),
		schema.Required("role", schema.Enum{"producer", "adversary", "verifier", "fidelity"}),
		schema.Required("claim_type", schema.Enum{"computational", "theoretical", "empirical", "negative", "contradiction"}),
		schema.Required("replayability", schema.Const("exact")),
		schema.Required("objective", schema.String{Min: 1, Max: 8192}),
		schema.Required("completion_condition", schema.String{Min: 1, Max: 4096}),
		schema.Required("allowed_paths", schema.Array{Min: 1, Max: 64, Unique: true, Items: schema.RelativePath}),
		schema.Required("budgets", budgetsType),
		schema.Required("worker", schema.Object{schema.Required("model", schema.String{Min: 1, Max: 128})}),
		schema.Required("verifier", schema.Object{
			schema.Required("argv", Argv),
			// One published draft says '.'; Prepare refuses it, as the mission's table does.
			schema.Required("cwd", pathOrDot),
			schema.Required("timeout_ms", schema.Integer{Min: 100, Max: 3600000}),
			schema.Required("max_output_bytes", schema.Integer{Min: 1024, Max: 64 << 20}),
			schema.Required("capsule_path", schema.RelativePath),
		}),
		schema.Required("scientific_chain", scientificChainType),
		schema.Optional("landing", LandingType),
		schema.Optional("parent_candidate", schema.Digest),
		schema.Optional("repair_reason", schema.String{Min: 1, Max: 4096}),
	},
	Rules: []schema.Rule[Draft]{
		{Text: "scientific_chain has exactly one of predicted_observable and not_applicable.", Check: func(d Draft) error { return d.ScientificChain.check() }},
		{Text: "The objective is finite (bounded, exact, range, witness, …) and does not ask for a universal answer.", Check: Draft.checkObjective},
	},
}

// The blanks of \s are those of ECMAScript; \b is ASCII in both languages.
const blanks = `[\t\n\v\f\r \x{00a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}]*`

var (
	finiteObjective    = regexp.MustCompile(`(?i)\b(?:bounded|exact|finite|range|through|up to|k` + blanks + `=` + blanks + `[0-9]+|witness|counterexample|exhaust)\b`)
	universalObjective = regexp.MustCompile(`(?i)\b(?:settle|solve|prove|establish)\b[^.]{0,160}\b(?:for all|for every|unbounded|universally)\b`)
)

func (d Draft) checkObjective() error {
	if !finiteObjective.MatchString(d.Objective) {
		return schema.Violation("objective", "the objective must be finite: name a bound, range, witness or counterexample")
	}
	if claim := universalObjective.FindString(d.Objective); claim != "" {
		return schema.Violation("objective", "the objective asks for a universal answer: %q", claim)
	}
	return nil
}
