package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/erdos1056/erdos1056/capsule/sandbox"
	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/oci/registrytest"
)

func TestMain(m *testing.M) {
	sandbox.RunInit()
	os.Exit(m.Run())
}

const (
	vectors   = "../../testdata/erdos-frontier/"
	variants  = vectors + "derived/artifact-variants/"
	published = vectors + "artifacts/erdos1056-k15-range-10428401-10428600.txt"
	smallYes  = "verified erdos:1056 k=15 bounded-negative primes=25 max_multiplicity=7\n"
)

// capsule runs the command in this process.
func capsule(t *testing.T, wantCode int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, messages bytes.Buffer
	if code := command.Run(context.Background(), args, nil, &out, &messages); code != wantCode {
		t.Fatalf("capsule %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), code, wantCode, &out, &messages)
	}
	return out.String(), messages.String()
}

// digestIn returns what follows the at sign of an image's pinned name.
func digestIn(t *testing.T, output string) string {
	t.Helper()
	_, after, ok := strings.Cut(output, "@")
	if !ok {
		t.Fatalf("no pinned name in %q", output)
	}
	return strings.Fields(after)[0]
}

func TestBuildWritesOneVerifierPerPlatform(t *testing.T) {
	dist := t.TempDir()
	out, _ := capsule(t, cli.Done, "build", "--range", "2..100", "--output", dist)
	for _, name := range []string{"bin/linux-x86_64/2-100/verifier", "bin/linux-arm64/2-100/verifier"} {
		info, err := os.Stat(filepath.Join(dist, name))
		if err != nil || info.Mode() != 0o555 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
		if !strings.Contains(out, name+"  sha256:") {
			t.Errorf("%s is not in the output %q", name, out)
		}
	}
	// The verifiers that were written serve as those of --capsule.
	fromRange, _ := capsule(t, cli.Done, "image", "--range", "2..100")
	fromFiles, _ := capsule(t, cli.Done, "image", "--capsule", dist+"/bin/linux-arm64/2-100/verifier", "--capsule", dist+"/bin/linux-x86_64/2-100/verifier")
	if fromRange != fromFiles {
		t.Errorf("from the range %q, from the files %q", fromRange, fromFiles)
	}
	lines, _ := capsule(t, cli.Done, "build", "--range", "2..100", "--platform", "linux/amd64", "--output", dist, "--json")
	var object struct {
		Type, Platform, Range string
		K                     int
	}
	if err := json.Unmarshal([]byte(lines), &object); err != nil || object.Type != "verifier" || object.Range != "2..100" || object.K != 15 {
		t.Errorf("got %q, %v", lines, err)
	}
}

func TestReleaseVerifiersGiveTheSameImage(t *testing.T) {
	release := t.TempDir()
	for folder, arch := range map[string]string{"linux-x86_64": "amd64", "linux-arm64": "arm64"} {
		build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-tags=purego", "-ldflags=-s -w -buildid=", "-o", filepath.Join(release, folder, "verifier"), "../verifier")
		build.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+arch, "CGO_ENABLED=0", "GOFLAGS=")
		if output, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
	}
	fromSource, _ := capsule(t, cli.Done, "image", "--range", "2..100")
	t.Setenv("PATH", "/nonexistent") // no toolchain
	fromRelease, _ := capsule(t, cli.Done, "image", "--range", "2..100", "--verifiers", release)
	if fromSource != fromRelease {
		t.Errorf("from source %q, from the release %q", fromSource, fromRelease)
	}
}

func TestImageIsReplayedFromEverywhere(t *testing.T) {
	dir := t.TempDir()
	repository := registrytest.InProcess(t, true) + "/erdos1056/verifier"
	out, messages := capsule(t, cli.Done, "image", "--range", "2..100", "--oci-layout-path", dir+"/oci", "--tarball", dir+"/image.tar",
		"--push", repository+":v1", "--image-refs", dir+"/refs", "--sbom", "spdx", "--sbom-dir", dir)
	digest := digestIn(t, out)
	if !strings.Contains(messages, "the registry answers the same digest") {
		t.Errorf("messages %q", messages)
	}
	refs, err := os.ReadFile(dir + "/refs")
	if err != nil || string(refs) != repository+"@"+digest+"\n" {
		t.Errorf("refs %q, %v", refs, err)
	}
	if boms, _ := filepath.Glob(dir + "/sha256-*.spdx.json"); len(boms) != 2 {
		t.Errorf("SPDX documents: %v", boms)
	}
	for _, image := range []string{repository, "oci:" + dir + "/oci", "oci-archive:" + dir + "/image.tar"} {
		pinned := image + "@" + digest
		if out, _ := capsule(t, cli.Done, "replay", "--image", pinned, "--artifact", variants+"good.txt"); out != smallYes {
			t.Errorf("%s: got %q", pinned, out)
		}
		if out, _ := capsule(t, cli.Failed, "replay", "--image", pinned, "--artifact", variants+"cuts-missing-one.txt"); !strings.Contains(out, "line 11 (cuts)") {
			t.Errorf("%s: got %q", pinned, out)
		}
	}
	// A tag is no name, and offline means offline.
	capsule(t, cli.Usage, "replay", "--image", repository+":v1", "--artifact", variants+"good.txt")
	capsule(t, cli.Internal, "replay", "--image", repository+":v1@"+digest, "--artifact", variants+"good.txt")
	if _, messages := capsule(t, cli.Internal, "replay", "--offline", "--image", repository+"@"+digest, "--artifact", variants+"good.txt"); !strings.Contains(messages, "offline") {
		t.Errorf("messages %q", messages)
	}
	capsule(t, cli.Done, "replay", "--offline", "--image", "oci:"+dir+"/oci@"+digest, "--artifact", variants+"good.txt")
	// Another image's digest.
	capsule(t, cli.Internal, "replay", "--image", "oci:"+dir+"/oci@sha256:"+strings.Repeat("0", 64), "--artifact", variants+"good.txt")
}

// TestEverySandboxGivesTheSameVerdicts judges the variants of an artifact with
// every runtime that is here, and natively; the emulated platform and the
// published artifact once each.
func TestEverySandboxGivesTheSameVerdicts(t *testing.T) {
	dist := t.TempDir()
	capsule(t, cli.Done, "build", "--range", "2..100", "--output", dist)
	verifiers := map[string]string{"amd64": dist + "/bin/linux-x86_64/2-100/verifier", "arm64": dist + "/bin/linux-arm64/2-100/verifier"}
	table, err := os.ReadFile(variants + "ORIGINAL-VERDICTS.tsv")
	if err != nil {
		t.Fatal(err)
	}
	oversize := filepath.Join(t.TempDir(), "oversize")
	if err := os.WriteFile(oversize, bytes.Repeat([]byte("x"), 70000), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, r := range sandbox.Runtimes() {
		if _, err := r.Probe(context.Background()); err != nil {
			continue
		}
		for _, line := range strings.Split(strings.TrimSpace(string(table)), "\n")[1:] {
			fields := strings.Split(line, "\t")
			name, code := variants+fields[0]+".txt", map[string]int{"0": cli.Done, "1": cli.Failed, "70": cli.Internal}[fields[1]]
			switch {
			case strings.HasPrefix(fields[0], "("):
				continue // no artifact at all: TestUsage
			case strings.HasPrefix(fields[0], "oversize"):
				name = oversize
			case r.Name() != "built-in" && fields[0] != "good" && fields[0] != "crlf":
				continue // the slower ones say yes once and no once
			}
			out, _ := capsule(t, code, "replay", "--sandbox", r.Name(), "--capsule", verifiers[strings.TrimPrefix(sandbox.Native, "linux/")], "--artifact", name)
			if code == cli.Done && out != smallYes {
				t.Errorf("%s: got %q", r.Name(), out)
			}
		}
	}
	for arch, verifier := range verifiers {
		if _, err := sandbox.Emulation("linux/" + arch); err != nil {
			continue
		}
		if out, _ := capsule(t, cli.Done, "replay", "--capsule", verifier, "--artifact", variants+"good.txt"); out != smallYes {
			t.Errorf("%s: got %q", arch, out)
		}
	}
}

func TestPublishedArtifactIsVerified(t *testing.T) {
	dist := t.TempDir()
	out, _ := capsule(t, cli.Done, "image", "--range", "10428401..10428600", "--oci-layout-path", dist+"/oci")
	out, _ = capsule(t, cli.Done, "replay", "--image", "oci:"+dist+"/oci@"+digestIn(t, out), "--artifact", published, "--json")
	var verdict struct{ Type, Verdict, Message, Sandbox, Artifact string }
	if err := json.Unmarshal([]byte(out), &verdict); err != nil {
		t.Fatal(err)
	}
	if verdict.Type != "verdict" || verdict.Verdict != "verified" || verdict.Message != "verified erdos:1056 k=15 bounded-negative primes=15 max_multiplicity=12" {
		t.Errorf("got %+v", verdict)
	}
}

// TestLimitsAreNoVerdict stops a verifier before its answer.
func TestLimitsAreNoVerdict(t *testing.T) {
	dist := t.TempDir()
	capsule(t, cli.Done, "build", "--range", "10428401..10428600", "--output", dist)
	folder := map[string]string{"linux/amd64": "linux-x86_64", "linux/arm64": "linux-arm64"}[sandbox.Native]
	verifier := dist + "/bin/" + folder + "/10428401-10428600/verifier"
	for limit, want := range map[string]string{"--timeout=200ms": "no verdict: the verifier was stopped (time limit)", "--memory=32": "no verdict: the verifier was stopped (memory limit)"} {
		out, messages := capsule(t, cli.Internal, "replay", limit, "--sandbox=runc", "--capsule", verifier, "--artifact", published)
		if out != "" || !strings.Contains(messages, want) {
			// Without cgroups, memory is refused to the program itself.
			if limit != "--memory=32" || !strings.Contains(messages, "no verdict") {
				t.Errorf("%s: got %q, %q", limit, out, messages)
			}
		}
	}
}

func writeKeys(t *testing.T) (private, public string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, kind string, der []byte, err error) string {
		if err == nil {
			name = filepath.Join(dir, name)
			err = os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return name
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	private = write("key.pem", "PRIVATE KEY", secret, err)
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	return private, write("key.pub", "PUBLIC KEY", der, err)
}

func TestAttestationsTravelWithTheImage(t *testing.T) {
	for name, address := range map[string]string{"in process": registrytest.InProcess(t, true), "docker-registry": registrytest.Debian(t)} {
		if address == "" {
			continue
		}
		t.Run(name, func(t *testing.T) { attestAndVerify(t, address+"/erdos1056/verifier") })
	}
}

func attestAndVerify(t *testing.T, repository string) {
	private, public := writeKeys(t)
	_, stranger := writeKeys(t)
	bundles := t.TempDir()
	out, _ := capsule(t, cli.Done, "image", "--range", "2..100", "--push", repository, "--platform", sandbox.Native)
	pinned := repository + "@" + digestIn(t, out)
	good := variants + "good.txt"
	// What the verifier rejects is not signed.
	capsule(t, cli.Failed, "attest", "--key", private, "--image", pinned, "--artifact", variants+"crlf.txt", "--attach")
	capsule(t, cli.Failed, "verify-attestation", "--key", public, "--image", pinned)

	capsule(t, cli.Done, "attest", "--key", private, "--image", pinned, "--artifact", good, "--attach", "--output", bundles)
	out, _ = capsule(t, cli.Done, "verify-attestation", "--key", public, "--image", pinned, "--artifact", good)
	for _, want := range []string{"https://slsa.dev/provenance/v1", "https://in-toto.io/attestation/svr/v0.1", "ERDOS1056_ARTIFACT_VERIFIED", strings.TrimSpace(smallYes)} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
	capsule(t, cli.Done, "verify-attestation", "--key", public, "--image", pinned, "--type", "https://slsa.dev/provenance/v1")
	capsule(t, cli.Failed, "verify-attestation", "--key", public, "--image", pinned, "--type", "https://spdx.dev/Document/v2.3") // of the manifest, not the index
	capsule(t, cli.Failed, "verify-attestation", "--key", public, "--image", pinned, "--artifact", variants+"crlf.txt")
	if _, messages := capsule(t, cli.Failed, "verify-attestation", "--key", stranger, "--image", pinned); !strings.Contains(messages, "the signature is not by this key") {
		t.Errorf("a stranger's key: %q", messages)
	}
	// The same from files, offline.
	files, err := filepath.Glob(bundles + "/*.verification.sigstore.json")
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	capsule(t, cli.Done, "verify-attestation", "--offline", "--key", public, "--image", pinned, "--bundle", files[0], "--artifact", good)
	other := repository + "@sha256:" + strings.Repeat("0", 64)
	capsule(t, cli.Failed, "verify-attestation", "--offline", "--key", public, "--image", other, "--bundle", files[0])
}

func TestCheckComparesWithTheLockFile(t *testing.T) {
	lock := filepath.Join(t.TempDir(), "images.lock.json")
	t.Setenv("SOURCE_DATE_EPOCH", "86400")
	capsule(t, cli.Done, "image", "--range", "2..100", "--lock", lock, "--write-lock")
	if out, _ := capsule(t, cli.Done, "image", "--check", "--lock", lock); !strings.HasPrefix(out, "2..100 k=15  sha256:") || !strings.HasSuffix(out, "the same\n") {
		t.Errorf("got %q", out)
	}
	text, err := os.ReadFile(lock)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(lock, bytes.Replace(text, []byte("0555"), []byte("0755"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, messages := capsule(t, cli.Failed, "image", "--check", "--lock", lock); !strings.Contains(messages, "linux/amd64: capsule/verifier: expected mode 0755, found 0555") {
		t.Errorf("got %q", messages)
	}
}

func TestImageOnAPinnedBase(t *testing.T) {
	dir := t.TempDir()
	out, _ := capsule(t, cli.Done, "image", "--range", "2..100", "--oci-layout-path", dir+"/base")
	base := "oci:" + dir + "/base@" + digestIn(t, out)
	capsule(t, cli.Done, "image", "--range", "2..2000", "--base", base, "--oci-layout-path", dir+"/upper")
	capsule(t, cli.Usage, "image", "--range", "2..2000", "--base", "debian:bookworm")
}

func TestUsage(t *testing.T) {
	help, _ := capsule(t, cli.Done, "help")
	for _, group := range command.Groups {
		for _, v := range group.Verbs {
			if !strings.Contains(help, "capsule "+v.Name) {
				t.Errorf("help does not name %s", v.Name)
			}
			if text, _ := capsule(t, cli.Done, append(strings.Fields(v.Name), "--help")...); !strings.Contains(text, v.Example) {
				t.Errorf("%s --help has no example: %q", v.Name, text)
			}
		}
	}
	_, public := writeKeys(t)
	missing := filepath.Join(t.TempDir(), "missing")
	for _, c := range []struct {
		code int
		args string
		want string
	}{
		{cli.Usage, "", "Example:"},
		{cli.Usage, "frobnicate", "not a verb"},
		{cli.Usage, "build --frobnicate", "unknown flag"},
		{cli.Usage, "build", "--output DIR"},
		{cli.Usage, "build --output x", "--range A..B"},
		{cli.Usage, "build --output x --range 5..4", "--range 5..4"},
		{cli.Usage, "build --output x --range 2..100 --k 0", "k = 0"},
		{cli.Usage, "build --output x --range 2..100 --platform linux/riscv64", "linux/riscv64"},
		{cli.Usage, "build more", "expected no arguments"},
		{cli.NoInput, "build --output x --range 2..100 --verifiers " + missing, "no such file"},
		{cli.Usage, "image --range 2..100 --offline --push localhost/x", "needs the network"},
		{cli.Usage, "image --range 2..100 --sbom cyclonedx", "want spdx or none"},
		{cli.Usage, "image --range 2..100 --capsule x", "leave --range out"},
		{cli.NoInput, "image --capsule " + missing, "no such file"},
		{cli.NoInput, "image --check --lock " + missing, "no such file"},
		{cli.Usage, "replay", "--artifact FILE"},
		{cli.Usage, "replay --artifact " + variants + "good.txt", "--image"},
		{cli.Usage, "replay --artifact " + variants + "good.txt --image debian:bookworm", "a tag names can change"},
		{cli.NoInput, "replay --capsule x --artifact " + missing, "no such file"},
		{cli.Usage, "attest", "--output DIR or --attach"},
		{cli.Usage, "attest --attach", "--image NAME@sha256:"},
		{cli.BadInput, "attest --attach --image x@sha256:" + strings.Repeat("0", 64) + " --key " + public, "private key"},
		{cli.Usage, "verify-attestation", "--key FILE"},
		{cli.Usage, "verify-attestation --key " + public, "--image NAME@sha256:"},
		{cli.Usage, "verify-attestation --key " + public + " --image oci:x@sha256:" + strings.Repeat("0", 64), "--bundle FILE"},
		{cli.Usage, "doctor now", "expected no arguments"},
	} {
		out, messages := capsule(t, c.code, strings.Fields(c.args)...)
		if !strings.Contains(messages, c.want) || out != "" {
			t.Errorf("capsule %s: got %q on stdout, %q on stderr; want %q", c.args, out, messages, c.want)
		}
	}
	t.Setenv("SOURCE_DATE_EPOCH", "yesterday")
	capsule(t, cli.Usage, "image", "--range", "2..100")
}

func TestErrorsAreJSONLinesToo(t *testing.T) {
	out, _ := capsule(t, cli.Usage, "build", "--json")
	var object struct {
		Type    string
		Code    int `json:"exit_code"`
		Message string
	}
	if err := json.Unmarshal([]byte(out), &object); err != nil || object.Type != "error" || object.Code != cli.Usage || object.Message == "" {
		t.Errorf("got %q, %v", out, err)
	}
}

func TestDoctorSaysWhatThisMachineOffers(t *testing.T) {
	out, _ := capsule(t, cli.Done, "doctor")
	for _, want := range []string{"sandbox    built-in     ok", "sandbox    runc", "sandbox    podman", "sandbox    docker", "platform   linux/amd64", "platform   linux/arm64", "verifiers  unfrozen     ok"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// TestPodmanRunsTheSameDigest pulls the image by digest with podman and runs it
// under the limits that the published capsules are run under.
func TestPodmanRunsTheSameDigest(t *testing.T) {
	address := registrytest.Debian(t)
	if _, err := exec.LookPath("podman"); err != nil || address == "" || os.Geteuid() != 0 {
		return // the other tests pull and run by digest without them
	}
	out, _ := capsule(t, cli.Done, "image", "--range", "2..100", "--push", address+"/erdos1056/verifier")
	pinned := address + "/erdos1056/verifier@" + digestIn(t, out)

	dir, err := os.MkdirTemp("", "e") // short: podman's folders have at most 50 characters
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	config := "[engine]\ncgroup_manager = \"cgroupfs\"\nevents_logger = \"none\"\nlock_type = \"file\"\nruntime = \"runc\"\n"
	if err := os.WriteFile(dir+"/containers.conf", []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	artifact, err := os.ReadFile(variants + "good.txt")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/artifact", artifact, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	podman := exec.Command("podman", "--root", dir+"/s", "--runroot", dir+"/r", "--tmpdir", dir+"/t", "--storage-driver", "vfs",
		"run", "--rm", "--tls-verify=false", "--quiet", "--read-only", "--network=none", "--cap-drop=ALL", "--security-opt=no-new-privileges",
		"--memory=1024m", "--cpus=1", "--pids-limit=64", "--ulimit=nproc=4096:4096", "--ulimit=nofile=1024:1024", "--ipc=none",
		"--cgroups=no-conmon", "--cgroup-parent=/"+filepath.Base(dir), "--log-driver=none",
		"--volume", dir+"/artifact:/artifacts/0:ro", pinned, "/artifacts/0")
	podman.Env = append(os.Environ(), "CONTAINERS_CONF="+dir+"/containers.conf", "TMPDIR="+dir)
	podman.Dir = dir
	podman.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	var stderr bytes.Buffer
	podman.Stderr = &stderr
	verdict, err := podman.Output()
	if err != nil || string(verdict) != smallYes {
		t.Errorf("got %q, %v: %s", verdict, err, &stderr)
	}
	groups, _ := filepath.Glob("/sys/fs/cgroup/*/" + filepath.Base(dir))
	for _, group := range groups {
		os.Remove(group)
	}
}
