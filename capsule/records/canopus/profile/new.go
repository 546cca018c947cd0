package profile

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/erdos1056/erdos1056/capsule/records/canopus/mission"
	"github.com/erdos1056/erdos1056/capsule/records/schema"
	"github.com/erdos1056/erdos1056/internal/digest"
	"github.com/erdos1056/erdos1056/internal/disk"
)

// WorkerProfile is the permission profile of a mission whose worker needs
// nothing but its workspace.
//
//go:embed worker.toml
var WorkerProfile []byte

// Range is a search that a profile can be made for.
type Range struct {
	K          int64 // the number of consecutive intervals asked for
	Start, End int64 // inclusive
}

// ArtifactPath is the path of the one artifact of a search.
func (r Range) ArtifactPath() string {
	return fmt.Sprintf("artifacts/erdos1056-k%d-range-%d-%d.txt", r.K, r.Start, r.End)
}

// ProfileName is the name of the range's profile.
func (r Range) ProfileName() string { return fmt.Sprintf("erdos1056-k%d-%d-%d", r.K, r.Start, r.End) }

// Draft returns a mission draft for the range.
func (r Range) Draft() mission.Draft {
	artifact := r.ArtifactPath()
	return mission.Draft{
		ID: fmt.Sprintf("mission_erdos1056_k%d_range_%d_%d", r.K, r.Start, r.End), Target: "erdos:1056",
		Frontier: ".", Actor: "agent:erdos1056", Role: "producer", ClaimType: "computational", Replayability: "exact",
		Objective: fmt.Sprintf("Search the finite range %d..%d, both ends included, for a prime p with a fiber of at least %d cuts. "+
			"A cut of p is an integer t with 0 <= t < p, its residue is t! mod p, and a fiber is the set of all cuts with one residue. "+
			"For each prime p of the range take the fiber with the most cuts, of several the one with the smallest residue. "+
			"At the first prime whose fiber has at least %d cuts stop with status=witness and report that fiber; "+
			"else finish the range with status=negative and report the fiber with the most cuts, of several the one of the smallest prime. "+
			"Write %s: the lines schema=canopus.erdos1056-k%d-search.v1, status=, problem=1056, k=%d, range_start=%d, range_end=%d, "+
			"primes_tested=, max_multiplicity=, best_p=, best_residue=, cuts= with the cuts ascending and separated by commas, each line ended by one newline.",
			r.Start, r.End, r.K+1, r.K+1, artifact, r.K, r.K, r.Start, r.End),
		CompletionCondition: "The frozen verifier, shut in without network and without write access, recomputes the whole range and finds the artifact equal byte for byte.",
		AllowedPaths:        []string{artifact},
		Budgets: mission.Budgets{
			MaxResearchWallTimeMs: 1800000, MaxResearchProcesses: 16, MaxResearchOutputBytes: 16 << 20,
			MaxPromptBytes: 2 << 20, MaxArtifactBytes: 1 << 20, MaxAttempts: 1, MaxObservedTokens: 100000,
		},
		Worker: mission.DraftWorker{Model: "none"},
		Verifier: mission.DraftVerifier{
			Argv: []string{mission.CapsulePath, "{artifact:" + artifact + "}"}, Cwd: "site",
			TimeoutMs: 300000, MaxOutputBytes: 65536, CapsulePath: mission.CapsulePath,
		},
		ScientificChain: mission.ScientificChain{
			PerformedTest:       mission.CapsulePath + " " + artifact,
			PredictedObservable: fmt.Sprintf("The frozen verifier obtains the same result for all primes of %d..%d and exits with status 0.", r.Start, r.End),
		},
	}
}

// Ingredients are what a new profile is made from.
type Ingredients struct {
	Range    Range
	Image    string               // name@sha256:…
	Capsules map[string]CapsuleOf // by host, for every host of the policy
	// WorkerProfile is the permission profile of the worker; nil means the
	// package's own.
	WorkerProfile []byte
}

// CapsuleOf is the frozen verifier of a host.
type CapsuleOf struct {
	Platform string // linux/amd64 or linux/arm64
	Binary   []byte
}

// New writes a draft, capsules, worker profile and profile for a range into the
// package. Files that exist must be the same. It returns the profile's name.
func (p Package) New(in Ingredients) (string, error) {
	if in.Range.Start < 1 || in.Range.Start > in.Range.End {
		return "", fmt.Errorf("range %d..%d: expected 1 <= start <= end", in.Range.Start, in.Range.End)
	}
	name := in.Range.ProfileName()
	folder := fmt.Sprintf("missions/erdos1056-k%d-%d-%d", in.Range.K, in.Range.Start, in.Range.End)
	profile, files, err := p.compose(in, folder)
	if err != nil {
		return "", err
	}
	text, err := p.Policy.Spec().Value(profile)
	if err != nil {
		return "", err
	}
	if files["profiles/"+name+".json"], err = schema.Indent(text); err != nil {
		return "", err
	}
	for path, data := range files {
		if err := p.add(path, data, profile.isCapsule(path)); err != nil {
			return "", err
		}
	}
	_, err = p.Validate(name)
	return name, err
}

// compose returns the profile and the files that it names.
func (p Package) compose(in Ingredients, folder string) (Profile, map[string][]byte, error) {
	draft := in.Range.Draft()
	value, err := mission.DraftSpec.Value(draft)
	if err != nil {
		return Profile{}, nil, err
	}
	text, err := schema.Indent(value)
	if err != nil {
		return Profile{}, nil, err
	}
	digests, err := digestsOf(draft)
	if err != nil {
		return Profile{}, nil, err
	}
	profile := Profile{
		Schema: SchemaV2, Name: in.Range.ProfileName(), Target: draft.Target, TargetPacketSchema: mission.RangeWorkSchema,
		Draft: folder + "/mission.draft.json", DraftSHA256: string(digest.Of(text)),
		ObjectiveSHA256: string(digests["objective_sha256"]), CompletionConditionSHA256: string(digests["completion_condition_sha256"]),
		AllowedArtifactsSHA256: string(digests["allowed_artifacts_sha256"]), BudgetsSHA256: string(digests["budgets_sha256"]),
		ReplayArgvSHA256: string(digests["replay_argv_sha256"]),
		Landing:          mission.Deferred(), Platforms: map[string]Platform{},
	}
	worker := in.WorkerProfile
	if worker == nil {
		worker = WorkerProfile
	}
	const workerPath = "runtime/worker.toml"
	files := map[string][]byte{profile.Draft: text, workerPath: worker}
	for _, host := range p.Policy.Hosts {
		capsule, ok := in.Capsules[host.Name]
		if !ok {
			return Profile{}, nil, fmt.Errorf("host %s: the policy wants a capsule for it and none was given", host.Name)
		}
		path := fmt.Sprintf("capsules/erdos1056-k%d/%s/%d-%d/verifier", in.Range.K, host.Name, in.Range.Start, in.Range.End)
		files[path] = capsule.Binary
		profile.Platforms[host.Name] = Platform{
			WorkerProfile: workerPath, WorkerProfileSHA256: string(digest.Of(worker)),
			VerifierCapsule: path, VerifierCapsuleSHA256: string(digest.Of(capsule.Binary)),
			VerifierImage: in.Image, VerifierPlatform: capsule.Platform,
		}
	}
	return profile, files, nil
}

// add writes a file of the package; one that exists must be the same.
func (p Package) add(path string, data []byte, executable bool) error {
	err := disk.CreateBelow(p.Root, path, data, permissions(executable))
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	found, err := disk.ReadBelow(p.Root, path, maxCapsuleBytes)
	if err != nil {
		return err
	}
	if digest.Of(found) != digest.Of(data) {
		return fmt.Errorf("%s: exists with another content; remove it or choose another folder", filepath.Join(p.Root, path))
	}
	return nil
}
