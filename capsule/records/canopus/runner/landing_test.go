package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/erdos1056/erdos1056/capsule/records/canopus/mission"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/profile"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/record"
	"github.com/erdos1056/erdos1056/capsule/records/internal/vectors"
	"github.com/erdos1056/erdos1056/capsule/sandbox"
	"github.com/erdos1056/erdos1056/internal/digest"
)

// landingOrder orders a run that lands by the test program.
func landingOrder(t *testing.T, behaviour string) Order {
	t.Helper()
	order := orderOf(t, draftOf("verify"), &Search{})
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	order.Landing = &Landing{Command: []string{path, behaviour}, Frontier: t.TempDir(), Timeout: 10 * time.Second}
	return order
}

func TestLandedRunIsRecordedAndPublished(t *testing.T) {
	order := landingOrder(t, "land")
	summary := mustRun(t, order)
	if summary.Run == nil {
		t.Fatalf("%+v", summary.Failure)
	}
	if summary.Run.Schema != record.RunV1Schema || summary.Run.Landing.Route != "defer" {
		t.Errorf("%+v", summary.Run)
	}
	holds(t, summary.Folder, Examination{Runtime: order.Runtime})
	public, err := record.Publish(order.Mission, *summary.Run, "https://github.com/vela-science/erdos-frontier")
	if err != nil || public.Policy.ProposalID != "vpr_0123456789abcdef" {
		t.Errorf("%+v, %v", public, err)
	}
	for from, claim := range map[string]string{"vpr_0123456789abcdef": "landing", summary.Run.FinalRoots.GitCommit: "landing", "unchanged_pending": "projection"} {
		forged := copyRun(t, summary.Folder)
		name := record.RunFile
		if claim == "projection" {
			name = record.ProjectionFile
		}
		to := strings.Repeat("0", len(from))
		if claim == "projection" {
			to = "policy_admitted"
		}
		rewrite(t, forged.Record(name), replace(from, to))
		if got := verdicts(t, forged, Examination{})[claim]; got.Verdict != Fails {
			t.Errorf("%s forged: %+v", from, got)
		}
	}
}

// permitted orders a run whose profile permits the result of a contract.
func permitted(t *testing.T, kind string) Order {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	capsule, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	draft, err := json.Marshal(draftOf("verify"))
	if err != nil {
		t.Fatal(err)
	}
	contract := &mission.ResultContract{Schema: mission.ResultContractSpec.ID, Target: "erdos:1056", ClaimExact: "The exact claim.", ClaimType: "computational",
		Replayability: "exact", CandidateStatus: "success", VerifierStatus: "passed", RequiredArtifactKinds: []string{kind}}
	registration := &profile.Registration{Reference: mission.ProfileReference{Name: "p", Root: mission.Absent},
		Landing: mission.Landing{ExpectedRoutes: []string{"permit"}, MaxAcceptedDelta: 1}, Contract: contract}
	order := landingOrder(t, "land-permit")
	if order.Mission, order.Parts, err = Prepare(Preparation{Draft: draft, Capsule: capsule, Platform: sandbox.Native, Registration: registration}); err != nil {
		t.Fatal(err)
	}
	return order
}

func TestContractGivesTheClaimAndPermitsIt(t *testing.T) {
	order := permitted(t, "engine-manifest")
	summary := mustRun(t, order)
	if summary.Run == nil {
		t.Fatalf("%+v", summary.Failure)
	}
	if r := summary.Run; r.Candidate.Claim != "The exact claim." || r.Landing.Route != "permit" || *r.Landing.AcceptedEventDelta != 1 {
		t.Errorf("%+v", r)
	}
	holds(t, summary.Folder, Examination{})
	if _, err := record.Publish(order.Mission, *summary.Run, "https://github.com/vela-science/erdos-frontier"); err == nil || !strings.Contains(err.Error(), "publishing needs the route defer") {
		t.Errorf("a permitted run was published: %v", err)
	}
	if f := mustRun(t, permitted(t, "vela-witness")).Failure; f == nil || !strings.Contains(f.Error, "the contract requires an artifact of kind vela-witness") {
		t.Errorf("without the kind: %+v", f)
	}
}

func TestLandingThatFailsLeavesARecoveryRecord(t *testing.T) {
	for behaviour, want := range map[string]struct{ phase, text string }{
		"land-refuse":   {record.PhaseLandingCommand, "the landing command exited with status 9"},
		"land-garbage":  {record.PhaseLandingCheck, "expected a JSON value"},
		"land-permit":   {record.PhaseLandingCheck, "the mission expects defer, the command took permit"},
		"land-rootless": {record.PhaseLandingCheck, "landing_reply.final_roots"},
		"land-unbound":  {record.PhaseReceiptBinding, "no such file"},
		"sleep":         {record.PhaseLandingCommand, "did not end within 300ms"},
		"flood":         {record.PhaseLandingCommand, "wrote more than"},
	} {
		t.Run(behaviour, func(t *testing.T) {
			order := landingOrder(t, behaviour)
			if behaviour == "sleep" || behaviour == "flood" {
				order.Landing.Timeout = 300 * time.Millisecond
			}
			summary := mustRun(t, order)
			f := summary.Failure
			if f == nil || f.Phase != want.phase || !f.LandingObserved {
				t.Fatalf("%+v", f)
			}
			if behaviour != "flood" && !strings.Contains(f.Error, want.text) {
				t.Errorf("error %q; want %q", f.Error, want.text)
			}
			holds(t, summary.Folder, Examination{})
			data, err := summary.Folder.read(record.LandingRecoveryFile)
			if err != nil {
				t.Fatal(err)
			}
			recovery, err := record.LandingRecoverySpec.Parse(data)
			if err != nil || recovery.Phase != want.phase || recovery.Command == nil || recovery.InspectionError == nil {
				t.Errorf("%+v, %v", recovery, err)
			}
			if known := recovery.Raw != nil; known != (want.phase != record.PhaseLandingCommand && behaviour != "land-garbage") {
				t.Errorf("the reply is known: %t", known)
			}
		})
	}
}

func TestRunStoppedWhileLandingIsNotRepeated(t *testing.T) {
	order := landingOrder(t, "land")
	ctx, cancel := context.WithCancel(context.Background())
	order.Report = func(stage, _ string) {
		if stage == "landed" {
			cancel()
		}
	}
	if _, err := Run(ctx, order); err == nil {
		t.Fatal("a cancelled run completed")
	}
	order.Report = nil
	if _, err := Run(context.Background(), order); err == nil || !strings.Contains(err.Error(), "this run was stopped while it landed") {
		t.Errorf("the next run: %v", err)
	}
	stopped := Folder(order.Output + unfinished)
	if _, err := os.Stat(stopped.Record(record.LandingCommandFile)); err != nil {
		t.Errorf("what landed is lost: %v", err)
	}
	// A log that was changed keeps its folder too.
	rewrite(t, stopped.Record(record.ActivityFile), replace("receipt.mapped", "work.skipped"))
	if _, err := Run(context.Background(), order); err == nil || !strings.Contains(err.Error(), "was changed") {
		t.Errorf("with a changed log: %v", err)
	}
	if entries, _ := filepath.Glob(order.Output + ".stopped-*"); len(entries) != 0 {
		t.Errorf("set aside: %v", entries)
	}
}

// The original's published schemas accept what this package writes. That of
// missions is left out: it refuses the original's own, for the two fields of
// landing.
func TestRecordsSatisfyTheOriginalsSchemas(t *testing.T) {
	summary := mustRun(t, landingOrder(t, "land"))
	if summary.Run == nil {
		t.Fatalf("%+v", summary.Failure)
	}
	f := summary.Folder
	const address = "https://vela.science/schemas/canopus/"
	frozen := func(i int) string {
		return f.Record("artifacts/" + digest.Digest(summary.Run.Candidate.Artifacts[i].Digest).Hex())
	}
	for schema, path := range map[string]string{
		"engine-output.v0":     f.Record(record.TranscriptFile),
		"engine-manifest.v0":   frozen(1),
		"verifier-manifest.v1": frozen(2),
		"candidate.v0":         f.Record(record.CandidateFile),
		"run.v1":               f.Record(record.RunFile),
	} {
		compiler := jsonschema.NewCompiler()
		compiler.UseRegexpEngine(ecmaPattern)
		// The engine's manifest refers to the candidate.
		for _, name := range slices.Compact([]string{"candidate.v0", schema}) {
			if err := compiler.AddResource(address+name+".json", unmarshal(t, filepath.Join(vectors.Root, "v0.6.3/schemas", name+".json"))); err != nil {
				t.Fatal(err)
			}
		}
		compiled, err := compiler.Compile(address + schema + ".json")
		if err != nil {
			t.Fatal(err)
		}
		if err := compiled.Validate(unmarshal(t, path)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func unmarshal(t *testing.T, path string) any {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return document
}

// ecmaPattern compiles a pattern. One of the original's looks ahead, which Go's
// patterns cannot: it asks for a relative path without "..".
func ecmaPattern(pattern string) (jsonschema.Regexp, error) {
	if strings.Contains(pattern, "(?!") {
		return relativePattern(pattern), nil
	}
	return regexp.Compile(pattern)
}

type relativePattern string

func (p relativePattern) String() string { return string(p) }

func (relativePattern) MatchString(s string) bool {
	return s != "" && s[0] != '/' && !strings.Contains("/"+s+"/", "/../")
}
