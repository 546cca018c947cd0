package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/mission"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/record"
	"github.com/erdos1056/erdos1056/internal/digest"
)

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
	if digest := string(digest.Of(data)); digest != x.run.Candidate.Digest {
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
	return fmt.Sprintf("%s, proposal %s", landing.Route, landing.ProposalID), x.landingEvents(landing, observation.RawDigest)
}

// landingEvents checks the events from the receipt's contents to the end of the
// landing.
func (x *examiner) landingEvents(landing record.RunLanding, rawDigest string) error {
	if x.proposed == nil {
		return errUnread
	}
	evidence, counter := evidenceOf(*x.proposed, x.run.Verifier)
	for _, e := range []struct {
		eventType string
		payload   object
	}{
		{record.ReceiptMapped, object{"candidate_digest": x.run.Candidate.Digest, "evidence": evidence, "counterevidence": counter}},
		{record.LandingObserved, object{"raw_digest": rawDigest, "observation": record.LandingObservationFile}},
		{record.LandingBound, object{"receipt_root": landing.ReceiptRoot, "raw_digest": rawDigest}},
		{record.LandingCompleted, landedPayload(landing)},
		{record.ReproductionFinished, object{"matched": true, "roots": x.run.FinalRoots, "verifier_status": x.run.Reproduction.VerifierStatus}},
	} {
		if err := x.event(e.eventType, e.payload); err != nil {
			return err
		}
	}
	return nil
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
		return string(digest.Of(found)), nil
	}
	projected, err := x.run.Digest()
	if err != nil {
		return "", err
	}
	return string(digest.Of(found)), x.event(record.ProjectionWritten, object{"candidate_digest": x.run.Candidate.Digest, "run_digest": projected, "projection_digest": digest.Of(found)})
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
	return fmt.Sprintf("evidence root %s", digest.Of(found)), nil
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
	x.events = events
	return fmt.Sprintf("failed in phase %s: %s", failure.Phase, failure.Error), checkCourse(events)
}

// started compares the log of a failed run with the mission beside it.
func (x *examiner) started() (string, error) {
	if x.bundle == nil {
		return "", errUnread
	}
	return x.bundle.Mission.ID, x.event(record.RunStarted, object{"mission_id": x.bundle.Mission.ID, "mission_digest": x.bundle.Digest})
}
