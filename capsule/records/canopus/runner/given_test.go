package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/capsule/records/canopus/mission"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/record"
)

func TestGivenArtifactIsFrozenAndJudged(t *testing.T) {
	draft := draftOf("verify")
	name := filepath.Join(t.TempDir(), "answer.txt")
	search := mustRun(t, orderOf(t, draft, &Search{}))
	text, err := search.Folder.store().Bytes(search.Run.Candidate.Artifacts[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	given := mustRun(t, orderOf(t, draft, &Given{Path: name}))
	if given.Run == nil || given.Run.Candidate.Artifacts[0] != search.Run.Candidate.Artifacts[0] {
		t.Errorf("%+v; want the artifact of the search", given)
	}
	if strings.Contains(given.Run.Candidate.Claim, "prime") {
		t.Errorf("the engine claims %q", given.Run.Candidate.Claim)
	}
	holds(t, given.Folder, Examination{Runtime: runtimeFor(t)})
}

func TestGivenArtifactThatCannotBeFrozenEndsTheRun(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ text, want string }{
		"large":  {strings.Repeat("x", 5000), "artifact_bytes budget exceeded: 5000 > 4000"},
		"binary": {"\x1f\x8b", "not UTF-8 text"},
		"empty":  {"", "the file is empty"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		draft := draftOf("verify")
		draft.Budgets.MaxArtifactBytes = 4000
		f := mustRun(t, orderOf(t, draft, &Given{Path: path})).Failure
		if f == nil || f.Phase != record.PhaseEngine || !strings.Contains(f.Error, c.want) {
			t.Errorf("%s: %+v; want %q", name, f, c.want)
		}
	}
	f := mustRun(t, orderOf(t, draftOf("verify"), &Given{Path: filepath.Join(dir, "missing")})).Failure
	if f == nil || f.Phase != record.PhaseInitializing || !strings.Contains(f.Error, "no such file") {
		t.Errorf("missing: %+v", f)
	}
	if _, err := (&Given{Path: dir}).Identity(mission.Mission{AllowedPaths: []string{"a", "b"}}); err == nil || !strings.Contains(err.Error(), "the mission allows 2") {
		t.Errorf("two artifacts: %v", err)
	}
}
