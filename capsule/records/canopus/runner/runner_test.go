package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/erdos1056/erdos1056/capsule/records/canopus/mission"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/profile"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/record"
	"github.com/erdos1056/erdos1056/capsule/records/internal/vectors"
	"github.com/erdos1056/erdos1056/capsule/sandbox"
	"github.com/erdos1056/erdos1056/internal/digest"
	"github.com/erdos1056/erdos1056/kernel"
	"github.com/erdos1056/erdos1056/kernel/plan"
)

func TestMain(m *testing.M) {
	sandbox.RunInit()
	code := m.Run()
	os.RemoveAll(programFolder)
	os.Exit(code)
}

var programFolder string

// program builds the test program once, static, as a capsule is.
var program = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "erdos1056-program-")
	if err != nil {
		return "", err
	}
	programFolder = folder
	path := filepath.Join(folder, "program")
	build := exec.Command("go", "build", "-o", path, "./testdata/program")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

func runtimeFor(t testing.TB) sandbox.Runtime {
	t.Helper()
	r, err := sandbox.Choose(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// draftOf returns the draft of a small range whose verifier behaves as told.
func draftOf(behaviour string) mission.Draft {
	d := profile.Range{K: 15, Start: 2, End: 2000}.Draft()
	d.Verifier.Argv = []string{mission.CapsulePath, behaviour, d.Verifier.Argv[1]}
	return d
}

// orderOf prepares the mission of a draft.
func orderOf(t testing.TB, draft mission.Draft, engine Engine) Order {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	order, err := prepareOrder(path, draft)
	if err != nil {
		t.Fatal(err)
	}
	order.Engine, order.Runtime, order.Output = engine, runtimeFor(t), filepath.Join(tempDir(t), "out")
	return order
}

// tempDir is t.TempDir for folders that are sealed: they are made writable
// again before they are removed.
func tempDir(t testing.TB) string {
	t.Helper()
	folder := t.TempDir()
	t.Cleanup(func() {
		filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				os.Chmod(path, 0o700)
			}
			return nil
		})
	})
	return folder
}

func prepareOrder(program string, draft mission.Draft) (Order, error) {
	capsule, err := os.ReadFile(program)
	if err != nil {
		return Order{}, err
	}
	text, err := json.Marshal(draft)
	if err != nil {
		return Order{}, err
	}
	m, parts, err := Prepare(Preparation{Draft: text, Capsule: capsule, Platform: sandbox.Native})
	return Order{Mission: m, Parts: parts}, err
}

func mustRun(t testing.TB, order Order) Summary {
	t.Helper()
	summary, err := Run(context.Background(), order)
	if err != nil {
		t.Fatal(err)
	}
	return summary
}

// holds checks that every claim of a run holds.
func holds(t testing.TB, f Folder, e Examination) []Claim {
	t.Helper()
	claims, err := Verify(context.Background(), f, e)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range claims {
		if c.Verdict != Holds {
			t.Errorf("%s %s: %s", c.Name, c.Verdict, c.Detail)
		}
	}
	return claims
}

func TestMissionOfTheSeedFromEngineToReplay(t *testing.T) {
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	capsule, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	draft := []byte(strings.Replace(string(vectors.Read(t, "v0.4.0/missions/erdos1056-k15-next/mission.draft.json")),
		`"capsule/verifier",`, `"capsule/verifier", "verify",`, 1))
	packet := vectors.Read(t, "original-tool-output/runs/v0.6.3-land/mission/packet/target.json")
	m, parts, err := Prepare(Preparation{Draft: draft, Capsule: capsule, Packet: packet, Platform: sandbox.Native})
	if err != nil {
		t.Fatal(err)
	}
	summary := mustRun(t, Order{Mission: m, Parts: parts, Engine: &Search{}, Runtime: runtimeFor(t), Output: filepath.Join(tempDir(t), "run1")})
	if summary.Run == nil {
		t.Fatalf("failed: %+v", summary.Failure)
	}
	const published = "sha256:79370d5243095f28e65c218f3d5dc4710802e4dbe462fcfff1a35a8697a6f225"
	if a := summary.Run.Candidate.Artifacts[0]; a.Digest != published || a.Bytes != 287 {
		t.Errorf("artifact %+v; want the published %s", a, published)
	}
	if want := "None of the 15 primes of 10428401..10428600 has 16 cuts with one residue; the most is 12, at p=10428581 with the residue 5141590."; summary.Run.Candidate.Claim != want {
		t.Errorf("claim %q", summary.Run.Candidate.Claim)
	}
	claims := holds(t, summary.Folder, Examination{Runtime: runtimeFor(t)})
	if last := claims[len(claims)-1]; last.Name != "verdict by replay" || last.Detail != "verified primes=15" {
		t.Errorf("%+v", last)
	}
}

func TestWorkerThatKeepsToItsMission(t *testing.T) {
	draft := draftOf("reject")
	draft.Verifier.Argv[1] = "verify"
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	worker := &Worker{Runtime: runtimeFor(t), Program: path, Args: []string{"good"}, Memory: 256 << 20}
	summary := mustRun(t, orderOf(t, draft, worker))
	// Its artifact is no answer: the capsule says so.
	if f := summary.Failure; f == nil || f.Phase != record.PhaseVerifier {
		t.Fatalf("%+v", summary)
	}
	holds(t, summary.Folder, Examination{})
	result, err := summary.Folder.read(record.EngineResultFile)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := record.EngineResultSpec.Parse(result)
	if err != nil || parsed.Engine.Name != "program" || *parsed.Engine.BinarySHA256 == "" || parsed.EventTypes[0] != "worker.ended" {
		t.Errorf("%+v, %v", parsed, err)
	}
}

func TestWorkerLeavesItsArtifactInTheWorkspace(t *testing.T) {
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	worker := &Worker{Runtime: runtimeFor(t), Program: path, Args: []string{"file"}, Memory: 256 << 20}
	summary := mustRun(t, orderOf(t, draftOf("fickle"), worker))
	holds(t, summary.Folder, Examination{})
	entries, err := os.ReadDir(summary.Folder.Record(record.ArtifactFolder))
	if err != nil || len(entries) != 3 {
		t.Errorf("%d artifacts, %v; want the file and two manifests", len(entries), err)
	}
	text, err := summary.Folder.store().Bytes(string(digest.Of([]byte("found in a file\n"))))
	if err != nil || string(text) != "found in a file\n" {
		t.Errorf("%q, %v", text, err)
	}
	// The transcript is what the worker said; the result has the text.
	transcript, err := summary.Folder.read(record.TranscriptFile)
	if err != nil || strings.Contains(string(transcript), "found in a file") {
		t.Errorf("%s, %v", transcript, err)
	}
}

func TestWorkerFindsThePacketInItsInput(t *testing.T) {
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	order := orderOf(t, draftOf("fickle"), &Worker{Runtime: runtimeFor(t), Program: path, Args: []string{"packet", "{input}"}, Memory: 256 << 20})
	if _, err := mustRun(t, order).Folder.store().Bytes(string(digest.Of(order.Parts.Packet))); err != nil {
		t.Errorf("the worker's artifact is not the packet: %v", err)
	}
}

// litter is a runtime whose programs leave what a sandbox would hardly let them.
type litter struct {
	sandbox.Runtime
	refused []sandbox.RefusedEntry
}

func (l litter) Run(ctx context.Context, command sandbox.Command, limits sandbox.Limits) (sandbox.Outcome, error) {
	outcome, err := l.Runtime.Run(ctx, command, limits)
	outcome.Files, outcome.Refused = nil, l.refused
	return outcome, err
}

func TestWhatIsNoFileIsNotFrozen(t *testing.T) {
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	artifact := draftOf("verify").AllowedPaths[0]
	for _, c := range []struct{ path, reason string }{
		{artifact, "it is a symbolic link, not a regular file"},
		{artifact, "it has 2 names (hard links)"},
		{filepath.Dir(artifact), "it is a symbolic link, not a regular file"},
	} {
		refused := []sandbox.RefusedEntry{{Path: "bad\xff", Reason: "its name is not plain text"}, {Path: c.path, Reason: c.reason}}
		worker := &Worker{Runtime: litter{runtimeFor(t), refused}, Program: path, Args: []string{"file"}, Memory: 256 << 20}
		summary := mustRun(t, orderOf(t, draftOf("verify"), worker))
		if f := summary.Failure; f == nil || f.Phase != record.PhaseEngine || !strings.Contains(f.Error, fmt.Sprintf("%q: %s", c.path, c.reason)) {
			t.Errorf("%+v; want %q", f, c.reason)
		}
		holds(t, summary.Folder, Examination{})
		trace, err := summary.Folder.read(record.ToolTraceFile)
		if err != nil || !strings.Contains(string(trace), `"path":"\"bad\\xff\""`) {
			t.Errorf("trace %s, %v", trace, err)
		}
	}
}

func TestWorkerThatMisbehavesIsStoppedByEachBudget(t *testing.T) {
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		behaviour string
		budget    func(*mission.Budgets)
		want      string
	}{
		{"sleep", func(b *mission.Budgets) { b.MaxResearchWallTimeMs = 300 }, "wall_time_ms budget exceeded"},
		{"flood", func(b *mission.Budgets) { b.MaxResearchOutputBytes = 4096 }, "output_bytes budget exceeded: 4097 > 4096"},
		{"large", func(b *mission.Budgets) { b.MaxArtifactBytes = 4000 }, "artifact_bytes budget exceeded: 5000 > 4000"},
		{"threads", func(b *mission.Budgets) { b.MaxResearchProcesses = 16 }, "the worker exited with status 2"},
		// Where no cgroup limits memory, the program is refused more and exits.
		{"grow", nil, "the worker e"},
		{"exit", func(b *mission.Budgets) { b.MaxAttempts = 3 }, "no attempt gave an output; the last one: the worker exited with status 3"},
		{"null", nil, "worker returned null; verifier and landing were not run"},
		{"garbage", nil, "the worker's output: engine_output: line 1, column 1"},
		{"elsewhere", nil, `engine_output.artifacts: "elsewhere.txt" is not an allowed path of the mission`},
		{"empty", nil, "the content is empty, and the worker left no such file in its workspace"},
		{"file-large", func(b *mission.Budgets) { b.MaxArtifactBytes = 4000 }, "artifact_bytes budget exceeded: 5000 > 4000"},
		{"file-binary", nil, "in the workspace: the file is not UTF-8 text"},
		{"file-secret", nil, "what looks like a private key"},
		{"file-empty", nil, "in the workspace: the file is empty"},
		{"file-links", nil, "the worker exited with status 70"}, // a symbolic link cannot be made
		{"fill", func(b *mission.Budgets) { b.MaxArtifactBytes = 4000 }, "the worker exited with status 4"},
		{"secret", nil, "what looks like a private key"},
		{"twice", nil, "is declared twice"},
		{"none", nil, "a successful output has an artifact"},
	}
	for _, c := range cases {
		t.Run(c.behaviour, func(t *testing.T) {
			draft := draftOf("verify")
			if c.budget != nil {
				c.budget(&draft.Budgets)
			}
			worker := &Worker{Runtime: runtimeFor(t), Program: path, Args: []string{c.behaviour}, Memory: 256 << 20}
			summary := mustRun(t, orderOf(t, draft, worker))
			f := summary.Failure
			if f == nil || f.Phase != record.PhaseEngine || !strings.Contains(f.Error, c.want) {
				t.Fatalf("failure %+v; want %q", f, c.want)
			}
			holds(t, summary.Folder, Examination{})
			trace, err := summary.Folder.read(record.ToolTraceFile)
			if ran := int64(strings.Count(string(trace), "worker.ended")); err != nil || ran != draft.Budgets.MaxAttempts {
				t.Errorf("%d attempts in the trace, %v", ran, err)
			}
		})
	}
}

// reader is an engine that answers at once and says what it used.
type reader struct{ usage record.Usage }

func (reader) Identity(mission.Mission) (record.Engine, error) {
	return record.Engine{Name: "reader", Version: "1", ConfigurationSHA256: string(digest.Of(nil))}, nil
}

func (e reader) Work(_ context.Context, a Assignment) (Handover, error) {
	output := record.EngineOutput{Schema: record.EngineOutputSpec.ID, Status: "success", Claim: "C", Observations: []string{}, Caveats: []string{},
		Artifacts: []record.EngineArtifact{{Path: a.Bundle.Mission.AllowedPaths[0], Kind: "text/plain", Encoding: "utf8", Content: "x"}}}
	return Handover{Output: output, Transcript: []byte("{}"), Usage: e.usage}, nil
}

func TestEngineThatReadsTooManyTokensEndsTheRun(t *testing.T) {
	order := orderOf(t, draftOf("verify"), reader{record.Usage{InputTokens: 100000, OutputTokens: 1}})
	if f := mustRun(t, order).Failure; f == nil || f.Error != "observed_tokens budget exceeded: 100001 > 100000" {
		t.Errorf("%+v", f)
	}
}

func TestVerifierThatDoesNotPassEndsTheRun(t *testing.T) {
	cases := []struct{ behaviour, status, detail string }{
		{"reject", record.Failed, ""},
		{"sleep", record.Errored, "timeout:command exceeded 300 milliseconds"},
		{"flood", record.Errored, "output_limit:command output exceeded 4096 bytes"},
	}
	for _, c := range cases {
		t.Run(c.behaviour, func(t *testing.T) {
			draft := draftOf(c.behaviour)
			draft.Verifier.TimeoutMs, draft.Verifier.MaxOutputBytes = 300, 4096
			summary := mustRun(t, orderOf(t, draft, &Search{}))
			if f := summary.Failure; f == nil || f.Phase != record.PhaseVerifier || f.Error != "verifier returned "+c.status+"; candidate and landing were not advanced" {
				t.Fatalf("%+v", summary.Failure)
			}
			events, _, err := record.ReadLog(summary.Folder.Record(record.ActivityFile))
			if err != nil {
				t.Fatal(err)
			}
			completed := events[len(events)-2]
			detail, _ := completed.Payload.Lookup("error")
			if completed.Type != record.VerifierCompleted || detail.Text() != c.detail {
				t.Errorf("%s %q", completed.Type, detail.Text())
			}
			holds(t, summary.Folder, Examination{})
			if _, err := os.Lstat(summary.Folder.Record(record.CandidateFile)); err == nil {
				t.Error("a candidate was written")
			}
		})
	}
}

func TestVerifierThatIsFickleIsNotReproduced(t *testing.T) {
	summary := mustRun(t, orderOf(t, draftOf("fickle"), &Search{}))
	if f := summary.Failure; f == nil || f.Phase != record.PhaseReproduction || !strings.Contains(f.Error, "from a clean folder") {
		t.Errorf("%+v", f)
	}
	holds(t, summary.Folder, Examination{})
}

func TestVerifierSeesTheCapsuleThePacketAndTheArtifacts(t *testing.T) {
	b := &mission.Bundle{Folder: "/b", Mission: mission.Mission{
		Verifier:     mission.Verifier{Argv: []string{"capsule/verifier", "{input}", "{artifact:a.txt}", "{artifact:b.txt}", "{artifact:", "x"}, CapsulePath: "capsule/verifier"},
		TargetPacket: &mission.PacketReference{Path: "site/p.json"},
	}}
	store := &record.Store{Folder: "/s"}
	a, z := string(digest.Of([]byte("a"))), string(digest.Of([]byte("z")))
	c, err := verifierCommand(b, store, []record.Artifact{{Path: "b.txt", Digest: z}, {Path: "a.txt", Digest: a}})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(c.Args, " "); got != "/capsule/verifier /input /artifacts/1 /artifacts/0 {artifact: x" {
		t.Errorf("arguments %q", got)
	}
	want := []sandbox.File{
		{Path: "/capsule/verifier", Source: "/b/capsule/verifier", Executable: true}, {Path: "/input/site/p.json", Source: "/b/packet/target.json"},
		{Path: "/artifacts/0", Source: store.Path(z)}, {Path: "/artifacts/1", Source: store.Path(a)},
	}
	if !slices.Equal(c.Files, want) {
		t.Errorf("files %+v", c.Files)
	}
	if _, err := verifierCommand(b, store, nil); err == nil || !strings.Contains(err.Error(), `mission.verifier.argv[2]: no artifact "a.txt" was frozen`) {
		t.Errorf("without artifacts: %v", err)
	}
}

func TestClaimSaysWhatTheSearchShowed(t *testing.T) {
	for _, c := range []struct {
		k      int
		lo, hi uint32
		want   string
	}{
		{15, 14, 16, "The range 14..16 holds no prime, and so no prime with 16 cuts of one residue."},
		{15, 2, 100, "None of the 25 primes of 2..100 has 16 cuts with one residue; the most is 7, at p=71 with the residue 70."},
		{3, 2, 100, "The prime p=17 has 5 cuts with the residue 1, hence 4 consecutive intervals of product 1; it is the first prime of 2..100 with at least 4 such cuts."},
	} {
		result, err := kernel.Search(context.Background(), plan.Plan{Range: plan.Range{Lo: c.lo, Hi: c.hi}, K: c.k}, kernel.Options{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got := claimOf(result); got != c.want {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
}

func TestEveryEndOfAVerifierHasItsStatus(t *testing.T) {
	limits := sandbox.Limits{Memory: 1, Time: time.Second, Output: 2}
	cases := []struct {
		end          sandbox.End
		code         int
		status, text string
	}{
		{sandbox.Exited, 0, record.Passed, ""},
		{sandbox.Exited, 1, record.Failed, ""},
		{sandbox.Signaled, -1, record.Failed, ""},
		{sandbox.TimeLimit, -1, record.Errored, "timeout:command exceeded 1000 milliseconds"},
		{sandbox.OutputLimit, -1, record.Errored, "output_limit:command output exceeded 2 bytes"},
		{sandbox.MemoryLimit, -1, record.Errored, "memory_limit:command exceeded 1 bytes of memory"},
	}
	for _, c := range cases {
		j := judged(sandbox.Outcome{End: c.end, ExitCode: c.code, Stdout: []byte("out")}, limits, []string{"/v"}, "sha256:0")
		out, stderr := digest.Of([]byte("out")), digest.Of(nil)
		if c.text != "" {
			_, message, _ := strings.Cut(c.text, ":")
			out, stderr = digest.Of(nil), digest.Of([]byte(message))
		}
		if j.Status != c.status || j.Error != c.text || j.Record.ExitCode != c.code || j.Record.StdoutDigest != string(out) || j.Record.StderrDigest != string(stderr) {
			t.Errorf("%s %d: %+v", c.end, c.code, j)
		}
	}
}

func TestSearchStopsAtTheMissionsTime(t *testing.T) {
	draft := draftOf("verify")
	draft.AllowedPaths = []string{"artifacts/erdos1056-k15-range-10428401-20428600.txt"}
	draft.Verifier.Argv[2] = "{artifact:" + draft.AllowedPaths[0] + "}"
	draft.Budgets.MaxResearchWallTimeMs = 200
	if f := mustRun(t, orderOf(t, draft, &Search{})).Failure; f == nil || f.Phase != record.PhaseEngine || !strings.Contains(f.Error, "wall_time_ms budget exceeded") {
		t.Errorf("%+v", f)
	}
}

func TestEngineRefusesAMissionThatIsNoSearch(t *testing.T) {
	for _, c := range []struct {
		paths []string
		want  string
	}{
		{[]string{"artifacts/a.txt"}, "expected …/erdos1056-k<k>-range-<first>-<last>.txt"},
		{[]string{"a", "b"}, "a search has one artifact"},
		{[]string{"erdos1056-k15-range-9999999999-9999999999.txt"}, "above 2^32"},
		{[]string{"erdos1056-k15-range-3-2.txt"}, "the end lies before the start"},
	} {
		if _, err := PlanOf(c.paths); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v; want %q", c.paths, err, c.want)
		}
	}
	order := orderOf(t, draftOf("verify"), &Search{})
	packet, err := mission.RangeWorkSpec.Encode(mission.NewRangeWork(15, 2, 2001))
	if err != nil {
		t.Fatal(err)
	}
	order.Parts.Packet, order.Mission.TargetPacket.SHA256 = packet, string(digest.Of(packet))
	if f := mustRun(t, order).Failure; f == nil || !strings.Contains(f.Error, "packet.range_end: expected 2000") {
		t.Errorf("a packet of another range: %+v", f)
	}
}

func TestOutputIsNeverReplaced(t *testing.T) {
	order := orderOf(t, draftOf("verify"), &Search{})
	mustRun(t, order)
	if _, err := Run(context.Background(), order); err == nil || !strings.Contains(err.Error(), "file already exists") {
		t.Errorf("a second run: %v", err)
	}
}

func TestRunUnderWayIsNotDisturbed(t *testing.T) {
	order := orderOf(t, draftOf("verify"), &Search{})
	second := order
	refused := error(nil)
	order.Report = func(stage, _ string) {
		if stage == "prepared" {
			_, refused = Run(context.Background(), second)
		}
	}
	summary := mustRun(t, order)
	if refused == nil || !strings.Contains(refused.Error(), "another process is carrying out this run") {
		t.Errorf("a second run at the same time: %v", refused)
	}
	holds(t, summary.Folder, Examination{})
}

func TestMissionThatCannotBeBundledLeavesNothing(t *testing.T) {
	order := orderOf(t, draftOf("verify"), &Search{})
	order.Parts.Packet = []byte("{}\n")
	if _, err := Run(context.Background(), order); err == nil || !strings.Contains(err.Error(), "packet/target.json: expected sha256:") {
		t.Errorf("%v", err)
	}
	if entries, err := os.ReadDir(filepath.Dir(order.Output)); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestCancelledRunIsNamedIncomplete(t *testing.T) {
	order := orderOf(t, draftOf("verify"), &Search{})
	ctx, cancel := context.WithCancel(context.Background())
	order.Report = func(stage, _ string) {
		if stage == "prepared" {
			cancel()
		}
	}
	if _, err := Run(ctx, order); err == nil {
		t.Fatal("a cancelled run completed")
	}
	if _, err := Find(order.Output+unfinished, ""); err == nil || !strings.Contains(err.Error(), "this run is incomplete") {
		t.Errorf("Find: %v", err)
	}
	order.Report = nil
	summary := mustRun(t, order)
	holds(t, summary.Folder, Examination{})
	if _, err := os.Lstat(order.Output + ".stopped-1"); err != nil {
		t.Errorf("the stopped run was lost: %v", err)
	}
}

func TestFind(t *testing.T) {
	order := orderOf(t, draftOf("verify"), &Search{})
	summary := mustRun(t, order)
	runs := filepath.Dir(order.Output)
	for _, name := range []string{order.Output, order.Output + "/run", order.Output + "/run/run.json", "latest"} {
		if f, err := Find(name, runs); err != nil || f != summary.Folder {
			t.Errorf("Find(%s) = %s, %v", name, f, err)
		}
	}
	if _, err := Find(runs, runs); err == nil {
		t.Error("a folder without a run was found")
	}
	if _, err := Find("latest", t.TempDir()); err == nil {
		t.Error("a run was found in an empty folder")
	}
}
