package runner

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/erdos1056/erdos1056/capsule/canon"
	"github.com/erdos1056/erdos1056/capsule/file"
	"github.com/erdos1056/erdos1056/capsule/keys"
	"github.com/erdos1056/erdos1056/capsule/mission"
	"github.com/erdos1056/erdos1056/capsule/record"
	"github.com/erdos1056/erdos1056/capsule/sandbox"
)

// Order says which mission to run, how, and where to leave the records.
type Order struct {
	Mission mission.Mission
	Parts   mission.Parts
	Output  string // the folder of the run; it must not exist
	Engine  Engine
	Runtime sandbox.Runtime
	// Landing is nil for a diagnostic run.
	Landing *Landing
	// Key signs the tip of the activity log; nil means a key made for this run
	// and forgotten with it.
	Key *keys.Key
	// Report is told of every stage, for a person. It may be nil.
	Report func(stage, text string)
}

// Summary is what a finished run came to.
type Summary struct {
	Folder       Folder
	Run          *record.Run     // of a completed run
	Failure      *record.Failure // of a failed run
	EvidenceRoot canon.Digest    // of a completed run
	TipKey       string          // public key of the log's tip, 64 hexadecimal digits
}

// Run carries out a mission. A run that failed in a stage is recorded like any
// other and is no error; an error means that nothing was recorded under the
// order's output.
func Run(ctx context.Context, order Order) (Summary, error) {
	if order.Report == nil {
		order.Report = func(string, string) {}
	}
	folder, lock, err := claim(order.Output)
	if err != nil {
		return Summary{}, err
	}
	defer lock.Close()
	if err := mission.WriteBundle(folder.Mission(), order.Mission, order.Parts); err != nil {
		return Summary{}, errors.Join(err, os.RemoveAll(string(folder)))
	}
	bundle, err := mission.OpenBundle(folder.Mission())
	if err != nil {
		return Summary{}, err
	}
	order.Report("prepared", fmt.Sprintf("mission %s", bundle.Digest))
	r, err := begin(order, folder, bundle)
	if err != nil {
		return Summary{}, err
	}
	defer r.log.Close()
	err = r.stages(ctx)
	if ctx.Err() != nil {
		return Summary{}, context.Cause(ctx)
	}
	var stage *stageError
	switch {
	case err == nil:
	case errors.As(err, &stage):
		if err := r.fail(stage); err != nil {
			return Summary{}, err
		}
	default:
		return Summary{}, err
	}
	r.summary.Folder, err = folder.finish(order.Output)
	return r.summary, err
}

// run is a run under way.
type run struct {
	order   Order
	folder  Folder
	bundle  mission.Bundle
	id      string
	log     *record.Log
	budget  *budget
	store   *record.Store
	key     keys.Key
	recover landingState
	summary Summary
}

// stageError says in which phase a run failed.
type stageError struct {
	phase string
	err   error
}

func (e *stageError) Error() string { return e.err.Error() }
func (e *stageError) Unwrap() error { return e.err }

func begin(order Order, folder Folder, bundle mission.Bundle) (*run, error) {
	r := &run{order: order, folder: folder, bundle: bundle}
	var err error
	if order.Key != nil {
		r.key = *order.Key
	} else if r.key, err = keys.Generate(); err != nil {
		return nil, err
	}
	if r.id, err = newRunID(); err != nil {
		return nil, err
	}
	for _, name := range []string{"input", "landing", "output"} {
		if err := os.MkdirAll(folder.Record(name), 0o700); err != nil {
			return nil, err
		}
	}
	if r.store, err = record.OpenStore(folder.Record(record.ArtifactFolder), bundle.Mission.Budgets.MaxArtifactBytes); err != nil {
		return nil, err
	}
	r.log, err = record.CreateLog(folder.Record(record.ActivityFile), r.id, time.Now)
	return r, err
}

// newRunID returns run_ and a random UUID (RFC 9562, version 4).
func newRunID() (string, error) {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", err
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("run_%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), nil
}

// object is the payload of an event.
type object = map[string]any

func (r *run) append(eventType string, payload object) error {
	_, err := r.log.Append(eventType, payload)
	return err
}

func (r *run) write(name string, data []byte) error {
	return file.Create(r.folder.Record(name), data, 0o600)
}

func (r *run) stages(ctx context.Context) error {
	m := r.bundle.Mission
	if err := r.append(record.RunStarted, object{"mission_id": m.ID, "mission_digest": r.bundle.Digest}); err != nil {
		return err
	}
	if err := r.append(record.WorkspacePrepared, object{"input": "input", "landing": "landing", "output": "output", "artifacts": record.ArtifactFolder}); err != nil {
		return err
	}
	if r.order.Landing == nil {
		skipped := object{"target": m.Target, "mode": "no_land", "reason": "diagnostic run has no landing edge"}
		if err := r.append(record.WorkSkipped, skipped); err != nil {
			return err
		}
	}
	r.budget = newBudget(m.Budgets, time.Now)
	result, err := r.research(ctx)
	if err != nil {
		return err
	}
	artifacts, err := r.freeze(result)
	if err != nil {
		return err
	}
	verdict, err := r.verify(ctx, artifacts)
	if err != nil {
		return err
	}
	candidate, digest, err := r.propose(result, artifacts, verdict)
	if err != nil {
		return err
	}
	landing, roots, err := r.land(ctx, candidate, digest, verdict)
	if err != nil {
		return err
	}
	again, err := r.reproduce(ctx, artifacts, verdict)
	if err != nil {
		return err
	}
	return r.complete(candidate, digest, verdict, again, landing, roots)
}

// research lets the engine work, as often as the mission allows.
func (r *run) research(ctx context.Context) (record.EngineResult, error) {
	m := r.bundle.Mission
	identity, err := r.order.Engine.Identity(m)
	if err != nil {
		return record.EngineResult{}, &stageError{record.PhaseInitializing, err}
	}
	if err := r.append(record.EngineStarted, object{"engine": identity.Name, "role": m.Role}); err != nil {
		return record.EngineResult{}, err
	}
	started, trace := time.Now(), &Trace{}
	handover, err := r.attempts(ctx, trace)
	if ctx.Err() != nil {
		return record.EngineResult{}, err
	}
	if err := errors.Join(r.write(record.ToolTraceFile, trace.lines), r.write(record.WorkerStderrFile, handover.Stderr), r.write(record.TranscriptFile, handover.Transcript)); err != nil {
		return record.EngineResult{}, err
	}
	if err != nil {
		return record.EngineResult{}, &stageError{record.PhaseEngine, err}
	}
	result := record.EngineResult{
		Schema: "canopus.engine-result.v0", Authority: record.NonAuthoritative, Draft: handover.Output, Engine: identity, Usage: handover.Usage,
		WallTimeMs: milliseconds(time.Since(started)), EventTypes: sortedUnique(trace.types), ActionTypes: sortedUnique(handover.ActionTypes),
		EventsDigest: string(canon.Sum(trace.lines)), StderrDigest: string(canon.Sum(handover.Stderr)),
	}
	data, err := record.EngineResultSpec.Encode(result)
	if err != nil {
		return record.EngineResult{}, &stageError{record.PhaseEngine, err}
	}
	if err := r.write(record.EngineResultFile, data); err != nil {
		return record.EngineResult{}, err
	}
	if err := r.append(record.EngineCompleted, completedPayload(result)); err != nil {
		return record.EngineResult{}, err
	}
	r.order.Report("engine", fmt.Sprintf("%s in %.1f s: %s", result.Draft.Status, float64(result.WallTimeMs)/1000, result.Draft.Claim))
	if result.Draft.Status != "success" {
		return record.EngineResult{}, &stageError{record.PhaseEngine, fmt.Errorf("worker returned %s; verifier and landing were not run", result.Draft.Status)}
	}
	return result, nil
}

// completedPayload is the payload of engine.completed.
func completedPayload(result record.EngineResult) object {
	declared := make([]object, len(result.Draft.Artifacts))
	for i, a := range result.Draft.Artifacts {
		declared[i] = object{"path": a.Path, "kind": a.Kind, "bytes": len(a.Content)}
	}
	return object{
		"status": result.Draft.Status, "claim": result.Draft.Claim, "observations": result.Draft.Observations, "caveats": result.Draft.Caveats,
		"declared_artifacts": declared, "engine": result.Engine, "usage": result.Usage, "events_digest": result.EventsDigest, "action_types": result.ActionTypes,
	}
}

func (r *run) attempts(ctx context.Context, trace *Trace) (handover Handover, err error) {
	limits := r.bundle.Mission.Budgets
	for attempt := int64(1); attempt <= limits.MaxAttempts; attempt++ {
		r.budget.use.Attempts = attempt
		left := r.budget.remaining()
		if left <= 0 {
			return handover, &BudgetError{"wall_time_ms", milliseconds(r.budget.elapsed()), limits.MaxResearchWallTimeMs}
		}
		handover, err = r.order.Engine.Work(ctx, Assignment{r.bundle, attempt, left, max(1, limits.MaxResearchOutputBytes-r.budget.use.ResearchOutputBytes), trace})
		r.budget.use.ResearchProcesses += handover.Processes
		r.budget.use.ResearchOutputBytes += handover.OutputBytes
		r.budget.use.ObservedTokens += handover.Usage.InputTokens + handover.Usage.OutputTokens
		if over := r.budget.check(); over != nil {
			return handover, over
		}
		var over *BudgetError
		if err == nil || ctx.Err() != nil || errors.As(err, &over) {
			return handover, err
		}
		r.order.Report("engine", fmt.Sprintf("attempt %d of %d gave no output: %v", attempt, limits.MaxAttempts, err))
	}
	return handover, fmt.Errorf("no attempt gave an output; the last one: %w", err)
}

// freeze writes the engine's texts into output/ and takes them from there, as
// it would take the files of any program, then adds both manifests.
func (r *run) freeze(result record.EngineResult) ([]record.Artifact, error) {
	var artifacts []record.Artifact
	output := r.folder.Record("output")
	for _, a := range result.Draft.Artifacts {
		if err := file.CreateBelow(output, a.Path, []byte(a.Content), 0o600); err != nil {
			return nil, err
		}
		frozen, err := r.store.Freeze(output, a.Path, a.Kind)
		if err != nil {
			return nil, &stageError{record.PhaseEngine, err}
		}
		artifacts = append(artifacts, frozen)
	}
	engine, err := record.EngineManifestSpec.Encode(result.Manifest())
	if err != nil {
		return nil, err
	}
	verifier, err := record.VerifierManifestSpec.Encode(record.ManifestOf(r.bundle.Mission))
	if err != nil {
		return nil, err
	}
	for _, manifest := range manifestFiles(engine, verifier) {
		frozen, err := r.store.FreezeBytes(manifest.path, manifest.kind, manifest.data)
		if err != nil {
			return nil, &stageError{record.PhaseEngine, err}
		}
		artifacts = append(artifacts, frozen)
	}
	for _, a := range artifacts {
		r.budget.use.ArtifactBytes += a.Bytes
		if err := r.append(record.ArtifactFrozen, object{"artifact": a}); err != nil {
			return nil, err
		}
	}
	r.order.Report("frozen", fmt.Sprintf("%d artifacts of %d bytes", len(artifacts), r.budget.use.ArtifactBytes))
	return artifacts, r.store.Seal(artifacts)
}

type manifestFile struct {
	path, kind string
	data       []byte
}

// manifestFiles places both manifests under their digests.
func manifestFiles(engine, verifier []byte) []manifestFile {
	return []manifestFile{
		{"canopus/engine-manifests/" + canon.Sum(engine).Hex() + ".json", "engine-manifest", engine},
		{"canopus/verifier-manifests/" + canon.Sum(verifier).Hex() + ".json", "verifier-manifest", verifier},
	}
}

func (r *run) judge(ctx context.Context, store *record.Store, artifacts []record.Artifact) (judgement, error) {
	j, err := judge(ctx, r.order.Runtime, &r.bundle, store, artifacts, r.budget.remaining(), r.bundle.Mission.Budgets.MaxResearchOutputBytes-r.budget.use.ResearchOutputBytes)
	if err != nil {
		return j, &stageError{record.PhaseVerifier, err}
	}
	r.budget.use.ResearchProcesses++
	r.budget.use.ResearchOutputBytes += j.outputBytes()
	return j, nil
}

func (r *run) verify(ctx context.Context, artifacts []record.Artifact) (judgement, error) {
	j, err := r.judge(ctx, r.store, artifacts)
	if err != nil {
		return j, err
	}
	payload := object{"status": j.Status, "record": j.Record, "sandbox": j.Sandbox}
	if j.Error != "" {
		payload["error"] = j.Error
	}
	if err := r.append(record.VerifierCompleted, payload); err != nil {
		return j, err
	}
	r.order.Report("verifier", fmt.Sprintf("%s in %.1f s: %s", j.Status, float64(j.Record.DurationMs)/1000, firstLine(j)))
	if j.Status != record.Passed {
		return j, &stageError{record.PhaseVerifier, fmt.Errorf("verifier returned %s; candidate and landing were not advanced", j.Status)}
	}
	if err := r.budget.check(); err != nil {
		return j, &stageError{record.PhaseVerifier, err}
	}
	return j, nil
}

func firstLine(j judgement) string {
	for _, text := range []string{j.Error, string(j.Stdout), string(j.Stderr)} {
		if line, _, _ := strings.Cut(text, "\n"); line != "" {
			return line
		}
	}
	return "no output"
}

func (r *run) propose(result record.EngineResult, artifacts []record.Artifact, verdict judgement) (record.Candidate, canon.Digest, error) {
	costs := record.Costs{WallTimeMs: milliseconds(r.budget.elapsed()), Attempt: r.budget.use.Attempts,
		InputTokens: result.Usage.InputTokens, OutputTokens: result.Usage.OutputTokens}
	m := r.bundle.Mission
	candidate := record.Propose(m, result, artifacts, verdict.VerifierOutcome, costs)
	if m.ResultContract != nil {
		if err := candidate.CheckContract(*m.ResultContract); err != nil {
			return candidate, "", &stageError{record.PhaseEngine, err}
		}
	}
	data, err := record.CandidateSpec.Encode(candidate)
	if err != nil {
		return candidate, "", &stageError{record.PhaseFinalization, err}
	}
	if err := r.write(record.CandidateFile, data); err != nil {
		return candidate, "", err
	}
	digest := canon.Sum(data)
	return candidate, digest, r.append(record.CandidateFinalized, object{"candidate_digest": digest, "status": candidate.Status})
}

// reproduce has the verifier judge copies of the artifacts in a clean folder.
func (r *run) reproduce(ctx context.Context, artifacts []record.Artifact, first judgement) (judgement, error) {
	again, err := r.reproduceClean(ctx, artifacts)
	if err != nil {
		return again, r.phase(record.PhaseReproduction, err)
	}
	if !sameVerdict(first.VerifierOutcome, again.VerifierOutcome) {
		return again, r.phase(record.PhaseReproduction, fmt.Errorf("the verifier returned %s the first time and %s, or another output, from a clean folder", first.Status, again.Status))
	}
	if err := r.budget.check(); err != nil {
		return again, r.phase(record.PhaseReproduction, err)
	}
	return again, nil
}

func (r *run) reproduceClean(ctx context.Context, artifacts []record.Artifact) (judgement, error) {
	clean, remove, err := cleanCopy(r.store, artifacts)
	if err != nil {
		return judgement{}, err
	}
	defer remove()
	return r.judge(ctx, clean, artifacts)
}

// cleanCopy copies frozen artifacts into a store of their own.
func cleanCopy(store *record.Store, artifacts []record.Artifact) (clean *record.Store, remove func(), err error) {
	folder, err := os.MkdirTemp("", "erdos1056-replay-")
	if err != nil {
		return nil, nil, err
	}
	remove = func() { os.RemoveAll(folder) }
	clean = &record.Store{Folder: folder, Remaining: 1 << 40}
	for _, a := range artifacts {
		data, err := store.Bytes(a.Digest)
		if err == nil {
			_, err = clean.FreezeBytes(a.Path, a.Kind, data)
		}
		if err != nil {
			remove()
			return nil, nil, err
		}
	}
	return clean, remove, nil
}

// sameVerdict compares what a replay must repeat: the status and both streams.
func sameVerdict(a, b record.VerifierOutcome) bool {
	return a.Status == b.Status && a.Record.StdoutDigest == b.Record.StdoutDigest && a.Record.StderrDigest == b.Record.StderrDigest
}

// phase makes an error of a stage; an error of a stage within keeps its own.
func (r *run) phase(name string, err error) error {
	return &stageError{name, err}
}

// complete writes the records that close a run.
func (r *run) complete(candidate record.Candidate, digest canon.Digest, verdict, again judgement, landing *record.RunLanding, roots record.Roots) error {
	m := r.bundle.Mission
	completed := record.Run{
		Schema: record.DiagnosticSchema, RunID: r.id, Status: "completed", Authority: record.NonAuthoritative, Mode: "no_land",
		Mission:   record.RunMission{ID: m.ID, Target: m.Target, Digest: string(r.bundle.Digest), StartingRoots: m.Roots},
		Candidate: record.RunCandidate{Digest: string(digest), Status: candidate.Status, Claim: candidate.Claim, Artifacts: candidate.Artifacts, Caveats: candidate.Caveats},
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
		return r.phase(record.PhaseFinalization, err)
	}
	_, projection, err := completed.Project()
	if err != nil {
		return r.phase(record.PhaseFinalization, err)
	}
	if err := errors.Join(r.write(record.ProjectionFile, projection), r.write(record.RunFile, runData)); err != nil {
		return err
	}
	if err := r.appendCompletion(digest, canon.Sum(runData), canon.Sum(projection), landing); err != nil {
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
	r.summary.Run, r.summary.EvidenceRoot = &completed, canon.Sum(evidenceData)
	root := string(r.summary.EvidenceRoot)
	return r.signTip(&root)
}

func (r *run) appendCompletion(candidate, run, projection canon.Digest, landing *record.RunLanding) error {
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
