package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/capsule/records/canopus/profile"
	"github.com/erdos1056/erdos1056/capsule/sandbox"
	"github.com/erdos1056/erdos1056/internal/cli"
)

// must runs the command, which must succeed, and returns its output.
func must(t *testing.T, args ...string) string {
	t.Helper()
	stdout, _ := capsule(t, cli.Done, args...)
	return stdout
}

// refuses runs the command, which must fail with a code and a message.
func refuses(t *testing.T, code int, message string, args ...string) {
	t.Helper()
	if _, stderr := capsule(t, code, args...); !strings.Contains(stderr, message) {
		t.Errorf("capsule %s: expected %q in %q", strings.Join(args, " "), message, stderr)
	}
}

// tempDir is t.TempDir for runs, whose sealed folders are opened again before
// they are removed.
func tempDir(t *testing.T) string {
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

func writeDraft(t *testing.T, folder string) string {
	t.Helper()
	text, err := json.MarshalIndent(profile.Range{K: 15, Start: 2, End: 2000}.Draft(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "mission.draft.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestMissionIsRunInspectedVerifiedAndReplayed(t *testing.T) {
	folder := tempDir(t)
	draft, run1 := writeDraft(t, folder), filepath.Join(folder, "run1")
	bundle := filepath.Join(folder, "mission1")
	if text := must(t, "mission", "prepare", draft, "--output", bundle); !strings.HasPrefix(text, "valid     mission_erdos1056_k15_range_2_2000  sha256:") {
		t.Errorf("mission prepare: %s", text)
	}
	refuses(t, cli.Usage, "--no-land", "run", bundle, "--output", run1)
	refuses(t, cli.NoInput, "no such file", "run", filepath.Join(folder, "absent.json"), "--no-land")
	refuses(t, cli.NoInput, "absent/run.json names no run", "inspect", filepath.Join(folder, "absent", "run.json"))
	refuses(t, cli.NoInput, "say where runs lie with --runs", "inspect", "latest", "--runs", filepath.Join(folder, "absent"))
	if text := must(t, "run", bundle, "--no-land", "--output", run1); !strings.HasPrefix(text, "recorded  "+run1+"/run/run.json  evidence root sha256:") {
		t.Errorf("run: %s", text)
	}
	refuses(t, cli.Usage, "already exists", "run", bundle, "--no-land", "--output", run1)

	var inspection struct {
		Type, Command string
		OK            bool
		Projection    struct{ Schema, Target string }
		Withdrawal    struct{ State string }
	}
	if err := json.Unmarshal([]byte(must(t, "inspect", run1, "--json")), &inspection); err != nil ||
		inspection.Projection.Schema != "canopus.diagnostic-projection.v1" || inspection.Withdrawal.State != "not_applicable" {
		t.Errorf("inspect: %+v, %v", inspection, err)
	}
	if text := must(t, "inspect", "latest", "--runs", folder); !strings.Contains(text, "claim     None of the 303 primes of 2..2000 has 16 cuts") {
		t.Errorf("inspect latest: %s", text)
	}
	claims := must(t, "verify", run1)
	if lines := strings.Split(strings.TrimSpace(claims), "\n"); len(lines) != 15 || !strings.Contains(lines[14], "verified erdos:1056 k=15 bounded-negative primes=303 max_multiplicity=9") {
		t.Errorf("verify:\n%s", claims)
	}
	if text := must(t, "replay", filepath.Join(run1, "run", "run.json"), "--json"); !strings.Contains(text, `"schema":"canopus.replay.v1","ok":true`) {
		t.Errorf("replay: %s", text)
	}
	refuses(t, cli.Failed, "a diagnostic run was not landed", "publish-run", run1, "--repository", "https://github.com/vela-science/erdos-frontier", "--output", filepath.Join(folder, "published"))

	// What the original's inspect accepts: a forged claim.
	path := filepath.Join(run1, "run", "run.json")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Replace(data, []byte("None of the"), []byte("All of the"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	refuses(t, cli.Failed, "fails: ", "inspect", run1)
	refuses(t, cli.Failed, "not every claim holds", "verify", run1, "--no-replay")
}

func TestRunsOfTheOriginalAreInspectedAsItDoes(t *testing.T) {
	runs, err := filepath.Glob("../../testdata/canopus/original-tool-output/runs/*")
	if err != nil || len(runs) != 8 {
		t.Fatalf("%v, %v", runs, err)
	}
	for _, folder := range runs {
		original, err := os.ReadFile(filepath.Join(folder, "cli", "inspect.stdout"))
		if err != nil {
			t.Fatal(err)
		}
		printed := must(t, "inspect", folder, "--as-original", "--json")
		printed = strings.Replace(printed, `"type":"inspection",`, "", 1)
		printed = strings.Replace(printed, `"run_file":"`+folder, `"run_file":"<OUT>`, 1)
		if printed != string(original) {
			t.Errorf("%s:\n%swant\n%s", folder, printed, original)
		}
	}
}

func TestFailedRunIsRecordedAndExitsWithOne(t *testing.T) {
	folder := tempDir(t)
	draft := writeDraft(t, folder)
	// A capsule of another range refuses the artifact.
	must(t, "build", "--range", "2..2001", "--platform", sandbox.Native, "--output", folder)
	capsules, err := filepath.Glob(filepath.Join(folder, "bin", "*", "2-2001", "verifier"))
	if err != nil || len(capsules) != 1 {
		t.Fatalf("%v, %v", capsules, err)
	}
	output := filepath.Join(folder, "run1")
	refuses(t, cli.Failed, "verifier_non_success", "run", draft, "--no-land", "--output", output, "--capsule", capsules[0])
	if text := must(t, "inspect", output); !strings.Contains(text, "failed    phase verifier_non_success") {
		t.Errorf("inspect: %s", text)
	}
	must(t, "verify", output)
}

func TestWorkerFindsItsInputAndItsWorkspace(t *testing.T) {
	folder := tempDir(t)
	program := filepath.Join(folder, "program")
	build := exec.Command("go", "build", "-o", program, "../../capsule/records/canopus/runner/testdata/program")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	for i, args := range [][]string{{"file"}, {"packet", "{input}"}} {
		output := filepath.Join(folder, fmt.Sprint("run", i))
		command := []string{"run", writeDraft(t, folder), "--no-land", "--output", output, "--worker", program}
		for _, arg := range args {
			command = append(command, "--worker-arg", arg)
		}
		// What the worker hands over is frozen; the verifier of the range refuses it.
		refuses(t, cli.Failed, "verifier_non_success", command...)
		must(t, "verify", output)
	}
}

func TestProfileIsMadeListedShownValidatedAndPacked(t *testing.T) {
	folder := tempDir(t)
	must(t, "build", "--range", "2..100", "--platform", "linux/amd64,linux/arm64", "--output", filepath.Join(folder, "dist"))
	image := profile.Original.Images[0] + "@sha256:" + strings.Repeat("0", 64)
	pkg := filepath.Join(folder, "package")
	made := must(t, "profile", "new", "--package", pkg, "--range", "2..100", "--image", image,
		"--capsule", "linux-x86_64="+filepath.Join(folder, "dist/bin/linux-x86_64/2-100/verifier"),
		"--capsule", "darwin-arm64="+filepath.Join(folder, "dist/bin/linux-arm64/2-100/verifier"))
	const name = "erdos1056-k15-2-100"
	if !strings.HasPrefix(made, "valid     "+name+"  sha256:") {
		t.Errorf("profile new: %s", made)
	}
	if text := must(t, "profile", "list", "--package", pkg, "--json"); text != `{"type":"profiles","ok":true,"command":"profile list","profiles":["`+name+`"]}`+"\n" {
		t.Errorf("profile list: %s", text)
	}
	if text := must(t, "profile", "show", name, "--package", pkg); !strings.Contains(text, "landing   defer") {
		t.Errorf("profile show: %s", text)
	}
	if text := must(t, "profile", "pack", name, "--package", pkg, "--output", filepath.Join(folder, "pack")); !strings.Contains(text, "5 files") {
		t.Errorf("profile pack: %s", text)
	}
	must(t, "profile", "validate", name, "--package", filepath.Join(folder, "pack"))
	refuses(t, cli.Failed, "profile.platforms", "profile", "validate", name, "--package", pkg, "--host", "linux-x86_64")
	refuses(t, cli.Usage, "--host mars", "profile", "list", "--host", "mars")
	refuses(t, cli.Usage, "expected PROFILE", "profile", "show", "--package", pkg)

	capsule := filepath.Join(pkg, "capsules/erdos1056-k15/linux-x86_64/2-100/verifier")
	if err := os.Chmod(capsule, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(capsule, []byte("changed"), 0o755); err != nil {
		t.Fatal(err)
	}
	refuses(t, cli.Failed, "profile.platforms.linux-x86_64.verifier_capsule_sha256", "profile", "validate", name, "--package", pkg)

	// A run names the profile that registers its draft.
	draft := filepath.Join(pkg, "missions/erdos1056-k15-2-100/mission.draft.json")
	run1 := filepath.Join(folder, "run1")
	must(t, "run", draft, "--profile", filepath.Join(pkg, "profiles", name+".json"), "--no-land", "--output", run1)
	mission, err := os.ReadFile(filepath.Join(run1, "mission", "mission.json"))
	if err != nil || !bytes.Contains(mission, []byte(`"profile":{"name":"`+name+`","root":"sha256:`)) {
		t.Errorf("mission: %s, %v", mission, err)
	}
	other := writeDraft(t, folder)
	refuses(t, cli.Failed, "profile.draft_sha256", "run", other, "--profile", filepath.Join(pkg, "profiles", name+".json"), "--no-land")
}

func TestSchemaOfEveryFormatIsPrinted(t *testing.T) {
	names := strings.Fields(must(t, "schema"))
	if len(names) < 30 {
		t.Errorf("%d formats", len(names))
	}
	for _, name := range names {
		published, err := os.ReadFile("../../docs/schemas/" + name + ".json")
		if text := must(t, "schema", name); err != nil || text != string(published) {
			t.Errorf("schema %s is not the published one, %v", name, err)
		}
	}
	refuses(t, cli.Usage, "is no format", "schema", "canopus.mission.v9")
}

func TestLandedRunIsPublished(t *testing.T) {
	folder := tempDir(t)
	frontier := filepath.Join(folder, "frontier")
	program := filepath.Join(folder, "frontier-program")
	build := exec.Command("go", "build", "-o", program, "../../capsule/records/canopus/runner/testdata/program")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	key := filepath.Join(folder, "key.pem")
	must(t, "keygen", "--output", key)
	run1, published := filepath.Join(folder, "run1"), filepath.Join(folder, "published")
	must(t, "run", writeDraft(t, folder), "--land-command", program+" land", "--frontier", frontier, "--key", key, "--output", run1)
	if text := must(t, "inspect", run1, "--json"); !strings.Contains(text, `"withdrawal":{"proposal_id":"vpr_0123456789abcdef","state":"absent","available":false}`) {
		t.Errorf("inspect: %s", text)
	}
	must(t, "verify", run1)
	refuses(t, cli.Usage, "--repository", "publish-run", run1, "--output", published)
	if text := must(t, "publish-run", run1, "--repository", "https://github.com/vela-science/erdos-frontier", "--output", published); !strings.Contains(text, "bundle root sha256:") {
		t.Errorf("publish-run: %s", text)
	}
	for _, name := range []string{"pending-commands.json", "public-run.json", "root-manifest.json", "web-import.json"} {
		if _, err := os.Stat(filepath.Join(published, name)); err != nil {
			t.Error(err)
		}
	}
}
