package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/erdos1056/erdos1056/capsule/records/canopus/record"
	"github.com/erdos1056/erdos1056/internal/digest"
)

// research lets the engine work, as often as the mission allows.
func (r *run) research(ctx context.Context) (record.EngineResult, error) {
	m := r.bundle.Mission
	identity, err := r.order.Engine.Identity(m)
	if err != nil {
		return record.EngineResult{}, failedIn(record.PhaseInitializing, err)
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
		return record.EngineResult{}, failedIn(record.PhaseEngine, err)
	}
	result := record.EngineResult{
		Schema: "canopus.engine-result.v0", Authority: record.NonAuthoritative, Draft: handover.Output, Engine: identity, Usage: handover.Usage,
		WallTimeMs: milliseconds(time.Since(started)), EventTypes: sortedUnique(trace.types), ActionTypes: sortedUnique(handover.ActionTypes),
		EventsDigest: string(digest.Of(trace.lines)), StderrDigest: string(digest.Of(handover.Stderr)),
	}
	data, err := record.EngineResultSpec.Encode(result)
	if err != nil {
		return record.EngineResult{}, failedIn(record.PhaseEngine, err)
	}
	if err := r.write(record.EngineResultFile, data); err != nil {
		return record.EngineResult{}, err
	}
	if err := r.append(record.EngineCompleted, completedPayload(result)); err != nil {
		return record.EngineResult{}, err
	}
	r.order.Report("engine", fmt.Sprintf("%s in %.1f s: %s", result.Draft.Status, float64(result.WallTimeMs)/1000, result.Draft.Claim))
	if result.Draft.Status != "success" {
		return record.EngineResult{}, failedIn(record.PhaseEngine, fmt.Errorf("worker returned %s; verifier and landing were not run", result.Draft.Status))
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
