package runner

import (
	"fmt"
	"time"

	"github.com/erdos1056/erdos1056/capsule/records/canopus/mission"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/record"
)

// BudgetError says that a run used more than its mission allows.
type BudgetError struct {
	Dimension   string
	Used, Limit int64
}

func (e *BudgetError) Error() string {
	return fmt.Sprintf("%s budget exceeded: %d > %d", e.Dimension, e.Used, e.Limit)
}

// budget counts what a run uses.
type budget struct {
	limits mission.Budgets
	start  time.Time
	now    func() time.Time
	use    record.BudgetUse
}

func newBudget(limits mission.Budgets, now func() time.Time) *budget {
	return &budget{limits: limits, start: now(), now: now}
}

func (b *budget) elapsed() time.Duration { return b.now().Sub(b.start) }

// remaining returns the wall time that is left.
func (b *budget) remaining() time.Duration {
	return time.Duration(b.limits.MaxResearchWallTimeMs)*time.Millisecond - b.elapsed()
}

// check measures the time and reports the first dimension that is exceeded.
func (b *budget) check() error {
	b.use.ResearchElapsedMs = milliseconds(b.elapsed())
	return b.exceeded()
}

func (b *budget) exceeded() error {
	for _, e := range []BudgetError{
		{"wall_time_ms", b.use.ResearchElapsedMs, b.limits.MaxResearchWallTimeMs},
		{"processes", b.use.ResearchProcesses, b.limits.MaxResearchProcesses},
		{"output_bytes", b.use.ResearchOutputBytes, b.limits.MaxResearchOutputBytes},
		{"prompt_bytes", b.use.PromptBytes, b.limits.MaxPromptBytes},
		{"artifact_bytes", b.use.ArtifactBytes, b.limits.MaxArtifactBytes},
		{"attempts", b.use.Attempts, b.limits.MaxAttempts},
		{"observed_tokens", b.use.ObservedTokens, b.limits.MaxObservedTokens},
	} {
		if e.Used > e.Limit {
			return &e
		}
	}
	return nil
}

// milliseconds rounds half up, as the records of the original do.
func milliseconds(d time.Duration) int64 {
	return int64((d + 500*time.Microsecond) / time.Millisecond)
}
