package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/capsule/sandbox"
	"github.com/erdos1056/erdos1056/internal/digest"
)

const testdata = "../../testdata/"

// session runs capsule in a folder of its own, in which {} stands for it.
type session struct {
	t      *testing.T
	folder string
}

func newSession(t *testing.T) session { return session{t, t.TempDir()} }

func (s session) path(name string) string { return filepath.Join(s.folder, name) }

// run runs a command line and wants an exit code; it returns stdout and stderr.
func (s session) run(want int, line ...string) (stdout, stderr string) {
	s.t.Helper()
	args := make([]string, len(line))
	for i, word := range line {
		args[i] = strings.ReplaceAll(word, "{}", s.folder)
	}
	var out, messages bytes.Buffer
	if code := run(context.Background(), args, &out, &messages); code != want {
		s.t.Fatalf("capsule %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), code, want, out.String(), messages.String())
	}
	return out.String(), messages.String()
}

func (s session) write(name string, content []byte) {
	s.t.Helper()
	if err := os.WriteFile(s.path(name), content, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s session) read(name string) []byte {
	s.t.Helper()
	content, err := os.ReadFile(s.path(name))
	if err != nil {
		s.t.Fatal(err)
	}
	return content
}

// keygen makes a key and enters it in keys.json.
func (s session) keygen(name, role string) {
	s.t.Helper()
	s.run(exitDone, "keygen", "--output", "{}/"+name, "--registry", "{}/keys.json", "--holder", name, "--role", role)
}

func TestKeysAreMadeEncryptedAndTrusted(t *testing.T) {
	s := newSession(t)
	s.write("passphrase", []byte("correct horse\n"))
	out, _ := s.run(exitDone, "keygen", "--output", "{}/key.pem", "--encrypt", "--passphrase-file", "{}/passphrase", "--registry", "{}/keys.json", "--holder", "Ada")
	if !strings.HasPrefix(out, "p_") || !strings.Contains(string(s.read("keys.json")), `"holder":"Ada"`) {
		t.Errorf("stdout %s, registry %s", out, s.read("keys.json"))
	}
	if text := s.read("key.pem"); bytes.Contains(text, []byte("PRIVATE KEY")) {
		t.Errorf("the key lies open: %s", text)
	}
	out, _ = s.run(exitDone, "trust", testdata+"opentakeoff-academy/site/academy-public-key.pem", "--registry", "{}/keys.json", "--holder", "Academy", "--role", "proctor", "--json")
	var line struct{ Type, Fingerprint, Holder string }
	if err := json.Unmarshal([]byte(out), &line); err != nil || line.Type != "trust" || line.Holder != "Academy" {
		t.Errorf("stdout %s, %v", out, err)
	}
	s.write("hex", []byte(strings.Repeat("17", 32)+"\n"))
	s.run(exitDone, "trust", "{}/hex", "--registry", "{}/keys.json", "--holder", "Bob")
	if n := bytes.Count(s.read("keys.json"), []byte("fingerprint")); n != 3 {
		t.Errorf("%d keys, want 3", n)
	}
	s.run(exitUsage, "keygen")
	s.run(exitUsage, "keygen", "--output", "{}/other.pem", "--registry", "{}/keys.json")
	s.run(exitUsage, "keygen", "--output", "{}/other.pem", "--registry", "{}/keys.json", "--holder", "x", "--role", "friend")
	if _, err := os.Stat(s.path("other.pem")); err == nil {
		t.Error("a key was left behind")
	}
	s.run(exitInternal, "keygen", "--output", "{}/key.pem")
	s.run(exitMismatch, "trust", "{}/passphrase", "--registry", "{}/keys.json", "--holder", "x")
	s.run(exitUsage, "trust", "{}/hex", "--holder", "x")
	s.run(exitNoInput, "trust", "{}/none", "--registry", "{}/keys.json", "--holder", "x")
}

func TestDeclarationIsMadeReplayedAndVerified(t *testing.T) {
	s := newSession(t)
	artifact, err := os.ReadFile(published)
	if err != nil {
		t.Fatal(err)
	}
	s.write("altered.txt", bytes.Replace(artifact, []byte("best_residue=5141590"), []byte("best_residue=5141591"), 1))
	s.keygen("key.pem", "publisher")
	s.run(exitDone, "declare", "--range", "10428401..10428600", "--platform", sandbox.Native, "--verified", published,
		"--refused", "{}/altered.txt", "--key", "{}/key.pem", "--output", "{}/declaration")

	s.run(exitDone, "verify-manifest", "{}/declaration/manifest.json", "--keys", "{}/keys.json", "--corpus", "{}/declaration/replay-corpus.json")
	s.run(exitDone, "verify-manifest", "{}/declaration/manifest.json", "--keys", "{}/keys.json")
	s.write("alone.json", s.read("declaration/manifest.json"))
	s.run(exitMismatch, "verify-manifest", "{}/alone.json", "--keys", "{}/keys.json")
	out, messages := s.run(exitDone, "verify-manifest", "{}/alone.json", "--keys", "{}/keys.json", "--as-original")
	if !strings.HasPrefix(out, "verified") || !strings.Contains(messages, "UnsignedField: tools") {
		t.Errorf("stdout %s, stderr %s", out, messages)
	}

	out, _ = s.run(exitDone, "conform", "{}/declaration", "--keys", "{}/keys.json", "--key", "{}/key.pem", "--output", "{}/conformance")
	if strings.Count(out, "holds ") != 2+7+6+5+1 || strings.Contains(out, "BROKEN") {
		t.Errorf("stdout\n%s", out)
	}
	s.run(exitDone, "conform", "{}/declaration", "--keys", "{}/keys.json", "--check", "{}/conformance")
	s.write("conformance/verdict.json", bytes.Replace(s.read("conformance/verdict.json"), []byte(`"holds":true`), []byte(`"holds":false`), 1))
	s.run(exitMismatch, "conform", "{}/declaration", "--keys", "{}/keys.json", "--check", "{}/conformance")

	// A bound that is widened after signing is seen before anything runs.
	s.write("declaration/manifest.json", bytes.Replace(s.read("declaration/manifest.json"), []byte("60000"), []byte("90000"), 1))
	s.run(exitMismatch, "conform", "{}/declaration", "--keys", "{}/keys.json", "--key", "{}/key.pem", "--output", "{}/again")
	s.run(exitNoInput, "conform", "{}/none", "--keys", "{}/keys.json", "--key", "{}/key.pem", "--output", "{}/again")
	s.run(exitUsage, "conform")
}

func TestDeclarationOfATheoremIsMadeReplayedAndVerified(t *testing.T) {
	challenge, proof, wrong, cheating, unknown := theoremFiles(t)
	s := newSession(t)
	s.keygen("key.pem", "publisher")
	theorem := []string{"declare", "--lean", "--challenge", challenge, "--target", theoremTarget, "--platform", sandbox.Native, "--key", "{}/key.pem"}
	out, messages := s.run(exitDone, append(theorem, "--verified", proof, "--refused", wrong, "--refused", cheating, "--output", "{}/declaration")...)
	if !strings.Contains(out, "formal-erdos505-erdos-505-test-dim-one-") || !strings.Contains(messages, theoremTarget+" : ∀ (p : Prop), p → p") {
		t.Errorf("stdout %s, stderr %s", out, messages)
	}
	s.run(exitDone, "verify-manifest", "{}/declaration/manifest.json", "--keys", "{}/keys.json")
	statement, err := os.ReadFile(challenge)
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct{ Summary string }
	if err := json.Unmarshal(s.read("declaration/manifest.json"), &manifest); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"` + theoremTarget + `"`, string(digest.Of(statement)), `["Classical.choice" "Quot.sound" "propext"]`} {
		if !strings.Contains(manifest.Summary, want) {
			t.Errorf("no %s in the summary %q", want, manifest.Summary)
		}
	}
	if text := s.read("declaration/replay-corpus.json"); !bytes.Contains(text, []byte(`"max_memory_bytes_per_call":1073741824`)) {
		t.Errorf("the corpus is %s", text)
	}

	out, _ = s.run(exitDone, "conform", "{}/declaration", "--keys", "{}/keys.json", "--key", "{}/key.pem", "--output", "{}/conformance")
	if strings.Count(out, "holds ") != 3+7+6+5+1 || strings.Contains(out, "BROKEN") {
		t.Errorf("stdout\n%s", out)
	}
	s.run(exitDone, "conform", "{}/declaration", "--keys", "{}/keys.json", "--check", "{}/conformance")

	// A decline is no verdict, so it is neither of the two that can be declared.
	s.run(exitDone, append(theorem, "--refused", unknown, "--output", "{}/other")...)
	out, _ = s.run(exitMismatch, "conform", "{}/other", "--keys", "{}/keys.json", "--key", "{}/key.pem", "--output", "{}/broken")
	if !strings.Contains(out, "none: exit code 2") {
		t.Errorf("stdout\n%s", out)
	}
	s.run(exitUsage, append(theorem, "--range", "2..100", "--verified", proof, "--output", "{}/both")...)
	s.run(exitMismatch, "declare", "--lean", "--challenge", challenge, "--target", "T.other", "--key", "{}/key.pem", "--verified", proof, "--output", "{}/none")
}

func TestBrokenDeclarationEndsWithExitCode1(t *testing.T) {
	s := newSession(t)
	artifact, err := os.ReadFile(published)
	if err != nil {
		t.Fatal(err)
	}
	s.write("altered.txt", bytes.Replace(artifact, []byte("k=15"), []byte("k=14"), 1))
	s.keygen("key.pem", "publisher")
	// An altered artifact is declared as one that the verifier verifies.
	s.run(exitDone, "declare", "--range", "10428401..10428600", "--platform", sandbox.Native, "--verified", "{}/altered.txt",
		"--key", "{}/key.pem", "--output", "{}/declaration")
	out, messages := s.run(exitMismatch, "conform", "{}/declaration", "--keys", "{}/keys.json", "--key", "{}/key.pem", "--output", "{}/conformance", "--json")
	if strings.Count(out, `"holds":false`) != 2 || !strings.Contains(messages, "1 line broken") {
		t.Errorf("stdout\n%s\nstderr\n%s", out, messages)
	}
}

func TestDeclareSaysWhatIsMissing(t *testing.T) {
	s := newSession(t)
	s.keygen("key.pem", "publisher")
	s.run(exitUsage, "declare", "--range", "10428401..10428600", "--key", "{}/key.pem")
	s.run(exitUsage, "declare", "--output", "{}/d", "--key", "{}/key.pem")
	s.run(exitUsage, "declare", "--range", "10428401..10428600", "--output", "{}/d")
	s.run(exitUsage, "declare", "more", "--output", "{}/d")
	s.run(exitNoInput, "declare", "--range", "10428401..10428600", "--output", "{}/d", "--key", "{}/none")
	s.run(exitNoInput, "declare", "--range", "10428401..10428600", "--output", "{}/d", "--key", "{}/key.pem", "--verified", "{}/none")
}

func TestPublishedManifests(t *testing.T) {
	s := newSession(t)
	s.write("hex", []byte("b791b18a7eeb32c7f9149f30ba7270a8f41df434e731a704cd8e1d73e76f9848"))
	s.run(exitDone, "trust", "{}/hex", "--registry", "{}/keys.json", "--holder", "reference pack")
	const pack = testdata + "cuecrux/ext.conformance.reference/0.2.0/"
	s.run(exitDone, "verify-manifest", pack+"manifest.json", "--keys", "{}/keys.json", "--as-original")
	s.run(exitMismatch, "verify-manifest", pack+"manifest.json", "--keys", "{}/keys.json")
	_, messages := s.run(exitMismatch, "verify-manifest", testdata+"cuecrux/derived/widened-envelope.manifest.json", "--keys", "{}/keys.json", "--as-original")
	if !strings.Contains(messages, "ManifestHashMismatch") {
		t.Error(messages)
	}
}

func TestRunTravelsAsOneBundle(t *testing.T) {
	s := newSession(t)
	s.keygen("entrant.pem", "entrant")
	s.keygen("proctor.pem", "proctor")
	s.run(exitDone, "run", writeDraft(t, s.folder), "--no-land", "--output", "{}/run1", "--key", "{}/entrant.pem")
	s.run(exitDone, "bundle", "export", "{}/run1", "--proctored-by", "registrar", "--output", "{}/unsigned.json")
	s.run(exitMismatch, "bundle", "verify", "{}/unsigned.json", "--keys", "{}/keys.json")
	s.run(exitMismatch, "bundle", "cosign", "{}/unsigned.json", "--key", "{}/proctor.pem", "--keys", "{}/keys.json")
	s.run(exitDone, "bundle", "sign", "{}/unsigned.json", "--key", "{}/entrant.pem", "--output", "{}/signed.json")
	s.run(exitMismatch, "bundle", "verify", "{}/signed.json", "--keys", "{}/keys.json")
	s.run(exitDone, "bundle", "verify", "{}/signed.json", "--keys", "{}/keys.json", "--as-original")
	s.run(exitDone, "bundle", "cosign", "{}/signed.json", "--key", "{}/proctor.pem", "--keys", "{}/keys.json", "--output", "{}/cosigned.json")
	out, _ := s.run(exitDone, "bundle", "verify", "{}/cosigned.json", "--keys", "{}/keys.json")
	if !strings.HasPrefix(out, "verified  run bundle ") {
		t.Error(out)
	}
	s.run(exitMismatch, "bundle", "verify", "{}/cosigned.json")
	self, _ := s.run(exitDone, "bundle", "export", "{}/run1", "--key", "{}/entrant.pem")
	s.write("self.json", []byte(self))
	s.run(exitDone, "bundle", "verify", "{}/self.json", "--keys", "{}/keys.json")
	// The capsule of the original's run is not at hand, so its mission cannot be
	// verified.
	_, messages := s.run(exitMismatch, "bundle", "export", testdata+"canopus/original-tool-output/runs/v0.6.3-noland", "--as-original")
	if !strings.Contains(messages, "mission bundle fails") {
		t.Error(messages)
	}
	s.run(exitNoInput, "bundle", "verify", "{}/none")
	s.run(exitUsage, "bundle", "verify")
	s.run(exitUsage, "bundle", "sign", "{}/unsigned.json")
	s.run(exitMismatch, "bundle", "sign", "{}/keys.json", "--key", "{}/entrant.pem")
	s.run(exitUsage, "bundle")
}

func TestPublishedBundlesAndCertificates(t *testing.T) {
	s := newSession(t)
	const academy = testdata + "opentakeoff-academy/"
	s.run(exitDone, "trust", academy+"site/academy-public-key.pem", "--registry", "{}/keys.json", "--holder", "Academy", "--role", "proctor")
	_, messages := s.run(exitMismatch, "bundle", "verify", academy+"derived-adversarial/proto-smuggled.bundle.json", "--keys", "{}/keys.json")
	if !strings.Contains(messages, "finding PrototypeKey") || !strings.Contains(messages, "finding UnknownKey") {
		t.Error(messages)
	}
	s.run(exitDone, "bundle", "verify", academy+"derived-adversarial/proto-smuggled.bundle.json", "--as-original")
	certificate := academy + "site/certs/OTA-D9A-0047.json"
	s.run(exitDone, "bundle", "verify", certificate, "--keys", "{}/keys.json", "--at", "2026-07-20T00:00:00Z")
	out, _ := s.run(exitMismatch, "bundle", "verify", certificate, "--keys", "{}/keys.json", "--at", "2027-07-20T00:00:00Z", "--json")
	if !strings.Contains(out, `"name":"Expired"`) {
		t.Error(out)
	}
	s.run(exitUsage, "bundle", "verify", certificate, "--at", "tomorrow")
	s.write("deep.json", []byte(strings.Repeat("[", 100)+strings.Repeat("]", 100)))
	for _, verb := range []string{"bundle verify", "verify-manifest"} {
		if _, messages := s.run(exitInternal, append(strings.Fields(verb), "{}/deep.json")...); !strings.Contains(messages, "no verdict") {
			t.Error(messages)
		}
	}
	s.write("task.json", []byte("{}"))
	s.run(exitInternal, "bundle", "verify", academy+"submissions/example-submission.bundle.json", "--task", "{}/task.json")
}
