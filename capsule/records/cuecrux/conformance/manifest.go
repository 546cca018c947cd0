package conformance

import "github.com/erdos1056/erdos1056/capsule/records/canon"

// ManifestSchema is the schema tag of every manifest.
const ManifestSchema = "crux.integration.v1"

// FirstPartyPublisher is the publisher whose manifests the original accepts
// without a signature.
const FirstPartyPublisher = "cuecrux:first-party"

// Manifest is a crux.integration.v1 document. The fields from Schema to Safety
// and the conformance block are signed; the rest is not. A pointer is nil when
// its key is absent or null; keys marked optional have a default.
type Manifest struct {
	Schema       string        `json:"schema"`
	ID           string        `json:"id"`
	Name         string        `json:"name"`
	Version      string        `json:"version"`
	PublisherFPR string        `json:"publisher_passport_fpr"`
	Summary      string        `json:"summary"`
	Entry        Entry         `json:"entry"`
	Capabilities []string      `json:"capabilities" schema:"optional"`
	Network      NetworkAccess `json:"network" schema:"optional"`
	DataAccess   DataAccess    `json:"data_access" schema:"optional"`
	Safety       SafetyPolicy  `json:"safety" schema:"optional"`

	Hashes    Hashes     `json:"hashes" schema:"optional"`
	Signature *Signature `json:"signature,omitempty"`

	Endpoint         *string `json:"external_tool_endpoint,omitempty"`
	Tools            []Tool  `json:"tools,omitempty" schema:"optional"`
	WasmModulePath   *string `json:"wasm_module_path,omitempty"`
	WasmModuleURL    *string `json:"wasm_module_url,omitempty"`
	WasmModuleSHA256 *string `json:"wasm_module_sha256,omitempty"`

	Conformance *Declaration `json:"conformance,omitempty"`
}

// Entry says of which kind the pack is and where its entry point lies.
type Entry struct {
	Kind EntryKind `json:"kind"`
	Path string    `json:"path"`
}

// NetworkAccess lists the hosts that the pack may reach.
type NetworkAccess struct {
	AllowedHosts      []string `json:"allowed_hosts" schema:"optional"`
	RequiresUserToken bool     `json:"requires_user_token" schema:"optional"`
}

// DataAccess says which stored data the pack may read.
type DataAccess struct {
	TenantScopes   []string `json:"tenant_scopes" schema:"optional"`
	ContentPreview bool     `json:"content_preview" schema:"optional"`
	PrivateFacts   bool     `json:"private_facts" schema:"optional"`
}

// SafetyPolicy tightens the limits of the daemon; zero leaves them alone.
type SafetyPolicy struct {
	Sandbox        SandboxKind `json:"sandbox"`
	MaxRuntimeMS   uint64      `json:"max_runtime_ms"`
	MaxOutputBytes uint64      `json:"max_output_bytes"`
}

// Hashes holds the digests that a manifest states about itself and its bundle.
type Hashes struct {
	Manifest *string `json:"manifest,omitempty"`
	Bundle   *string `json:"bundle,omitempty"`
}

// Signature is the publisher's signature of the signing payload.
type Signature struct {
	Alg          string  `json:"alg"`
	PassportFPR  string  `json:"passport_fpr"`
	PublicKeyHex *string `json:"public_key_hex,omitempty"`
	Sig          string  `json:"sig"`
}

// Tool is one operation that the pack offers.
type Tool struct {
	Name                string       `json:"name"`
	Description         string       `json:"description"`
	InputSchema         canon.Value  `json:"input_schema"`
	ConsequenceMetadata *canon.Value `json:"consequence_metadata,omitempty"`
	AuthSharedSecretID  *string      `json:"auth_shared_secret_id,omitempty"`
}

// EntryKind is the way in which a pack is used.
type EntryKind string

// The two kinds that execute, and may therefore declare conformance.
const (
	ExternalTool EntryKind = "external_tool"
	Wasm         EntryKind = "wasm"
)

// externalHelper is off unless an operator allows it, which this package never does.
const externalHelper EntryKind = "external_helper"

func (EntryKind) values() []string {
	return []string{
		"mcp_config", "http_recipe", "sdk_recipe", "cli_recipe", "file_watcher",
		"webhook_adapter", "external_helper", "external_tool", "wasm",
	}
}

// SandboxKind is the sandbox that a pack asks for.
type SandboxKind string

// The sandboxes.
const (
	SandboxNone    SandboxKind = "none"
	SandboxCommand SandboxKind = "command"
	SandboxWasm    SandboxKind = "wasm"
)

func (SandboxKind) values() []string { return []string{"none", "command", "wasm"} }

// capabilities are the names that a manifest may list.
var capabilities = []string{
	"integrations:read", "integrations:install", "integrations:grant", "integrations:disable",
	"facts:read", "facts:write", "facts:private:read",
	"sessions:read", "sessions:write",
	"passport:read",
	"tenant:metadata:read", "tenant:chunks:read", "tenant:content:preview",
	"admin:read",
}
