package mission

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/erdos1056/erdos1056/capsule/records/schema"
	"github.com/erdos1056/erdos1056/internal/digest"
	"github.com/erdos1056/erdos1056/internal/disk"
)

// Sizes that a reader of a bundle accepts.
const (
	maxRecordBytes  = 8 << 20
	maxCapsuleBytes = 256 << 20
)

// BundleManifest lists what a bundle's files are.
type BundleManifest struct {
	Schema           string            `json:"schema"`
	Authority        string            `json:"authority"`
	MissionSHA256    string            `json:"mission_sha256"`
	Source           BundleSource      `json:"source"`
	Packet           BundlePacket      `json:"packet"`
	Verifier         BundleVerifier    `json:"verifier"`
	Worker           BundleWorker      `json:"worker"`
	ExecutionBinding *ExecutionBinding `json:"execution_binding,omitempty"`
}

// BundleSource is the state of the frontier that the bundle was made from.
type BundleSource struct {
	GitCommit string `json:"git_commit"`
	GitTree   string `json:"git_tree"`
}

// BundlePacket says where the packet came from and where it lies.
type BundlePacket struct {
	SourcePath string `json:"source_path"`
	BundlePath string `json:"bundle_path"`
	SHA256     string `json:"sha256"`
}

// BundleVerifier says where the frozen verifier lies and in which image it runs.
type BundleVerifier struct {
	BundlePath string `json:"bundle_path"`
	SHA256     string `json:"sha256"`
	Image      string `json:"image"`
	Platform   string `json:"platform,omitempty"`
}

// BundleWorker repeats the mission's worker.
type BundleWorker struct {
	Platform                string `json:"platform"`
	CodexVersion            string `json:"codex_version"`
	CodexSHA256             string `json:"codex_sha256"`
	PermissionProfilePath   string `json:"permission_profile_path"`
	PermissionProfileSHA256 string `json:"permission_profile_sha256"`
	Workspace               string `json:"workspace"`
	OutputSchemaSHA256      string `json:"output_schema_sha256"`
}

// BundleManifestSpec is the file bundle-manifest.json.
var BundleManifestSpec = schema.Spec[BundleManifest]{
	Name: "bundle", ID: "canopus.mission-bundle.v1", Title: "Manifest of a mission bundle", Canonical: true,
	Fields: schema.Object{
		schema.Required("schema", schema.Const("canopus.mission-bundle.v1")),
		schema.Required("authority", schema.Const("non_authoritative")),
		schema.Required("mission_sha256", schema.Digest),
		schema.Required("source", schema.Object{
			schema.Required("git_commit", schema.GitObject), schema.Required("git_tree", schema.GitObject)}),
		schema.Required("packet", schema.Object{
			schema.Required("source_path", schema.RelativePath), schema.Required("bundle_path", schema.Const(PacketPath)), schema.Required("sha256", schema.Digest)}),
		schema.Required("verifier", schema.Object{
			schema.Required("bundle_path", schema.RelativePath), schema.Required("sha256", schema.Digest),
			schema.Required("image", schema.Digest), schema.Optional("platform", schema.Enum{"linux/amd64", "linux/arm64"})}),
		schema.Required("worker", bundleWorkerFields),
		schema.Optional("execution_binding", executionBindingFields),
	},
}

// bundleWorkerFields are those of the mission's worker that a file or program
// answers for: all but its kind, model, network and tools.
var bundleWorkerFields = slices.DeleteFunc(slices.Clone(workerFields), func(f schema.Field) bool {
	return slices.Contains([]string{"kind", "model", "network", "tools"}, f.Name)
})

// Manifest returns the manifest of the mission's bundle.
func (m Mission) Manifest() (BundleManifest, error) {
	digest, err := m.Digest()
	if err != nil {
		return BundleManifest{}, err
	}
	if m.Schema != SchemaV1 {
		return BundleManifest{}, fmt.Errorf("a mission of version %s has no bundle", m.Schema)
	}
	w := m.Worker
	return BundleManifest{
		Schema: "canopus.mission-bundle.v1", Authority: "non_authoritative", MissionSHA256: string(digest),
		Source:   BundleSource{m.Roots.GitCommit, m.Roots.GitTree},
		Packet:   BundlePacket{m.TargetPacket.Path, PacketPath, m.TargetPacket.SHA256},
		Verifier: BundleVerifier{m.Verifier.CapsulePath, m.Verifier.CapsuleSHA256, m.Verifier.Image, m.Verifier.Platform},
		Worker: BundleWorker{w.Platform, w.CodexVersion, w.CodexSHA256, w.PermissionProfilePath, w.PermissionProfileSHA256,
			w.Workspace, w.OutputSchemaSHA256},
		ExecutionBinding: m.ExecutionBinding,
	}, nil
}

// WriteBundle writes the bundle of a mission as a new folder, and checks it as
// OpenBundle does before the folder has its name.
func WriteBundle(folder string, m Mission, p Parts) error {
	manifest, err := m.Manifest()
	if err != nil {
		return err
	}
	manifestData, err := BundleManifestSpec.Encode(manifest)
	if err != nil {
		return err
	}
	missionData, err := m.Encode()
	if err != nil {
		return err
	}
	files := []struct {
		path string
		data []byte
		perm fs.FileMode
	}{
		{"mission.json", missionData, 0o600},
		{"bundle-manifest.json", manifestData, 0o600},
		{m.Verifier.CapsulePath, p.Capsule, 0o555},
		{PacketPath, p.Packet, 0o600},
		{OutputSchemaPath, p.OutputSchema, 0o600},
		{m.Worker.PermissionProfilePath, p.PermissionProfile, 0o600},
	}
	return disk.CreateFolder(folder, func(draft string) error {
		for _, f := range files {
			if err := disk.CreateBelow(draft, f.path, f.data, f.perm); err != nil {
				return err
			}
		}
		_, err := OpenBundle(draft)
		return err
	})
}

// Bundle is a folder that holds a mission and everything it fixes by digest.
type Bundle struct {
	Folder  string
	Mission Mission
	Digest  digest.Digest // of mission.json
	Packet  Packet
}

// OpenBundle reads a bundle and checks every file of it against the mission,
// and the manifest against the one that the mission demands.
func OpenBundle(folder string) (Bundle, error) {
	data, err := disk.Read(filepath.Join(folder, "mission.json"), maxRecordBytes, disk.RefuseLinks)
	if err != nil {
		return Bundle{}, err
	}
	m, err := Parse(data)
	if err != nil {
		return Bundle{}, fmt.Errorf("%s: %w", filepath.Join(folder, "mission.json"), err)
	}
	encoded, err := m.Encode()
	if err != nil {
		return Bundle{}, err
	}
	if !bytes.Equal(encoded, data) {
		return Bundle{}, fmt.Errorf("%s: the mission is not in canonical form", filepath.Join(folder, "mission.json"))
	}
	b := Bundle{Folder: folder, Mission: m, Digest: digest.Of(data)}
	if m.Schema != SchemaV1 {
		return Bundle{}, fmt.Errorf("%s: a mission of version %s is read, not run; prepare one of version %s", folder, m.Schema, SchemaV1)
	}
	return b, b.check()
}

func (b *Bundle) check() error {
	if err := b.checkManifest(); err != nil {
		return err
	}
	m := b.Mission
	if m.Verifier.ExecutableSHA256 != m.Verifier.CapsuleSHA256 {
		return schema.Violation("mission.verifier.executable_sha256", "expected the capsule's digest %s, found %s", m.Verifier.CapsuleSHA256, m.Verifier.ExecutableSHA256)
	}
	parts, err := b.Parts()
	if err != nil {
		return err
	}
	if b.Packet, err = ParsePacket(parts.Packet); err != nil {
		return fmt.Errorf("%s: %w", b.path(PacketPath), err)
	}
	if err := m.checkPacket(parts.Packet); err != nil {
		return err
	}
	info, err := os.Lstat(b.Capsule())
	if err == nil && info.Mode()&0o111 == 0 {
		err = fmt.Errorf("%s: the frozen verifier is not executable", b.Capsule())
	}
	return err
}

func (b *Bundle) checkManifest() error {
	found, err := disk.Read(b.path("bundle-manifest.json"), maxRecordBytes, disk.RefuseLinks)
	if err != nil {
		return err
	}
	if _, err := BundleManifestSpec.Parse(found); err != nil {
		return fmt.Errorf("%s: %w", b.path("bundle-manifest.json"), err)
	}
	manifest, err := b.Mission.Manifest()
	if err != nil {
		return err
	}
	want, err := BundleManifestSpec.Encode(manifest)
	if err != nil {
		return err
	}
	if !bytes.Equal(found, want) {
		return fmt.Errorf("%s: the manifest is not the one of this mission; expected %s", b.path("bundle-manifest.json"), want)
	}
	return nil
}

func (b *Bundle) read(path, expected string, max int64) ([]byte, error) {
	data, err := disk.Read(b.path(path), max, disk.RefuseLinks)
	if err != nil {
		return nil, err
	}
	if found := digest.Of(data); string(found) != expected {
		return nil, fmt.Errorf("%s: expected %s, found %s", b.path(path), expected, found)
	}
	return data, nil
}

func (b *Bundle) path(relative string) string {
	return filepath.Join(b.Folder, filepath.FromSlash(relative))
}

// Capsule returns the path of the frozen verifier.
func (b *Bundle) Capsule() string { return b.path(b.Mission.Verifier.CapsulePath) }

// Parts reads the files that the mission fixes by digest.
func (b *Bundle) Parts() (Parts, error) {
	m := b.Mission
	var parts Parts
	for _, f := range []struct {
		path, digest string
		max          int64
		data         *[]byte
	}{
		{m.Verifier.CapsulePath, m.Verifier.CapsuleSHA256, maxCapsuleBytes, &parts.Capsule},
		{PacketPath, m.TargetPacket.SHA256, MaxPacketBytes, &parts.Packet},
		{OutputSchemaPath, m.Worker.OutputSchemaSHA256, maxRecordBytes, &parts.OutputSchema},
		{m.Worker.PermissionProfilePath, m.Worker.PermissionProfileSHA256, maxRecordBytes, &parts.PermissionProfile},
	} {
		data, err := b.read(f.path, f.digest, f.max)
		if err != nil {
			return Parts{}, err
		}
		*f.data = data
	}
	return parts, nil
}
