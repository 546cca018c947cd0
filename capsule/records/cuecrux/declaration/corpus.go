package declaration

import (
	"errors"
	"fmt"
	"math"
	"regexp"

	"github.com/erdos1056/erdos1056/capsule/records/cuecrux/conformance"
	"github.com/erdos1056/erdos1056/capsule/records/schema"
	"github.com/erdos1056/erdos1056/internal/digest"
	"github.com/erdos1056/erdos1056/internal/disk"
)

// Expectation is the verdict that a verifier must give on an artifact.
type Expectation string

// A verifier says its verdict by its exit code.
const (
	Verified Expectation = "verified" // exit code 0
	Refused  Expectation = "refused"  // exit code 1
)

// Corpus is the file replay-corpus.json.
type Corpus struct {
	Schema               string       `json:"schema"`
	CorpusID             string       `json:"corpus_id"`
	Description          string       `json:"description"`
	UnsignedFieldsSHA256 string       `json:"unsigned_fields_sha256"`
	Verifiers            []PackedFile `json:"verifiers"`
	Bounds               CorpusBounds `json:"bounds"`
	Cases                []CorpusCase `json:"cases"`
}

// PackedFile is a file of the folder.
type PackedFile struct {
	Platform string `json:"platform,omitempty"` // of a verifier, for example linux/amd64
	Path     string `json:"path"`
	SHA256   string `json:"sha256"`
	Bytes    int64  `json:"bytes"`
}

// CorpusBounds are the bounds for which the block has no field.
type CorpusBounds struct {
	MaxMemoryBytesPerCall int64 `json:"max_memory_bytes_per_call"`
	MaxProcessesPerCall   int64 `json:"max_processes_per_call"`
}

// CorpusCase is one artifact and the verdict on it.
type CorpusCase struct {
	CaseID   string        `json:"case_id"`
	ToolName string        `json:"tool_name"`
	Args     CaseArguments `json:"args"`
	SHA256   string        `json:"sha256"`
	Bytes    int64         `json:"bytes"`
	Expected Expectation   `json:"expected"`
}

// CaseArguments are the arguments of the tool.
type CaseArguments struct {
	Artifact string `json:"artifact"` // a path of the folder
}

// Greatest sizes of the files of a declaration, in bytes.
const (
	MaxArtifact = 8 << 20
	maxVerifier = 256 << 20
)

var (
	name     = schema.String{Min: 1, Max: 256}
	platform = schema.Enum{"linux/amd64", "linux/arm64"}
)

// CorpusSpec is the format of the corpus file.
var CorpusSpec = schema.Spec[Corpus]{
	Name:      "replay corpus",
	ID:        "erdos1056.replay-corpus.v1",
	Title:     "Replay corpus of a capsule's declaration",
	Canonical: true,
	Fields: schema.Object{
		schema.Required("schema", schema.Const("erdos1056.replay-corpus.v1")),
		schema.Required("corpus_id", name),
		schema.Required("description", schema.String{Min: 1, Max: 4096}),
		schema.Required("unsigned_fields_sha256", schema.Digest),
		schema.Required("verifiers", schema.Array{Min: 1, Max: 2, Items: schema.Object{
			schema.Required("platform", platform),
			schema.Required("path", schema.RelativePath),
			schema.Required("sha256", schema.Digest),
			schema.Required("bytes", schema.Integer{Min: 1, Max: maxVerifier}),
		}}),
		schema.Required("bounds", schema.Object{
			schema.Required("max_memory_bytes_per_call", schema.Integer{Min: 16 << 20, Max: 1 << 40}),
			schema.Required("max_processes_per_call", schema.Integer{Min: 1, Max: 4096}),
		}),
		schema.Required("cases", schema.Array{Min: 1, Max: conformance.MaxCases, Items: schema.Object{
			schema.Required("case_id", schema.String{Min: 1, Max: 128, Pattern: regexp.MustCompile(`^[A-Za-z0-9._-]+$`), Form: "letters, digits, '.', '_' and '-'"}),
			schema.Required("tool_name", name),
			schema.Required("args", schema.Object{schema.Required("artifact", schema.RelativePath)}),
			schema.Required("sha256", schema.Digest),
			schema.Required("bytes", schema.Integer{Min: 0, Max: MaxArtifact}),
			schema.Required("expected", schema.Enum{string(Verified), string(Refused)}),
		}}),
	},
}

// verifier returns the verifier of a platform.
func (c Corpus) verifier(platform string) (PackedFile, error) {
	for _, v := range c.Verifiers {
		if v.Platform == platform {
			return v, nil
		}
	}
	return PackedFile{}, fmt.Errorf("the declaration has no verifier for %s", platform)
}

// read returns a file of a declaration's folder if it is the declared one.
func read(folder, path, expected string, bytes int64) ([]byte, error) {
	data, err := disk.ReadBelow(folder, path, bytes)
	if err != nil {
		return nil, err
	}
	if actual := digest.Of(data); string(actual) != expected {
		return nil, fmt.Errorf("%s: expected the digest %s, found %s", path, expected, actual)
	}
	return data, nil
}

// Bounds are the integer bounds of a declaration, for one call of the tool.
type Bounds struct {
	LatencyMS     uint32 // wall time in milliseconds
	MemoryBytes   int64  // of all processes together
	Processes     int64  // processes and threads
	ResponseBytes uint32 // stdout and stderr together
}

// bytesPerToken is how the block counts tokens: four bytes of response each.
const bytesPerToken = 4

// repetitions is how often a case runs: twice, so that a verdict that changes
// is seen.
const repetitions = 2

func tokens(bytes int64) int64 { return (bytes + bytesPerToken - 1) / bytesPerToken }

// envelope returns the block's bounds for a number of cases.
func (b Bounds) envelope(cases int) (conformance.BehaviouralEnvelope, error) {
	calls := int64(cases) * repetitions
	perCall := tokens(int64(b.ResponseBytes))
	latency := int64(b.LatencyMS) * calls
	if latency > math.MaxUint32 || perCall*calls > math.MaxUint32 {
		return conformance.BehaviouralEnvelope{}, errors.New("the bounds of a call times the number of calls exceed 32 bits; declare fewer cases or lower bounds")
	}
	return conformance.BehaviouralEnvelope{
		MaxTokensPerCall:        uint32(perCall),
		MaxTokensPerRun:         uint32(perCall * calls),
		MaxLatencyMSPerCall:     b.LatencyMS,
		MaxLatencyMSPerRun:      uint32(latency),
		MaxResponseBytesPerCall: b.ResponseBytes,
	}, nil
}
