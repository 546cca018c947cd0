package declaration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/erdos1056/erdos1056/capsule/records/cuecrux/conformance"
	"github.com/erdos1056/erdos1056/capsule/records/keys"
	"github.com/erdos1056/erdos1056/capsule/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.RunInit()
	os.Exit(m.Run())
}

var host = "linux/" + runtime.GOARCH

// verifier builds the verifier of the tests once.
var verifier = sync.OnceValues(func() ([]byte, error) {
	folder, err := os.MkdirTemp("", "erdos1056-declaration-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	program := filepath.Join(folder, "verifier")
	build := exec.Command("go", "build", "-trimpath", "-o", program, ".")
	build.Dir = "testdata/verifier"
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the verifier: %w\n%s", err, output)
	}
	return os.ReadFile(program)
})

func publisher(t testing.TB) keys.Key {
	t.Helper()
	key, err := keys.FromSeed(bytes.Repeat([]byte{5}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func registry(t testing.TB) keys.Registry {
	return keys.NewRegistry(keys.Entry{Public: publisher(t).Public(), Holder: "publisher", Roles: []keys.Role{keys.Publisher}})
}

// planOf plans a declaration whose cases are artifacts that tell the verifier
// what to do, and that all should be verified but "refused".
func planOf(t testing.TB, verifierContent []byte, artifacts ...string) Plan {
	t.Helper()
	p := Plan{
		ID:        "erdos1056.verifier.test",
		Name:      "Test verifier",
		Version:   "1.0.0",
		Summary:   "Does what its artifact says.",
		Verifiers: []Verifier{{Platform: host, Content: verifierContent}},
		Bounds:    Bounds{LatencyMS: 1000, MemoryBytes: 128 << 20, Processes: 32, ResponseBytes: 64},
	}
	for _, a := range artifacts {
		expected := Verified
		if a == "refused" {
			expected = Refused
		}
		p.Cases = append(p.Cases, Case{ID: a, Artifact: []byte(a + "\n"), Expected: expected})
	}
	return p
}

// written writes a declaration and returns its folder.
func written(t testing.TB, p Plan) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "declaration")
	if err := Write(folder, p, publisher(t)); err != nil {
		t.Fatal(err)
	}
	return folder
}

func opened(t testing.TB, folder string) *Declared {
	t.Helper()
	d, err := Open(folder, registry(t))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// replayed declares and replays artifacts in the sandbox.
func replayed(t *testing.T, artifacts ...string) (*Declared, Evidence) {
	t.Helper()
	content, err := verifier()
	if err != nil {
		t.Fatal(err)
	}
	p := planOf(t, content, artifacts...)
	p.Bounds.LatencyMS = 60000
	return replay(t, p)
}

func replay(t *testing.T, p Plan) (*Declared, Evidence) {
	t.Helper()
	d := opened(t, written(t, p))
	shut, err := sandbox.Choose(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	e, err := d.Replay(context.Background(), shut, host)
	if err != nil {
		t.Fatal(err)
	}
	return d, e
}

// broken returns the subjects of the lines that do not hold.
func broken(t *testing.T, d *Declared, e Evidence) []string {
	t.Helper()
	lines, err := d.Judge(e)
	if err != nil {
		t.Fatal(err)
	}
	var subjects []string
	for _, l := range lines {
		if !l.Holds {
			subjects = append(subjects, l.Subject)
		}
	}
	return subjects
}

func TestHonestVerifierHolds(t *testing.T) {
	d, e := replayed(t, "verified", "refused")
	if got := broken(t, d, e); got != nil {
		t.Errorf("%q do not hold", got)
	}
	lines, err := d.Judge(e)
	if err != nil || len(lines) != 2+7+6+5 {
		t.Errorf("%d lines, %v", len(lines), err)
	}
}

// TestDishonestVerifiersAreReportedByBound replays verifiers that leave one
// bound each.
func TestDishonestVerifiersAreReportedByBound(t *testing.T) {
	for _, tc := range []struct {
		behaviour string
		latencyMS uint32
		want      []string
	}{
		{"late", 1100, []string{"envelope.max_latency_ms_per_call", "envelope.max_latency_ms_per_run"}},
		{"slow", 1000, []string{"cases.slow.expected", "envelope.max_latency_ms_per_call", "envelope.max_latency_ms_per_run"}},
		{"hungry", 60000, []string{"cases.hungry.expected", "bounds.max_memory_bytes_per_call"}},
		{"chatty", 60000, []string{"envelope.max_tokens_per_call", "envelope.max_tokens_per_run", "envelope.max_response_bytes_per_call"}},
		{"flooding", 60000, []string{"cases.flooding.expected", "envelope.max_tokens_per_call", "envelope.max_tokens_per_run", "envelope.max_response_bytes_per_call"}},
		{"fickle", 60000, []string{"invariants.same-verdict-twice"}},
		{"crashing", 60000, []string{"cases.crashing.expected"}},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			content, err := verifier()
			if err != nil {
				t.Fatal(err)
			}
			p := planOf(t, content, tc.behaviour)
			p.Bounds.LatencyMS = tc.latencyMS
			d, e := replay(t, p)
			got := broken(t, d, e)
			if tc.behaviour == "late" {
				// On a busy machine it may be so late that it is stopped.
				got = slices.DeleteFunc(got, func(subject string) bool { return subject == "cases.late.expected" })
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("broken %q, want %q\nevidence %+v", got, tc.want, e.Calls)
			}
		})
	}
}

func TestVerdictIsSignedAndJudgedAgain(t *testing.T) {
	d, e := replayed(t, "verified")
	evidence, err := EvidenceSpec.Encode(e)
	if err != nil {
		t.Fatal(err)
	}
	v, err := d.SignVerdict(evidence, publisher(t))
	if err != nil || !v.Holds {
		t.Fatalf("verdict %+v, %v", v, err)
	}
	text, err := VerdictSpec.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.VerifyVerdict(text, evidence, registry(t)); err != nil {
		t.Fatal(err)
	}
	slower := e
	slower.Calls = slices.Clone(e.Calls)
	slower.Calls[0].LatencyMS++
	otherEvidence, err := EvidenceSpec.Encode(slower)
	if err != nil {
		t.Fatal(err)
	}
	entrant := keys.NewRegistry(keys.Entry{Public: publisher(t).Public(), Holder: "p", Roles: []keys.Role{keys.Entrant}})
	// A publisher may sign lines that the evidence does not give.
	kind := v
	kind.Lines = slices.Clone(v.Lines)
	kind.Lines[1].Bound += "0"
	message, err := kind.signed()
	if err != nil {
		t.Fatal(err)
	}
	kind.Signature = keys.EncodeSignature(publisher(t).Sign(message))
	kindText, err := VerdictSpec.Encode(kind)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		verdict, evidence []byte
		registry          keys.Registry
		want              string
	}{
		"changed":            {bytes.Replace(text, []byte(`"holds":true`), []byte(`"holds":false`), 1), evidence, registry(t), "not one of the verdict"},
		"signer unknown":     {text, evidence, keys.Registry{}, "no publisher"},
		"signer of bundles":  {text, evidence, entrant, "no publisher"},
		"other evidence":     {text, otherEvidence, registry(t), "is about the evidence"},
		"lines made up":      {kindText, evidence, registry(t), "other lines"},
		"not canonical":      {append([]byte(" "), text...), evidence, registry(t), "canonical"},
		"not a verdict file": {evidence, evidence, registry(t), "verdict"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := d.VerifyVerdict(tc.verdict, tc.evidence, tc.registry); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestDeclarationIsAValidManifestForTheOriginal(t *testing.T) {
	folder := written(t, planOf(t, []byte("verifier"), "verified"))
	manifest, err := os.ReadFile(filepath.Join(folder, manifestFile))
	if err != nil {
		t.Fatal(err)
	}
	if r := conformance.Verify(manifest, registry(t), nil); r.Refusal != nil {
		t.Error(r.Refusal)
	}
}

func TestTheSameDeclarationHasTheSameBytes(t *testing.T) {
	plan := planOf(t, []byte("verifier"), "verified", "refused")
	one, two := written(t, plan), written(t, plan)
	for _, name := range []string{manifestFile, corpusFile, toolFile} {
		a, err := os.ReadFile(filepath.Join(one, name))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(two, name))
		if err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs, %v", name, err)
		}
	}
}

func TestEveryFileOfTheFolderIsCovered(t *testing.T) {
	folder := written(t, planOf(t, []byte("verifier"), "verified", "refused"))
	shut, err := sandbox.Choose(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, changed := range [][]byte{append(bytes.Clone(content), '\n'), append([]byte{content[0] ^ 1}, content[1:]...)} {
			if err := os.WriteFile(path, changed, 0o600); err != nil {
				return err
			}
			d, err := Open(folder, registry(t))
			if err == nil {
				_, err = d.Replay(context.Background(), refusingRuntime{shut}, host)
			}
			isManifestBlank := filepath.Base(path) == manifestFile && len(changed) > len(content)
			if (err == nil || errors.Is(err, errRan)) && !isManifestBlank {
				t.Errorf("%s: a change is not seen before the verifier runs: %v", path, err)
			}
		}
		return os.WriteFile(path, content, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// refusingRuntime stands for a sandbox and fails when the last artifact, which
// is the only one changed after the others ran, would run.
type refusingRuntime struct{ sandbox.Runtime }

var errRan = errors.New("the verifier would run")

func (refusingRuntime) Run(_ context.Context, c sandbox.Command, _ sandbox.Limits) (sandbox.Outcome, error) {
	if strings.Contains(c.Args[1], "refused") {
		return sandbox.Outcome{}, errRan
	}
	return sandbox.Outcome{End: sandbox.Exited}, nil
}

func TestPlansThatCannotBeDeclared(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*Plan)
		want   string
	}{
		"no case":                {func(p *Plan) { p.Cases = nil }, "needs a case"},
		"too many cases":         {func(p *Plan) { p.Cases = slices.Repeat(p.Cases, 65) }, "elements"},
		"case twice":             {func(p *Plan) { p.Cases = slices.Repeat(p.Cases, 2) }, "DuplicateCaseId"},
		"no verifier":            {func(p *Plan) { p.Verifiers = nil }, "needs a verifier"},
		"unknown platform":       {func(p *Plan) { p.Verifiers[0].Platform = "plan9/mips" }, "linux/amd64"},
		"id of other characters": {func(p *Plan) { p.ID = "a/b" }, "InvalidIdentifier"},
		"case id leaves folder":  {func(p *Plan) { p.Cases[0].ID = "../x" }, "case_id"},
		"no time":                {func(p *Plan) { p.Bounds.LatencyMS = 0 }, "BoundTooLow"},
		"no output":              {func(p *Plan) { p.Bounds.ResponseBytes = 0 }, "BoundTooLow"},
		"no memory":              {func(p *Plan) { p.Bounds.MemoryBytes = 1 }, "max_memory_bytes_per_call"},
		"run beyond 32 bits":     {func(p *Plan) { p.Bounds.LatencyMS = 1 << 31 }, "32 bits"},
		"unknown verdict":        {func(p *Plan) { p.Cases[0].Expected = "perhaps" }, "verified, refused"},
	} {
		t.Run(name, func(t *testing.T) {
			p := planOf(t, []byte("verifier"), "verified")
			tc.change(&p)
			folder := filepath.Join(t.TempDir(), "declaration")
			err := Write(folder, p, publisher(t))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			if left, _ := os.ReadDir(filepath.Dir(folder)); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestDeclarationIsNotReplaced(t *testing.T) {
	p := planOf(t, []byte("verifier"), "verified")
	if err := Write(written(t, p), p, publisher(t)); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v", err)
	}
}

func TestEvidenceMustBeCompleteAndOfThisDeclaration(t *testing.T) {
	d := opened(t, written(t, planOf(t, []byte("verifier"), "verified", "refused")))
	good, err := d.Replay(context.Background(), recordedRuntime{}, host)
	if err != nil {
		t.Fatal(err)
	}
	if got := broken(t, d, good); got != nil {
		t.Fatalf("%q do not hold", got)
	}
	for name, change := range map[string]func(*Evidence){
		"other manifest": func(e *Evidence) { e.ManifestHash = "blake3:0" },
		"other corpus":   func(e *Evidence) { e.CorpusSHA256 = "sha256:0" },
		"other verifier": func(e *Evidence) { e.VerifierSHA256 = "sha256:0" },
		"other platform": func(e *Evidence) { e.Platform = "linux/riscv64" },
		"call missing":   func(e *Evidence) { e.Calls = e.Calls[1:] },
		"other order":    func(e *Evidence) { slices.Reverse(e.Calls) },
	} {
		e := good
		e.Calls = slices.Clone(good.Calls)
		change(&e)
		if _, err := d.Judge(e); err == nil {
			t.Errorf("%s: judged", name)
		}
	}
	if _, err := d.Replay(context.Background(), recordedRuntime{}, "linux/riscv64"); err == nil {
		t.Error("replayed on a platform without a verifier")
	}
}

func TestMeasuredMemoryIsComparedWithItsBound(t *testing.T) {
	d := opened(t, written(t, planOf(t, []byte("verifier"), "verified")))
	e, err := d.Replay(context.Background(), recordedRuntime{}, host)
	if err != nil {
		t.Fatal(err)
	}
	for peak, want := range map[int64][]string{0: nil, 128 << 20: nil, 128<<20 + 1: {"bounds.max_memory_bytes_per_call"}} {
		e.Calls[1].PeakMemory = peak
		if got := broken(t, d, e); !slices.Equal(got, want) {
			t.Errorf("peak of %d bytes: broken %q, want %q", peak, got, want)
		}
	}
}

// recordedRuntime answers as a verifier would that tells artifacts apart by
// their names.
type recordedRuntime struct{ sandbox.Runtime }

func (recordedRuntime) Name() string { return "recorded" }

func (recordedRuntime) Run(_ context.Context, c sandbox.Command, _ sandbox.Limits) (sandbox.Outcome, error) {
	o := sandbox.Outcome{End: sandbox.Exited}
	if strings.HasSuffix(c.Args[1], "refused") {
		o.ExitCode = 1
	}
	return o, nil
}

func FuzzEvidenceAndVerdict(f *testing.F) {
	d := opened(f, written(f, planOf(f, []byte("verifier"), "verified")))
	e, err := d.Replay(context.Background(), recordedRuntime{}, host)
	if err != nil {
		f.Fatal(err)
	}
	evidence, err := EvidenceSpec.Encode(e)
	if err != nil {
		f.Fatal(err)
	}
	v, err := d.SignVerdict(evidence, publisher(f))
	if err != nil {
		f.Fatal(err)
	}
	verdict, err := VerdictSpec.Encode(v)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(verdict, evidence)
	f.Fuzz(func(t *testing.T, verdict, evidence []byte) {
		if _, err := d.VerifyVerdict(verdict, evidence, registry(t)); err == nil && !bytes.Equal(verdict, mustEncode(t, v)) {
			t.Fatalf("another verdict is accepted: %s", verdict)
		}
	})
}

func mustEncode(t *testing.T, v Verdict) []byte {
	text, err := VerdictSpec.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func FuzzCorpus(f *testing.F) {
	folder := written(f, planOf(f, []byte("verifier"), "verified", "refused"))
	text, err := os.ReadFile(filepath.Join(folder, corpusFile))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		corpus, err := CorpusSpec.Parse(text)
		if err != nil {
			return
		}
		if again, err := CorpusSpec.Encode(corpus); err != nil || !bytes.Equal(again, text) {
			t.Fatalf("written back as %s, %v", again, err)
		}
	})
}

func TestManifestsThatAreNotOurDeclaration(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*conformance.Manifest)
		want   string
	}{
		"block taken out": {func(m *conformance.Manifest) { m.Conformance = nil }, "UnsignedField"},
		"recipe without tools": {func(m *conformance.Manifest) {
			m.Conformance, m.Tools, m.Endpoint, m.Entry.Kind = nil, nil, nil, "cli_recipe"
		}, "declares nothing"},
		"corpus elsewhere":      {func(m *conformance.Manifest) { m.Conformance.ReplayCorpus.Path = "other.json" }, "expected the corpus"},
		"undecidable invariant": {func(m *conformance.Manifest) { m.Conformance.Invariants[0].Kind = conformance.ReversibleWrites }, "cannot decide"},
		"case dropped":          {func(m *conformance.Manifest) { m.Conformance.ReplayCorpus.Cases = m.Conformance.ReplayCorpus.Cases[1:] }, "CorpusMismatch"},
		"other version":         {func(m *conformance.Manifest) { m.Version = "2.0.0" }, "description"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := written(t, planOf(t, []byte("verifier"), "verified", "refused"))
			path := filepath.Join(folder, manifestFile)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			m, _, err := conformance.Read(text)
			if err != nil {
				t.Fatal(err)
			}
			tc.change(m)
			if err := m.Sign(publisher(t)); err != nil {
				t.Fatal(err)
			}
			if text, err = m.Encode(); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(folder, registry(t)); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}
