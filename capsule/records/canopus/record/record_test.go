package record

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/mission"
	"github.com/erdos1056/erdos1056/capsule/records/internal/vectors"
	"github.com/erdos1056/erdos1056/capsule/records/schema"
	"github.com/erdos1056/erdos1056/internal/digest"
)

const runs = "original-tool-output/runs/"

// reader parses a file and returns the bytes that this package writes for it.
func reader[T any](spec schema.Spec[T]) func([]byte) ([]byte, error) {
	return func(data []byte) ([]byte, error) {
		document, err := spec.Parse(data)
		if err != nil {
			return nil, err
		}
		return spec.Encode(document)
	}
}

func readRun(data []byte) ([]byte, error) {
	run, err := ParseRun(data)
	if err != nil {
		return nil, err
	}
	return run.Encode()
}

func readVerifierManifest(data []byte) ([]byte, error) {
	m, err := ParseVerifierManifest(data)
	if err != nil {
		return nil, err
	}
	if m.Schema == VerifierManifestV0Spec.ID {
		return VerifierManifestV0Spec.Encode(m)
	}
	return VerifierManifestSpec.Encode(m)
}

func TestEveryPublishedRecordIsReadAndWrittenByteForByte(t *testing.T) {
	cases := []struct {
		pattern string
		files   int
		read    func([]byte) ([]byte, error)
	}{
		{runs + "*/run/engine-result.json", 8, reader(EngineResultSpec)},
		{runs + "*/run/candidate.json", 4, reader(CandidateSpec)},
		{runs + "*/run/run.json", 4, readRun},
		{runs + "*-land/run/projection.json", 2, reader(ProjectionSpec)},
		{runs + "*-noland/run/projection.json", 2, reader(DiagnosticProjectionSpec)},
		{runs + "*/run/failure.json", 4, reader(FailureSpec)},
		{runs + "*/run/landing-command.json", 2, reader(LandingCommandSpec)},
		{runs + "*/run/landing-observation.json", 2, reader(LandingObservationSpec)},
		{runs + "*/cli/public-run.json", 1, reader(PublicRunSpec)},
		{runs + "*/cli/published/pending-commands.json", 1, reader(PendingCommandsSpec)},
		{runs + "*/cli/published/web-import.json", 1, reader(WebImportSpec)},
		{runs + "*/cli/published/root-manifest.json", 1, reader(PublicationManifestSpec)},
		{"main-4ff23a6/evidence/build-week/*.public.json", 2, reader(PublicRunSpec)},
		{"main-4ff23a6/evidence/erdos/*/public-run.json", 1, reader(PublicRunSpec)},
		{"main-4ff23a6/evidence/erdos/*/pending-commands.json", 1, reader(PendingCommandsSpec)},
		{"main-4ff23a6/evidence/erdos/*/web-import.json", 1, reader(WebImportSpec)},
		{"main-4ff23a6/evidence/erdos/*/root-manifest.json", 1, reader(PublicationManifestSpec)},
		{"derived/evidence-manifest/*/evidence-manifest.json", 2, reader(EvidenceSpec)},
		{"../erdos-frontier-packets/canopus/engine-manifests/*.json", 3, reader(EngineManifestSpec)},
		{"../erdos-frontier-packets/canopus/verifier-manifests/*.json", 3, readVerifierManifest},
	}
	for _, c := range cases {
		paths, _ := filepath.Glob(filepath.Join(vectors.Root, c.pattern))
		if len(paths) != c.files {
			t.Errorf("%s: %d files; want %d", c.pattern, len(paths), c.files)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			again, err := c.read(data)
			if err != nil || !bytes.Equal(again, data) {
				t.Errorf("%s: written as %s, %v", path, again, err)
			}
		}
	}
}

// A manifest is filed under its digest, in a frontier and among the artifacts.
func TestManifestsAreFiledUnderTheirDigest(t *testing.T) {
	paths, _ := filepath.Glob(filepath.Join(vectors.Root, "../erdos-frontier-packets/canopus/*/*.json"))
	frozen, _ := filepath.Glob(filepath.Join(vectors.Root, runs+"*/run/artifacts/*"))
	for _, path := range append(paths, frozen...) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if name := strings.TrimSuffix(filepath.Base(path), ".json"); digest.Of(data).Hex() != name {
			t.Errorf("%s has digest %s", path, digest.Of(data))
		}
	}
	if len(paths) != 6 || len(frozen) != 18 {
		t.Errorf("%d manifests and %d frozen artifacts", len(paths), len(frozen))
	}
}

func TestVerdictsAreTheOriginals(t *testing.T) {
	vectors.Compare(t, "candidate", func(data []byte) error {
		_, err := CandidateSpec.Parse(data)
		return err
	})
	vectors.Compare(t, "failure", func(data []byte) error {
		_, err := FailureSpec.Parse(data)
		return err
	})
	vectors.Compare(t, "run", func(data []byte) error {
		run, err := ParseRun(data)
		if err == nil {
			_, _, err = run.Project()
		}
		return err
	})
	m := landedMission(t)
	vectors.Compare(t, "engine-output", func(data []byte) error {
		output, err := EngineOutputSpec.Parse(data)
		if err == nil {
			err = output.CheckAllowed(m)
		}
		return err
	})
	vectors.Compare(t, "public-run", func(data []byte) error {
		run, err := ParseRun(data)
		if err == nil {
			_, err = Publish(m, run, "https://github.com/vela-science/erdos-frontier")
		}
		return err
	})
}

func landedMission(t testing.TB) mission.Mission {
	t.Helper()
	m, err := mission.Parse(vectors.Read(t, runs+"v0.6.3-land/mission/mission.json"))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func parseRun(t testing.TB, path string) Run {
	t.Helper()
	run, err := ParseRun(vectors.Read(t, path))
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func TestProjectionsAreTheOriginals(t *testing.T) {
	for _, name := range []string{"v0.4.0-land", "v0.4.0-noland", "v0.6.3-land", "v0.6.3-noland"} {
		run := parseRun(t, runs+name+"/run/run.json")
		projection, file, err := run.Project()
		if want := vectors.Read(t, runs+name+"/run/projection.json"); err != nil || !bytes.Equal(file, want) {
			t.Errorf("%s: %s, %v; want %s", name, file, err, want)
		}
		comparePrinted(t, name, projection)
	}
	for _, name := range []string{"v0.4.0-fail-null", "v0.4.0-fail-verifier", "v0.6.3-fail-null", "v0.6.3-fail-verifier"} {
		failure, err := FailureSpec.Parse(vectors.Read(t, runs+name+"/run/failure.json"))
		if err != nil {
			t.Fatal(err)
		}
		comparePrinted(t, name, failure.Project())
	}
}

// comparePrinted compares a projection with what the original's inspect printed.
func comparePrinted(t *testing.T, name string, projection any) {
	t.Helper()
	v, err := canon.Of(projection)
	if err != nil {
		t.Fatal(err)
	}
	text, err := canon.EncodeInOrder(v)
	if err != nil {
		t.Fatal(err)
	}
	if printed := vectors.Read(t, runs+name+"/cli/inspect.stdout"); !bytes.Contains(printed, append([]byte(`"projection":`), text...)) {
		t.Errorf("%s: %s\nnot in %s", name, text, printed)
	}
}

func TestCandidateIsProposedAsTheOriginalProposesIt(t *testing.T) {
	m := landedMission(t)
	for _, name := range []string{"v0.6.3-land", "v0.6.3-noland"} {
		original, err := CandidateSpec.Parse(vectors.Read(t, runs+name+"/run/candidate.json"))
		if err != nil {
			t.Fatal(err)
		}
		result, err := EngineResultSpec.Parse(vectors.Read(t, runs+name+"/run/engine-result.json"))
		if err != nil {
			t.Fatal(err)
		}
		run := parseRun(t, runs+name+"/run/run.json")
		candidate := Propose(m, result, original.Artifacts, run.Verifier, original.Costs)
		data, err := CandidateSpec.Encode(candidate)
		if err != nil || string(digest.Of(data)) != run.Candidate.Digest {
			t.Errorf("%s: %s, %v", name, data, err)
		}
		engine, err := EngineManifestSpec.Encode(result.Manifest())
		if err != nil || string(digest.Of(engine)) != original.Artifacts[1].Digest {
			t.Errorf("%s: engine manifest %s, %v", name, engine, err)
		}
		verifier, err := VerifierManifestSpec.Encode(ManifestOf(m))
		if err != nil || string(digest.Of(verifier)) != original.Artifacts[2].Digest {
			t.Errorf("%s: verifier manifest %s, %v", name, verifier, err)
		}
		if run.Observations != nil {
			got, _ := json.Marshal(Observe(candidate, run.Verifier))
			want, _ := json.Marshal(run.Observations)
			if !bytes.Equal(got, want) {
				t.Errorf("%s: observations %s; want %s", name, got, want)
			}
		}
	}
}

func TestCandidateOfAVerifierThatDidNotPass(t *testing.T) {
	result := EngineResult{Draft: EngineOutput{Status: "success", Claim: "C", Caveats: []string{"a", "a", "Pending: the verifier."}}}
	c := Propose(mission.Mission{ParentCandidate: "p", RepairReason: "r"}, result, nil, VerifierOutcome{Status: Failed}, Costs{})
	if c.Status != "failed" || c.Claim != notPassed+"C" || c.Repair == nil {
		t.Errorf("%+v", c)
	}
	if want := []string{"a", handedOff, "Declared verifier outcome: failed.", notADecision}; strings.Join(c.Caveats, "|") != strings.Join(want, "|") {
		t.Errorf("caveats %q", c.Caveats)
	}
}

func TestContractDemandsItsClaimAndKinds(t *testing.T) {
	contract := mission.ResultContract{ClaimExact: "C", CandidateStatus: "success", RequiredArtifactKinds: []string{"vela-witness"}}
	m := mission.Mission{ResultContract: &contract}
	c := Propose(m, EngineResult{Draft: EngineOutput{Status: "success", Claim: "something"}}, []Artifact{{Kind: "vela-witness"}}, VerifierOutcome{Status: Passed}, Costs{})
	if err := c.CheckContract(contract); err != nil {
		t.Errorf("%v", err)
	}
	c.Artifacts = nil
	if err := c.CheckContract(contract); err == nil || !strings.Contains(err.Error(), "requires an artifact of kind vela-witness") {
		t.Errorf("without the kind: %v", err)
	}
	c.Claim = "D"
	if err := c.CheckContract(contract); err == nil || !strings.Contains(err.Error(), "the contract's claim") {
		t.Errorf("another claim: %v", err)
	}
}

func TestEvidenceRootsAreTheOriginals(t *testing.T) {
	for _, name := range []string{"v0.6.3-land", "v0.6.3-noland"} {
		var expected struct {
			EvidenceRoot    digest.Digest `json:"evidence_root"`
			CandidateDigest string        `json:"candidate_digest"`
			RunDigest       digest.Digest `json:"run_digest"`
		}
		folder := "derived/evidence-manifest/" + name + "/"
		if err := json.Unmarshal(vectors.Read(t, folder+"EXPECTED.json"), &expected); err != nil {
			t.Fatal(err)
		}
		run := parseRun(t, runs+name+"/run/run.json")
		evidence, err := EvidenceOf(run, func(file string) ([]byte, error) {
			if strings.HasPrefix(file, "worker-") {
				return vectors.Read(t, folder+file), nil
			}
			return vectors.Read(t, runs+name+"/run/"+file), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if root, err := EvidenceSpec.Digest(evidence); err != nil || root != expected.EvidenceRoot {
			t.Errorf("%s: root %s, %v; want %s", name, root, err, expected.EvidenceRoot)
		}
		if digest, err := run.Digest(); err != nil || digest != expected.RunDigest || run.Candidate.Digest != expected.CandidateDigest {
			t.Errorf("%s: run %s, candidate %s, %v", name, digest, run.Candidate.Digest, err)
		}
	}
}

func TestPublicationsAreTheOriginals(t *testing.T) {
	public, err := Publish(landedMission(t), parseRun(t, runs+"v0.6.3-land/run/run.json"), "https://github.com/vela-science/erdos-frontier.git")
	if err != nil {
		t.Fatal(err)
	}
	comparePublication(t, public, runs+"v0.6.3-land/cli/published/", "sha256:6d0e9b4feec37dead1af0fd193c38afdeea1cab62eeb56e6aa393ba5548937a0")

	const real = "main-4ff23a6/evidence/erdos/run_192b3bef-9d6e-49e5-b72d-7ae903b29d5e/"
	public, err = PublicRunSpec.Parse(vectors.Read(t, real+"public-run.json"))
	if err != nil {
		t.Fatal(err)
	}
	comparePublication(t, public, real, digest.Of(vectors.Read(t, real+"root-manifest.json")))
	if root := digest.Of(vectors.Read(t, real+"root-manifest.json")); !strings.HasPrefix(string(root), "sha256:d4d4121f") {
		t.Errorf("root of the real bundle: %s", root)
	}
}

func comparePublication(t *testing.T, public PublicRun, original string, root digest.Digest) {
	t.Helper()
	folder, err := public.Folder()
	if err != nil || folder.BundleRoot != root {
		t.Fatalf("bundle root %s, %v; want %s", folder.BundleRoot, err, root)
	}
	output := filepath.Join(t.TempDir(), "published")
	if err := folder.Write(output); err != nil {
		t.Fatal(err)
	}
	for name := range folder.Files {
		got, err := os.ReadFile(filepath.Join(output, name))
		if want := vectors.Read(t, original+name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %s, %v; want %s", name, got, err, want)
		}
	}
	if err := folder.Write(output); err == nil {
		t.Error("a second publication replaced the first")
	}
}

func TestPublishRefusesADiagnosticRunAndAForeignRepository(t *testing.T) {
	m := landedMission(t)
	if _, err := Publish(m, parseRun(t, runs+"v0.6.3-noland/run/run.json"), "https://github.com/vela-science/erdos-frontier"); err == nil {
		t.Error("a diagnostic run was published")
	}
	for _, repository := range []string{"https://github.com/other/erdos-frontier", "https://github.com/vela-science/a/b", "http://github.com/vela-science/a", "https://github.com/vela-science/A"} {
		if _, err := Publish(m, parseRun(t, runs+"v0.6.3-land/run/run.json"), repository); err == nil {
			t.Errorf("%s passed", repository)
		}
	}
}

func TestPublishRefusesAProposalThatIsNoWord(t *testing.T) {
	run := parseRun(t, runs+"v0.6.3-land/run/run.json")
	run.Landing.ProposalID = "vpr_1; rm -r ."
	if _, err := Publish(landedMission(t), run, "https://github.com/vela-science/erdos-frontier"); err == nil || !strings.Contains(err.Error(), "run.landing.proposal_id") {
		t.Errorf("%v", err)
	}
}

func TestRealVerifierOutcomesHaveTheirPublishedRoot(t *testing.T) {
	for file, public := range map[string]string{
		"run_eb6bcd46.verifier.json": "main-4ff23a6/evidence/build-week/run_eb6bcd46-cffd-4ae8-b630-2681bd84da71.public.json",
		"run_192b3bef.verifier.json": "main-4ff23a6/evidence/erdos/run_192b3bef-9d6e-49e5-b72d-7ae903b29d5e/public-run.json",
	} {
		var run Run
		if err := json.Unmarshal(vectors.Read(t, "reconstructed-real-run_eb6bcd46/"+file), &run.Verifier); err != nil {
			t.Fatal(err)
		}
		published, err := PublicRunSpec.Parse(vectors.Read(t, public))
		if err != nil {
			t.Fatal(err)
		}
		if root, err := run.VerifierRoot(); err != nil || string(root) != published.VerifierRoot {
			t.Errorf("%s: %s, %v; want %s", file, root, err, published.VerifierRoot)
		}
	}
}

func TestLandingReplySpeaksTheWordsOfARun(t *testing.T) {
	command, err := LandingCommandSpec.Parse(vectors.Read(t, runs+"v0.6.3-land/run/landing-command.json"))
	if err != nil {
		t.Fatal(err)
	}
	reply, err := LandingReplySpec.Parse([]byte(command.Stdout))
	if err != nil {
		t.Fatal(err)
	}
	landing, err := reply.Landing()
	if err != nil {
		t.Fatal(err)
	}
	got, _ := json.Marshal(landing)
	want, _ := json.Marshal(parseRun(t, runs+"v0.6.3-land/run/run.json").Landing)
	if !bytes.Equal(got, want) {
		t.Errorf("%s; want %s", got, want)
	}
	more := strings.Replace(command.Stdout, `{"ok":true`, `{"more":[],"ok":true`, 1)
	if _, err := LandingReplySpec.Parse([]byte(more)); err != nil {
		t.Errorf("a reply that says more: %v", err)
	}
	reply.Route = ExactRetry
	if _, err := reply.Landing(); err == nil {
		t.Error("an exact retry without an original route passed")
	}
	changed := strings.Replace(command.Stdout, `"accepted_event_delta":0`, `"accepted_event_delta":1`, 1)
	if _, err := LandingReplySpec.Parse([]byte(changed)); err == nil || !strings.Contains(err.Error(), "landing_reply.accepted_event_delta") {
		t.Errorf("a wrong delta: %v", err)
	}
	command.Stdout = changed
	if _, err := LandingCommandSpec.Encode(command); err == nil || !strings.Contains(err.Error(), "stdout_digest") {
		t.Errorf("a changed stream: %v", err)
	}
}

func TestRecordsMustBeCanonical(t *testing.T) {
	data := vectors.Read(t, runs+"v0.6.3-land/run/candidate.json")
	for name, changed := range map[string][]byte{
		"a blank":               bytes.Replace(data, []byte(`,"caveats"`), []byte(`, "caveats"`), 1),
		"no final newline":      bytes.TrimSuffix(data, []byte("\n")),
		"two final newlines":    append(bytes.Clone(data), '\n'),
		"an escaped character":  bytes.Replace(data, []byte(`"success"`), []byte(`"succes\u0073"`), 1),
		"a number respelled":    bytes.Replace(data, []byte(`"bytes":287`), []byte(`"bytes":287.0`), 1),
		"a duplicate key":       bytes.Replace(data, []byte(`{"bytes":287`), []byte(`{"bytes":287,"bytes":287`), 1),
		"a smuggled prototype":  bytes.Replace(data, []byte(`{"bytes":287`), []byte(`{"__proto__":{},"bytes":287`), 1),
		"a field in other case": bytes.Replace(data, []byte(`"status"`), []byte(`"Status"`), 1),
	} {
		if bytes.Equal(changed, data) {
			t.Fatalf("%s: nothing changed", name)
		}
		if _, err := CandidateSpec.Parse(changed); err == nil {
			t.Errorf("%s passed", name)
		}
	}
}

func FuzzRecords(f *testing.F) {
	for _, path := range []string{"run.json", "candidate.json", "engine-result.json", "projection.json", "landing-observation.json"} {
		f.Add(vectors.Read(f, runs+"v0.6.3-land/run/"+path))
	}
	f.Add(vectors.Read(f, runs+"v0.6.3-fail-null/run/failure.json"))
	f.Add(vectors.Read(f, runs+"v0.6.3-land/cli/public-run.json"))
	readers := []func([]byte) ([]byte, error){readRun, readVerifierManifest, reader(CandidateSpec), reader(EngineResultSpec), reader(EngineManifestSpec),
		reader(ProjectionSpec), reader(LandingObservationSpec), reader(LandingCommandSpec), reader(LandingRecoverySpec), reader(FailureSpec),
		reader(EvidenceSpec), reader(PublicRunSpec), reader(TipSpec)}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, read := range readers {
			if again, err := read(data); err == nil && !bytes.Equal(again, data) {
				t.Fatalf("%q is written as %q", data, again)
			}
		}
	})
}
