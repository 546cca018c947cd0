package conformance

import "github.com/erdos1056/erdos1056/capsule/records/canon"

// DeclarationSchema is the schema tag of every conformance block.
const DeclarationSchema = "pack.conformance.v1"

// MaxCases is the greatest number of cases that a replay corpus may declare.
const MaxCases = 64

// PPM is a rate of one in parts per million.
const PPM = 1_000_000

// Declaration is the pack.conformance.v1 block of a manifest.
//
// One set of struct tags drives four things, so they cannot drift apart: the
// field order of the signing payload, the strict reader, the published JSON
// Schema, and the field names in errors. `json` is the key; `schema` lists the
// JSON Schema constraints of the value ("items." before a constraint of an
// array's elements); `doc` is the description in the published schema.
type Declaration struct {
	Schema              string                  `json:"schema" schema:"const=pack.conformance.v1"`
	ClaimedCapabilities []string                `json:"claimed_capabilities" doc:"Must equal the manifest's declared capability set."`
	ExpectedMutations   ExpectedMutations       `json:"expected_mutations"`
	ReplayCorpus        ReplayCorpus            `json:"replay_corpus"`
	Invariants          []InvariantTest         `json:"invariants" schema:"minItems=1"`
	Envelope            BehaviouralEnvelope     `json:"envelope"`
	Compatibility       CompatibilityAssertions `json:"compatibility"`
}

// ExpectedMutations lists everything that one call may change.
type ExpectedMutations struct {
	Facts    []ExpectedFactMutation    `json:"facts"`
	Receipts []ExpectedReceiptMutation `json:"receipts"`
}

// ExpectedFactMutation is one namespace into which facts are written.
type ExpectedFactMutation struct {
	EntityPrefix string        `json:"entity_prefix" schema:"minLength=1"`
	Keys         []string      `json:"keys" schema:"items.minLength=1" doc:"Keys written under the prefix; empty means any key."`
	Operation    FactOperation `json:"operation"`
	Private      bool          `json:"private"`
	MaxPerCall   uint32        `json:"max_per_call" schema:"minimum=1"`
}

// ExpectedReceiptMutation bounds the receipts of one kind that a call emits.
type ExpectedReceiptMutation struct {
	ReceiptKind ReceiptKind `json:"receipt_kind"`
	MaxPerCall  uint32      `json:"max_per_call" schema:"minimum=1"`
}

// ReplayCorpus names the file of replayed operations by its digest, and
// repeats the operations so that they are signed.
type ReplayCorpus struct {
	CorpusID string         `json:"corpus_id" schema:"minLength=1" doc:"Operator-readable corpus name. Mandatory: a behavioural number whose corpus is unnamed cannot be compared to a later one."`
	Path     string         `json:"path" schema:"minLength=1" doc:"Relative to the pack directory."`
	SHA256   string         `json:"sha256" schema:"pattern=^[0-9a-f]{64}$"`
	Cases    []DeclaredCase `json:"cases" schema:"minItems=1 maxItems=64"`
}

// DeclaredCase is one operation of the corpus.
type DeclaredCase struct {
	CaseID   string      `json:"case_id" schema:"minLength=1"`
	ToolName string      `json:"tool_name" schema:"minLength=1"`
	Args     canon.Value `json:"args" doc:"Arguments passed to the tool; any JSON value."`
}

// InvariantTest is one property that must hold while the cases run.
type InvariantTest struct {
	ID             string        `json:"id" schema:"minLength=1"`
	Description    string        `json:"description" schema:"minLength=1"`
	Kind           InvariantKind `json:"kind"`
	AppliesToCases []string      `json:"applies_to_cases" schema:"items.minLength=1" doc:"Case ids this applies to; empty means every declared case."`
}

// BehaviouralEnvelope holds the integer bounds that a replay is compared with.
// A token is four bytes of response, rounded up.
type BehaviouralEnvelope struct {
	_                       struct{}      `doc:"Every bound is an integer: JSON has no canonical form for a float, and this block is signed."`
	MaxTokensPerCall        uint32        `json:"max_tokens_per_call" schema:"minimum=1"`
	MaxTokensPerRun         uint32        `json:"max_tokens_per_run" schema:"minimum=1"`
	MaxLatencyMSPerCall     uint32        `json:"max_latency_ms_per_call" schema:"minimum=1"`
	MaxLatencyMSPerRun      uint32        `json:"max_latency_ms_per_run" schema:"minimum=1"`
	MaxResponseBytesPerCall uint32        `json:"max_response_bytes_per_call" schema:"minimum=1"`
	MaxFactWritesPerCall    uint32        `json:"max_fact_writes_per_call" schema:"minimum=0"`
	Decay                   DecayEnvelope `json:"decay"`
	MaxContradictionRatePPM uint32        `json:"max_contradiction_rate_ppm" schema:"minimum=0 maximum=1000000" doc:"Contradictions the pack may introduce, per million facts written."`
	Undo                    UndoEnvelope  `json:"undo"`
}

// DecayEnvelope bounds how the pack keeps facts fresh.
type DecayEnvelope struct {
	MinHalfLifeSeconds  uint64 `json:"min_half_life_seconds" schema:"minimum=0" doc:"Zero is only valid for a pack that writes no facts."`
	MaxRefreshesPerCall uint32 `json:"max_refreshes_per_call" schema:"minimum=0"`
}

// UndoEnvelope bounds the cost of reversing one call.
type UndoEnvelope struct {
	MaxOperationsPerCall uint32 `json:"max_operations_per_call" schema:"minimum=0" doc:"Non-zero exactly when the pack declares fact writes."`
	MaxLatencyMS         uint32 `json:"max_latency_ms" schema:"minimum=0"`
}

// CompatibilityAssertions says what this version works with and replaces.
type CompatibilityAssertions struct {
	MinDaemonVersion string               `json:"min_daemon_version" schema:"pattern=^[0-9]+\\.[0-9]+\\.[0-9]+$"`
	ManifestSchema   string               `json:"manifest_schema" schema:"const=crux.integration.v1"`
	Supersedes       []string             `json:"supersedes" schema:"items.minLength=1"`
	Migrations       []MigrationAssertion `json:"migrations"`
	RollbackSafe     bool                 `json:"rollback_safe"`
}

// MigrationAssertion is one declared step from an older version.
type MigrationAssertion struct {
	FromVersion string        `json:"from_version" schema:"minLength=1"`
	ToVersion   string        `json:"to_version" schema:"minLength=1"`
	Kind        MigrationKind `json:"kind"`
	Reversible  bool          `json:"reversible"`
	Description string        `json:"description" schema:"minLength=1"`
}

// enum is a closed set of strings; values lists them in published order.
type enum interface{ values() []string }

// FactOperation is what may happen to a fact. There is no deletion: the store
// is append-only.
type FactOperation string

// The operations on facts.
const (
	Write     FactOperation = "write"
	Supersede FactOperation = "supersede"
)

func (FactOperation) values() []string { return []string{"write", "supersede"} }

// ReceiptKind is a receipt that a tool can cause.
type ReceiptKind string

// The receipts.
const (
	Dispatch     ReceiptKind = "dispatch"
	FactWrite    ReceiptKind = "fact_write"
	Supersession ReceiptKind = "supersession"
)

func (ReceiptKind) values() []string { return []string{"dispatch", "fact_write", "supersession"} }

// InvariantKind is a property that a replay can decide.
type InvariantKind string

// The invariants.
const (
	NoUndeclaredFactWrites   InvariantKind = "no_undeclared_fact_writes"
	NoPrivateFactAccess      InvariantKind = "no_private_fact_access"
	NoUndeclaredCapability   InvariantKind = "no_undeclared_capability_use"
	NoEgressOutsideAllowlist InvariantKind = "no_egress_outside_allowlist"
	DeterministicReplay      InvariantKind = "deterministic_replay"
	ReversibleWrites         InvariantKind = "reversible_writes"
	NoNewContradictions      InvariantKind = "no_new_contradictions"
)

func (InvariantKind) values() []string {
	return []string{
		"no_undeclared_fact_writes", "no_private_fact_access", "no_undeclared_capability_use",
		"no_egress_outside_allowlist", "deterministic_replay", "reversible_writes", "no_new_contradictions",
	}
}

// MigrationKind is what an upgrade does to stored facts.
type MigrationKind string

// The migrations.
const (
	NoMigration    MigrationKind = "none"
	SupersedeFacts MigrationKind = "supersede_facts"
	RekeyEntities  MigrationKind = "rekey_entities"
	Reindex        MigrationKind = "reindex"
)

func (MigrationKind) values() []string {
	return []string{"none", "supersede_facts", "rekey_entities", "reindex"}
}
