// Package profile registers a kind of mission: a draft, the verifier capsules
// and worker profiles of each platform, and the image that the verifier runs in,
// all by digest. Formats: canopus.profile.v1 (recognised), canopus.profile.v2,
// canopus.profile-pack.v1; docs/formats.md describes them.
package profile

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/mission"
	"github.com/erdos1056/erdos1056/capsule/records/schema"
)

// The identities of the two versions of a profile.
const (
	SchemaV1 = "canopus.profile.v1"
	SchemaV2 = "canopus.profile.v2"
)

// ErrReplayOnly says that a profile is of version 1, which fixes no digest and
// so can neither be run nor validated.
var ErrReplayOnly = errors.New("canopus.profile.v1 is replay-only; make a profile of version 2 to run work")

// Profile is a profile of version 2. Paths are relative to the package that
// holds the profile in its folder profiles/.
type Profile struct {
	Schema                    string              `json:"schema"`
	Name                      string              `json:"name"`
	Target                    string              `json:"target"`
	TargetPacketSchema        string              `json:"target_packet_schema"`
	Draft                     string              `json:"draft"`
	DraftSHA256               string              `json:"draft_sha256"`
	ObjectiveSHA256           string              `json:"objective_sha256"`
	CompletionConditionSHA256 string              `json:"completion_condition_sha256"`
	AllowedArtifactsSHA256    string              `json:"allowed_artifacts_sha256"`
	BudgetsSHA256             string              `json:"budgets_sha256"`
	ReplayArgvSHA256          string              `json:"replay_argv_sha256"`
	Landing                   mission.Landing     `json:"landing"`
	Platforms                 map[string]Platform `json:"platforms"`
	ResultContract            string              `json:"result_contract,omitempty"`
	ResultContractSHA256      string              `json:"result_contract_sha256,omitempty"`
}

// Platform is what one kind of host runs.
type Platform struct {
	WorkerProfile         string `json:"worker_profile"`
	WorkerProfileSHA256   string `json:"worker_profile_sha256"`
	VerifierCapsule       string `json:"verifier_capsule"`
	VerifierCapsuleSHA256 string `json:"verifier_capsule_sha256"`
	VerifierImage         string `json:"verifier_image"`              // name@sha256:…
	VerifierPlatform      string `json:"verifier_platform,omitempty"` // linux/amd64 or linux/arm64
}

// Host is a platform that a policy wants registered.
type Host struct {
	Name            string // for example linux-x86_64
	DefaultPlatform string // of the verifier, if the profile names none
}

// Policy is how strict a reader of profiles is about images and platforms.
type Policy struct {
	// Images are the names that a verifier's image may have, without a digest.
	Images []string
	// ImageIDs lets a bare image id (sha256:…) stand for an image, as profiles of
	// the first week of version 2 have it.
	ImageIDs bool
	// Hosts are the platforms that a profile registers, no more and no fewer.
	Hosts []Host
}

// Original is the policy of the original program.
var Original = Policy{
	Images: []string{"ghcr.io/vela-science/canopus-verifier", "ghcr.io/vela-science/canopus-formal-verifier"},
	Hosts:  []Host{{"darwin-arm64", "linux/arm64"}, {"linux-x86_64", "linux/amd64"}},
}

// HostsByName are the hosts that a policy can want.
var HostsByName = map[string]Host{
	"darwin-arm64": Original.Hosts[0],
	"linux-x86_64": Original.Hosts[1],
	"linux-arm64":  {"linux-arm64", "linux/arm64"},
}

func (p Policy) image() schema.Type {
	quoted := make([]string, len(p.Images))
	for i, name := range p.Images {
		quoted[i] = regexp.QuoteMeta(name)
	}
	name := `(?:` + strings.Join(quoted, "|") + `)@`
	if p.ImageIDs {
		name = `(?:` + name + `)?`
	}
	return schema.String{Min: 1, Max: 512,
		Pattern: regexp.MustCompile(`^` + name + `sha256:[0-9a-f]{64}$`),
		Form:    "an image by digest, one of " + strings.Join(p.Images, ", ") + " with @sha256: and 64 lower-case hexadecimal digits"}
}

// Spec returns the format of a profile under the policy.
func (p Policy) Spec() schema.Spec[Profile] {
	platform := schema.Named{Name: "platform", Type: schema.Object{
		schema.Required("worker_profile", schema.RelativePath),
		schema.Required("worker_profile_sha256", schema.Digest),
		schema.Required("verifier_capsule", schema.RelativePath),
		schema.Required("verifier_capsule_sha256", schema.Digest),
		schema.Required("verifier_image", p.image()),
		schema.Optional("verifier_platform", schema.Enum{"linux/amd64", "linux/arm64"}),
	}}
	platforms := schema.Object{}
	for _, host := range p.Hosts {
		platforms = append(platforms, schema.Required(host.Name, platform))
	}
	return schema.Spec[Profile]{
		Name: "profile", ID: SchemaV2, Title: "Profile of a kind of mission, version 2", Limits: canon.DocumentLimits,
		Fields: schema.Object{
			schema.Required("schema", schema.Const(SchemaV2)),
			schema.Required("name", schema.String{Min: 1, Max: 128, Pattern: regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`), Form: "a profile name (lower-case letters, digits, '.', '_', '-')"}),
			schema.Required("target", mission.Target),
			schema.Required("target_packet_schema", schema.String{Min: 1, Max: 128}),
			schema.Required("draft", schema.RelativePath),
			schema.Required("draft_sha256", schema.Digest),
			schema.Required("objective_sha256", schema.Digest),
			schema.Required("completion_condition_sha256", schema.Digest),
			schema.Required("allowed_artifacts_sha256", schema.Digest),
			schema.Required("budgets_sha256", schema.Digest),
			schema.Required("replay_argv_sha256", schema.Digest),
			schema.Required("landing", mission.LandingType),
			schema.Required("platforms", platforms),
			schema.Optional("result_contract", schema.RelativePath),
			schema.Optional("result_contract_sha256", schema.Digest),
		},
		Rules: []schema.Rule[Profile]{
			{Text: "max_accepted_delta is 1 for the route permit and 0 for defer.", Check: func(p Profile) error { return p.Landing.Check("landing") }},
			{Text: "result_contract and result_contract_sha256 come together and are needed for the route permit.", Check: Profile.checkContractPair},
		},
	}
}

func (p Profile) checkContractPair() error {
	if (p.ResultContract == "") != (p.ResultContractSHA256 == "") {
		return schema.Violation("result_contract", "the path and the digest of a result contract must be given together")
	}
	if p.Landing.Route() == "permit" && p.ResultContract == "" {
		return schema.Violation("result_contract", "the route permit needs a result contract")
	}
	return nil
}

// Parse reads a profile of version 2. For one of version 1 the error is
// ErrReplayOnly.
func (p Policy) Parse(data []byte) (Profile, error) {
	doc, err := canon.ParseStrict(data, canon.DocumentLimits)
	if err != nil {
		return Profile{}, fmt.Errorf("profile: %w", err)
	}
	if version, _ := doc.Lookup("schema"); version.Text() == SchemaV1 {
		return Profile{}, ErrReplayOnly
	}
	return p.Spec().Parse(data)
}

// VerifierPlatform returns the platform of the verifier on a host.
func (p Policy) VerifierPlatform(profile Profile, host string) string {
	if platform := profile.Platforms[host].VerifierPlatform; platform != "" {
		return platform
	}
	for _, h := range p.Hosts {
		if h.Name == host {
			return h.DefaultPlatform
		}
	}
	return ""
}
