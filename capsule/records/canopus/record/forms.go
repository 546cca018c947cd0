package record

import (
	"regexp"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/mission"
	"github.com/erdos1056/erdos1056/capsule/records/schema"
)

// NonAuthoritative is the authority of every record that this tool makes:
// evidence for people to judge, never a decision.
const NonAuthoritative = "non_authoritative"

var (
	sentence     = schema.String{Min: 1, Max: 4096}
	claim        = schema.String{Min: 1, Max: 8192}
	name         = schema.String{Min: 1, Max: 128}
	observations = schema.Array{Max: 16, Items: sentence}
	milliseconds = schema.Integer{Min: 0, Max: 3600000}
	count        = schema.Integer{Min: 0, Max: canon.MaxSafeInteger}
	status       = schema.Enum{"success", "null", "failed"}
	verdict      = schema.Enum{Passed, Failed, Errored}
	sandboxName  = schema.Enum{"macos_sandbox", "container_network_denied"}
	route        = schema.Enum{"permit", "defer"}
	runID        = schema.String{Min: 5, Max: 128, Pattern: regexp.MustCompile(`^run_[A-Za-z0-9._-]+$`), Form: "a run id (run_ and letters, digits, '.', '_', '-')"}
	typeNames    = schema.Array{Max: 256, Unique: true, Items: schema.String{Min: 1, Max: 256}}

	artifactType = schema.Named{Name: "artifact", Type: schema.Object{
		schema.Required("path", schema.RelativePath),
		schema.Required("kind", name),
		schema.Required("digest", schema.Digest),
		schema.Required("bytes", schema.Integer{Min: 0, Max: 1 << 30}),
	}}
	engineType = schema.Named{Name: "engine", Type: schema.Object{
		schema.Required("name", name),
		schema.Required("version", schema.String{Min: 1, Max: 256}),
		schema.Required("binary_sha256", schema.Nullable{Type: schema.Digest}),
		schema.Required("model", schema.Nullable{Type: schema.String{Min: 1, Max: 256}}),
		schema.Required("configuration_sha256", schema.Digest),
	}}
	usageType = schema.Named{Name: "usage", Type: schema.Object{
		schema.Required("input_tokens", count),
		schema.Required("cached_input_tokens", count),
		schema.Required("output_tokens", count),
		schema.Required("reasoning_output_tokens", count),
	}}
	testType = schema.Named{Name: "verifierRecord", Type: schema.Object{
		schema.Required("argv", schema.Array{Min: 1, Max: 64, Items: schema.String{Max: 4096}}),
		schema.Required("executable_digest", schema.Digest),
		schema.Required("exit_code", schema.Integer{Min: -1, Max: 255}),
		schema.Required("stdout_digest", schema.Digest),
		schema.Required("stderr_digest", schema.Digest),
		schema.Required("duration_ms", milliseconds),
	}}
)

// Artifact is one frozen file.
type Artifact struct {
	Path   string `json:"path"`
	Kind   string `json:"kind"`
	Digest string `json:"digest"`
	Bytes  int64  `json:"bytes"`
}

// Engine says what made a candidate.
type Engine struct {
	Name                string  `json:"name"`
	Version             string  `json:"version"`
	BinarySHA256        *string `json:"binary_sha256"`
	Model               *string `json:"model"`
	ConfigurationSHA256 string  `json:"configuration_sha256"`
}

// Usage counts the tokens of a language model, all 0 for any other engine.
type Usage struct {
	InputTokens           int64 `json:"input_tokens"`
	CachedInputTokens     int64 `json:"cached_input_tokens"`
	OutputTokens          int64 `json:"output_tokens"`
	ReasoningOutputTokens int64 `json:"reasoning_output_tokens"`
}

// VerifierRecord is one call of the frozen verifier.
type VerifierRecord struct {
	Argv             []string `json:"argv"`
	ExecutableDigest string   `json:"executable_digest"`
	ExitCode         int      `json:"exit_code"` // -1 if a signal or a limit ended it
	StdoutDigest     string   `json:"stdout_digest"`
	StderrDigest     string   `json:"stderr_digest"`
	DurationMs       int64    `json:"duration_ms"`
}

// The outcomes of a verifier.
const (
	Passed  = "passed" // exit status 0
	Failed  = "failed" // another exit status
	Errored = "error"  // it could not be run to its end
)

// Roots is the state of a frontier.
type Roots = mission.Roots
