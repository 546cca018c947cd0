package academy

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// measured is a plausible task run: one quantity, measured and emitted.
func measured() TaskRun {
	return TaskRun{
		TaskID: "floor",
		Answer: Answer{Quantities: []Quantity{{Item: "Carpet  tile", Value: 100, Unit: "sf"}}},
		Trace: []Step{
			{Seq: 0, Type: ToolResult, Tool: "planset", Result: map[string]any{"assetHash": "aa"}},
			{Seq: 1, Type: ToolCall, Tool: "measure_area"},
			{Seq: 2, Type: ToolCall, Tool: "emit_quantity"},
		},
		Telemetry: TaskTelemetry{Steps: 3, WallMS: 20},
	}
}

func floorTask(truth *GroundTruth) Task {
	t := Task{TaskID: "floor", GroundTruth: truth}
	t.Planset.AssetHash = "aa"
	t.Metric.Type = "ape"
	return t
}

func area(value float64) *GroundTruth {
	return &GroundTruth{Quantities: []Quantity{{Item: "carpet tile", Value: value, Unit: "sf"}}}
}

func TestFlags(t *testing.T) {
	unmeasured := func(r *TaskRun) { r.Trace = slices.Delete(r.Trace, 1, 2) }
	for _, tc := range []struct {
		name   string
		change func(*TaskRun)
		task   Task
		want   []Flag
	}{
		{"honest run", func(*TaskRun) {}, floorTask(area(100)), nil},
		{"one quantity not emitted", func(r *TaskRun) { r.Trace = r.Trace[:2] }, floorTask(nil), []Flag{MissingEmitProvenance}},
		{"other plan", func(r *TaskRun) { r.Trace[0].Result = map[string]any{"assetHash": "bb"} }, floorTask(nil), []Flag{PlansetHashMismatch}},
		{"no time", func(r *TaskRun) { r.Telemetry.WallMS = 0 }, floorTask(nil), []Flag{ImplausibleSpeed}},
		{"no steps", func(r *TaskRun) { r.Telemetry.Steps = 0 }, floorTask(nil), []Flag{ImplausibleSpeed}},
		{"no quantity takes no time", func(r *TaskRun) { r.Answer.Quantities, r.Telemetry = nil, TaskTelemetry{} }, floorTask(nil), nil},
		{"looked up", unmeasured, floorTask(area(100)), []Flag{AnsweredWithoutMeasurement}},
		{"looked up, 15 % off", unmeasured, floorTask(area(100 / 1.15)), []Flag{AnsweredWithoutMeasurement}},
		{"guessed badly", unmeasured, floorTask(area(200)), nil},
		{"truth withheld", unmeasured, floorTask(nil), nil},
		{"measured by an MCP tool", func(r *TaskRun) { r.Trace[1] = Step{Seq: 1, Type: MCPCall, Tool: "parse"} }, floorTask(area(100)), nil},
		{"task of another suite", func(r *TaskRun) { r.TaskID = "roof" }, floorTask(nil), []Flag{NoMatchingTask}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			run := measured()
			tc.change(&run)
			got := Bundle{Tasks: []TaskRun{run}}.Flags([]Task{tc.task})[run.TaskID]
			if !slices.Equal(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestScopeAnswersAreJudgedByF1(t *testing.T) {
	task := floorTask(&GroundTruth{ScopeItems: []string{"carpet tile", "paint"}})
	task.Metric.Type = "scope-f1"
	run := measured()
	run.Trace = slices.Delete(run.Trace, 1, 2)
	for _, tc := range []struct {
		items []string
		want  []Flag
	}{
		{[]string{"Carpet Tile", "PAINT"}, []Flag{AnsweredWithoutMeasurement}},
		{[]string{"carpet tile"}, nil},
		{[]string{"carpet tile", "paint", "glass"}, nil},
	} {
		run.Answer.Quantities, run.Trace = nil, run.Trace[:1]
		for _, item := range tc.items {
			run.Answer.Quantities = append(run.Answer.Quantities, Quantity{Item: item})
			run.Trace = append(run.Trace, Step{Type: ToolCall, Tool: "emit_quantity"})
		}
		if got := run.flags(task); !slices.Equal(got, tc.want) {
			t.Errorf("%q: got %q, want %q", tc.items, got, tc.want)
		}
	}
}

func TestAnswersAreMatchedByItemThenRoomThenUnit(t *testing.T) {
	a := Answer{Quantities: []Quantity{
		{Item: "x", RoomID: "R2", Unit: "lf", Value: 1},
		{Item: "y", RoomID: "R1", Unit: "sf", Value: 2},
		{Item: "z", Unit: "ea", Value: 3},
	}}
	for _, tc := range []struct {
		truth Quantity
		want  float64
	}{
		{Quantity{Item: " Y ", RoomID: "R2", Unit: "ea"}, 2},
		{Quantity{Item: "none", RoomID: "r1", Unit: "ea"}, 2},
		{Quantity{Item: "none", Unit: "EA"}, 3},
	} {
		if got, ok := a.match(tc.truth); !ok || got.Value != tc.want {
			t.Errorf("%+v: got %v, want %v", tc.truth, got.Value, tc.want)
		}
	}
	if _, ok := a.match(Quantity{Item: "none", Unit: "kg"}); ok {
		t.Error("matched nothing in common")
	}
	if got := a.errorPercent([]Quantity{{Item: "y", Value: 0}, {Item: "none", Unit: "kg", Value: 5}}); got != (2/1e-9*100+100)/2 {
		t.Errorf("error of a zero truth: %v", got)
	}
}

func TestPublishedRunsRaiseNoFlags(t *testing.T) {
	for _, name := range []string{reference, example} {
		d := mustRead(t, readFile(t, name))
		if flags := d.Flags(nil); !reflect.DeepEqual(flags, map[string][]Flag{}) {
			t.Errorf("%s: %v", name, flags)
		}
	}
}

const floorText = `{"taskVersion":"1.0","taskId":"floor","track":"div9","suite":{"id":"s","version":"1"},"title":"t","prompt":"p",
"planset":{"assetRef":"a.pdf","assetHash":"` + "0000000000000000000000000000000000000000000000000000000000000000" + `"},
"toolset":["measure_area"],"budget":{"maxSteps":1,"maxWallMs":1},"metric":{"type":"ape"},"groundTruth":{"quantities":[{"item":"i","value":1.5,"unit":"sf"}]}}`

func TestFlagsAreFindings(t *testing.T) {
	r := Verify(readFile(t, reference), academyRegistry(t))
	r.InspectFlags([]Task{floorTask(nil)})
	if err := r.Err(true); err == nil || !strings.HasPrefix(err.Error(), string(NoMatchingTask)) {
		t.Errorf("strict: %v", err)
	}
	if err := r.Err(false); err != nil {
		t.Errorf("as the original: %v", err)
	}
	var nothing Report
	nothing.InspectFlags(nil)
	if nothing.Findings != nil {
		t.Errorf("findings without a bundle: %v", nothing.Findings)
	}
}

func TestReadTask(t *testing.T) {
	task, err := ReadTask([]byte(floorText))
	if err != nil || task.TaskID != "floor" || task.GroundTruth.Quantities[0].Value != 1.5 {
		t.Errorf("got %+v, %v", task, err)
	}
	for change, want := range map[string]string{
		`"type":"ape"`:     "/metric/type",
		`"taskId":"floor"`: "/taskId",
	} {
		broken := strings.Replace(floorText, change, change[:len(change)-4]+`"`, 1)
		if _, err := ReadTask([]byte(broken)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", broken, err, want)
		}
	}
}

func FuzzReadTask(f *testing.F) {
	f.Add([]byte(floorText))
	f.Fuzz(func(_ *testing.T, data []byte) {
		if task, err := ReadTask(data); err == nil {
			measured().flags(task)
		}
	})
}
