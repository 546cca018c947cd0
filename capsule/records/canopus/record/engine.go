package record

import (
	"slices"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/mission"
	"github.com/erdos1056/erdos1056/capsule/records/schema"
)

// EngineOutput is what an engine hands over: a claim, the artifacts that carry
// it, and what it saw.
type EngineOutput struct {
	Schema       string           `json:"schema"`
	Status       string           `json:"status"` // success, null or failed
	Claim        string           `json:"claim"`
	Artifacts    []EngineArtifact `json:"artifacts"`
	Observations []string         `json:"observations"`
	Caveats      []string         `json:"caveats"`
}

// EngineArtifact is a text file of an engine's output. Empty content means that
// the bytes lie in the engine's workspace under the path.
type EngineArtifact struct {
	Path     string `json:"path"`
	Kind     string `json:"kind"`
	Encoding string `json:"encoding"` // utf8
	Content  string `json:"content"`
}

var engineOutputFields = schema.Object{
	schema.Required("schema", schema.Const("canopus.engine-output.v0")),
	schema.Required("status", status),
	schema.Required("claim", claim),
	schema.Required("artifacts", schema.Array{Max: 8, Items: schema.Object{
		schema.Required("path", schema.RelativePath),
		schema.Required("kind", name),
		schema.Required("encoding", schema.Const("utf8")),
		schema.Required("content", schema.String{Max: 1 << 20}),
	}}),
	schema.Required("observations", observations),
	schema.Required("caveats", schema.Array{Max: 8, Items: sentence}),
}

var noPathTwice = schema.Rule[EngineOutput]{Text: "No two artifacts have one path.", Check: func(o EngineOutput) error {
	for i, a := range o.Artifacts {
		if slices.ContainsFunc(o.Artifacts[:i], func(b EngineArtifact) bool { return a.Path == b.Path }) {
			return schema.Violation("artifacts", "path %q is declared twice", a.Path)
		}
	}
	return nil
}}

// EngineOutputSpec is what an engine prints. Its text need not be canonical.
var EngineOutputSpec = schema.Spec[EngineOutput]{
	Name: "engine_output", ID: "canopus.engine-output.v0", Title: "Output of an engine",
	Limits: canon.Limits{Bytes: 64 << 20, Depth: 16},
	Fields: engineOutputFields, Rules: []schema.Rule[EngineOutput]{noPathTwice},
}

// CheckAllowed reports the first artifact that the mission does not allow.
func (o EngineOutput) CheckAllowed(m mission.Mission) error {
	for _, a := range o.Artifacts {
		if err := m.CheckAllowed(a.Path); err != nil {
			return schema.Violation("engine_output.artifacts", "%q is %v", a.Path, err)
		}
	}
	return nil
}

// EngineResult is the file engine-result.json.
type EngineResult struct {
	Schema       string       `json:"schema"`
	Authority    string       `json:"authority"`
	Draft        EngineOutput `json:"draft"`
	Engine       Engine       `json:"engine"`
	Usage        Usage        `json:"usage"`
	WallTimeMs   int64        `json:"wall_time_ms"`
	EventTypes   []string     `json:"event_types"`  // sorted
	ActionTypes  []string     `json:"action_types"` // sorted
	EventsDigest string       `json:"events_digest"`
	StderrDigest string       `json:"stderr_digest"`
}

// EngineResultSpec is the file engine-result.json.
var EngineResultSpec = schema.Spec[EngineResult]{
	Name: "engine_result", ID: "canopus.engine-result.v0", Title: "Result of an engine", Canonical: true,
	Limits: canon.Limits{Bytes: 64 << 20, Depth: 16},
	Fields: schema.Object{
		schema.Required("schema", schema.Const("canopus.engine-result.v0")),
		schema.Required("authority", schema.Const(NonAuthoritative)),
		schema.Required("draft", engineOutputFields),
		schema.Required("engine", engineType),
		schema.Required("usage", usageType),
		schema.Required("wall_time_ms", count),
		schema.Required("event_types", typeNames),
		schema.Required("action_types", typeNames),
		schema.Required("events_digest", schema.Digest),
		schema.Required("stderr_digest", schema.Digest),
	},
	Rules: []schema.Rule[EngineResult]{
		{Text: noPathTwice.Text, Check: func(r EngineResult) error { return noPathTwice.Check(r.Draft) }},
		{Text: "event_types and action_types ascend.", Check: func(r EngineResult) error {
			return ascending([]string{"event_types", "action_types"}, r.EventTypes, r.ActionTypes)
		}},
	},
}

func ascending(fields []string, lists ...[]string) error {
	for i, list := range lists {
		if !slices.IsSortedFunc(list, canon.CompareUTF16) {
			return schema.Violation(fields[i], "entries must ascend")
		}
	}
	return nil
}

// EngineManifest is the engine's part of the frozen evidence.
type EngineManifest struct {
	Schema       string   `json:"schema"`
	Engine       Engine   `json:"engine"`
	Usage        Usage    `json:"usage"`
	WallTimeMs   int64    `json:"wall_time_ms"`
	EventTypes   []string `json:"event_types"`
	ActionTypes  []string `json:"action_types"`
	EventsSHA256 string   `json:"events_sha256"`
	StderrSHA256 string   `json:"stderr_sha256"`
}

// EngineManifestSpec is an artifact of kind engine-manifest.
var EngineManifestSpec = schema.Spec[EngineManifest]{
	Name: "engine_manifest", ID: "canopus.engine-manifest.v0", Title: "Manifest of an engine", Canonical: true,
	Fields: schema.Object{
		schema.Required("schema", schema.Const("canopus.engine-manifest.v0")),
		schema.Required("engine", engineType),
		schema.Required("usage", usageType),
		schema.Required("wall_time_ms", count),
		schema.Required("event_types", typeNames),
		schema.Required("action_types", typeNames),
		schema.Required("events_sha256", schema.Digest),
		schema.Required("stderr_sha256", schema.Digest),
	},
	Rules: []schema.Rule[EngineManifest]{{Text: "event_types and action_types ascend.", Check: func(m EngineManifest) error {
		return ascending([]string{"event_types", "action_types"}, m.EventTypes, m.ActionTypes)
	}}},
}

// Manifest returns the manifest of the result.
func (r EngineResult) Manifest() EngineManifest {
	return EngineManifest{"canopus.engine-manifest.v0", r.Engine, r.Usage, r.WallTimeMs, r.EventTypes, r.ActionTypes, r.EventsDigest, r.StderrDigest}
}
