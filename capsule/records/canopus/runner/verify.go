package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/mission"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/record"
	"github.com/erdos1056/erdos1056/capsule/sandbox"
	"github.com/erdos1056/erdos1056/internal/digest"
)

// Verdict says what became of one claim.
type Verdict string

// The verdicts on a claim. A claim is absent if the record that carries it is
// missing and may be: runs of the original have no signed tip, and not all of
// them have an evidence manifest and the files of the worker.
const (
	Holds  Verdict = "holds"
	Fails  Verdict = "fails"
	Absent Verdict = "absent"
)

// Claim is one statement of a run that was derived again.
type Claim struct {
	Name    string  `json:"claim"`
	Verdict Verdict `json:"verdict"`
	Detail  string  `json:"detail"`
}

// Examination says how a run is verified.
type Examination struct {
	// Runtime runs the replay; nil leaves the verdict unrepeated.
	Runtime sandbox.Runtime
	// PublicKey, if not empty, is the key that must have signed the tip: 64
	// hexadecimal digits.
	PublicKey string
}

// Verify derives every claim of a finished run again from the files that lie in
// its folder, and reports each with what was found.
func Verify(ctx context.Context, f Folder, e Examination) ([]Claim, error) {
	outcome, err := f.Outcome()
	if err != nil {
		return nil, err
	}
	x := &examiner{folder: f, examination: e}
	if outcome == record.FailureFile {
		x.claim("failure record", x.failure)
		x.claim("signed tip", x.tip)
		x.claim("mission bundle", x.mission)
		x.claim("mission of the log", x.started)
		return x.claims, nil
	}
	for _, c := range []struct {
		name  string
		check func() (string, error)
	}{
		{"run record", x.runRecord}, {"mission bundle", x.mission}, {"activity chain", x.activity}, {"signed tip", x.tip},
		{"engine result", x.engine}, {"worker files", x.workerFiles}, {"frozen artifacts", x.artifacts}, {"manifests", x.manifests}, {"candidate", x.candidate},
		{"verifier outcome", x.verifier}, {"landing", x.landing}, {"projection", x.projection}, {"budgets", x.budgets}, {"evidence manifest", x.evidence},
	} {
		x.claim(c.name, c.check)
	}
	if e.Runtime != nil {
		x.claim("verdict by replay", func() (string, error) { return x.replay(ctx) })
	}
	return x.claims, ctx.Err()
}

// Verified reports whether every claim holds; an absent one counts only if
// tolerated.
func Verified(claims []Claim, tolerateAbsent bool) bool {
	for _, c := range claims {
		if c.Verdict == Fails || c.Verdict == Absent && !tolerateAbsent {
			return false
		}
	}
	return true
}

// examiner holds what earlier claims have read for later ones. What could not
// be read stays zero, and the claims that need it say so.
type examiner struct {
	folder      Folder
	examination Examination
	claims      []Claim

	run      *record.Run
	bundle   *mission.Bundle
	events   []record.Event
	result   *record.EngineResult
	proposed *record.Candidate
	frozenOK bool
}

var errUnread = errors.New("not checked: it rests on a record that failed above")

var optional = map[string]bool{"signed tip": true, "evidence manifest": true, "worker files": true}

func (x *examiner) claim(name string, check func() (string, error)) {
	detail, err := check()
	c := Claim{name, Holds, detail}
	switch {
	case errors.Is(err, fs.ErrNotExist) && optional[name]:
		c.Verdict, c.Detail = Absent, err.Error()
	case err != nil:
		c.Verdict, c.Detail = Fails, err.Error()
	}
	x.claims = append(x.claims, c)
}

func (x *examiner) runRecord() (string, error) {
	run, err := x.folder.Run()
	if err != nil {
		return "", err
	}
	x.run = &run
	return fmt.Sprintf("%s of %s", run.Schema, run.RunID), nil
}

func (x *examiner) mission() (string, error) {
	b, err := mission.OpenBundle(x.folder.Mission())
	// A bundle whose files are incomplete still has a mission to compare with.
	if b.Digest != "" {
		x.bundle = &b
	}
	if err != nil {
		return "", err
	}
	if x.run != nil {
		want := record.RunMission{ID: b.Mission.ID, Target: b.Mission.Target, Digest: string(b.Digest), StartingRoots: b.Mission.Roots}
		if x.run.Mission != want {
			return "", fmt.Errorf("run.mission: expected %+v, found %+v", want, x.run.Mission)
		}
	}
	return fmt.Sprintf("mission %s, every file by its digest", b.Digest), nil
}

func (x *examiner) activity() (string, error) {
	events, _, err := record.ReadLog(x.folder.Record(record.ActivityFile))
	if err != nil {
		return "", err
	}
	if x.run == nil {
		return "", errUnread
	}
	if len(events) < 2 || events[0].Type != record.RunStarted || events[len(events)-1].Type != record.RunCompleted {
		return "", fmt.Errorf("expected a log from %s to %s", record.RunStarted, record.RunCompleted)
	}
	if err := checkCourse(events); err != nil {
		return "", err
	}
	x.events = events
	if events[0].RunID != x.run.RunID {
		return "", fmt.Errorf("the log is of run %s, run.json of %s", events[0].RunID, x.run.RunID)
	}
	if err := x.event(record.RunStarted, object{"mission_id": x.run.Mission.ID, "mission_digest": x.run.Mission.Digest}); err != nil {
		return "", err
	}
	last := object{"mode": "no_land", "candidate_digest": x.run.Candidate.Digest}
	if x.run.Landing != nil {
		last = object{"receipt_root": x.run.Landing.ReceiptRoot, "candidate_digest": x.run.Candidate.Digest}
	}
	if err := x.event(record.RunCompleted, last); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d events, last %s", len(events), events[len(events)-1].EventDigest), nil
}

// course is the order in which the events of a run come. Each comes at most
// once, but for artifact.frozen.
var course = []string{record.RunStarted, record.WorkspacePrepared, record.RootsVerified, record.TargetOffered, record.WorkSkipped, record.WorkClaimed,
	record.EngineStarted, record.EngineCompleted, record.ArtifactFrozen, record.VerifierCompleted, record.CandidateFinalized,
	record.ArtifactsPublished, record.ReceiptMapped, record.LandingObserved, record.LandingBound, record.LandingCompleted,
	record.ReproductionFinished, record.WithdrawalRetained, record.ProjectionWritten, record.RunCompleted, record.RunFailed}

func checkCourse(events []record.Event) error {
	last := -1
	for _, e := range events {
		at := slices.Index(course, e.Type)
		if at < last || at == last && e.Type != record.ArtifactFrozen {
			return fmt.Errorf("%s: event %d, %s, comes after %s", record.ActivityFile, e.Sequence, e.Type, course[last])
		}
		last = at
	}
	return nil
}

// event checks that the log has exactly one event of a type, with the payload.
func (x *examiner) event(eventType string, payload any) error {
	if x.events == nil {
		return errUnread
	}
	var found []canon.Value
	for _, e := range x.events {
		if e.Type == eventType {
			found = append(found, e.Payload)
		}
	}
	if len(found) != 1 {
		return fmt.Errorf("%s: expected one event %s, found %d", record.ActivityFile, eventType, len(found))
	}
	return samePayload(eventType, found[0], payload)
}

func samePayload(eventType string, found canon.Value, payload any) error {
	want, err := canon.Marshal(payload)
	if err != nil {
		return err
	}
	text, err := canon.EncodeLine(found)
	if err != nil {
		return err
	}
	if !bytes.Equal(text, want) {
		return fmt.Errorf("%s: event %s says %s; the records say %s", record.ActivityFile, eventType, bytes.TrimSpace(text), bytes.TrimSpace(want))
	}
	return nil
}

func (x *examiner) tip() (string, error) {
	data, err := x.folder.read(record.TipFile)
	if err != nil {
		return "", err
	}
	tip, err := record.TipSpec.Parse(data)
	if err != nil {
		return "", err
	}
	log, err := x.folder.read(record.ActivityFile)
	if err != nil {
		return "", err
	}
	if err := tip.CheckLog(log); err != nil {
		return "", err
	}
	if want := x.examination.PublicKey; want != "" && want != tip.PublicKey {
		return "", fmt.Errorf("tip.public_key: expected %s, found %s", want, tip.PublicKey)
	}
	if x.run != nil {
		evidence, err := x.folder.read(record.EvidenceFile)
		if err != nil {
			return "", err
		}
		if root := string(digest.Of(evidence)); tip.EvidenceRoot == nil || *tip.EvidenceRoot != root {
			return "", fmt.Errorf("tip.evidence_root: the evidence manifest has digest %s, which was not signed", root)
		}
	}
	return fmt.Sprintf("%d events, signed by %s", tip.Events, tip.PublicKey), nil
}
