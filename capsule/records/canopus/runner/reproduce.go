package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/erdos1056/erdos1056/capsule/records/canopus/record"
)

func (r *run) judge(ctx context.Context, store *record.Store, artifacts []record.Artifact) (judgement, error) {
	j, err := judge(ctx, r.order.Runtime, &r.bundle, store, artifacts, r.budget.remaining(), r.bundle.Mission.Budgets.MaxResearchOutputBytes-r.budget.use.ResearchOutputBytes)
	if err != nil {
		return j, failedIn(record.PhaseVerifier, err)
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
		return j, failedIn(record.PhaseVerifier, fmt.Errorf("verifier returned %s; candidate and landing were not advanced", j.Status))
	}
	if err := r.budget.check(); err != nil {
		return j, failedIn(record.PhaseVerifier, err)
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

// reproduce has the verifier judge copies of the artifacts in a clean folder.
func (r *run) reproduce(ctx context.Context, artifacts []record.Artifact, first judgement) (judgement, error) {
	again, err := r.reproduceClean(ctx, artifacts)
	if err != nil {
		return again, failedIn(record.PhaseReproduction, err)
	}
	if !sameVerdict(first.VerifierOutcome, again.VerifierOutcome) {
		return again, failedIn(record.PhaseReproduction, fmt.Errorf("the verifier returned %s the first time and %s, or another output, from a clean folder", first.Status, again.Status))
	}
	if err := r.budget.check(); err != nil {
		return again, failedIn(record.PhaseReproduction, err)
	}
	return again, nil
}

// reproduceClean works in the folder of the run, so that the copies of a run
// that is killed are named as incomplete with all the rest.
func (r *run) reproduceClean(ctx context.Context, artifacts []record.Artifact) (j judgement, err error) {
	folder := r.folder.reproduction()
	if err := os.Mkdir(folder, 0o700); err != nil {
		return judgement{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	clean, err := cleanCopy(folder, r.store, artifacts)
	if err != nil {
		return judgement{}, err
	}
	return r.judge(ctx, clean, artifacts)
}

// cleanCopy copies frozen artifacts into a store of their own in a folder.
func cleanCopy(folder string, store *record.Store, artifacts []record.Artifact) (*record.Store, error) {
	clean := &record.Store{Folder: folder, Remaining: 1 << 40}
	for _, a := range artifacts {
		data, err := store.Bytes(a.Digest)
		if err == nil {
			_, err = clean.FreezeBytes(a.Path, a.Kind, data)
		}
		if err != nil {
			return nil, err
		}
	}
	return clean, nil
}

// sameVerdict compares what a replay must repeat: the status and both streams.
func sameVerdict(a, b record.VerifierOutcome) bool {
	return a.Status == b.Status && a.Record.StdoutDigest == b.Record.StdoutDigest && a.Record.StderrDigest == b.Record.StderrDigest
}
