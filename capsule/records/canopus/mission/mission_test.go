package mission

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/internal/vectors"
	"github.com/erdos1056/erdos1056/capsule/records/schema"
	"github.com/erdos1056/erdos1056/internal/digest"
)

const landed = "original-tool-output/runs/v0.6.3-land/mission/"

func TestMissionVerdictsAreTheOriginals(t *testing.T) {
	vectors.Compare(t, "mission", func(data []byte) error {
		_, err := Parse(data)
		return err
	})
}

func TestMissionMessagesNameTheField(t *testing.T) {
	cases := map[string]string{
		"missing actor":                      "mission.actor: this field is required",
		"schema v2":                          "mission.schema: expected one of canopus.mission.v0, canopus.mission.v1",
		"target 257":                         "mission.target: expected 1 to 256 characters",
		"budget wall 99":                     "mission.budgets.max_research_wall_time_ms: expected an integer in 100..3600000, found 99",
		"budget attempts string":             `mission.budgets.max_attempts: expected an integer in 1..8, found "1"`,
		"allowed_paths canopus/x":            `mission.allowed_paths[0]: the folder canopus is reserved for manifests, found "canopus/x"`,
		"landing permit without contract":    "mission.execution_binding: the route permit needs",
		"strict_baseline pass with blockers": "mission.strict_baseline.status: status pass disagrees with blocker_count 1592",
		"worker tools swapped":               "mission.worker.tools: expected [shell, apply_patch]",
		"argv[0] absolute":                   `mission.verifier.argv[0]: expected a relative path`,
	}
	for _, m := range vectors.Mutations(t, "mission") {
		want, ok := cases[m.Name]
		if !ok {
			continue
		}
		delete(cases, m.Name)
		if _, err := Parse(m.Document); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", m.Name, err, want)
		}
	}
	for name := range cases {
		t.Errorf("no mutation %q", name)
	}
}

func TestEveryPublishedMissionIsReadAndWrittenByteForByte(t *testing.T) {
	files, _ := filepath.Glob(vectors.Root + "/original-tool-output/runs/*/mission/mission.json")
	files = append(files, vectors.Root+"/reconstructed-real-run_eb6bcd46/mission.json")
	if len(files) != 9 {
		t.Fatalf("expected 9 missions, found %d", len(files))
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		m, err := Parse(data)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		again, err := m.Encode()
		if err != nil || !bytes.Equal(again, data) {
			t.Errorf("%s: written as %s, %v", path, again, err)
		}
	}
}

func TestMissionOfTheRealRunHasItsPublishedDigest(t *testing.T) {
	m, err := Parse(vectors.Read(t, "reconstructed-real-run_eb6bcd46/mission.json"))
	if err != nil {
		t.Fatal(err)
	}
	const published = "sha256:184719717253a80c7731dfa669c179698be50893d3b4abf88a1c0542bca1683d"
	if digest, err := m.Digest(); err != nil || digest != published {
		t.Errorf("digest %s, %v; want %s", digest, err, published)
	}
}

// No mission of version 0 was published; its fields are those of version 1
// without the ones that version 1 added.
func TestMissionOfVersion0IsReadButHasNoBundle(t *testing.T) {
	m, err := Parse(vectors.Read(t, landed+"mission.json"))
	if err != nil {
		t.Fatal(err)
	}
	m.Schema = SchemaV0
	m.TargetPacket, m.StrictBaseline, m.Worker, m.Profile = nil, nil, nil, nil
	m.Verifier.CapsulePath, m.Verifier.CapsuleSHA256, m.Verifier.Image, m.Verifier.Platform = "", "", "", ""
	data, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse(data)
	if err != nil || again.Schema != SchemaV0 || again.Worker != nil {
		t.Errorf("%+v, %v", again, err)
	}
	if _, err := again.Manifest(); err == nil {
		t.Error("a mission of version 0 has a manifest")
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "mission.json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenBundle(folder); err == nil || !strings.Contains(err.Error(), "is read, not run") {
		t.Errorf("%v", err)
	}
}

func TestPrepareMakesTheOriginalsMissionAndManifest(t *testing.T) {
	draft, err := DraftSpec.Parse(vectors.Read(t, "v0.4.0/missions/erdos1056-k15-next/mission.draft.json"))
	if err != nil {
		t.Fatal(err)
	}
	original, err := Parse(vectors.Read(t, landed+"mission.json"))
	if err != nil {
		t.Fatal(err)
	}
	parts := Parts{
		Packet:            vectors.Read(t, landed+PacketPath),
		OutputSchema:      vectors.Read(t, landed+OutputSchemaPath),
		PermissionProfile: vectors.Read(t, landed+PermissionProfilePath),
	}
	got, err := Prepare(draft, Surroundings{
		Target: "erdos:1056", Roots: original.Roots, VelaVersion: "0.901.0", VelaSHA256: original.VelaSHA256,
		StrictBaseline: *original.StrictBaseline, PacketPath: "site/problems/1056.json",
		Image: original.Verifier.Image, Platform: "linux/amd64", WorkerPlatform: "linux",
		CodexVersion: "codex-cli 0.144.6", CodexSHA256: original.Worker.CodexSHA256, Profile: original.Profile,
	}, parts)
	if err != nil {
		t.Fatal(err)
	}
	// The original's capsule is not part of the vectors: take its digest.
	got.Verifier.CapsuleSHA256 = original.Verifier.CapsuleSHA256
	got.Verifier.ExecutableSHA256 = original.Verifier.CapsuleSHA256
	data, err := got.Encode()
	if want := vectors.Read(t, landed+"mission.json"); err != nil || !bytes.Equal(data, want) {
		t.Errorf("mission %s, %v\nwant %s", data, err, want)
	}
	manifest, err := got.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	data, err = BundleManifestSpec.Encode(manifest)
	if want := vectors.Read(t, landed+"bundle-manifest.json"); err != nil || !bytes.Equal(data, want) {
		t.Errorf("manifest %s, %v\nwant %s", data, err, want)
	}
}

func TestEveryPublishedDraftIsRead(t *testing.T) {
	// The first draft of all was made for missions before version 1.
	drafts := map[string]string{
		"2026-07-16-18bb1f5/missions/erdos1056-k15": "draft.worker.memory_mb: this format has no such field",
	}
	var paths []string
	for _, pattern := range []string{"v*/missions/*/mission.draft.json", "history/*/missions/*/mission.draft.json", "v*/registrations/*/*/mission.draft.json"} {
		found, _ := filepath.Glob(filepath.Join(vectors.Root, pattern))
		paths = append(paths, found...)
	}
	if len(paths) < 25 {
		t.Fatalf("found only %d drafts", len(paths))
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = DraftSpec.Parse(data)
		refused := ""
		for draft, why := range drafts {
			if strings.Contains(path, draft) {
				refused = why
			}
		}
		if (refused != "") != (err != nil) || err != nil && !strings.Contains(err.Error(), refused) {
			t.Errorf("%s: %v; want %q", path, err, refused)
		}
	}
}

func TestDraftObjectiveMustBeFinite(t *testing.T) {
	cases := []struct {
		objective string
		want      string // "" if accepted
	}{
		{"Search the range 1..10.", ""},
		{"Find a witness for k = 15.", ""},
		{"Look at k\u00a0=\u2003 15", ""},
		{"Prove the theorem in the exact form given.", ""},
		{"Prove. The bounded case for all p.", ""},
		{"Think about primes.", "must be finite"},
		{"Ranges of primes", "must be finite"},
		{"Solve the bounded problem for every k.", "asks for a universal answer"},
	}
	for _, c := range cases {
		err := Draft{Objective: c.objective}.checkObjective()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v; want %q", c.objective, err, c.want)
		}
	}
}

func TestResultContractsAreReadByteForByte(t *testing.T) {
	paths, _ := filepath.Glob(vectors.Root + "/history/*/missions/*/result-contract.json")
	if len(paths) == 0 {
		t.Fatal("no contracts")
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		contract, err := ResultContractSpec.Parse(data)
		// The first form had no claim_exact; the original's later parser needs it too.
		if strings.Contains(path, "c972388") {
			if err == nil || !strings.Contains(err.Error(), "result_contract.claim_exact: this field is required") {
				t.Errorf("%s: %v", path, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if again, err := ResultContractSpec.Encode(contract); err != nil || !bytes.Equal(again, data) {
			t.Errorf("%s: written as %s, %v", path, again, err)
		}
	}
}

func permitted(t *testing.T) Mission {
	t.Helper()
	m, err := Parse(vectors.Read(t, landed+"mission.json"))
	if err != nil {
		t.Fatal(err)
	}
	m.Landing = Landing{[]string{"permit"}, 1}
	m.ResultContract = &ResultContract{"canopus.result-contract.v1", m.Target, "There is a witness.", "computational", "exact", "success", "passed", []string{"text-plain"}}
	if err := m.bind(); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestExecutionBindingRepeatsWhatItBinds(t *testing.T) {
	if _, err := permitted(t).Encode(); err != nil {
		t.Fatalf("a bound mission: %v", err)
	}
	other := string(digest.Of([]byte("other")))
	cases := map[string]func(m *Mission){
		"mission.execution_binding.packet_root":           func(m *Mission) { m.ExecutionBinding.PacketRoot = other },
		"mission.execution_binding.profile_root":          func(m *Mission) { m.ExecutionBinding.ProfileRoot = other },
		"mission.execution_binding.verifier_capsule_root": func(m *Mission) { m.ExecutionBinding.VerifierCapsuleRoot = other },
		"mission.execution_binding.result_contract_root":  func(m *Mission) { m.ResultContract.ClaimExact = "Another claim." },
		"mission.result_contract.target":                  func(m *Mission) { m.ResultContract.Target = "erdos:1" },
		"mission.claim_type":                              func(m *Mission) { m.ClaimType = "theoretical" },
		"mission.execution_binding":                       func(m *Mission) { m.ExecutionBinding = nil },
	}
	for want, change := range cases {
		m := permitted(t)
		change(&m)
		var field *schema.FieldError
		if _, err := m.Encode(); !errors.As(err, &field) || field.Path != want {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestAllowedPathsCoverFilesAndFolders(t *testing.T) {
	m := Mission{AllowedPaths: []string{"artifacts/a.txt"}}
	for path, want := range map[string]bool{"artifacts/a.txt": true, "artifacts/a.txt/x": true, "artifacts/a.txtx": false, "artifacts": false} {
		if got := m.CheckAllowed(path) == nil; got != want {
			t.Errorf("CheckAllowed(%s) = %t", path, got)
		}
	}
}

func FuzzMission(f *testing.F) {
	f.Add(vectors.Read(f, landed+"mission.json"))
	f.Add([]byte(`{"schema":"canopus.mission.v0"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Parse(data)
		if err != nil {
			return
		}
		text, err := m.Encode()
		if err != nil {
			t.Fatalf("an accepted mission cannot be written: %v", err)
		}
		doc, _ := canon.Parse(data, canon.RecordLimits)
		if want, _ := canon.EncodeLine(doc.Root); !bytes.Equal(text, want) {
			t.Fatalf("%s is written as %s", want, text)
		}
	})
}
