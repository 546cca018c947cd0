package runner

import (
	"errors"
	"strings"

	"github.com/erdos1056/erdos1056/capsule/records/canopus/record"
	"github.com/erdos1056/erdos1056/internal/digest"
)

func (r *run) propose(result record.EngineResult, artifacts []record.Artifact, verdict judgement) (record.Candidate, digest.Digest, error) {
	costs := record.Costs{WallTimeMs: milliseconds(r.budget.elapsed()), Attempt: r.budget.use.Attempts,
		InputTokens: result.Usage.InputTokens, OutputTokens: result.Usage.OutputTokens}
	m := r.bundle.Mission
	candidate := record.Propose(m, result, artifacts, verdict.VerifierOutcome, costs)
	if m.ResultContract != nil {
		if err := candidate.CheckContract(*m.ResultContract); err != nil {
			return candidate, "", failedIn(record.PhaseEngine, err)
		}
	}
	data, err := record.CandidateSpec.Encode(candidate)
	if err != nil {
		return candidate, "", failedIn(record.PhaseFinalization, err)
	}
	if err := r.write(record.CandidateFile, data); err != nil {
		return candidate, "", err
	}
	digest := digest.Of(data)
	return candidate, digest, r.append(record.CandidateFinalized, object{"candidate_digest": digest, "status": candidate.Status})
}

// complete writes the records that close a run.
func (r *run) complete(candidate record.Candidate, candidateDigest digest.Digest, verdict, again judgement, landing *record.RunLanding, roots record.Roots) error {
	m := r.bundle.Mission
	completed := record.Run{
		Schema: record.DiagnosticSchema, RunID: r.id, Status: "completed", Authority: record.NonAuthoritative, Mode: "no_land",
		Mission:   record.RunMission{ID: m.ID, Target: m.Target, Digest: string(r.bundle.Digest), StartingRoots: m.Roots},
		Candidate: record.RunCandidate{Digest: string(candidateDigest), Status: candidate.Status, Claim: candidate.Claim, Artifacts: candidate.Artifacts, Caveats: candidate.Caveats},
		Verifier:  verdict.VerifierOutcome, Budget: r.budget.use,
		Reproduction: record.Reproduction{Matched: true, Roots: roots, VerifierStatus: again.Status,
			StdoutDigest: again.Record.StdoutDigest, StderrDigest: again.Record.StderrDigest},
	}
	if landing != nil {
		completed.Schema, completed.Mode, completed.Landing, completed.FinalRoots = record.RunV1Schema, "", landing, &roots
		completed.Observations = record.Observe(candidate, verdict.VerifierOutcome)
		if err := r.append(record.ReproductionFinished, object{"matched": true, "roots": roots, "verifier_status": again.Status}); err != nil {
			return err
		}
	}
	runData, err := completed.Encode()
	if err != nil {
		return failedIn(record.PhaseFinalization, err)
	}
	_, projection, err := completed.Project()
	if err != nil {
		return failedIn(record.PhaseFinalization, err)
	}
	if err := errors.Join(r.write(record.ProjectionFile, projection), r.write(record.RunFile, runData)); err != nil {
		return err
	}
	if err := r.appendCompletion(candidateDigest, digest.Of(runData), digest.Of(projection), landing); err != nil {
		return err
	}
	evidence, err := record.EvidenceOf(completed, r.folder.read)
	if err != nil {
		return err
	}
	evidenceData, err := record.EvidenceSpec.Encode(evidence)
	if err != nil {
		return err
	}
	if err := r.write(record.EvidenceFile, evidenceData); err != nil {
		return err
	}
	r.summary.Run, r.summary.EvidenceRoot = &completed, digest.Of(evidenceData)
	root := string(r.summary.EvidenceRoot)
	return r.signTip(&root)
}

func (r *run) appendCompletion(candidate, run, projection digest.Digest, landing *record.RunLanding) error {
	if landing == nil {
		return r.append(record.RunCompleted, object{"mode": "no_land", "candidate_digest": candidate})
	}
	if err := r.append(record.ProjectionWritten, object{"candidate_digest": candidate, "run_digest": run, "projection_digest": projection}); err != nil {
		return err
	}
	return r.append(record.RunCompleted, object{"receipt_root": landing.ReceiptRoot, "candidate_digest": candidate})
}

func (r *run) signTip(evidenceRoot *string) error {
	log, err := r.folder.read(record.ActivityFile)
	if err != nil {
		return err
	}
	tip, err := record.SignTip(log, evidenceRoot, r.key)
	if err != nil {
		return err
	}
	r.summary.TipKey = tip.PublicKey
	data, err := record.TipSpec.Encode(tip)
	if err != nil {
		return err
	}
	return r.write(record.TipFile, data)
}

// fail records a run that failed in a stage.
func (r *run) fail(stage *stageError) error {
	message := stage.Error()
	if len(message) > 16000 {
		message = strings.ToValidUTF8(message[:16000], "") + " …"
	}
	observed, err := r.writeRecovery(stage.phase)
	if err != nil {
		return err
	}
	event, err := r.log.Append(record.RunFailed, object{"error": message, "phase": stage.phase, "landing_observed": observed})
	if err != nil {
		return err
	}
	failure := record.Failure{Schema: "canopus.failure.v0", RunID: r.id, Error: message, Phase: stage.phase, LandingObserved: observed,
		ActivityTip: event.EventDigest, Authority: record.NonAuthoritative}
	if observed {
		name := record.LandingRecoveryFile
		failure.LandingRecovery = &name
	}
	data, err := record.FailureSpec.Encode(failure)
	if err != nil {
		return err
	}
	if err := r.write(record.FailureFile, data); err != nil {
		return err
	}
	r.summary.Failure = &failure
	return r.signTip(nil)
}
