package mission

import (
	"strings"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/schema"
	"github.com/erdos1056/erdos1056/internal/digest"
)

// Paths of the files of a bundle.
const (
	CapsulePath           = "capsule/verifier"
	PacketPath            = "packet/target.json"
	OutputSchemaPath      = "contract/engine-output.v0.json"
	PermissionProfilePath = "contract/native-worker.config.toml"
)

// Parts are the contents of the files that a mission fixes by digest.
type Parts struct {
	Capsule           []byte // the frozen verifier, an executable
	Packet            []byte
	OutputSchema      []byte // the JSON Schema of the engine's output
	PermissionProfile []byte // what the worker's program may do
}

// Surroundings is what a draft does not say: the frontier, the tools, the image.
type Surroundings struct {
	Target         string // used when the draft's target is "auto" or absent
	Roots          Roots
	VelaVersion    string
	VelaSHA256     string
	StrictBaseline StrictBaseline
	PacketPath     string // in the frontier
	Image          string // the id of the verifier's image
	Platform       string // linux/amd64, linux/arm64 or ""
	WorkerPlatform string // darwin or linux
	CodexVersion   string
	CodexSHA256    string
	Profile        *ProfileReference
	ResultContract *ResultContract
}

// Absent is what a mission says of a program or record that does not exist: the
// digest of no bytes.
const Absent = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// NoCommit is what a mission says of a commit or tree that does not exist.
const NoCommit = "0000000000000000000000000000000000000000"

// Standalone returns the surroundings of a run without a frontier and without
// an outside worker: every root and program is Absent, and version 0.0.0.
func Standalone(target, image, platform string) Surroundings {
	noBlockers, _ := canon.ProtocolDigest(canon.NewArray())
	return Surroundings{
		Target:         target,
		Roots:          Roots{NoCommit, NoCommit, Absent, Absent},
		VelaVersion:    "0.0.0",
		VelaSHA256:     Absent,
		StrictBaseline: StrictBaseline{Status: "pass", BlockersRoot: string(noBlockers), RuleCounts: []RuleCount{}},
		PacketPath:     PacketPath,
		Image:          image,
		Platform:       platform,
		WorkerPlatform: "linux",
		CodexVersion:   "codex-cli 0.0.0",
		CodexSHA256:    Absent,
	}
}

// Prepare fixes a draft, what surrounds it and the parts of its bundle in a
// mission.
func Prepare(d Draft, s Surroundings, p Parts) (Mission, error) {
	m := Mission{
		Schema: SchemaV1, ID: d.ID, Target: d.Target,
		VelaVersion: s.VelaVersion, VelaSHA256: s.VelaSHA256,
		Frontier: d.Frontier, Actor: d.Actor, Role: d.Role, ClaimType: d.ClaimType, Replayability: d.Replayability,
		Objective: d.Objective, CompletionCondition: d.CompletionCondition,
		Roots: s.Roots, AllowedPaths: d.AllowedPaths, Budgets: d.Budgets,
		ScientificChain: d.ScientificChain, Landing: Deferred(),
		ParentCandidate: d.ParentCandidate, RepairReason: d.RepairReason,
		TargetPacket:   &PacketReference{s.PacketPath, string(digest.Of(p.Packet))},
		StrictBaseline: &s.StrictBaseline,
		Profile:        s.Profile, ResultContract: s.ResultContract,
	}
	if m.Target == "" || m.Target == "auto" {
		m.Target = s.Target
	}
	if d.Landing != nil {
		m.Landing = *d.Landing
	}
	capsule := string(digest.Of(p.Capsule))
	m.Verifier = Verifier{
		Argv:             append([]string{CapsulePath}, d.Verifier.Argv[1:]...),
		ExecutableSHA256: capsule, Cwd: d.Verifier.Cwd,
		TimeoutMs: d.Verifier.TimeoutMs, MaxOutputBytes: d.Verifier.MaxOutputBytes,
		Network: "deny", Writes: "deny",
		CapsulePath: CapsulePath, CapsuleSHA256: capsule, Image: s.Image, Platform: s.Platform,
	}
	m.Worker = &Worker{
		Kind: "codex_tools_native", Platform: s.WorkerPlatform,
		CodexVersion: s.CodexVersion, CodexSHA256: s.CodexSHA256,
		PermissionProfilePath: PermissionProfilePath, PermissionProfileSHA256: string(digest.Of(p.PermissionProfile)),
		Workspace: "target_packet_only", OutputSchemaSHA256: string(digest.Of(p.OutputSchema)),
		Model: d.Worker.Model, Network: "provider_only", Tools: []string{"shell", "apply_patch"},
	}
	if err := m.bind(); err != nil {
		return Mission{}, err
	}
	if err := m.checkPacket(p.Packet); err != nil {
		return Mission{}, err
	}
	_, err := SpecV1.Value(m)
	return m, err
}

func (m *Mission) bind() error {
	if m.ResultContract == nil {
		return nil
	}
	contract, err := ResultContractSpec.Digest(*m.ResultContract)
	if err != nil {
		return err
	}
	if m.Profile == nil {
		return schema.Violation("mission.profile", "a result contract needs the profile that registers it")
	}
	m.ExecutionBinding = &ExecutionBinding{"vela.execution-binding.v1", m.TargetPacket.SHA256, m.Profile.Root, m.Verifier.CapsuleSHA256, string(contract)}
	return nil
}

func (m Mission) checkPacket(data []byte) error {
	packet, err := ParsePacket(data)
	if err != nil {
		return err
	}
	if packet.Target != "" && packet.Target != m.Target {
		return schema.Violation("mission.target", "the mission is about %q, its packet about %q", m.Target, packet.Target)
	}
	return nil
}

// ArtifactArgument returns the path that an argument {artifact:PATH} of the
// verifier names, and whether it is such an argument.
func ArtifactArgument(argument string) (path string, ok bool) {
	path, ok = strings.CutPrefix(argument, "{artifact:")
	if !ok || !strings.HasSuffix(path, "}") {
		return "", false
	}
	return strings.TrimSuffix(path, "}"), true
}
