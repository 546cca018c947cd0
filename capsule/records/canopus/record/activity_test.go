package record

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/erdos1056/erdos1056/capsule/records/internal/vectors"
	"github.com/erdos1056/erdos1056/capsule/records/keys"
	"github.com/erdos1056/erdos1056/internal/digest"
)

const edge = "original-tool-output/activity-edge/act-test.jsonl"

func TestEveryPublishedLogIsChained(t *testing.T) {
	paths, _ := filepath.Glob(filepath.Join(vectors.Root, runs+"*/run/"+ActivityFile))
	if len(paths) != 8 {
		t.Fatalf("%d logs", len(paths))
	}
	for _, path := range paths {
		events, data, err := ReadLog(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		var again []byte
		for _, e := range events {
			line, err := eventSpec.Encode(e)
			if err != nil {
				t.Fatal(err)
			}
			again = append(again, line...)
		}
		if !bytes.Equal(again, data) {
			t.Errorf("%s is written differently", path)
		}
		last := events[len(events)-1]
		if data, err := os.ReadFile(filepath.Join(filepath.Dir(path), FailureFile)); err == nil {
			failure, err := FailureSpec.Parse(data)
			if err != nil || last.Type != RunFailed || failure.ActivityTip != last.EventDigest {
				t.Errorf("%s: the failure's tip is %s, %v", path, failure.ActivityTip, err)
			}
		} else if last.Type != RunCompleted {
			t.Errorf("%s ends with %s", path, last.Type)
		}
	}
}

// The original accepts all four variants of the log.
func TestTamperedLogsAreRefused(t *testing.T) {
	whole := vectors.Read(t, edge)
	if _, err := ParseLog(whole); err != nil {
		t.Fatal(err)
	}
	for suffix, want := range map[string]string{
		".tampered": `key "__proto__" is not allowed`,
		".dup":      "occurs twice in one object",
		".ws":       "not in canonical form",
	} {
		if _, err := ParseLog(vectors.Read(t, edge+suffix)); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "activity.jsonl: line ") {
			t.Errorf("%s: %v; want %q", suffix, err, want)
		}
	}
	tip, err := SignTip(whole, nil, testKey())
	if err != nil {
		t.Fatal(err)
	}
	if err := tip.CheckLog(whole); err != nil {
		t.Errorf("the whole log: %v", err)
	}
	if err := tip.CheckLog(vectors.Read(t, edge+".trunc")); err == nil || !strings.Contains(err.Error(), "the log was cut off") {
		t.Errorf(".trunc: %v", err)
	}
}

func testKey() keys.Key {
	key, err := keys.FromSeed(bytes.Repeat([]byte{7}, 32))
	if err != nil {
		panic(err)
	}
	return key
}

// writeLog writes a log of n events.
func writeLog(t *testing.T, runID string, n int) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), ActivityFile)
	at := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)
	log, err := CreateLog(path, runID, func() time.Time { return at })
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if _, err := log.Append(EngineStarted, map[string]any{"engine": "e", "role": i}); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := CreateLog(path, runID, time.Now); err == nil {
		t.Error("a second log replaced the first")
	}
	_, data, err := ReadLog(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestLogIsWrittenAsItIsRead(t *testing.T) {
	data := writeLog(t, "run_12345678", 2)
	want := `{"at":"2026-01-02T03:04:05.006Z","event_digest":"`
	if !bytes.HasPrefix(data, []byte(want)) || bytes.Count(data, []byte("\n")) != 2 {
		t.Errorf("%s", data)
	}
	if _, err := ParseLog(data[:len(data)-1]); err == nil || !strings.Contains(err.Error(), "line 2 is not ended by a newline") {
		t.Errorf("an unfinished line: %v", err)
	}
	events, rest, err := ParseOpenLog(data[:len(data)-5])
	if err != nil || len(events) != 1 || len(rest) == 0 {
		t.Errorf("an open log: %d events, %q, %v", len(events), rest, err)
	}
}

func TestChainRefusesEveryRearrangement(t *testing.T) {
	lines := bytes.SplitAfter(writeLog(t, "run_12345678", 4), []byte("\n"))[:4]
	other := bytes.SplitAfter(writeLog(t, "run_87654321", 4), []byte("\n"))[:4]
	cases := map[string][][]byte{
		"two lines exchanged": {lines[0], lines[2], lines[1], lines[3]},
		"a line missing":      {lines[0], lines[2], lines[3]},
		"the first missing":   {lines[1], lines[2]},
		"a line twice":        {lines[0], lines[1], lines[1]},
		"a line of another":   {lines[0], other[1]},
	}
	for name, rearranged := range cases {
		if _, err := ParseLog(bytes.Join(rearranged, nil)); err == nil {
			t.Errorf("%s passed", name)
		}
	}
	for name, change := range map[string][2]string{
		"payload": {`"role":1`, `"role":9`}, "time": {"04:05", "04:06"}, "type": {"engine.started", "run.completed"},
		"no such time": {"2026-01-02T", "2026-13-02T"}, "no such type": {"engine.started", "engine.stopped"},
	} {
		changed := bytes.Replace(lines[1], []byte(change[0]), []byte(change[1]), 1)
		if _, err := ParseLog(append(bytes.Clone(lines[0]), changed...)); err == nil {
			t.Errorf("another %s passed", name)
		}
	}
}

func TestTipIsBoundToItsLogAndKey(t *testing.T) {
	log := writeLog(t, "run_12345678", 3)
	root := string(digest.Of(nil))
	tip, err := SignTip(log, &root, testKey())
	if err != nil {
		t.Fatal(err)
	}
	data, err := TipSpec.Encode(tip)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := TipSpec.Parse(data); err != nil || again.Events != 3 {
		t.Errorf("%+v, %v", again, err)
	}
	for _, change := range [][2]string{
		{`"events":3`, `"events":2`}, {"run_12345678", "run_12345679"}, {root, string(digest.Of([]byte("x")))}, {`"public_key":"`, `"public_key":"00`},
	} {
		changed := bytes.Replace(data, []byte(change[0]), []byte(change[1]), 1)
		if _, err := TipSpec.Parse(changed); err == nil {
			t.Errorf("%s as %s passed", change[0], change[1])
		}
	}
	longer := writeLog(t, "run_12345678", 4)
	for name, c := range map[string]struct {
		log  []byte
		want string
	}{
		"longer":  {longer, "the log went on after its tip"},
		"another": {writeLog(t, "run_87654321", 3), "the log is of run run_87654321"},
		"broken":  {log[1:], "line 1"},
	} {
		if err := tip.CheckLog(c.log); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
	}
	// A log of the same length, written anew.
	anew := bytes.SplitAfter(longer, []byte("\n"))
	tip.EventDigest = string(digest.Of(anew[0]))
	if err := tip.CheckLog(log); err == nil || !strings.Contains(err.Error(), "the log ends with") {
		t.Errorf("anew: %v", err)
	}
	if _, err := SignTip(nil, nil, testKey()); err == nil {
		t.Error("an empty log has a tip")
	}
}

func FuzzLog(f *testing.F) {
	f.Add(vectors.Read(f, edge))
	for _, suffix := range []string{".tampered", ".dup", ".ws", ".trunc"} {
		f.Add(vectors.Read(f, edge+suffix))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		events, rest, err := ParseOpenLog(data)
		if err != nil {
			return
		}
		var again []byte
		for _, e := range events {
			line, err := eventSpec.Encode(e)
			if err != nil {
				t.Fatal(err)
			}
			again = append(again, line...)
		}
		if !bytes.Equal(append(again, rest...), data) {
			t.Fatalf("%q is written as %q", data, again)
		}
	})
}
