package academy

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/erdos1056/erdos1056/capsule/records/canopus/record"
	"github.com/erdos1056/erdos1056/internal/digest"
	"github.com/erdos1056/erdos1056/internal/disk"
	"github.com/erdos1056/erdos1056/kernel/artifact"
)

// exporterVersion names how Export maps a run; it changes with the mapping.
const exporterVersion = "erdos1056.export.v1"

// Export returns a completed run as a bundle without signatures. root is the
// folder of the run's records.
//
// The suite is the mission. Each search artifact of the run is a task: its
// quantities are the lines of the artifact, every cut one quantity. The trace
// of a task is the whole activity log of the run, in order, each step with its
// time since the first and the digest of its event. Three events take the names
// that the format gives to such steps: the engine's start and end are a call of
// the tool "count" and its result, and freezing the artifact, the act by which
// the run commits to its answer, is one call of "emit_quantity" for each
// quantity. proctor names who drove the run; "" is a self-reported run.
//
// What the records say must agree: the log's chain, the digests of candidate
// and artifacts, and the grammar of the artifact. Otherwise nothing is exported.
func Export(root, proctor string) (*Document, error) {
	r, err := readRun(root)
	if err != nil {
		return nil, err
	}
	b := Bundle{
		BundleVersion: Version,
		RunID:         r.run.RunID,
		Track:         "erdos1056",
		Suite:         Suite{ID: r.run.Mission.ID, Version: r.run.Mission.Digest, Mode: "practice"},
		Contestant:    Contestant{Name: r.candidate.Engine.Name, ModelID: r.candidate.Engine.Name, Adapter: "custom-bundle"},
		Attestation:   r.attestation(proctor),
		Telemetry:     Telemetry{SDKVersion: exporterVersion, StartedAt: r.events[0].At},
	}
	if model := r.candidate.Engine.Model; model != nil {
		b.Contestant.ModelID = *model
	}
	for _, a := range r.candidate.Artifacts {
		text, err := r.store.Bytes(a.Digest)
		if err != nil {
			return nil, err
		}
		if !bytes.HasPrefix(text, []byte(searchPrefix)) {
			continue
		}
		task, err := r.task(a, text)
		if err != nil {
			return nil, err
		}
		b.Tasks = append(b.Tasks, task)
	}
	if len(b.Tasks) == 0 {
		return nil, fmt.Errorf("the run froze no search artifact (a text that starts with %q), so there is no answer to export", searchPrefix)
	}
	b.total(r.candidate.Costs)
	return New(b)
}

// searchPrefix starts every search artifact.
const searchPrefix = "schema=canopus.erdos1056-"

// recordedRun is what the records of a run say.
type recordedRun struct {
	run       record.Run
	candidate record.Candidate
	events    []record.Event
	offsets   []int64 // of the events, in milliseconds since the first
	store     record.Store
}

func readRun(root string) (recordedRun, error) {
	r := recordedRun{store: record.Store{Folder: filepath.Join(root, record.ArtifactFolder)}}
	read := func(name string) ([]byte, error) { return disk.ReadBelow(root, name, int64(limits.Bytes)) }
	runText, err := read(record.RunFile)
	if err != nil {
		return r, fmt.Errorf("a run that did not complete cannot be exported: %w", err)
	}
	if r.run, err = record.ParseRun(runText); err != nil {
		return r, err
	}
	candidateText, err := read(record.CandidateFile)
	if err != nil {
		return r, err
	}
	if actual := string(digest.Of(candidateText)); actual != r.run.Candidate.Digest {
		return r, fmt.Errorf("%s: expected the digest %s of run.json, found %s", record.CandidateFile, r.run.Candidate.Digest, actual)
	}
	if r.candidate, err = record.CandidateSpec.Parse(candidateText); err != nil {
		return r, err
	}
	log, err := read(record.ActivityFile)
	if err != nil {
		return r, err
	}
	if r.events, err = record.ParseLog(log); err != nil {
		return r, err
	}
	return r, r.checkLog()
}

// checkLog requires the log to be the whole log of this run, and takes its
// times.
func (r *recordedRun) checkLog() error {
	if len(r.events) == 0 {
		return errors.New(record.ActivityFile + ": the log is empty")
	}
	last := r.events[len(r.events)-1]
	candidate, _ := last.Payload.Lookup("candidate_digest")
	if last.Type != record.RunCompleted || last.RunID != r.run.RunID || candidate.Text() != r.run.Candidate.Digest {
		return fmt.Errorf("%s: expected the end of run %s with the candidate %s, found %s of run %s", record.ActivityFile, r.run.RunID, r.run.Candidate.Digest, last.Type, last.RunID)
	}
	var start time.Time
	for i, e := range r.events {
		at, err := time.Parse(time.RFC3339, e.At)
		if err != nil {
			return fmt.Errorf("%s: event %d: %w", record.ActivityFile, i, err)
		}
		if i == 0 {
			start = at
		}
		offset := at.Sub(start).Milliseconds()
		if i > 0 && offset < r.offsets[i-1] {
			return fmt.Errorf("%s: event %d lies before its predecessor", record.ActivityFile, i)
		}
		r.offsets = append(r.offsets, offset)
	}
	return nil
}

func (r *recordedRun) attestation(proctor string) Attestation {
	if proctor == "" {
		return Attestation{Mode: SelfReported}
	}
	return Attestation{Mode: Proctored, Proctor: map[string]any{
		"proctorId":             proctor,
		"deliveredSuiteVersion": r.run.Mission.Digest,
		"endpointFingerprint":   r.run.Verifier.Record.ExecutableDigest,
	}}
}

// task returns one search artifact, whose text is given, as a task.
func (r *recordedRun) task(a record.Artifact, text []byte) (TaskRun, error) {
	result, err := artifact.Parse(text)
	if err != nil {
		return TaskRun{}, fmt.Errorf("%s: %w", a.Path, err)
	}
	t := TaskRun{
		TaskID: fmt.Sprintf("erdos1056-k%d-%d-%d", result.K, result.Lo, result.Hi),
		Answer: Answer{
			Quantities: quantities(result),
			Notes:      fmt.Sprintf("%s; artifact %s; verifier %s; last event %s", result.Status(), a.Digest, r.run.Verifier.Status, r.events[len(r.events)-1].EventDigest),
		},
	}
	for i, e := range r.events {
		t.addEvent(e, r.offsets[i], a)
	}
	t.Telemetry = TaskTelemetry{Steps: int64(len(t.Trace)), WallMS: r.offsets[len(r.offsets)-1]}
	t.Telemetry.ToolCalls = int64(t.count(func(s Step) bool { return s.Type == ToolCall }))
	return t, nil
}

func quantities(a artifact.Artifact) []Quantity {
	list := []Quantity{
		{Item: "primes_tested", Value: float64(a.PrimesTested), Unit: "primes"},
		{Item: "max_multiplicity", Value: float64(len(a.Cuts)), Unit: "cuts"},
		{Item: "best_p", Value: float64(a.BestP), Unit: "integer"},
		{Item: "best_residue", Value: float64(a.BestResidue), Unit: "integer"},
	}
	for i, t := range a.Cuts {
		list = append(list, Quantity{Item: fmt.Sprintf("cuts[%d]", i), Value: float64(t), Unit: "integer"})
	}
	return list
}

// addEvent appends the steps of one event to the trace.
func (t *TaskRun) addEvent(e record.Event, offset int64, a record.Artifact) {
	reference := map[string]any{"event": e.Type, "event_digest": e.EventDigest}
	switch {
	case e.Type == record.EngineStarted:
		t.addStep(Step{Type: ToolCall, Tool: "count", Args: reference}, offset)
	case e.Type == record.EngineCompleted:
		t.addStep(Step{Type: ToolResult, Tool: "count", Result: reference}, offset)
	case e.Type == record.ArtifactFrozen && freezes(e, a):
		for _, q := range t.Answer.Quantities {
			t.addStep(Step{Type: ToolCall, Tool: "emit_quantity", Args: map[string]any{"item": q.Item, "value": q.Value, "unit": q.Unit}}, offset)
		}
		t.addStep(Step{Type: ToolResult, Tool: "emit_quantity", Result: reference}, offset)
	default:
		t.addStep(Step{Type: ToolResult, Tool: e.Type, Result: reference}, offset)
	}
}

func (t *TaskRun) addStep(s Step, offset int64) {
	s.Seq, s.TOffsetMS = int64(len(t.Trace)), &offset
	t.Trace = append(t.Trace, s)
}

// freezes tells whether an event froze an artifact.
func freezes(e record.Event, a record.Artifact) bool {
	frozen, _ := e.Payload.Lookup("artifact")
	digest, _ := frozen.Lookup("digest")
	return digest.Text() == a.Digest
}

// total fills the telemetry of the run. The tokens of a run with several tasks
// cannot be told apart by task.
func (b *Bundle) total(costs record.Costs) {
	if len(b.Tasks) == 1 {
		b.Tasks[0].Telemetry.TokensIn, b.Tasks[0].Telemetry.TokensOut = costs.InputTokens, costs.OutputTokens
	}
	b.Telemetry.TotalTokensIn, b.Telemetry.TotalTokensOut = costs.InputTokens, costs.OutputTokens
	for _, t := range b.Tasks {
		b.Telemetry.TotalSteps += t.Telemetry.Steps
		b.Telemetry.TotalWallMS = max(b.Telemetry.TotalWallMS, t.Telemetry.WallMS)
	}
}
