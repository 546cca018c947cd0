package record

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/erdos1056/erdos1056/capsule/records/canopus/mission"
	"github.com/erdos1056/erdos1056/capsule/records/schema"
	"github.com/erdos1056/erdos1056/internal/digest"
	"github.com/erdos1056/erdos1056/internal/disk"
)

// PublicRun is the file public-run.json: what may be shown of a run that was
// landed by deferral.
type PublicRun struct {
	Schema        string             `json:"schema"`
	Authority     string             `json:"authority"`
	RunID         string             `json:"run_id"`
	Mission       PublicMission      `json:"mission"`
	Activity      PublicActivity     `json:"activity"`
	Claim         string             `json:"claim"`
	Caveats       []string           `json:"caveats"`
	ArtifactRoots []string           `json:"artifact_roots"` // sorted
	VerifierRoot  string             `json:"verifier_root"`
	ReceiptRoot   string             `json:"receipt_root"`
	Policy        PublicPolicy       `json:"policy"`
	Usage         PublicUsage        `json:"usage"`
	Source        PublicSource       `json:"source"`
	Final         PublicState        `json:"final"`
	Reproduction  PublicReproduction `json:"reproduction"`
	Nonclaims     []string           `json:"nonclaims"`
}

// PublicMission names the mission and how it was registered.
type PublicMission struct {
	ID               string `json:"id"`
	Target           string `json:"target"`
	Digest           string `json:"digest"`
	RegistrationKind string `json:"registration_kind"` // profile or mission_bundle
	RegistrationName string `json:"registration_name"`
	RegistrationRoot string `json:"registration_root"`
	TargetPacketRoot string `json:"target_packet_root"`
	Model            string `json:"model"`
}

// PublicActivity is the course of the run in three words.
type PublicActivity struct {
	Worker           string `json:"worker"`
	Verifier         string `json:"verifier"`
	CleanCloneReplay string `json:"clean_clone_replay"`
}

// PublicPolicy is how the run was landed.
type PublicPolicy struct {
	Route              string `json:"route"`
	ProposalID         string `json:"proposal_id"`
	AcceptedStateDelta int64  `json:"accepted_state_delta"`
}

// PublicUsage is what the run used.
type PublicUsage struct {
	ResearchElapsedMs int64 `json:"research_elapsed_ms"`
	ResearchProcesses int64 `json:"research_processes"`
	ObservedTokens    int64 `json:"observed_tokens"`
	Attempts          int64 `json:"attempts"`
}

// PublicState is the state of the frontier after the run.
type PublicState struct {
	Commit       string `json:"commit"`
	EventLogRoot string `json:"event_log_root"`
	SnapshotRoot string `json:"snapshot_root"`
}

// PublicSource is the state of the frontier before the run.
type PublicSource struct {
	Repository   string `json:"repository"`
	Commit       string `json:"commit"`
	EventLogRoot string `json:"event_log_root"`
	SnapshotRoot string `json:"snapshot_root"`
}

// PublicReproduction lists the commands that repeat the verification.
type PublicReproduction struct {
	Commands []string `json:"commands"`
}

var (
	publicRepository  = regexp.MustCompile(`^https://github\.com/vela-science/[a-z0-9-]+$`)
	publicStateFields = schema.Object{
		schema.Required("commit", schema.GitObject),
		schema.Required("event_log_root", schema.Digest),
		schema.Required("snapshot_root", schema.Digest),
	}
)

// PublicRunSpec is the file public-run.json.
var PublicRunSpec = schema.Spec[PublicRun]{
	Name: "public_run", ID: "canopus.public-run.v1", Title: "Public run", Canonical: true,
	Fields: schema.Object{
		schema.Required("schema", schema.Const("canopus.public-run.v1")),
		schema.Required("authority", schema.Const(ReadOnly)),
		schema.Required("run_id", runID),
		schema.Required("mission", schema.Object{
			schema.Required("id", mission.ID),
			schema.Required("target", mission.Target),
			schema.Required("digest", schema.Digest),
			schema.Required("registration_kind", schema.Enum{"profile", "mission_bundle"}),
			schema.Required("registration_name", schema.String{Min: 1, Max: 134}),
			schema.Required("registration_root", schema.Digest),
			schema.Required("target_packet_root", schema.Digest),
			schema.Required("model", name),
		}),
		schema.Required("activity", schema.Object{
			schema.Required("worker", schema.Const("success")),
			schema.Required("verifier", schema.Const("pass")),
			schema.Required("clean_clone_replay", schema.Const("matched")),
		}),
		schema.Required("claim", claim),
		schema.Required("caveats", schema.Array{Max: 10, Unique: true, Items: sentence}),
		schema.Required("artifact_roots", schema.Array{Min: 1, Max: 10, Items: schema.Digest}),
		schema.Required("verifier_root", schema.Digest),
		schema.Required("receipt_root", schema.Digest),
		schema.Required("policy", schema.Object{
			schema.Required("route", schema.Const("defer")),
			schema.Required("proposal_id", schema.String{Min: 1, Max: 256}),
			schema.Required("accepted_state_delta", schema.Integer{}),
		}),
		schema.Required("usage", schema.Object{
			schema.Required("research_elapsed_ms", count),
			schema.Required("research_processes", count),
			schema.Required("observed_tokens", count),
			schema.Required("attempts", count),
		}),
		schema.Required("source", append(schema.Object{
			schema.Required("repository", schema.String{Min: 1, Max: 256, Pattern: publicRepository, Form: "the address of a repository of the frontier's organisation"}),
		}, publicStateFields...)),
		schema.Required("final", publicStateFields),
		schema.Required("reproduction", schema.Object{
			schema.Required("commands", schema.Array{Min: 4, Max: 67, Items: schema.String{Min: 1, Max: 8192}}),
		}),
		schema.Required("nonclaims", schema.Array{Min: 3, Max: 16, Items: sentence}),
	},
	Rules: []schema.Rule[PublicRun]{{Text: "artifact_roots ascend.", Check: func(p PublicRun) error {
		return ascending([]string{"artifact_roots"}, p.ArtifactRoots)
	}}},
}

var nonclaims = []string{
	"Verifier success is not scientific acceptance.",
	"The bounded result does not establish maximality or settle the broader scientific problem.",
	"Canopus did not sign or perform a human decision.",
}

const handedOffPublicly = "The worker handed off without verifier authority; Canopus subsequently recorded the separate verifier pass shown in this projection."

// Publish makes the public form of a landed run of a mission. It refuses a run
// that is not of the mission, did not succeed twice, or was not deferred.
func Publish(m mission.Mission, run Run, repository string) (PublicRun, error) {
	if err := publishable(m, run); err != nil {
		return PublicRun{}, err
	}
	repository = strings.TrimSuffix(repository, ".git")
	if !publicRepository.MatchString(repository) {
		return PublicRun{}, fmt.Errorf("repository %q: expected https://github.com/vela-science/NAME", repository)
	}
	verifierRoot, err := run.VerifierRoot()
	if err != nil {
		return PublicRun{}, err
	}
	start := run.Mission.StartingRoots
	p := PublicRun{
		Schema: "canopus.public-run.v1", Authority: ReadOnly, RunID: run.RunID,
		Mission: PublicMission{run.Mission.ID, run.Mission.Target, run.Mission.Digest, "mission_bundle", m.ID, run.Mission.Digest,
			m.TargetPacket.SHA256, m.Worker.Model},
		Activity: PublicActivity{"success", "pass", "matched"},
		Claim:    run.Candidate.Claim, ArtifactRoots: run.artifactRoots(), VerifierRoot: string(verifierRoot), ReceiptRoot: run.Landing.ReceiptRoot,
		Policy:    PublicPolicy{"defer", run.Landing.ProposalID, 0},
		Usage:     PublicUsage{run.Budget.ResearchElapsedMs, run.Budget.ResearchProcesses, run.Budget.ObservedTokens, run.Budget.Attempts},
		Source:    PublicSource{repository, start.GitCommit, start.VelaEventLog, start.VelaSnapshot},
		Final:     PublicState{run.FinalRoots.GitCommit, run.FinalRoots.VelaEventLog, run.FinalRoots.VelaSnapshot},
		Nonclaims: nonclaims,
	}
	if m.Profile != nil {
		p.Mission.RegistrationKind, p.Mission.RegistrationName, p.Mission.RegistrationRoot = "profile", m.Profile.Name, m.Profile.Root
	}
	for _, caveat := range run.Candidate.Caveats {
		if caveat != handedOff && pendingVerification.MatchString(caveat) {
			caveat = handedOffPublicly
		}
		if !slices.Contains(p.Caveats, caveat) {
			p.Caveats = append(p.Caveats, caveat)
		}
	}
	p.Reproduction.Commands = []string{"git clone " + repository + ".git", "cd " + path.Base(repository), "git checkout " + run.FinalRoots.GitCommit}
	for _, allowed := range m.AllowedPaths {
		p.Reproduction.Commands = append(p.Reproduction.Commands, "vela reproduce '"+strings.ReplaceAll(allowed, "'", `'"'"'`)+"'")
	}
	_, err = PublicRunSpec.Value(p)
	return p, err
}

func publishable(m mission.Mission, run Run) error {
	if run.Schema == DiagnosticSchema {
		return errors.New("a diagnostic run was not landed and cannot be published")
	}
	digest, err := m.Digest()
	switch {
	case err != nil:
		return err
	case m.Schema != mission.SchemaV1:
		return schema.Violation("mission.schema", "expected %s to publish a run, found %s", mission.SchemaV1, m.Schema)
	case string(digest) != run.Mission.Digest || m.ID != run.Mission.ID:
		return schema.Violation("run.mission.digest", "expected %s, the mission's, found %s", digest, run.Mission.Digest)
	case run.Candidate.Status != "success" || len(run.Candidate.Artifacts) == 0:
		return schema.Violation("run.candidate.status", "publishing needs a successful candidate with an artifact")
	case run.Verifier.Status != Passed || run.Reproduction.VerifierStatus != Passed:
		return schema.Violation("run.verifier.status", "publishing needs a verifier that passed twice, found %s and %s", run.Verifier.Status, run.Reproduction.VerifierStatus)
	case run.Landing.Route != "defer" || run.Landing.AcceptedEventDelta == nil || *run.Landing.AcceptedEventDelta != 0:
		return schema.Violation("run.landing.route", "publishing needs the route defer with an accepted delta of 0, found %s", run.Landing.Route)
	case !proposal.MatchString(run.Landing.ProposalID):
		return schema.Violation("run.landing.proposal_id", "it becomes part of commands; expected letters, digits, '.', '_', ':', '-', found %q", run.Landing.ProposalID)
	}
	return nil
}

// proposal is a proposal's id that a shell takes as one word.
var proposal = regexp.MustCompile(`^[A-Za-z0-9._:-]+$`)

// PendingCommands is the file pending-commands.json: what a person can run to
// judge a proposal.
type PendingCommands struct {
	Schema     string           `json:"schema"`
	Authority  string           `json:"authority"`
	ProposalID string           `json:"proposal_id"`
	Commands   []PendingCommand `json:"commands"`
}

// PendingCommand is one command with its purpose.
type PendingCommand struct {
	Purpose   string `json:"purpose"`
	Authority string `json:"authority"`
	Command   string `json:"command"`
}

// PendingCommandsSpec is the file pending-commands.json.
var PendingCommandsSpec = schema.Spec[PendingCommands]{
	Name: "pending_commands", ID: "canopus.pending-commands.v1", Title: "Commands to judge a proposal", Canonical: true,
	Fields: schema.Object{
		schema.Required("schema", schema.Const("canopus.pending-commands.v1")),
		schema.Required("authority", schema.Const("none")),
		schema.Required("proposal_id", schema.String{Min: 1, Max: 256}),
		schema.Required("commands", schema.Array{Min: 1, Max: 16, Items: schema.Object{
			schema.Required("purpose", name), schema.Required("authority", name), schema.Required("command", sentence)}}),
	},
}

// WebImport is the file web-import.json.
type WebImport struct {
	Schema             string `json:"schema"`
	Authority          string `json:"authority"`
	RunID              string `json:"run_id"`
	ProjectionPath     string `json:"projection_path"`
	ProjectionRoot     string `json:"projection_root"`
	Route              string `json:"route"`
	AcceptedStateDelta int64  `json:"accepted_state_delta"`
}

// WebImportSpec is the file web-import.json.
var WebImportSpec = schema.Spec[WebImport]{
	Name: "web_import", ID: "vela-web.canopus-import.v1", Title: "Import of a public run", Canonical: true,
	Fields: schema.Object{
		schema.Required("schema", schema.Const("vela-web.canopus-import.v1")),
		schema.Required("authority", schema.Const("read_only")),
		schema.Required("run_id", runID),
		schema.Required("projection_path", schema.Const("public-run.json")),
		schema.Required("projection_root", schema.Digest),
		schema.Required("route", schema.Const("defer")),
		schema.Required("accepted_state_delta", schema.Integer{}),
	},
}

// PublicationManifest is the file root-manifest.json.
type PublicationManifest struct {
	Schema    string            `json:"schema"`
	Authority string            `json:"authority"`
	RunID     string            `json:"run_id"`
	Files     map[string]string `json:"files"` // digest by name
}

// PublicationManifestSpec is the file root-manifest.json.
var PublicationManifestSpec = schema.Spec[PublicationManifest]{
	Name: "publication", ID: "canopus.publication-manifest.v1", Title: "Manifest of a publication", Canonical: true,
	Fields: schema.Object{
		schema.Required("schema", schema.Const("canopus.publication-manifest.v1")),
		schema.Required("authority", schema.Const("none")),
		schema.Required("run_id", runID),
		schema.Required("files", schema.Object{
			schema.Required("pending-commands.json", schema.Digest),
			schema.Required("public-run.json", schema.Digest),
			schema.Required("web-import.json", schema.Digest),
		}),
	},
}

// PublicFolder is the folder that publishes a run: its files by name, the
// digest of public-run.json and the digest of root-manifest.json.
type PublicFolder struct {
	Files          map[string][]byte
	ProjectionRoot digest.Digest
	BundleRoot     digest.Digest
}

// Folder makes the folder of a public run.
func (p PublicRun) Folder() (PublicFolder, error) {
	public, err := PublicRunSpec.Encode(p)
	if err != nil {
		return PublicFolder{}, err
	}
	root := digest.Of(public)
	id := p.Policy.ProposalID
	pending, err := PendingCommandsSpec.Encode(PendingCommands{"canopus.pending-commands.v1", "none", id, []PendingCommand{
		{"reproduce_pending_artifact", "read_only", "vela reproduce . --proposal " + id + " --json"},
		{"inspect_review_material", "read_only", "vela review show . " + id + " --json"},
		{"retain_independent_verifier_evidence", "evidence_only", "vela verify attach . <attachment.json> --proposal " + id + " --as verifier:<actor> --json"},
	}})
	if err != nil {
		return PublicFolder{}, err
	}
	web, err := WebImportSpec.Encode(WebImport{"vela-web.canopus-import.v1", "read_only", p.RunID, "public-run.json", string(root), "defer", 0})
	if err != nil {
		return PublicFolder{}, err
	}
	files := map[string][]byte{"pending-commands.json": pending, "public-run.json": public, "web-import.json": web}
	digests := map[string]string{}
	for name, data := range files {
		digests[name] = string(digest.Of(data))
	}
	manifest, err := PublicationManifestSpec.Encode(PublicationManifest{"canopus.publication-manifest.v1", "none", p.RunID, digests})
	if err != nil {
		return PublicFolder{}, err
	}
	files["root-manifest.json"] = manifest
	return PublicFolder{files, root, digest.Of(manifest)}, nil
}

// Write writes the folder under a new name.
func (f PublicFolder) Write(folder string) error {
	return disk.CreateFolder(folder, func(draft string) error {
		for name, data := range f.Files {
			if err := disk.Create(filepath.Join(draft, name), data, 0o644); err != nil {
				return err
			}
		}
		return nil
	})
}
