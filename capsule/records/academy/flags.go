package academy

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
)

// Flag is a sign that a run was gamed.
type Flag string

// The five flags.
const (
	MissingEmitProvenance      Flag = "missing-emit-provenance"
	PlansetHashMismatch        Flag = "planset-hash-mismatch"
	ImplausibleSpeed           Flag = "implausible-speed"
	AnsweredWithoutMeasurement Flag = "answered-without-measurement"
	NoMatchingTask             Flag = "no-matching-task"
)

var flagMeanings = map[Flag]string{
	MissingEmitProvenance:      "the trace has fewer calls of emit_quantity than the answer has quantities",
	PlansetHashMismatch:        "the run used another plan than the task's",
	ImplausibleSpeed:           "the run took under a millisecond for each quantity, or no step",
	AnsweredWithoutMeasurement: "the answer is good, but nothing was measured",
	NoMatchingTask:             "the suite has no such task",
}

// Task is the part of a task document that the flags depend on.
type Task struct {
	TaskID  string `json:"taskId"`
	Planset struct {
		AssetHash string `json:"assetHash"`
	} `json:"planset"`
	Metric struct {
		Type string `json:"type"` // ape, count-error, scale-error or scope-f1
	} `json:"metric"`
	GroundTruth *GroundTruth `json:"groundTruth"` // nil when it is withheld
}

// GroundTruth is the right answer of a task.
type GroundTruth struct {
	Quantities []Quantity `json:"quantities"`
	ScopeItems []string   `json:"scopeItems"`
}

// ReadTask parses a task and checks it against the published schema.
func ReadTask(data []byte) (Task, error) {
	root, err := canon.ParseStrict(data, limits)
	if err != nil {
		return Task{}, err
	}
	if err := conforms(taskSchema(), root); err != nil {
		return Task{}, fmt.Errorf("task schema: %w", err)
	}
	var t Task
	return t, decode(root, &t)
}

// Flags returns the flags of each task of a run, by task id. Without tasks it
// raises only the flags that need no task.
func (b Bundle) Flags(tasks []Task) map[string][]Flag {
	flags := map[string][]Flag{}
	for _, run := range b.Tasks {
		var task Task
		if len(tasks) > 0 {
			i := slices.IndexFunc(tasks, func(t Task) bool { return t.TaskID == run.TaskID })
			if i < 0 {
				flags[run.TaskID] = []Flag{NoMatchingTask}
				continue
			}
			task = tasks[i]
		}
		if raised := run.flags(task); len(raised) > 0 {
			flags[run.TaskID] = raised
		}
	}
	return flags
}

var measuringTools = []string{"set_scale", "measure_area", "measure_length", "count", "identify_scope"}

func (run TaskRun) flags(task Task) []Flag {
	emits := run.count(func(s Step) bool { return s.Type == ToolCall && s.Tool == "emit_quantity" })
	measures := run.count(func(s Step) bool {
		return s.Type == MCPCall || s.Type == ToolCall && slices.Contains(measuringTools, s.Tool)
	})
	quantities := len(run.Answer.Quantities)
	var flags []Flag
	if emits < quantities {
		flags = append(flags, MissingEmitProvenance)
	}
	if used := run.plansetHash(); used != "" && task.Planset.AssetHash != "" && used != task.Planset.AssetHash {
		flags = append(flags, PlansetHashMismatch)
	}
	if quantities > 0 && (run.Telemetry.WallMS < int64(quantities) || run.Telemetry.Steps < 1) {
		flags = append(flags, ImplausibleSpeed)
	}
	if task.GroundTruth != nil && run.Answer.isGood(task) && measures == 0 && emits > 0 {
		flags = append(flags, AnsweredWithoutMeasurement)
	}
	return flags
}

func (run TaskRun) count(matches func(Step) bool) int {
	n := 0
	for _, s := range run.Trace {
		if matches(s) {
			n++
		}
	}
	return n
}

// plansetHash returns the digest of the plan that the runner recorded.
func (run TaskRun) plansetHash() string {
	for _, s := range run.Trace {
		if result, ok := s.Result.(map[string]any); ok && s.Tool == "planset" {
			hash, _ := result["assetHash"].(string)
			return hash
		}
	}
	return ""
}

// isGood tells whether an answer is close enough to the truth to have been
// looked up: an F1 of 0.999, or a mean error of 15 %.
func (a Answer) isGood(task Task) bool {
	if task.Metric.Type == "scope-f1" {
		return a.scopeF1(task.GroundTruth.ScopeItems) >= 0.999
	}
	return a.errorPercent(task.GroundTruth.Quantities) <= 15
}

// errorPercent is the mean absolute percentage error over the true quantities,
// rounded to two decimals; a missing answer counts as 100 %.
func (a Answer) errorPercent(truths []Quantity) float64 {
	if len(truths) == 0 {
		return 0
	}
	sum := 0.0
	for _, truth := range truths {
		found, ok := a.match(truth)
		if !ok {
			sum += 100
			continue
		}
		scale := math.Abs(truth.Value)
		if scale == 0 {
			scale = 1e-9
		}
		sum += math.Abs(found.Value-truth.Value) / scale * 100
	}
	return math.Floor(sum/float64(len(truths))*100+0.5) / 100
}

// match finds the answer to a true quantity: by item, else by room, else by
// unit.
func (a Answer) match(truth Quantity) (Quantity, bool) {
	for _, same := range []func(Quantity) bool{
		func(q Quantity) bool { return plain(q.Item) == plain(truth.Item) },
		func(q Quantity) bool {
			return truth.RoomID != "" && q.RoomID != "" && plain(q.RoomID) == plain(truth.RoomID)
		},
		func(q Quantity) bool { return plain(q.Unit) == plain(truth.Unit) },
	} {
		if i := slices.IndexFunc(a.Quantities, same); i >= 0 {
			return a.Quantities[i], true
		}
	}
	return Quantity{}, false
}

// scopeF1 is the harmonic mean of precision and recall of the items named,
// rounded to four decimals.
func (a Answer) scopeF1(truths []string) float64 {
	truth, named := map[string]bool{}, map[string]bool{}
	for _, item := range truths {
		truth[plain(item)] = true
	}
	for _, q := range a.Quantities {
		if item := plain(q.Item); item != "" {
			named[item] = true
		}
	}
	if len(truth) == 0 {
		return 1
	}
	hits := 0
	for item := range named {
		if truth[item] {
			hits++
		}
	}
	f1 := 2 * float64(hits) / float64(len(truth)+len(named))
	return math.Floor(f1*10000+0.5) / 10000
}

// plain folds case and white space.
func plain(s string) string {
	return strings.Join(strings.Fields(strings.ToLower(s)), " ")
}
