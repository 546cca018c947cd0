package academy

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/keys"
)

// runs holds complete runs recorded by the original program.
const runs = "../../../testdata/canopus/original-tool-output/runs/"

func TestRecordedRunsAreExported(t *testing.T) {
	for _, name := range []string{"v0.4.0-noland", "v0.4.0-land", "v0.6.3-noland", "v0.6.3-land"} {
		t.Run(name, func(t *testing.T) {
			d, err := Export(runs+name+"/run", "")
			if err != nil {
				t.Fatal(err)
			}
			if err := d.Sign(keyOf(t, 1)); err != nil {
				t.Fatal(err)
			}
			file, err := d.Encode()
			if err != nil {
				t.Fatal(err)
			}
			entrant := keys.NewRegistry(keys.Entry{Public: keyOf(t, 1).Public(), Holder: "entrant", Roles: []keys.Role{keys.Entrant}})
			r := Verify(file, entrant)
			if err := r.Err(true); err != nil {
				t.Error(err)
			}
			task := r.Document.Tasks[0]
			if task.TaskID != "erdos1056-k15-10428401-10428600" || len(task.Answer.Quantities) != 4+12 {
				t.Errorf("task %s with %d quantities", task.TaskID, len(task.Answer.Quantities))
			}
			want := map[string]float64{"primes_tested": 15, "max_multiplicity": 12, "best_p": 10428581, "best_residue": 5141590, "cuts[0]": 586489, "cuts[11]": 9885964}
			for _, q := range task.Answer.Quantities {
				if value, listed := want[q.Item]; listed && value != q.Value {
					t.Errorf("%s = %v, want %v", q.Item, q.Value, value)
				}
			}
			if flags := r.Document.Flags([]Task{{TaskID: task.TaskID, GroundTruth: &GroundTruth{Quantities: task.Answer.Quantities}}}); len(flags) > 0 {
				t.Errorf("flags %v", flags)
			}
			onlyIntegers(t, r.Document.root)
		})
	}
}

func onlyIntegers(t *testing.T, v canon.Value) {
	t.Helper()
	if _, whole := v.Integer(); v.Kind() == canon.Number && !whole {
		t.Errorf("number %s is no integer", v.Spelling())
	}
	for _, e := range v.Elements() {
		onlyIntegers(t, e)
	}
	for _, m := range v.Members() {
		onlyIntegers(t, m.Value)
	}
}

func TestTraceIsTheWholeLog(t *testing.T) {
	folder := runs + "v0.6.3-land/run"
	d, err := Export(folder, "")
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(filepath.Join(folder, "activity.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	trace := d.Tasks[0].Trace
	next := 0
	for _, line := range strings.Split(strings.TrimSpace(string(log)), "\n") {
		event, err := canon.ParseStrict([]byte(line), canon.RecordLimits)
		if err != nil {
			t.Fatal(err)
		}
		digest, _ := event.Lookup("event_digest")
		for next < len(trace) && trace[next].Tool == "emit_quantity" && trace[next].Type == ToolCall {
			next++
		}
		if next >= len(trace) {
			t.Fatalf("the event %s is missing", digest.Text())
		}
		reference, _ := trace[next].Result.(map[string]any)
		if trace[next].Type == ToolCall {
			reference, _ = trace[next].Args.(map[string]any)
		}
		if reference["event_digest"] != digest.Text() {
			t.Errorf("step %d refers to %v, want the event %s", next, reference["event_digest"], digest.Text())
		}
		next++
	}
	if next != len(trace) {
		t.Errorf("%d steps, but the log explains %d", len(trace), next)
	}
}

func TestProctoredExportCanBeCosigned(t *testing.T) {
	d, err := Export(runs+"v0.6.3-noland/run", "registrar-1")
	if err != nil {
		t.Fatal(err)
	}
	registry := keys.NewRegistry(
		keys.Entry{Public: keyOf(t, 1).Public(), Holder: "entrant", Roles: []keys.Role{keys.Entrant}},
		keys.Entry{Public: keyOf(t, 3).Public(), Holder: "proctor", Roles: []keys.Role{keys.Proctor}},
	)
	if err := d.Sign(keyOf(t, 1)); err != nil {
		t.Fatal(err)
	}
	if err := d.Cosign(keyOf(t, 3), registry); err != nil {
		t.Fatal(err)
	}
	file, err := d.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := Verify(file, registry).Err(true); err != nil {
		t.Error(err)
	}
}

func TestRunsThatAreNotExported(t *testing.T) {
	const good = runs + "v0.6.3-noland/run"
	artifactName := "artifacts/79370d5243095f28e65c218f3d5dc4710802e4dbe462fcfff1a35a8697a6f225"
	for _, tc := range []struct {
		name, source, file string
		change             func([]byte) []byte
		want               string
	}{
		{"failed run", runs + "v0.6.3-fail-verifier/run", "", nil, "did not complete"},
		{"candidate changed", good, "candidate.json", func(b []byte) []byte { return bytes.Replace(b, []byte("success"), []byte("failed"), 1) }, "expected the digest"},
		{"artifact changed", good, artifactName, func(b []byte) []byte {
			return bytes.Replace(b, []byte("primes_tested=15"), []byte("primes_tested=14"), 1)
		}, "expected sha256:"},
		{"event changed", good, "activity.jsonl", func(b []byte) []byte { return bytes.Replace(b, []byte(`"fake"`), []byte(`"true"`), 1) }, "event_digest"},
		{"log cut off", good, "activity.jsonl", func(b []byte) []byte { return b[:bytes.LastIndexByte(b[:len(b)-1], '\n')+1] }, "expected the end of run"},
		{"log empty", good, "activity.jsonl", func([]byte) []byte { return nil }, "empty"},
		{"run of another log", good, "run.json", func(b []byte) []byte { return bytes.Replace(b, []byte(`"run_id":"run_`), []byte(`"run_id":"run_0`), 1) }, "expected the end of run"},
		{"artifact missing", good, artifactName, func([]byte) []byte { return nil }, "expected sha256:"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "run")
			if err := os.CopyFS(folder, os.DirFS(tc.source)); err != nil {
				t.Fatal(err)
			}
			if tc.change != nil {
				path := filepath.Join(folder, tc.file)
				text, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, tc.change(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := Export(folder, ""); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}
