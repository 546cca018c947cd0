package record

import (
	"fmt"
	"strings"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/mission"
	"github.com/erdos1056/erdos1056/capsule/records/schema"
)

// VerifierOutcome is what became of the verifier's call.
type VerifierOutcome struct {
	Status  string         `json:"status"`
	Sandbox string         `json:"sandbox"`
	Record  VerifierRecord `json:"record"`
}

// Sandboxed is the name that records give to a sandbox without network.
const Sandboxed = "container_network_denied"

var verifierOutcomeFields = schema.Object{
	schema.Required("status", verdict),
	schema.Required("sandbox", sandboxName),
	schema.Required("record", testType),
}

// VerifierManifest is the verifier's part of the frozen evidence. Image and the
// last four fields of Sandbox exist in version 1, PersistentWrites and
// ProcessFork in version 0.
type VerifierManifest struct {
	Schema           string          `json:"schema"`
	CapsulePath      string          `json:"capsule_path"`
	ExecutableSHA256 string          `json:"executable_sha256"`
	ArgvTemplate     []string        `json:"argv_template"`
	Cwd              string          `json:"cwd"`
	Image            string          `json:"image,omitempty"`
	Sandbox          ManifestSandbox `json:"sandbox"`
	Platform         ManifestArch    `json:"platform"`
}

// ManifestSandbox says what the verifier is denied.
type ManifestSandbox struct {
	Backend             string `json:"backend"`
	Network             string `json:"network"`
	PersistentWrites    string `json:"persistent_writes,omitempty"`
	ProcessFork         string `json:"process_fork,omitempty"`
	RootFilesystem      string `json:"root_filesystem,omitempty"`
	BindMounts          string `json:"bind_mounts,omitempty"`
	Capabilities        string `json:"capabilities,omitempty"`
	PrivilegeEscalation string `json:"privilege_escalation,omitempty"`
}

// ManifestArch is the platform of the verifier.
type ManifestArch struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
}

func verifierManifestFields(version string, more ...schema.Field) schema.Object {
	return append(schema.Object{
		schema.Required("schema", schema.Const(version)),
		schema.Required("capsule_path", schema.RelativePath),
		schema.Required("executable_sha256", schema.Digest),
		schema.Required("argv_template", mission.Argv),
		schema.Required("cwd", schema.RelativePath),
	}, more...)
}

// VerifierManifestV0Spec is the manifest of version 0, which is read only.
var VerifierManifestV0Spec = schema.Spec[VerifierManifest]{
	Name: "verifier_manifest", ID: "canopus.verifier-manifest.v0", Title: "Manifest of a verifier, version 0", Canonical: true,
	Fields: verifierManifestFields("canopus.verifier-manifest.v0",
		schema.Required("sandbox", schema.Object{
			schema.Required("backend", schema.Const("macos_seatbelt")),
			schema.Required("network", schema.Const("deny")),
			schema.Required("persistent_writes", schema.Const("deny")),
			schema.Required("process_fork", schema.Const("deny")),
		}),
		schema.Required("platform", schema.Object{
			schema.Required("os", schema.Const("darwin")),
			schema.Required("arch", schema.String{Min: 1, Max: 32}),
		})),
}

// VerifierManifestSpec is an artifact of kind verifier-manifest.
var VerifierManifestSpec = schema.Spec[VerifierManifest]{
	Name: "verifier_manifest", ID: "canopus.verifier-manifest.v1", Title: "Manifest of a verifier, version 1", Canonical: true,
	Fields: verifierManifestFields("canopus.verifier-manifest.v1",
		schema.Required("image", schema.Digest),
		schema.Required("sandbox", schema.Object{
			schema.Required("backend", schema.Const("docker")),
			schema.Required("network", schema.Const("deny")),
			schema.Required("root_filesystem", schema.Const("read_only")),
			schema.Required("bind_mounts", schema.Const("exact_inputs_read_only")),
			schema.Required("capabilities", schema.Const("drop_all")),
			schema.Required("privilege_escalation", schema.Const("deny")),
		}),
		schema.Required("platform", schema.Object{
			schema.Required("os", schema.Const("linux")),
			schema.Required("arch", schema.Enum{"amd64", "arm64", "unspecified"}),
		})),
}

// ParseVerifierManifest reads a manifest of either version.
func ParseVerifierManifest(data []byte) (VerifierManifest, error) {
	if formatOf(data) == VerifierManifestV0Spec.ID {
		return VerifierManifestV0Spec.Parse(data)
	}
	return VerifierManifestSpec.Parse(data)
}

// ManifestOf returns the verifier manifest of a mission. The format knows one
// name, docker, for a sandbox that denies all that its other fields say.
func ManifestOf(m mission.Mission) VerifierManifest {
	arch := "unspecified"
	if _, after, ok := strings.Cut(m.Verifier.Platform, "/"); ok {
		arch = after
	}
	return VerifierManifest{
		Schema: "canopus.verifier-manifest.v1", CapsulePath: m.Verifier.Argv[0], ExecutableSHA256: m.Verifier.ExecutableSHA256,
		ArgvTemplate: m.Verifier.Argv, Cwd: m.Verifier.Cwd, Image: m.Verifier.Image,
		Sandbox: ManifestSandbox{Backend: "docker", Network: "deny", RootFilesystem: "read_only", BindMounts: "exact_inputs_read_only",
			Capabilities: "drop_all", PrivilegeEscalation: "deny"},
		Platform: ManifestArch{"linux", arch},
	}
}

// formatOf returns the schema field of a record, or "".
func formatOf(data []byte) string {
	doc, err := canon.Parse(data, canon.RecordLimits)
	if err != nil {
		return ""
	}
	version, _ := doc.Root.Lookup("schema")
	return version.Text()
}

func unknownFormat(name, found string, known ...string) error {
	return &schema.FieldError{Path: name + ".schema", Problem: fmt.Sprintf("expected one of %s, found %q", strings.Join(known, ", "), found)}
}
