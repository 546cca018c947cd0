package profile

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/mission"
	"github.com/erdos1056/erdos1056/capsule/records/schema"
	"github.com/erdos1056/erdos1056/internal/digest"
	"github.com/erdos1056/erdos1056/internal/disk"
)

const (
	maxDocumentBytes = 1 << 20
	maxCapsuleBytes  = 256 << 20
)

// Package is a folder with profiles/ and the files that they name.
type Package struct {
	Root   string
	Policy Policy
}

// Validation is the outcome of Validate, printed in this order of fields.
type Validation struct {
	Schema               string                        `json:"schema"`
	Name                 string                        `json:"name"`
	ProfileSHA256        string                        `json:"profile_sha256"`
	DraftSHA256          string                        `json:"draft_sha256"`
	ResultContractSHA256 *string                       `json:"result_contract_sha256"`
	Platforms            map[string]PlatformValidation `json:"platforms"`
}

// PlatformValidation is the part of a Validation for one host.
type PlatformValidation struct {
	WorkerProfileSHA256   string `json:"worker_profile_sha256"`
	VerifierCapsuleSHA256 string `json:"verifier_capsule_sha256"`
	VerifierImage         string `json:"verifier_image"`
	VerifierPlatform      string `json:"verifier_platform"`
}

// List returns the names of the package's profiles, sorted.
func (p Package) List() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(p.Root, "profiles"))
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, entry := range entries {
		if name, ok := strings.CutSuffix(entry.Name(), ".json"); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Load reads a profile by name and returns it with the digest of its file.
func (p Package) Load(name string) (Profile, digest.Digest, error) {
	path := "profiles/" + name + ".json"
	data, err := disk.ReadBelow(p.Root, path, maxDocumentBytes)
	if err != nil {
		return Profile{}, "", err
	}
	profile, err := p.Policy.Parse(data)
	if err != nil {
		return Profile{}, "", fmt.Errorf("%s: %w", path, err)
	}
	if profile.Name != name {
		return Profile{}, "", fmt.Errorf("%s: %w", path, schema.Violation("profile.name", "expected %q, the name of the file, found %q", name, profile.Name))
	}
	return profile, digest.Of(data), nil
}

// Validate checks a profile and every file that it names, for all its
// platforms.
func (p Package) Validate(name string) (Validation, error) {
	profile, root, err := p.Load(name)
	if err != nil {
		return Validation{}, err
	}
	draft, err := disk.ReadBelow(p.Root, profile.Draft, maxDocumentBytes)
	if err != nil {
		return Validation{}, err
	}
	if err := profile.CheckDraft(draft); err != nil {
		return Validation{}, err
	}
	if _, err := p.contract(profile); err != nil {
		return Validation{}, err
	}
	v := Validation{
		Schema: "canopus.profile-validation.v1", Name: name, ProfileSHA256: string(root),
		DraftSHA256: profile.DraftSHA256, Platforms: map[string]PlatformValidation{},
	}
	if profile.ResultContractSHA256 != "" {
		v.ResultContractSHA256 = &profile.ResultContractSHA256
	}
	for _, host := range p.Policy.Hosts {
		platform := profile.Platforms[host.Name]
		if err := p.checkPlatform(host.Name, platform); err != nil {
			return Validation{}, err
		}
		v.Platforms[host.Name] = PlatformValidation{platform.WorkerProfileSHA256, platform.VerifierCapsuleSHA256,
			platform.VerifierImage, p.Policy.VerifierPlatform(profile, host.Name)}
	}
	return v, nil
}

// CheckDraft compares the digests of a profile with the bytes of its draft.
func (p Profile) CheckDraft(data []byte) error {
	if err := drifted("draft_sha256", "the draft", p.DraftSHA256, digest.Of(data)); err != nil {
		return err
	}
	draft, err := mission.DraftSpec.Parse(data)
	if err != nil {
		return fmt.Errorf("%s: %w", p.Draft, err)
	}
	digests, err := digestsOf(draft)
	if err != nil {
		return err
	}
	for _, part := range []struct{ field, what, recorded string }{
		{"objective_sha256", "the draft's objective", p.ObjectiveSHA256},
		{"completion_condition_sha256", "the draft's completion condition", p.CompletionConditionSHA256},
		{"allowed_artifacts_sha256", "the draft's allowed paths", p.AllowedArtifactsSHA256},
		{"budgets_sha256", "the draft's budgets", p.BudgetsSHA256},
		{"replay_argv_sha256", "the draft's verifier argv", p.ReplayArgvSHA256},
	} {
		if err := drifted(part.field, part.what, part.recorded, digests[part.field]); err != nil {
			return err
		}
	}
	return nil
}

// digestsOf returns the digests of the parts of a draft by the profile's field.
func digestsOf(d mission.Draft) (map[string]digest.Digest, error) {
	digests := map[string]digest.Digest{
		"objective_sha256":            digest.Of([]byte(d.Objective)),
		"completion_condition_sha256": digest.Of([]byte(d.CompletionCondition)),
	}
	for field, part := range map[string]any{
		"allowed_artifacts_sha256": d.AllowedPaths,
		"budgets_sha256":           d.Budgets,
		"replay_argv_sha256":       d.Verifier.Argv,
	} {
		line, err := canon.Marshal(part)
		if err != nil {
			return nil, err
		}
		digests[field] = digest.Of(line)
	}
	return digests, nil
}

func drifted(field, what, recorded string, found digest.Digest) error {
	if recorded != string(found) {
		return schema.Violation("profile."+field, "the profile records %s, but %s has %s", recorded, what, found)
	}
	return nil
}

// contract reads the result contract of a profile, nil if it has none.
func (p Package) contract(profile Profile) (*mission.ResultContract, error) {
	if profile.ResultContract == "" {
		return nil, nil
	}
	data, err := disk.ReadBelow(p.Root, profile.ResultContract, maxDocumentBytes)
	if err != nil {
		return nil, err
	}
	if err := drifted("result_contract_sha256", profile.ResultContract, profile.ResultContractSHA256, digest.Of(data)); err != nil {
		return nil, err
	}
	contract, err := mission.ResultContractSpec.Parse(data)
	if err == nil && contract.Target != profile.Target {
		err = schema.Violation("result_contract.target", "expected the profile's target %q, found %q", profile.Target, contract.Target)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", profile.ResultContract, err)
	}
	return &contract, nil
}

func (p Package) checkPlatform(host string, platform Platform) error {
	for _, f := range []struct {
		field, path, digest string
		max                 int64
	}{
		{"worker_profile", platform.WorkerProfile, platform.WorkerProfileSHA256, maxDocumentBytes},
		{"verifier_capsule", platform.VerifierCapsule, platform.VerifierCapsuleSHA256, maxCapsuleBytes},
	} {
		data, err := disk.ReadBelow(p.Root, f.path, f.max)
		if err != nil {
			return err
		}
		if err := drifted("platforms."+host+"."+f.field+"_sha256", f.path, f.digest, digest.Of(data)); err != nil {
			return err
		}
	}
	return nil
}
