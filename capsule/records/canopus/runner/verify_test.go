package runner

import (
	"bytes"
	"context"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/mission"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/record"
	"github.com/erdos1056/erdos1056/capsule/records/internal/vectors"
	"github.com/erdos1056/erdos1056/capsule/records/keys"
	"github.com/erdos1056/erdos1056/internal/digest"
)

// copyRun copies a finished run, so that a test can forge it.
func copyRun(t *testing.T, f Folder) Folder {
	t.Helper()
	target := filepath.Join(tempDir(t), "forged")
	if err := os.CopyFS(target, os.DirFS(string(f))); err != nil {
		t.Fatal(err)
	}
	// CopyFS keeps no execute permission.
	if err := os.Chmod(filepath.Join(target, missionFolder, mission.CapsulePath), 0o500); err != nil {
		t.Fatal(err)
	}
	return Folder(target)
}

func rewrite(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := change(data)
	if bytes.Equal(changed, data) {
		t.Fatalf("%s: nothing changed", path)
	}
	os.Chmod(filepath.Dir(path), 0o700)
	os.Chmod(path, 0o600)
	if err := os.WriteFile(path, changed, 0o600); err != nil {
		t.Fatal(err)
	}
}

func replace(from, to string) func([]byte) []byte {
	return func(data []byte) []byte { return bytes.ReplaceAll(data, []byte(from), []byte(to)) }
}

// resign makes the evidence manifest and the tip fit the forged files, as a
// forger with a key of his own can.
func resign(t *testing.T, f Folder) {
	t.Helper()
	run, err := f.Run()
	if err != nil {
		t.Fatal(err)
	}
	evidence, err := record.EvidenceOf(run, f.read)
	if err != nil {
		t.Fatal(err)
	}
	data, err := record.EvidenceSpec.Encode(evidence)
	if err != nil {
		t.Fatal(err)
	}
	rewriteWhole(t, f.Record(record.EvidenceFile), data)
	key, err := keys.Generate()
	if err != nil {
		t.Fatal(err)
	}
	log, err := f.read(record.ActivityFile)
	if err != nil {
		t.Fatal(err)
	}
	root := string(digest.Of(data))
	tip, err := record.SignTip(log, &root, key)
	if err != nil {
		t.Fatal(err)
	}
	if data, err = record.TipSpec.Encode(tip); err != nil {
		t.Fatal(err)
	}
	rewriteWhole(t, f.Record(record.TipFile), data)
}

func rewriteWhole(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// verdicts returns what became of each claim.
func verdicts(t *testing.T, f Folder, e Examination) map[string]Claim {
	t.Helper()
	claims, err := Verify(context.Background(), f, e)
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]Claim{}
	for _, c := range claims {
		byName[c.Name] = c
	}
	return byName
}

func TestForgedRunsAreCaught(t *testing.T) {
	summary := mustRun(t, orderOf(t, draftOf("verify"), &Search{}))
	honest := summary.Folder
	frozen := summary.Run.Candidate.Artifacts[0].Digest
	artifact := "artifacts/" + digest.Digest(frozen).Hex()
	other := string(digest.Of([]byte("other")))
	cases := []struct {
		name, file string
		change     func([]byte) []byte
		claim      string // the claim that must fail even after the forger signs anew
	}{
		{"claim in run.json", "run.json", replace("None of the", "All of the"), "candidate"},
		{"claim in candidate.json", "candidate.json", replace("None of the", "All of the"), "candidate"},
		{"claim in engine-result.json", "engine-result.json", replace("None of the", "All of the"), "engine result"},
		{"claim in worker-final.json", "worker-final.json", replace("None of the", "All of the"), "worker files"},
		{"artifact digest in run.json", "run.json", replace(frozen, other), "frozen artifacts"},
		{"artifact bytes in run.json", "run.json", replace(`"bytes":`+itoa(summary.Run.Candidate.Artifacts[0].Bytes), `"bytes":1`), "frozen artifacts"},
		{"artifact", artifact, replace("negative", "witness!"), "frozen artifacts"},
		{"candidate digest in run.json", "run.json", replace(summary.Run.Candidate.Digest, other), "candidate"},
		{"mission digest in run.json", "run.json", replace(summary.Run.Mission.Digest, other), "mission bundle"},
		{"target in run.json", "run.json", replace(`"target":"erdos:1056"`, `"target":"erdos:1057"`), "mission bundle"},
		{"verifier status in run.json", "run.json", replace(`"sandbox":"container_network_denied","status":"passed"`, `"sandbox":"container_network_denied","status":"failed"`), "verifier outcome"},
		{"verifier stdout in run.json", "run.json", replace(summary.Run.Verifier.Record.StdoutDigest, other), "verifier outcome"},
		{"attempts in run.json", "run.json", replace(`"attempts":1`, `"attempts":2`), "budgets"},
		{"frozen bytes in run.json", "run.json", replace(`"artifact_bytes":`, `"artifact_bytes":1`), "budgets"},
		{"worker trace", "worker-events.jsonl", replace("negative", "witness!"), "worker files"},
		{"projection", "projection.json", replace("passed", "failed"), "projection"},
		{"event payload", "activity.jsonl", replace("None of the", "All of the"), "activity chain"},
		{"mission", "../mission/mission.json", replace("erdos:1056", "erdos:1057"), "mission bundle"},
		{"packet", "../mission/packet/target.json", replace("2000", "2001"), "mission bundle"},
		{"capsule", "../mission/capsule/verifier", func(data []byte) []byte { return append(bytes.Clone(data), 0) }, "mission bundle"},
		{"bundle manifest", "../mission/bundle-manifest.json", replace("non_authoritative", "authoritative"), "mission bundle"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			forged := copyRun(t, honest)
			rewrite(t, forged.Record(c.file), c.change)
			if got := verdicts(t, forged, Examination{}); got[c.claim].Verdict != Fails {
				t.Errorf("claim %s: %+v", c.claim, got[c.claim])
			}
			if c.file == "activity.jsonl" {
				return // a broken chain cannot be signed
			}
			resign(t, forged)
			got := verdicts(t, forged, Examination{})
			if got[c.claim].Verdict != Fails || got["evidence manifest"].Verdict != Holds || got["signed tip"].Verdict != Holds {
				t.Errorf("signed anew: %+v, %+v, %+v", got[c.claim], got["evidence manifest"], got["signed tip"])
			}
		})
	}
	t.Run("the log cut off", func(t *testing.T) {
		forged := copyRun(t, honest)
		rewrite(t, forged.Record(record.ActivityFile), func(data []byte) []byte {
			return data[:bytes.LastIndexByte(data[:len(data)-1], '\n')+1]
		})
		if got := verdicts(t, forged, Examination{})["signed tip"]; got.Verdict != Fails || !strings.Contains(got.Detail, "the log was cut off") {
			t.Errorf("%+v", got)
		}
	})
	t.Run("tip removed", func(t *testing.T) {
		forged := copyRun(t, honest)
		os.Remove(forged.Record(record.TipFile))
		claims, err := Verify(context.Background(), forged, Examination{})
		if err != nil || Verified(claims, false) || !Verified(claims, true) {
			t.Errorf("%+v, %v", claims, err)
		}
	})
	t.Run("another key", func(t *testing.T) {
		forged := copyRun(t, honest)
		resign(t, forged)
		if got := verdicts(t, forged, Examination{PublicKey: strings.Repeat("0", 64)})["signed tip"]; got.Verdict != Fails || !strings.Contains(got.Detail, "tip.public_key") {
			t.Errorf("%+v", got)
		}
	})
	t.Run("a stray file among the artifacts", func(t *testing.T) {
		forged := copyRun(t, honest)
		os.Chmod(forged.Record(record.ArtifactFolder), 0o700)
		rewriteWhole(t, forged.Record(record.ArtifactFolder+"/stray"), nil)
		if got := verdicts(t, forged, Examination{})["frozen artifacts"]; got.Verdict != Fails {
			t.Errorf("%+v", got)
		}
	})
}

func itoa(n int64) string { text, _ := canon.FormatNumber(float64(n)); return text }

// An artifact that the capsule does not accept is caught by the replay even if
// every record was made to agree with it.
func TestReplayCatchesAnArtifactThatAllRecordsAgreeOn(t *testing.T) {
	order := orderOf(t, draftOf("verify"), &Search{})
	summary := mustRun(t, order)
	honest := verdicts(t, summary.Folder, Examination{Runtime: order.Runtime})["verdict by replay"]
	if honest.Verdict != Holds {
		t.Fatalf("%+v", honest)
	}
	if result, err := Replay(context.Background(), summary.Folder, order.Runtime); err != nil || !result.Matched || result.VerifierStatus != record.Passed {
		t.Errorf("%+v, %v", result, err)
	}
	// A capsule that prints something else stands for a verdict that was made up.
	forged := copyRun(t, summary.Folder)
	run, err := forged.Run()
	if err != nil {
		t.Fatal(err)
	}
	other := string(digest.Of([]byte("verified primes=999\n")))
	rewrite(t, forged.Record(record.RunFile), replace(run.Verifier.Record.StdoutDigest, other))
	if got := verdicts(t, forged, Examination{Runtime: order.Runtime})["verdict by replay"]; got.Verdict != Fails || !strings.Contains(got.Detail, "now returns passed") {
		t.Errorf("%+v", got)
	}
	if result, err := Replay(context.Background(), forged, order.Runtime); err != nil || result.Matched || result.OK {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestForgedFailuresAreCaught(t *testing.T) {
	summary := mustRun(t, orderOf(t, draftOf("reject"), &Search{}))
	holds(t, summary.Folder, Examination{})
	for _, c := range []struct{ from, to string }{
		{"verifier_non_success", "engine_non_success"}, {"verifier returned failed", "verifier returned error"},
		{summary.Failure.ActivityTip, string(digest.Of(nil))}, {summary.Failure.RunID, "run_12345678"},
	} {
		forged := copyRun(t, summary.Folder)
		rewrite(t, forged.Record(record.FailureFile), replace(c.from, c.to))
		if got := verdicts(t, forged, Examination{})["failure record"]; got.Verdict != Fails {
			t.Errorf("%s: %+v", c.to, got)
		}
	}
}

func TestEventsOutOfCourseAreCaught(t *testing.T) {
	for _, types := range [][]string{
		{record.RunStarted, record.EngineStarted, record.WorkspacePrepared}, {record.RunStarted, record.RunStarted},
		{record.RunStarted, record.VerifierCompleted, record.ArtifactFrozen}, {record.RunStarted, record.RunCompleted, record.EngineCompleted},
	} {
		var events []record.Event
		for _, eventType := range types {
			events = append(events, record.Event{Type: eventType})
		}
		if err := checkCourse(events); err == nil || !strings.Contains(err.Error(), "comes after") {
			t.Errorf("%v: %v", types, err)
		}
	}
	if err := checkCourse([]record.Event{{Type: record.RunStarted}, {Type: record.ArtifactFrozen}, {Type: record.ArtifactFrozen}, {Type: record.RunCompleted}}); err != nil {
		t.Errorf("several artifacts: %v", err)
	}
}

func TestTipIsSignedByTheGivenKey(t *testing.T) {
	key, err := keys.Generate()
	if err != nil {
		t.Fatal(err)
	}
	order := orderOf(t, draftOf("verify"), &Search{})
	order.Key = &key
	holds(t, mustRun(t, order).Folder, Examination{PublicKey: hex.EncodeToString(key.Public())})
}

// The original's runs verify as far as their records go: they have no tip, and
// the vectors lack the capsule and the worker's files.
func TestRunsOfTheOriginalVerify(t *testing.T) {
	for _, name := range []string{"v0.4.0-land", "v0.4.0-noland", "v0.4.0-fail-null", "v0.4.0-fail-verifier",
		"v0.6.3-land", "v0.6.3-noland", "v0.6.3-fail-null", "v0.6.3-fail-verifier"} {
		claims, err := Verify(context.Background(), Folder(filepath.Join(vectors.Root, "original-tool-output/runs", name)), Examination{})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range claims {
			want := Holds
			switch {
			case optional[c.Name]:
				want = Absent
			case c.Name == "mission bundle":
				want = Fails // the capsule is not redistributed
			}
			if c.Verdict != want {
				t.Errorf("%s: %s %s: %s", name, c.Name, c.Verdict, c.Detail)
			}
		}
	}
}

// The two forgeries that the original's inspect and public-run accept.
func TestForgeriesThatTheOriginalAcceptsAreCaught(t *testing.T) {
	zero := "sha256:" + strings.Repeat("0", 64)
	original := Folder(filepath.Join(vectors.Root, "original-tool-output/runs/v0.6.3-land"))
	run, err := original.Run()
	if err != nil {
		t.Fatal(err)
	}
	for claim, forge := range map[string]string{"candidate": run.Candidate.Digest, "frozen artifacts": run.Candidate.Artifacts[0].Digest} {
		forged := filepath.Join(tempDir(t), "run")
		if err := os.CopyFS(forged, os.DirFS(string(original))); err != nil {
			t.Fatal(err)
		}
		rewrite(t, Folder(forged).Record(record.RunFile), replace(forge, zero))
		if got := verdicts(t, Folder(forged), Examination{})[claim]; got.Verdict != Fails {
			t.Errorf("%+v", got)
		}
	}
}
