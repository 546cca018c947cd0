package mission

import (
	"fmt"
	"regexp"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/schema"
	"github.com/erdos1056/erdos1056/internal/digest"
)

// MaxPacketBytes bounds the file of a target packet.
const MaxPacketBytes = 64 << 20

var packetLimits = canon.Limits{Bytes: MaxPacketBytes, Depth: 64}

// The identities of the target packets.
const (
	ProblemWorkSchema   = "erdos-frontier.problem-work.v1"
	LeanProofWorkSchema = "formal-conjectures.lean-proof-work.v1"
	RangeWorkSchema     = "erdos1056.range-work.v1"
)

// Packet is what a worker is told about its target.
type Packet struct {
	Schema string
	Target string // for example erdos:1056; "" if the schema is not known
	Value  canon.Value
	SHA256 digest.Digest // of the bytes of the file
}

// ParsePacket reads a target packet. One of a schema that this tool does not
// know must only be strict JSON: the mission binds its bytes by digest.
func ParsePacket(data []byte) (Packet, error) {
	root, err := canon.ParseStrict(data, packetLimits)
	if err != nil {
		return Packet{}, fmt.Errorf("packet: %w", err)
	}
	version, _ := root.Lookup("schema")
	packet := Packet{Schema: version.Text(), Value: root, SHA256: digest.Of(data)}
	switch packet.Schema {
	case ProblemWorkSchema:
		work, err := ProblemWorkSpec.Parse(data)
		if err != nil {
			return Packet{}, err
		}
		problem, _ := work.Lookup("problem")
		packet.Target = "erdos:" + problem.Spelling()
	case LeanProofWorkSchema:
		work, err := LeanProofWorkSpec.Parse(data)
		if err != nil {
			return Packet{}, err
		}
		packet.Target = work.Target
	case RangeWorkSchema:
		work, err := RangeWorkSpec.Parse(data)
		if err != nil {
			return Packet{}, err
		}
		packet.Target = work.Target
	}
	return packet, nil
}

// RangeWork is the packet of a run that no frontier asked for: one range of
// primes of Erdős problem 1056.
type RangeWork struct {
	Schema     string `json:"schema"`
	Target     string `json:"target"`
	Problem    int64  `json:"problem"`
	K          int64  `json:"k"`
	RangeStart int64  `json:"range_start"`
	RangeEnd   int64  `json:"range_end"` // inclusive
}

// NewRangeWork returns the packet of a range.
func NewRangeWork(k, start, end int64) RangeWork {
	return RangeWork{RangeWorkSchema, "erdos:1056", 1056, k, start, end}
}

// RangeWorkSpec is the file of a RangeWork.
var RangeWorkSpec = schema.Spec[RangeWork]{
	Name: "packet", ID: RangeWorkSchema, Title: "Target packet for one range of primes", Canonical: true,
	Fields: schema.Object{
		schema.Required("schema", schema.Const(RangeWorkSchema)),
		schema.Required("target", schema.Const("erdos:1056")),
		schema.Required("problem", schema.Integer{Min: 1056, Max: 1056}),
		schema.Required("k", schema.Integer{Min: 2, Max: 1 << 20}),
		schema.Required("range_start", schema.Integer{Min: 1, Max: 1<<31 - 1}),
		schema.Required("range_end", schema.Integer{Min: 1, Max: 1<<31 - 1}),
	},
	Rules: []schema.Rule[RangeWork]{{Text: "range_start is not above range_end.", Check: func(w RangeWork) error {
		if w.RangeStart > w.RangeEnd {
			return schema.Violation("range_end", "the range ends at %d, before it starts at %d", w.RangeEnd, w.RangeStart)
		}
		return nil
	}}},
}

var (
	text      = schema.String{Max: 65536}
	word      = schema.String{Min: 1, Max: 1024}
	texts     = schema.Array{Max: 65536, Items: text}
	count     = schema.Integer{Min: 0, Max: canon.MaxSafeInteger}
	gitCommit = schema.GitObject
)

func list(fields ...schema.Field) schema.Array {
	return schema.Array{Max: 65536, Items: schema.Object(fields)}
}

// records is a list of records whose fields belong to the frontier.
var records = schema.Array{Max: 65536, Items: schema.AnyObject{}}

// ProblemWorkSpec is the packet of a frontier of Erdős problems. A packet is
// made and owned by the frontier; this tool keeps it whole and as it is.
var ProblemWorkSpec = schema.Spec[canon.Value]{
	Name: "packet", ID: ProblemWorkSchema, Title: "Target packet of a frontier of Erdős problems",
	Limits: packetLimits, Canonical: true,
	Fields: schema.Object{
		schema.Required("accepted", list(
			schema.Required("assertion", text), schema.Required("id", word), schema.Required("trust", word), schema.Required("type", word))),
		schema.Required("accepted_activity", schema.Boolean{}),
		schema.Required("activity", list(
			schema.Required("accepted", schema.Boolean{}), schema.Optional("banked", schema.Boolean{}), schema.Required("claim", text),
			schema.Optional("claimed_status", word), schema.Optional("classification", word), schema.Required("id", word),
			schema.Required("kind", word), schema.Required("lifecycle", word), schema.Optional("location", word),
			schema.Optional("mathematical_scope", word), schema.Optional("method_channel", text), schema.Optional("method_families", texts),
			schema.Optional("named_obstructions", texts), schema.Optional("related_problems", schema.Array{Max: 65536, Items: count}),
			schema.Optional("remaining_obligations", texts), schema.Required("source_ref", word), schema.Required("trust", word))),
		schema.Required("activity_types", texts),
		schema.Required("attempt_count", count),
		schema.Required("banked_attempt_count", count),
		schema.Required("commits", list(
			schema.Required("commit", gitCommit), schema.Required("repository", word), schema.Required("source_root", schema.Digest))),
		schema.Required("dependency_impact", word),
		schema.Required("detail_url", word),
		schema.Required("draft_proposals", records),
		schema.Required("edges", list(
			schema.Required("evidence", text), schema.Required("inferred", schema.Boolean{}), schema.Required("relation", word),
			schema.Required("source", word), schema.Required("source_root", schema.Digest), schema.Required("target", word), schema.Required("trust", word))),
		schema.Required("external_references", list(
			schema.Required("declared_state", word), schema.Required("reference_kind", word), schema.Required("registered_artifact", schema.Boolean{}),
			schema.Required("source", word), schema.Required("url", word))),
		schema.Required("formal_conjectures_activity", schema.Anything{}),
		schema.Required("frontier_id", word),
		schema.Required("frontier_root", schema.Digest),
		schema.Required("label", word),
		schema.Required("lenses", schema.Object{
			schema.Required("all_authored", schema.Boolean{}), schema.Required("current_record", schema.Boolean{}),
			schema.Required("mathematical_work", schema.Boolean{}), schema.Required("research_plus_scouting", schema.Boolean{})}),
		schema.Required("lifecycle", word),
		schema.Required("location", word),
		schema.Required("machine_status", word),
		schema.Required("mathematical_scope", word),
		schema.Required("method_channels", texts),
		schema.Required("nodes", list(
			schema.Required("id", word), schema.Required("inferred", schema.Boolean{}), schema.Required("kind", word), schema.Required("label", text),
			schema.Required("path", word), schema.Required("plane", word), schema.Required("source_root", schema.Digest), schema.Required("trust", word),
			schema.Optional("upstream_state", word), schema.Optional("claimant", word), schema.Optional("lifecycle", word),
			schema.Optional("content_hash", schema.Digest), schema.Optional("claimed_status", word), schema.Optional("migration_route", word), schema.Optional("outcome", word))),
		schema.Required("problem", schema.Integer{Min: 1, Max: 1 << 31}),
		schema.Required("producers", texts),
		schema.Required("proof_artifacts", records),
		schema.Required("proposal_state_hash", schema.Digest),
		schema.Required("receipts", records),
		schema.Required("recovered_record_count", count),
		schema.Required("repositories", texts),
		schema.Required("residual_obligations", texts),
		schema.Required("review_obligations", schema.Array{Max: 65536, Items: schema.Anything{}}),
		schema.Required("schema", schema.Const(ProblemWorkSchema)),
		schema.Required("sources", list(
			schema.Required("commit", gitCommit), schema.Required("paths", texts), schema.Required("repo", word),
			schema.Required("repository", word), schema.Required("sha256", schema.Digest))),
		schema.Required("statement", schema.Object{
			schema.Required("formal_statement", schema.Nullable{Type: schema.Object{
				schema.Required("linked_proof", schema.Boolean{}), schema.Required("theorem", word), schema.Required("url", word)}}),
			schema.Required("statement_fidelity", word), schema.Required("upstream_state", word), schema.Required("upstream_url", word)}),
		schema.Required("statement_fidelity", word),
		schema.Required("summary", text),
		schema.Required("trust", word),
		schema.Required("upstream_state", word),
		schema.Required("url", word),
		schema.Required("witnesses", list(
			schema.Required("content_hash", schema.Digest), schema.Required("id", word), schema.Required("label", text), schema.Required("path", word))),
	},
}

// LeanProofWork is the packet of a theorem to be proved in Lean. Its file is
// printed with two blanks of indentation, fields in this order.
type LeanProofWork struct {
	Schema         string           `json:"schema"`
	Target         string           `json:"target"`
	Objective      string           `json:"objective"`
	Selection      canon.Value      `json:"selection"`
	Source         LeanSource       `json:"source"`
	Environment    LeanEnvironment  `json:"environment"`
	RepairContext  *canon.Value     `json:"repair_context,omitempty"`
	OutputContract canon.Value      `json:"output_contract"`
	Verification   LeanVerification `json:"verification"`
	Authority      canon.Value      `json:"authority"`
}

// LeanSource says where the statement stands.
type LeanSource struct {
	Repository  string `json:"repository"`
	GitCommit   string `json:"git_commit"`
	GitTree     string `json:"git_tree"`
	Path        string `json:"path"`
	SHA256      string `json:"sha256"`
	Declaration string `json:"declaration"`
	Statement   string `json:"statement"`
}

// LeanEnvironment fixes the toolchain and the library.
type LeanEnvironment struct {
	LeanToolchain       string `json:"lean_toolchain"`
	LeanToolchainSHA256 string `json:"lean_toolchain_sha256"`
	LakeManifestSHA256  string `json:"lake_manifest_sha256"`
	LakefileSHA256      string `json:"lakefile_sha256"`
	MathlibGitCommit    string `json:"mathlib_git_commit"`
}

// LeanVerification says what the proof may rest on.
type LeanVerification struct {
	StatementFidelity canon.Value `json:"statement_fidelity"`
	Kernel            canon.Value `json:"kernel"`
	Axioms            LeanAxioms  `json:"axioms"`
	Replay            canon.Value `json:"replay"`
}

// LeanAxioms lists axioms by name.
type LeanAxioms struct {
	Allowed   []string `json:"allowed"`
	Forbidden []string `json:"forbidden"`
}

// LeanProofWorkSpec is the file of a LeanProofWork. Only its outer form was
// published; what this tool does not use may hold anything.
var LeanProofWorkSpec = schema.Spec[LeanProofWork]{
	Name: "packet", ID: LeanProofWorkSchema, Title: "Target packet of a theorem to be proved in Lean",
	Limits: packetLimits,
	Fields: schema.Object{
		schema.Required("schema", schema.Const(LeanProofWorkSchema)),
		schema.Required("target", schema.String{Min: 8, Max: 256, Pattern: regexp.MustCompile(`^formal:[a-z0-9][a-z0-9-]*$`), Form: "formal: and lower-case letters, digits, '-'"}),
		schema.Required("objective", schema.String{Min: 1, Max: 8192}),
		schema.Required("selection", schema.AnyObject{}),
		schema.Required("source", schema.Object{
			schema.Required("repository", word), schema.Required("git_commit", schema.GitObject), schema.Required("git_tree", schema.GitObject),
			schema.Required("path", schema.RelativePath), schema.Required("sha256", schema.Digest),
			schema.Required("declaration", word), schema.Required("statement", text)}),
		schema.Required("environment", schema.Object{
			schema.Required("lean_toolchain", word), schema.Required("lean_toolchain_sha256", schema.Digest),
			schema.Required("lake_manifest_sha256", schema.Digest), schema.Required("lakefile_sha256", schema.Digest),
			schema.Required("mathlib_git_commit", schema.GitObject)}),
		schema.Optional("repair_context", schema.Anything{}),
		schema.Required("output_contract", schema.AnyObject{}),
		schema.Required("verification", schema.Object{
			schema.Required("statement_fidelity", schema.Anything{}), schema.Required("kernel", schema.Anything{}),
			schema.Required("axioms", schema.Object{
				schema.Required("allowed", schema.Array{Max: 64, Unique: true, Items: word}),
				schema.Required("forbidden", schema.Array{Max: 64, Unique: true, Items: word})}),
			schema.Required("replay", schema.Anything{})}),
		schema.Required("authority", schema.AnyObject{}),
	},
	Rules: []schema.Rule[LeanProofWork]{{Text: "No axiom is both allowed and forbidden.", Check: func(w LeanProofWork) error {
		for _, forbidden := range w.Verification.Axioms.Forbidden {
			for _, allowed := range w.Verification.Axioms.Allowed {
				if allowed == forbidden {
					return schema.Violation("verification.axioms", "%s is both allowed and forbidden", allowed)
				}
			}
		}
		return nil
	}}},
}

// Encode returns the bytes of the packet's file.
func (w LeanProofWork) Encode() ([]byte, error) {
	v, err := LeanProofWorkSpec.Value(w)
	if err != nil {
		return nil, err
	}
	return schema.Indent(v)
}
