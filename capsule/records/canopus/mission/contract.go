package mission

import (
	"regexp"
	"slices"
	"strconv"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/schema"
)

// ResultContract says what a positive result must claim and prove, word for
// word, for it to be permitted without a person's decision.
type ResultContract struct {
	Schema                string   `json:"schema"`
	Target                string   `json:"target"`
	ClaimExact            string   `json:"claim_exact"`
	ClaimType             string   `json:"claim_type"`
	Replayability         string   `json:"replayability"`
	CandidateStatus       string   `json:"candidate_status"`
	VerifierStatus        string   `json:"verifier_status"`
	RequiredArtifactKinds []string `json:"required_artifact_kinds"` // sorted
}

var resultContractFields = schema.Object{
	schema.Required("schema", schema.Const("canopus.result-contract.v1")),
	schema.Required("target", Target),
	schema.Required("claim_exact", schema.String{Min: 1, Max: 8192}),
	schema.Required("claim_type", schema.Const("computational")),
	schema.Required("replayability", schema.Const("exact")),
	schema.Required("candidate_status", schema.Const("success")),
	schema.Required("verifier_status", schema.Const("passed")),
	schema.Required("required_artifact_kinds", schema.Array{Min: 1, Max: 16, Unique: true,
		Items: schema.String{Min: 1, Max: 64, Pattern: regexp.MustCompile(`^[a-z][a-z0-9._-]*$`), Form: "an artifact kind (lower-case letters, digits, '.', '_', '-')"}}),
}

// ResultContractSpec is the file of a result contract.
var ResultContractSpec = schema.Spec[ResultContract]{
	Name: "result_contract", ID: "canopus.result-contract.v1", Title: "Result contract",
	Limits: canon.DocumentLimits, Canonical: true, Fields: resultContractFields,
	Rules: []schema.Rule[ResultContract]{{
		Text: "required_artifact_kinds ascend.",
		Check: func(c ResultContract) error {
			if !slices.IsSortedFunc(c.RequiredArtifactKinds, canon.CompareUTF16) {
				return schema.Violation("required_artifact_kinds", "kinds must ascend")
			}
			return nil
		},
	}},
}

// ExecutionBinding repeats the digests of everything that a permitted result
// depends on.
type ExecutionBinding struct {
	Schema              string `json:"schema"`
	PacketRoot          string `json:"packet_root"`
	ProfileRoot         string `json:"profile_root"`
	VerifierCapsuleRoot string `json:"verifier_capsule_root"`
	ResultContractRoot  string `json:"result_contract_root"`
}

var executionBindingFields = schema.Object{
	schema.Required("schema", schema.Const("vela.execution-binding.v1")),
	schema.Required("packet_root", schema.Digest),
	schema.Required("profile_root", schema.Digest),
	schema.Required("verifier_capsule_root", schema.Digest),
	schema.Required("result_contract_root", schema.Digest),
}

func (m Mission) checkBinding() error {
	if (m.ExecutionBinding == nil) != (m.ResultContract == nil) {
		return schema.Violation("execution_binding", "execution_binding and result_contract must be given together")
	}
	if m.ExecutionBinding == nil {
		if m.Landing.Route() == "permit" {
			return schema.Violation("execution_binding", "the route permit needs an execution binding and a result contract")
		}
		return nil
	}
	if m.ClaimType != "computational" {
		return schema.Violation("claim_type", "an execution binding needs a computational claim, found %s", m.ClaimType)
	}
	if m.ResultContract.Target != m.Target {
		return schema.Violation("result_contract.target", "expected the mission's target %q, found %q", m.Target, m.ResultContract.Target)
	}
	contract, err := ResultContractSpec.Digest(*m.ResultContract)
	if err != nil {
		return err
	}
	bound := []struct{ field, want, found string }{
		{"packet_root", m.TargetPacket.SHA256, m.ExecutionBinding.PacketRoot},
		{"verifier_capsule_root", m.Verifier.CapsuleSHA256, m.ExecutionBinding.VerifierCapsuleRoot},
		{"result_contract_root", string(contract), m.ExecutionBinding.ResultContractRoot},
	}
	if m.Profile != nil {
		bound = append(bound, struct{ field, want, found string }{"profile_root", m.Profile.Root, m.ExecutionBinding.ProfileRoot})
	}
	for _, b := range bound {
		if b.want != b.found {
			return schema.Violation("execution_binding."+b.field, "expected %s, found %s", b.want, b.found)
		}
	}
	return nil
}

func itoa(i int) string { return strconv.Itoa(i) }
