package mission

import (
	"errors"
	"regexp"
	"strings"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/schema"
	"github.com/erdos1056/erdos1056/internal/digest"
)

// The identities of the two versions of a prepared mission.
const (
	SchemaV0 = "canopus.mission.v0"
	SchemaV1 = "canopus.mission.v1"
)

// Mission is a prepared mission: a draft with everything that it depends on
// fixed by digest. The fields that are pointers below ResultContract exist
// only in version 1.
type Mission struct {
	Schema              string          `json:"schema"`
	ID                  string          `json:"id"`
	Target              string          `json:"target"`
	VelaVersion         string          `json:"vela_version"`
	VelaSHA256          string          `json:"vela_sha256"`
	Frontier            string          `json:"frontier"`
	Actor               string          `json:"actor"`
	Role                string          `json:"role"`
	ClaimType           string          `json:"claim_type"`
	Replayability       string          `json:"replayability"`
	Objective           string          `json:"objective"`
	CompletionCondition string          `json:"completion_condition"`
	Roots               Roots           `json:"roots"`
	AllowedPaths        []string        `json:"allowed_paths"`
	Budgets             Budgets         `json:"budgets"`
	Verifier            Verifier        `json:"verifier"`
	ScientificChain     ScientificChain `json:"scientific_chain"`
	Landing             Landing         `json:"landing"`
	ParentCandidate     string          `json:"parent_candidate,omitempty"`
	RepairReason        string          `json:"repair_reason,omitempty"`

	TargetPacket     *PacketReference  `json:"target_packet,omitempty"`
	StrictBaseline   *StrictBaseline   `json:"strict_baseline,omitempty"`
	Worker           *Worker           `json:"worker,omitempty"`
	Profile          *ProfileReference `json:"profile,omitempty"`
	ExecutionBinding *ExecutionBinding `json:"execution_binding,omitempty"`
	ResultContract   *ResultContract   `json:"result_contract,omitempty"`
}

// Verifier says how the frozen verifier is called and bounded. The capsule
// fields and Image exist only in version 1.
type Verifier struct {
	// Argv is the command; an argument {artifact:PATH} stands for a frozen artifact
	// and {input} for the folder of the source.
	Argv             []string `json:"argv"`
	ExecutableSHA256 string   `json:"executable_sha256"`
	Cwd              string   `json:"cwd"`
	TimeoutMs        int64    `json:"timeout_ms"`
	MaxOutputBytes   int64    `json:"max_output_bytes"`
	Network          string   `json:"network"` // "deny"
	Writes           string   `json:"writes"`  // "deny"
	CapsulePath      string   `json:"capsule_path,omitempty"`
	CapsuleSHA256    string   `json:"capsule_sha256,omitempty"`
	// Image is the id of the container image, a digest and not a name.
	Image    string `json:"image,omitempty"`
	Platform string `json:"platform,omitempty"` // linux/amd64 or linux/arm64
}

// Worker fixes the program that does the research.
type Worker struct {
	Kind                    string   `json:"kind"`
	Platform                string   `json:"platform"`
	CodexVersion            string   `json:"codex_version"`
	CodexSHA256             string   `json:"codex_sha256"`
	PermissionProfilePath   string   `json:"permission_profile_path"`
	PermissionProfileSHA256 string   `json:"permission_profile_sha256"`
	Workspace               string   `json:"workspace"`
	OutputSchemaSHA256      string   `json:"output_schema_sha256"`
	Model                   string   `json:"model"`
	Network                 string   `json:"network"`
	Tools                   []string `json:"tools"`
}

// PacketReference names the target packet by its path in the frontier and the
// digest of its bytes.
type PacketReference struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// ProfileReference names a profile and the digest of its file.
type ProfileReference struct {
	Name string `json:"name"`
	Root string `json:"root"`
}

// StrictBaseline is what a strict check of the frontier reported beforehand.
type StrictBaseline struct {
	Status       string      `json:"status"` // pass or fail
	BlockerCount int64       `json:"blocker_count"`
	BlockersRoot string      `json:"blockers_root"`
	RuleCounts   []RuleCount `json:"rule_counts"`
}

// RuleCount counts the blockers of one rule.
type RuleCount struct {
	Rule  string `json:"rule"`
	Count int64  `json:"count"`
}

var (
	actor = schema.String{Min: 0, Max: 69, Pattern: regexp.MustCompile(`^agent:[a-z0-9][a-z0-9._-]{0,62}$`),
		Form: "an agent (agent: and lower-case letters, digits, '.', '_', '-')"}
	velaVersion = schema.String{Min: 5, Max: 32, Pattern: regexp.MustCompile(`^0\.[0-9]+\.[0-9]+$`), Form: "a version 0.N.N"}
	pathOrDot   = schema.String{Min: 1, Max: 1024, Pattern: regexp.MustCompile(`^\.$|` + relativePathPattern()), Form: "'.' or a relative path of plain segments"}

	verifierFields = schema.Object{
		schema.Required("argv", Argv),
		schema.Required("executable_sha256", schema.Digest),
		schema.Required("cwd", schema.RelativePath),
		schema.Required("timeout_ms", schema.Integer{Min: 100, Max: 3600000}),
		schema.Required("max_output_bytes", schema.Integer{Min: 1024, Max: 64 << 20}),
		schema.Required("network", schema.Const("deny")),
		schema.Required("writes", schema.Const("deny")),
	}

	workerFields = schema.Object{
		schema.Required("kind", schema.Enum{"codex_tools_native"}),
		schema.Required("platform", schema.Enum{"darwin", "linux"}),
		schema.Required("codex_version", schema.String{Min: 10, Max: 64,
			Pattern: regexp.MustCompile(`^codex-cli [0-9]+\.[0-9]+\.[0-9]+(?:[-+][A-Za-z0-9.-]+)?$`), Form: "codex-cli N.N.N"}),
		schema.Required("codex_sha256", schema.Digest),
		schema.Required("permission_profile_path", schema.RelativePath),
		schema.Required("permission_profile_sha256", schema.Digest),
		schema.Required("workspace", schema.Const("target_packet_only")),
		schema.Required("output_schema_sha256", schema.Digest),
		schema.Required("model", schema.String{Min: 1, Max: 128}),
		schema.Required("network", schema.Enum{"provider_only"}),
		schema.Required("tools", schema.Texts{"shell", "apply_patch"}),
	}

	strictBaselineFields = schema.Object{
		schema.Required("status", schema.Enum{"pass", "fail"}),
		schema.Required("blocker_count", schema.Integer{Min: 0, Max: 1000000}),
		schema.Required("blockers_root", schema.Digest),
		schema.Required("rule_counts", schema.Array{Max: 64, Items: schema.Object{
			schema.Required("rule", schema.String{Min: 1, Max: 128, Pattern: regexp.MustCompile(`^[a-z][a-z0-9_]*$`), Form: "a rule name (lower-case letters, digits, '_')"}),
			schema.Required("count", schema.Integer{Min: 1, Max: 1000000}),
		}}),
	}
)

func relativePathPattern() string {
	return schema.RelativePath.Type.(schema.String).Pattern.String()
}

func missionFields(version string, verifier schema.Object) schema.Object {
	return schema.Object{
		schema.Required("schema", schema.Const(version)),
		schema.Required("id", ID),
		schema.Required("target", Target),
		schema.Required("vela_version", velaVersion),
		schema.Required("vela_sha256", schema.Digest),
		schema.Required("frontier", pathOrDot),
		schema.Required("actor", actor),
		schema.Required("role", schema.Enum{"producer", "adversary", "verifier", "fidelity"}),
		schema.Required("claim_type", schema.Enum{"computational", "theoretical", "empirical", "negative", "contradiction"}),
		schema.Required("replayability", schema.Const("exact")),
		schema.Required("objective", schema.String{Min: 1, Max: 8192}),
		schema.Required("completion_condition", schema.String{Min: 1, Max: 4096}),
		schema.Required("roots", RootsType),
		schema.Required("allowed_paths", schema.Array{Min: 1, Max: 64, Unique: true, Items: schema.RelativePath}),
		schema.Required("budgets", budgetsType),
		schema.Required("verifier", verifier),
		schema.Required("scientific_chain", scientificChainType),
		schema.Required("landing", LandingType),
		schema.Optional("parent_candidate", schema.Digest),
		schema.Optional("repair_reason", schema.String{Min: 1, Max: 4096}),
	}
}

var rulesOfBothVersions = []schema.Rule[Mission]{
	{Text: "argv[0] of the verifier is a relative path of letters, digits and _ + . -.", Check: Mission.checkExecutable},
	{Text: "No allowed path is 'canopus' or lies below it.", Check: Mission.checkReservedPaths},
	{Text: "scientific_chain has exactly one of predicted_observable and not_applicable.", Check: func(m Mission) error { return m.ScientificChain.check() }},
	{Text: "max_accepted_delta is 1 for the route permit and 0 for defer.", Check: func(m Mission) error { return m.Landing.Check("landing") }},
	{Text: "parent_candidate and repair_reason come together.", Check: Mission.checkRepair},
}

// SpecV0 is the prepared mission of version 0, which is read and not run.
var SpecV0 = schema.Spec[Mission]{
	Name: "mission", ID: SchemaV0, Title: "Prepared mission, version 0",
	Fields: missionFields(SchemaV0, verifierFields), Rules: rulesOfBothVersions,
}

// SpecV1 is the prepared mission of version 1.
var SpecV1 = schema.Spec[Mission]{
	Name: "mission", ID: SchemaV1, Title: "Prepared mission, version 1",
	Fields: append(missionFields(SchemaV1, append(verifierFields[:len(verifierFields):len(verifierFields)],
		schema.Required("capsule_path", schema.RelativePath),
		schema.Required("capsule_sha256", schema.Digest),
		schema.Required("image", schema.Digest),
		schema.Optional("platform", schema.Enum{"linux/amd64", "linux/arm64"}))),
		schema.Required("target_packet", schema.Object{
			schema.Required("path", schema.RelativePath),
			schema.Required("sha256", schema.Digest),
		}),
		schema.Required("strict_baseline", strictBaselineFields),
		schema.Required("worker", workerFields),
		schema.Optional("profile", schema.Object{
			schema.Required("name", schema.String{Min: 1, Max: 128, Pattern: regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`), Form: "a profile name (lower-case letters, digits, '.', '_', '-')"}),
			schema.Required("root", schema.Digest),
		}),
		schema.Optional("execution_binding", executionBindingFields),
		schema.Optional("result_contract", resultContractFields)),
	Rules: append(rulesOfBothVersions[:len(rulesOfBothVersions):len(rulesOfBothVersions)],
		schema.Rule[Mission]{Text: "blocker_count is the sum of rule_counts, whose rules ascend; status is pass exactly if it is 0.", Check: Mission.checkBaseline},
		schema.Rule[Mission]{Text: "execution_binding and result_contract come together, are needed for the route permit, and repeat the digests that they bind.", Check: Mission.checkBinding}),
}

// Parse reads a prepared mission of either version.
func Parse(data []byte) (Mission, error) {
	switch version := formatOf(data); version {
	case SchemaV0:
		return SpecV0.Parse(data)
	case SchemaV1:
		return SpecV1.Parse(data)
	case "":
		// Let the table say what is wrong with the text.
		return SpecV1.Parse(data)
	default:
		return Mission{}, &schema.FieldError{Path: "mission.schema",
			Problem: "expected one of " + SchemaV0 + ", " + SchemaV1 + ", found " + version}
	}
}

// formatOf returns the schema field of a document, or "".
func formatOf(data []byte) string {
	doc, err := canon.Parse(data, canon.RecordLimits)
	if err != nil {
		return ""
	}
	version, _ := doc.Root.Lookup("schema")
	return version.Text()
}

// Encode returns the bytes of mission.json.
func (m Mission) Encode() ([]byte, error) {
	if m.Schema == SchemaV0 {
		return SpecV0.Encode(m)
	}
	return SpecV1.Encode(m)
}

// Digest returns the mission's digest, which is the digest of Encode's bytes.
func (m Mission) Digest() (digest.Digest, error) {
	data, err := m.Encode()
	if err != nil {
		return "", err
	}
	return digest.Of(data), nil
}

var executable = regexp.MustCompile(`^([A-Za-z0-9_+.-]+/)*[A-Za-z0-9_+.-]+$`)

func (m Mission) checkExecutable() error {
	path := m.Verifier.Argv[0]
	if !executable.MatchString(path) || strings.Contains("/"+path+"/", "/../") || strings.Contains("/"+path+"/", "/./") {
		return schema.Violation("verifier.argv[0]", "expected a relative path of letters, digits and _ + . -, found %q", path)
	}
	return nil
}

func (m Mission) checkReservedPaths() error {
	for i, path := range m.AllowedPaths {
		if path == "canopus" || strings.HasPrefix(path, "canopus/") {
			return schema.Violation("allowed_paths["+itoa(i)+"]", "the folder canopus is reserved for manifests, found %q", path)
		}
	}
	return nil
}

func (m Mission) checkRepair() error {
	if (m.ParentCandidate == "") != (m.RepairReason == "") {
		return schema.Violation("repair_reason", "parent_candidate and repair_reason must be given together")
	}
	return nil
}

func (m Mission) checkBaseline() error {
	sum, previous := int64(0), ""
	for i, r := range m.StrictBaseline.RuleCounts {
		if i > 0 && canon.CompareUTF16(previous, r.Rule) >= 0 {
			return schema.Violation("strict_baseline.rule_counts["+itoa(i)+"].rule", "rules must ascend; %q does not follow %q", r.Rule, previous)
		}
		sum, previous = sum+r.Count, r.Rule
	}
	if sum != m.StrictBaseline.BlockerCount {
		return schema.Violation("strict_baseline.blocker_count", "expected %d, the sum of rule_counts, found %d", sum, m.StrictBaseline.BlockerCount)
	}
	if (m.StrictBaseline.Status == "pass") != (sum == 0) {
		return schema.Violation("strict_baseline.status", "status %s disagrees with blocker_count %d", m.StrictBaseline.Status, sum)
	}
	return nil
}

// ErrNotAllowed says that an artifact lies outside the allowed paths.
var ErrNotAllowed = errors.New("not an allowed path of the mission")

// CheckAllowed reports whether an artifact's path equals an allowed path or
// lies below one.
func (m Mission) CheckAllowed(path string) error {
	for _, allowed := range m.AllowedPaths {
		if path == allowed || strings.HasPrefix(path, allowed+"/") {
			return nil
		}
	}
	return ErrNotAllowed
}
