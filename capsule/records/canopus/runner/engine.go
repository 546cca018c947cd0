package runner

import (
	"context"
	"slices"
	"time"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/mission"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/record"
)

// Engine does the research of a mission.
type Engine interface {
	// Identity says what the engine is, with everything that its result depends on.
	Identity(m mission.Mission) (record.Engine, error)
	// Work makes one attempt. An error means that the attempt gave no output; a
	// BudgetError, or the end of ctx, ends the run.
	Work(ctx context.Context, a Assignment) (Handover, error)
}

// Assignment is what an engine is given for one attempt.
type Assignment struct {
	Bundle  mission.Bundle
	Attempt int64         // from 1
	Time    time.Duration // that is left; the engine ends its work by then
	Output  int64         // bytes of output that are left
	Trace   *Trace
}

// Handover is what an engine gives back.
type Handover struct {
	Output      record.EngineOutput
	Transcript  []byte // the output as the engine gave it
	Stderr      []byte
	OutputBytes int64 // of both streams
	Processes   int64 // that were started
	Usage       record.Usage
	ActionTypes []string
}

// Trace is the engine's own log: one JSON object per line, each with a type.
type Trace struct {
	lines []byte
	types []string
}

// Add appends one line to the trace.
func (t *Trace) Add(eventType string, fields ...canon.Member) error {
	line, err := canon.EncodeLine(canon.NewObject(append([]canon.Member{{Key: "type", Value: canon.NewString(eventType)}}, fields...)...))
	if err != nil {
		return err
	}
	t.lines = append(t.lines, line...)
	if !slices.Contains(t.types, eventType) {
		t.types = append(t.types, eventType)
	}
	return nil
}

// sortedUnique returns the names sorted, each once, and never nil.
func sortedUnique(names []string) []string {
	sorted := append([]string{}, names...)
	slices.SortFunc(sorted, canon.CompareUTF16)
	return slices.Compact(sorted)
}
