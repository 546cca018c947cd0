package academy

// Version is the only version of the format.
const Version = "1.0"

// Bundle is one run over a suite of tasks.
type Bundle struct {
	BundleVersion string      `json:"bundleVersion"`
	RunID         string      `json:"runId"` // run_ and at least six of A-Za-z0-9._-
	Track         string      `json:"track"` // 2 to 32 of a-z0-9-
	Suite         Suite       `json:"suite"`
	Contestant    Contestant  `json:"contestant"`
	Attestation   Attestation `json:"attestation"`
	Tasks         []TaskRun   `json:"tasks"` // at least one
	Telemetry     Telemetry   `json:"telemetry"`
	Integrity     Integrity   `json:"integrity"`
}

// Suite names the tasks that were run.
type Suite struct {
	ID      string `json:"id"`
	Version string `json:"version"`
	Mode    string `json:"mode"` // practice or ranked
}

// Contestant says who ran.
type Contestant struct {
	Name    string `json:"name"`
	ModelID string `json:"modelId"`
	Harness string `json:"harness,omitempty"`
	Adapter string `json:"adapter"`
	Contact string `json:"contact,omitempty"`
}

// The modes of attestation.
const (
	SelfReported = "self_reported"
	Proctored    = "proctored"
)

// Attestation says who drove the run.
type Attestation struct {
	Mode    string         `json:"mode"`
	Proctor map[string]any `json:"proctor,omitempty"`
}

// TaskRun is one task of the run: the answer and how it came about.
type TaskRun struct {
	TaskID    string        `json:"taskId"`
	Answer    Answer        `json:"answer"`
	Trace     []Step        `json:"trace"`
	Telemetry TaskTelemetry `json:"telemetry"`
}

// Answer is what was found.
type Answer struct {
	Quantities []Quantity `json:"quantities"`
	Notes      string     `json:"notes,omitempty"`
}

// Quantity is one number of the answer. The format allows any number; bundles
// made here hold integers only.
type Quantity struct {
	Item       string   `json:"item"`
	Value      float64  `json:"value"`
	Unit       string   `json:"unit"`
	RoomID     string   `json:"roomId,omitempty"`
	Confidence *float64 `json:"confidence,omitempty"` // 0..1
}

// The types of steps that this package writes or looks for.
const (
	ToolCall   = "tool_call"
	ToolResult = "tool_result"
	MCPCall    = "mcp_call"
)

// Step is one step of a task, in order.
type Step struct {
	Seq       int64   `json:"seq"`
	TOffsetMS *int64  `json:"tOffsetMs,omitempty"` // since the start of the task
	Type      string  `json:"type"`
	Tool      string  `json:"tool,omitempty"`
	Server    string  `json:"server,omitempty"`
	Args      any     `json:"args,omitempty"`
	Result    any     `json:"result,omitempty"`
	Tokens    *Tokens `json:"tokens,omitempty"`
}

// Tokens counts what a model read and wrote in one step.
type Tokens struct {
	In  int64 `json:"in,omitempty"`
	Out int64 `json:"out,omitempty"`
}

// TaskTelemetry is the cost of one task.
type TaskTelemetry struct {
	Steps     int64 `json:"steps"`
	TokensIn  int64 `json:"tokensIn"`
	TokensOut int64 `json:"tokensOut"`
	WallMS    int64 `json:"wallMs"`
	ToolCalls int64 `json:"toolCalls"`
	MCPCalls  int64 `json:"mcpCalls"`
}

// Telemetry is the cost of the run.
type Telemetry struct {
	SDKVersion     string `json:"sdkVersion"`
	TotalSteps     int64  `json:"totalSteps"`
	TotalTokensIn  int64  `json:"totalTokensIn"`
	TotalTokensOut int64  `json:"totalTokensOut"`
	TotalWallMS    int64  `json:"totalWallMs"`
	StartedAt      string `json:"startedAt,omitempty"`
}

// Integrity is the hash of the bundle and its signatures.
type Integrity struct {
	HashAlg          string  `json:"hashAlg"`
	BundleHash       string  `json:"bundleHash"`
	Signature        *string `json:"signature,omitempty"`
	PublicKey        *string `json:"publicKey,omitempty"`
	AcademySignature *string `json:"academySignature,omitempty"`
}
