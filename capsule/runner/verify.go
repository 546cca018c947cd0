package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"

	"github.com/erdos1056/erdos1056/capsule/canon"
	"github.com/erdos1056/erdos1056/capsule/mission"
	"github.com/erdos1056/erdos1056/capsule/record"
	"github.com/erdos1056/erdos1056/capsule/sandbox"
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
		if root := string(canon.Sum(evidence)); tip.EvidenceRoot == nil || *tip.EvidenceRoot != root {
			return "", fmt.Errorf("tip.evidence_root: the evidence manifest has digest %s, which was not signed", root)
		}
	}
	return fmt.Sprintf("%d events, signed by %s", tip.Events, tip.PublicKey), nil
}

func (x *examiner) engine() (string, error) {
	data, err := x.folder.read(record.EngineResultFile)
	if err != nil {
		return "", err
	}
	result, err := record.EngineResultSpec.Parse(data)
	if err != nil {
		return "", err
	}
	if err := x.event(record.EngineCompleted, completedPayload(result)); err != nil {
		return "", err
	}
	x.result = &result
	return fmt.Sprintf("engine %s %s", result.Engine.Name, result.Engine.Version), nil
}

func (x *examiner) workerFiles() (string, error) {
	if x.result == nil {
		return "", errUnread
	}
	result := *x.result
	for _, stream := range []struct{ name, digest string }{{record.ToolTraceFile, result.EventsDigest}, {record.WorkerStderrFile, result.StderrDigest}} {
		data, err := x.folder.read(stream.name)
		if err != nil {
			return "", err
		}
		if found := string(canon.Sum(data)); found != stream.digest {
			return "", fmt.Errorf("%s: expected %s, found %s", stream.name, stream.digest, found)
		}
	}
	transcript, err := x.folder.read(record.TranscriptFile)
	if err != nil {
		return "", err
	}
	output, err := record.EngineOutputSpec.Parse(transcript)
	if err != nil {
		return "", fmt.Errorf("%s: %w", record.TranscriptFile, err)
	}
	if !reflect.DeepEqual(output, result.Draft) {
		return "", fmt.Errorf("%s: the engine's output is not the one of %s", record.TranscriptFile, record.EngineResultFile)
	}
	return "the transcript is the engine's output; trace and stderr have their digests", nil
}

func (x *examiner) artifacts() (string, error) {
	if x.run == nil || x.result == nil {
		return "", errUnread
	}
	store, artifacts := x.folder.store(), x.run.Candidate.Artifacts
	known := map[string]bool{}
	for i, a := range artifacts {
		data, err := store.Bytes(a.Digest)
		if err != nil {
			return "", err
		}
		if int64(len(data)) != a.Bytes {
			return "", fmt.Errorf("run.candidate.artifacts[%d].bytes: expected %d, found %d", i, len(data), a.Bytes)
		}
		known[canon.Digest(a.Digest).Hex()] = true
		if i >= len(x.result.Draft.Artifacts) {
			continue
		}
		if declared := x.result.Draft.Artifacts[i]; declared.Path != a.Path || declared.Kind != a.Kind || declared.Content != string(data) {
			return "", fmt.Errorf("run.candidate.artifacts[%d]: not the artifact that the engine declared as %s", i, declared.Path)
		}
	}
	entries, err := os.ReadDir(store.Folder)
	if err != nil {
		return "", err
	}
	for _, entry := range entries {
		if !known[entry.Name()] {
			return "", fmt.Errorf("%s: %q is no artifact of the candidate", store.Folder, entry.Name())
		}
	}
	if err := x.frozenEvents(artifacts); err != nil {
		return "", err
	}
	x.frozenOK = true
	return fmt.Sprintf("%d artifacts with their digests and sizes", len(artifacts)), nil
}

func (x *examiner) frozenEvents(artifacts []record.Artifact) error {
	i := 0
	for _, e := range x.events {
		if e.Type != record.ArtifactFrozen {
			continue
		}
		if i >= len(artifacts) {
			return fmt.Errorf("%s: more artifacts were frozen than the candidate has", record.ActivityFile)
		}
		if err := samePayload(e.Type, e.Payload, object{"artifact": artifacts[i]}); err != nil {
			return err
		}
		i++
	}
	if i != len(artifacts) {
		return fmt.Errorf("%s: %d artifacts were frozen, the candidate has %d", record.ActivityFile, i, len(artifacts))
	}
	return nil
}

func (x *examiner) manifests() (string, error) {
	if x.bundle == nil || x.result == nil || !x.frozenOK {
		return "", errUnread
	}
	engine, err := record.EngineManifestSpec.Encode(x.result.Manifest())
	if err != nil {
		return "", err
	}
	verifier, err := record.VerifierManifestSpec.Encode(record.ManifestOf(x.bundle.Mission))
	if err != nil {
		return "", err
	}
	artifacts := x.run.Candidate.Artifacts[len(x.result.Draft.Artifacts):]
	if len(artifacts) != 2 {
		return "", fmt.Errorf("expected the engine's and the verifier's manifest after the engine's artifacts, found %d", len(artifacts))
	}
	for i, manifest := range manifestFiles(engine, verifier) {
		want := record.Artifact{Path: manifest.path, Kind: manifest.kind, Digest: string(canon.Sum(manifest.data)), Bytes: int64(len(manifest.data))}
		if artifacts[i] != want {
			return "", fmt.Errorf("expected %+v, found %+v", want, artifacts[i])
		}
	}
	return "derived again from the engine result and the mission", nil
}

func (x *examiner) candidate() (string, error) {
	data, err := x.folder.read(record.CandidateFile)
	if err != nil {
		return "", err
	}
	found, err := record.CandidateSpec.Parse(data)
	if err != nil {
		return "", err
	}
	if x.run == nil || x.bundle == nil || x.result == nil {
		return "", errUnread
	}
	if digest := string(canon.Sum(data)); digest != x.run.Candidate.Digest {
		return "", fmt.Errorf("run.candidate.digest: expected %s, found %s", digest, x.run.Candidate.Digest)
	}
	costs := found.Costs
	costs.Attempt = x.run.Budget.Attempts
	costs.InputTokens, costs.OutputTokens = x.result.Usage.InputTokens, x.result.Usage.OutputTokens
	want, err := x.propose(costs, data)
	if err != nil {
		return "", err
	}
	repeated := record.RunCandidate{Digest: x.run.Candidate.Digest, Status: want.Status, Claim: want.Claim, Artifacts: want.Artifacts, Caveats: want.Caveats}
	if !reflect.DeepEqual(repeated, x.run.Candidate) {
		return "", fmt.Errorf("run.candidate: expected what %s says, found %+v", record.CandidateFile, x.run.Candidate)
	}
	x.proposed = &want
	return fmt.Sprintf("candidate %s", x.run.Candidate.Digest), x.event(record.CandidateFinalized, object{"candidate_digest": x.run.Candidate.Digest, "status": want.Status})
}

// propose derives the candidate again, as either version of the original does.
func (x *examiner) propose(costs record.Costs, data []byte) (want record.Candidate, err error) {
	for _, propose := range []func(mission.Mission, record.EngineResult, []record.Artifact, record.VerifierOutcome, record.Costs) record.Candidate{
		record.ProposeAsWritten, record.Propose,
	} {
		want = propose(x.bundle.Mission, *x.result, x.run.Candidate.Artifacts, x.run.Verifier, costs)
		wanted, err := record.CandidateSpec.Encode(want)
		if err != nil {
			return want, err
		}
		if bytes.Equal(wanted, data) {
			return want, nil
		}
	}
	return want, fmt.Errorf("%s: the engine result and the verifier's outcome make another candidate: %+v", record.CandidateFile, want)
}

func (x *examiner) verifier() (string, error) {
	if x.run == nil {
		return "", errUnread
	}
	v := x.run.Verifier
	if v.Status != record.Passed || v.Record.ExitCode != 0 {
		return "", fmt.Errorf("run.verifier.status: a completed run has a verifier that passed with exit status 0, found %s with %d", v.Status, v.Record.ExitCode)
	}
	if r := x.run.Reproduction; r.VerifierStatus != v.Status || r.StdoutDigest != v.Record.StdoutDigest || r.StderrDigest != v.Record.StderrDigest {
		return "", errors.New("run.reproduction: it does not repeat the verifier's outcome")
	}
	if x.bundle != nil && v.Record.ExecutableDigest != x.bundle.Mission.Verifier.ExecutableSHA256 {
		return "", fmt.Errorf("run.verifier.record.executable_digest: expected the capsule's %s, found %s", x.bundle.Mission.Verifier.ExecutableSHA256, v.Record.ExecutableDigest)
	}
	if o := x.run.Observations; o != nil && x.proposed != nil && !reflect.DeepEqual(o, record.Observe(*x.proposed, v)) {
		return "", errors.New("run.observations: not those of the candidate and the verifier")
	}
	return v.Status, x.event(record.VerifierCompleted, object{"status": v.Status, "record": v.Record, "sandbox": v.Sandbox})
}

func (x *examiner) landing() (string, error) {
	if x.run == nil {
		return "", errUnread
	}
	if x.run.Landing == nil {
		if _, err := os.Lstat(x.folder.Record(record.LandingCommandFile)); err == nil {
			return "", fmt.Errorf("%s: a diagnostic run has none", record.LandingCommandFile)
		}
		return "none: a diagnostic run", nil
	}
	commandData, err := x.folder.read(record.LandingCommandFile)
	if err != nil {
		return "", err
	}
	command, err := record.LandingCommandSpec.Parse(commandData)
	if err != nil {
		return "", err
	}
	observationData, err := x.folder.read(record.LandingObservationFile)
	if err != nil {
		return "", err
	}
	observation, err := record.LandingObservationSpec.Parse(observationData)
	if err != nil {
		return "", err
	}
	printed, err := canon.ParseStrict([]byte(command.Stdout), canon.RecordLimits)
	if err != nil {
		return "", fmt.Errorf("%s: stdout: %w", record.LandingCommandFile, err)
	}
	if digest, err := canon.ContentDigest(printed); err != nil || string(digest) != observation.RawDigest {
		return "", fmt.Errorf("%s: not what %s printed", record.LandingObservationFile, record.LandingCommandFile)
	}
	reply, err := record.LandingReplySpec.FromValue(printed)
	if err != nil {
		return "", err
	}
	landing, err := reply.Landing()
	if err != nil {
		return "", err
	}
	if !reflect.DeepEqual(&landing, x.run.Landing) {
		return "", fmt.Errorf("run.landing: the command's reply says %+v, the run %+v", landing, *x.run.Landing)
	}
	if reply.FinalRoots != nil && *reply.FinalRoots != *x.run.FinalRoots {
		return "", fmt.Errorf("run.final_roots: the command's reply says %+v, the run %+v", *reply.FinalRoots, *x.run.FinalRoots)
	}
	return fmt.Sprintf("%s, proposal %s", landing.Route, landing.ProposalID), x.event(record.LandingCompleted, object{
		"receipt_root": landing.ReceiptRoot, "proposal_id": landing.ProposalID, "route": landing.Route, "original_route": landing.OriginalRoute,
		"accepted_event_delta": landing.AcceptedEventDelta, "publication_state": landing.PublicationState})
}

func (x *examiner) projection() (string, error) {
	found, err := x.folder.read(record.ProjectionFile)
	if err != nil {
		return "", err
	}
	if x.run == nil {
		return "", errUnread
	}
	_, want, err := x.run.Project()
	if err != nil {
		return "", err
	}
	if !bytes.Equal(found, want) {
		return "", fmt.Errorf("%s: run.json projects to %s", record.ProjectionFile, bytes.TrimSpace(want))
	}
	if x.run.Landing == nil {
		return string(canon.Sum(found)), nil
	}
	digest, err := x.run.Digest()
	if err != nil {
		return "", err
	}
	return string(canon.Sum(found)), x.event(record.ProjectionWritten, object{"candidate_digest": x.run.Candidate.Digest, "run_digest": digest, "projection_digest": canon.Sum(found)})
}

func (x *examiner) budgets() (string, error) {
	if x.run == nil || x.bundle == nil {
		return "", errUnread
	}
	b := budget{limits: x.bundle.Mission.Budgets, use: x.run.Budget}
	if err := b.exceeded(); err != nil {
		return "", err
	}
	frozen := int64(0)
	for _, a := range x.run.Candidate.Artifacts {
		frozen += a.Bytes
	}
	if frozen != x.run.Budget.ArtifactBytes {
		return "", fmt.Errorf("run.budget.artifact_bytes: expected %d, the size of the frozen artifacts, found %d", frozen, x.run.Budget.ArtifactBytes)
	}
	return "within the mission's", nil
}

func (x *examiner) evidence() (string, error) {
	found, err := x.folder.read(record.EvidenceFile)
	if err != nil {
		return "", err
	}
	if x.run == nil {
		return "", errUnread
	}
	evidence, err := record.EvidenceOf(*x.run, x.folder.read)
	if err != nil {
		return "", err
	}
	want, err := record.EvidenceSpec.Encode(evidence)
	if err != nil {
		return "", err
	}
	if !bytes.Equal(found, want) {
		return "", fmt.Errorf("%s: the files make %s", record.EvidenceFile, bytes.TrimSpace(want))
	}
	return fmt.Sprintf("evidence root %s", canon.Sum(found)), nil
}

func (x *examiner) replay(ctx context.Context) (string, error) {
	if x.run == nil || x.bundle == nil || !x.frozenOK {
		return "", errUnread
	}
	j, err := replay(ctx, x.folder, *x.run, x.bundle, x.examination.Runtime)
	if err != nil {
		return "", err
	}
	if !sameVerdict(x.run.Verifier, j.VerifierOutcome) {
		return "", fmt.Errorf("the frozen verifier now returns %s: %s", j.Status, firstLine(j))
	}
	return firstLine(j), nil
}

func (x *examiner) failure() (string, error) {
	failure, err := x.folder.Failure()
	if err != nil {
		return "", err
	}
	events, _, err := record.ReadLog(x.folder.Record(record.ActivityFile))
	if err != nil {
		return "", err
	}
	if len(events) == 0 {
		return "", fmt.Errorf("%s: the log is empty", record.ActivityFile)
	}
	last := events[len(events)-1]
	if last.EventDigest != failure.ActivityTip || last.RunID != failure.RunID {
		return "", fmt.Errorf("failure.activity_tip: expected %s of %s, found %s of %s", last.EventDigest, last.RunID, failure.ActivityTip, failure.RunID)
	}
	want := object{"error": failure.Error, "phase": failure.Phase, "landing_observed": failure.LandingObserved}
	if err := samePayload(last.Type, last.Payload, want); err != nil {
		return "", err
	}
	if failure.LandingRecovery != nil {
		data, err := x.folder.read(*failure.LandingRecovery)
		if err != nil {
			return "", err
		}
		if _, err := record.LandingRecoverySpec.Parse(data); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("failed in phase %s: %s", failure.Phase, failure.Error), nil
}
