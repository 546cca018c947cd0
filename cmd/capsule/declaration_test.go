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
	"github.com/erdos1056/erdos1056/internal/cli"
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
	if code := command.Run(context.Background(), args, nil, &out, &messages); code != want {
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
	s.run(cli.Done, "keygen", "--output", "{}/"+name, "--registry", "{}/keys.json", "--holder", name, "--role", role)
}

func TestKeysAreMadeEncryptedAndTrusted(t *testing.T) {
	s := newSession(t)
	s.write("passphrase", []byte("correct horse\n"))
	out, _ := s.run(cli.Done, "keygen", "--output", "{}/key.pem", "--encrypt", "--passphrase-file", "{}/passphrase", "--registry", "{}/keys.json", "--holder", "Ada")
	if !strings.HasPrefix(out, "p_") || !strings.Contains(string(s.read("keys.json")), `"holder":"Ada"`) {
		t.Errorf("stdout %s, registry %s", out, s.read("keys.json"))
	}
	if text := s.read("key.pem"); bytes.Contains(text, []byte("PRIVATE KEY")) {
		t.Errorf("the key lies open: %s", text)
	}
	out, _ = s.run(cli.Done, "trust", testdata+"opentakeoff-academy/site/academy-public-key.pem", "--registry", "{}/keys.json", "--holder", "Academy", "--role", "proctor", "--json")
	var line struct{ Type, Fingerprint, Holder string }
	if err := json.Unmarshal([]byte(out), &line); err != nil || line.Type != "trust" || line.Holder != "Academy" {
		t.Errorf("stdout %s, %v", out, err)
	}
	s.write("hex", []byte(strings.Repeat("17", 32)+"\n"))
	s.run(cli.Done, "trust", "{}/hex", "--registry", "{}/keys.json", "--holder", "Bob")
	if n := bytes.Count(s.read("keys.json"), []byte("fingerprint")); n != 3 {
		t.Errorf("%d keys, want 3", n)
	}
	s.run(cli.Usage, "keygen")
	s.run(cli.Usage, "keygen", "--output", "{}/other.pem", "--registry", "{}/keys.json")
	s.run(cli.Usage, "keygen", "--output", "{}/other.pem", "--registry", "{}/keys.json", "--holder", "x", "--role", "friend")
	if _, err := os.Stat(s.path("other.pem")); err == nil {
		t.Error("a key was left behind")
	}
	s.run(cli.NoOutput, "keygen", "--output", "{}/key.pem")
	s.run(cli.Failed, "trust", "{}/passphrase", "--registry", "{}/keys.json", "--holder", "x")
	s.run(cli.Usage, "trust", "{}/hex", "--holder", "x")
	s.run(cli.NoInput, "trust", "{}/none", "--registry", "{}/keys.json", "--holder", "x")
}

func TestDeclarationIsMadeReplayedAndVerified(t *testing.T) {
	s := newSession(t)
	artifact, err := os.ReadFile(published)
	if err != nil {
		t.Fatal(err)
	}
	s.write("altered.txt", bytes.Replace(artifact, []byte("best_residue=5141590"), []byte("best_residue=5141591"), 1))
	s.keygen("key.pem", "publisher")
	s.run(cli.Done, "declare", "--range", "10428401..10428600", "--platform", sandbox.Native, "--verified", published,
		"--refused", "{}/altered.txt", "--key", "{}/key.pem", "--output", "{}/declaration")

	s.run(cli.Done, "verify-manifest", "{}/declaration/manifest.json", "--keys", "{}/keys.json", "--corpus", "{}/declaration/replay-corpus.json")
	s.run(cli.Done, "verify-manifest", "{}/declaration/manifest.json", "--keys", "{}/keys.json")
	s.write("alone.json", s.read("declaration/manifest.json"))
	s.run(cli.Failed, "verify-manifest", "{}/alone.json", "--keys", "{}/keys.json")
	out, messages := s.run(cli.Done, "verify-manifest", "{}/alone.json", "--keys", "{}/keys.json", "--as-original")
	if !strings.HasPrefix(out, "verified") || !strings.Contains(messages, "UnsignedField: tools") {
		t.Errorf("stdout %s, stderr %s", out, messages)
	}

	out, _ = s.run(cli.Done, "conform", "{}/declaration", "--keys", "{}/keys.json", "--key", "{}/key.pem", "--output", "{}/conformance")
	if strings.Count(out, "holds ") != 2+7+6+5+1 || strings.Contains(out, "BROKEN") {
		t.Errorf("stdout\n%s", out)
	}
	s.run(cli.Done, "conform", "{}/declaration", "--keys", "{}/keys.json", "--check", "{}/conformance")
	s.write("conformance/verdict.json", bytes.Replace(s.read("conformance/verdict.json"), []byte(`"holds":true`), []byte(`"holds":false`), 1))
	s.run(cli.Failed, "conform", "{}/declaration", "--keys", "{}/keys.json", "--check", "{}/conformance")

	// A bound that is widened after signing is seen before anything runs.
	s.write("declaration/manifest.json", bytes.Replace(s.read("declaration/manifest.json"), []byte("60000"), []byte("90000"), 1))
	s.run(cli.Failed, "conform", "{}/declaration", "--keys", "{}/keys.json", "--key", "{}/key.pem", "--output", "{}/again")
	s.run(cli.NoInput, "conform", "{}/none", "--keys", "{}/keys.json", "--key", "{}/key.pem", "--output", "{}/again")
	s.run(cli.Usage, "conform")
}

func TestDeclarationOfATheoremIsMadeReplayedAndVerified(t *testing.T) {
	challenge, proof, wrong, cheating, unknown := theoremFiles(t)
	s := newSession(t)
	s.keygen("key.pem", "publisher")
	theorem := []string{"declare", "--lean", "--challenge", challenge, "--target", theoremTarget, "--platform", sandbox.Native, "--key", "{}/key.pem"}
	out, messages := s.run(cli.Done, append(theorem, "--verified", proof, "--refused", wrong, "--refused", cheating, "--output", "{}/declaration")...)
	if !strings.Contains(out, "formal-erdos505-erdos-505-test-dim-one-") || !strings.Contains(messages, theoremTarget+" : ∀ (p : Prop), p → p") {
		t.Errorf("stdout %s, stderr %s", out, messages)
	}
	s.run(cli.Done, "verify-manifest", "{}/declaration/manifest.json", "--keys", "{}/keys.json")
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

	out, _ = s.run(cli.Done, "conform", "{}/declaration", "--keys", "{}/keys.json", "--key", "{}/key.pem", "--output", "{}/conformance")
	if strings.Count(out, "holds ") != 3+7+6+5+1 || strings.Contains(out, "BROKEN") {
		t.Errorf("stdout\n%s", out)
	}
	s.run(cli.Done, "conform", "{}/declaration", "--keys", "{}/keys.json", "--check", "{}/conformance")

	// A decline is no verdict, so it is neither of the two that can be declared.
	s.run(cli.Done, append(theorem, "--refused", unknown, "--output", "{}/other")...)
	out, _ = s.run(cli.Failed, "conform", "{}/other", "--keys", "{}/keys.json", "--key", "{}/key.pem", "--output", "{}/broken")
	if !strings.Contains(out, "none: exit code 2") {
		t.Errorf("stdout\n%s", out)
	}
	s.run(cli.Usage, append(theorem, "--range", "2..100", "--verified", proof, "--output", "{}/both")...)
	s.run(cli.Failed, "declare", "--lean", "--challenge", challenge, "--target", "T.other", "--key", "{}/key.pem", "--verified", proof, "--output", "{}/none")
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
	s.run(cli.Done, "declare", "--range", "10428401..10428600", "--platform", sandbox.Native, "--verified", "{}/altered.txt",
		"--key", "{}/key.pem", "--output", "{}/declaration")
	out, messages := s.run(cli.Failed, "conform", "{}/declaration", "--keys", "{}/keys.json", "--key", "{}/key.pem", "--output", "{}/conformance", "--json")
	if strings.Count(out, `"holds":false`) != 2 || !strings.Contains(messages, "1 line broken") {
		t.Errorf("stdout\n%s\nstderr\n%s", out, messages)
	}
}

func TestDeclareSaysWhatIsMissing(t *testing.T) {
	s := newSession(t)
	s.keygen("key.pem", "publisher")
	s.run(cli.Usage, "declare", "--range", "10428401..10428600", "--key", "{}/key.pem")
	s.run(cli.Usage, "declare", "--output", "{}/d", "--key", "{}/key.pem")
	s.run(cli.Usage, "declare", "--range", "10428401..10428600", "--output", "{}/d")
	s.run(cli.Usage, "declare", "more", "--output", "{}/d")
	s.run(cli.NoInput, "declare", "--range", "10428401..10428600", "--output", "{}/d", "--key", "{}/none")
	s.run(cli.NoInput, "declare", "--range", "10428401..10428600", "--output", "{}/d", "--key", "{}/key.pem", "--verified", "{}/none")
}

func TestPublishedManifests(t *testing.T) {
	s := newSession(t)
	s.write("hex", []byte("b791b18a7eeb32c7f9149f30ba7270a8f41df434e731a704cd8e1d73e76f9848"))
	s.run(cli.Done, "trust", "{}/hex", "--registry", "{}/keys.json", "--holder", "reference pack")
	const pack = testdata + "cuecrux/ext.conformance.reference/0.2.0/"
	s.run(cli.Done, "verify-manifest", pack+"manifest.json", "--keys", "{}/keys.json", "--as-original")
	s.run(cli.Failed, "verify-manifest", pack+"manifest.json", "--keys", "{}/keys.json")
	_, messages := s.run(cli.Failed, "verify-manifest", testdata+"cuecrux/derived/widened-envelope.manifest.json", "--keys", "{}/keys.json", "--as-original")
	if !strings.Contains(messages, "ManifestHashMismatch") {
		t.Error(messages)
	}
}

func TestRunTravelsAsOneBundle(t *testing.T) {
	s := newSession(t)
	s.keygen("entrant.pem", "entrant")
	s.keygen("proctor.pem", "proctor")
	s.run(cli.Done, "run", writeDraft(t, s.folder), "--no-land", "--output", "{}/run1", "--key", "{}/entrant.pem")
	s.run(cli.Done, "bundle", "export", "{}/run1", "--proctored-by", "registrar", "--output", "{}/unsigned.json")
	s.run(cli.Failed, "bundle", "verify", "{}/unsigned.json", "--keys", "{}/keys.json")
	s.run(cli.Failed, "bundle", "cosign", "{}/unsigned.json", "--key", "{}/proctor.pem", "--keys", "{}/keys.json")
	s.run(cli.Done, "bundle", "sign", "{}/unsigned.json", "--key", "{}/entrant.pem", "--output", "{}/signed.json")
	s.run(cli.Failed, "bundle", "verify", "{}/signed.json", "--keys", "{}/keys.json")
	s.run(cli.Done, "bundle", "verify", "{}/signed.json", "--keys", "{}/keys.json", "--as-original")
	s.run(cli.Done, "bundle", "cosign", "{}/signed.json", "--key", "{}/proctor.pem", "--keys", "{}/keys.json", "--output", "{}/cosigned.json")
	out, _ := s.run(cli.Done, "bundle", "verify", "{}/cosigned.json", "--keys", "{}/keys.json")
	if !strings.HasPrefix(out, "verified  run bundle ") {
		t.Error(out)
	}
	s.run(cli.Failed, "bundle", "verify", "{}/cosigned.json")
	self, _ := s.run(cli.Done, "bundle", "export", "{}/run1", "--key", "{}/entrant.pem")
	s.write("self.json", []byte(self))
	s.run(cli.Done, "bundle", "verify", "{}/self.json", "--keys", "{}/keys.json")
	// The capsule of the original's run is not at hand, so its mission cannot be
	// verified.
	_, messages := s.run(cli.Failed, "bundle", "export", testdata+"canopus/original-tool-output/runs/v0.6.3-noland", "--as-original")
	if !strings.Contains(messages, "mission bundle fails") {
		t.Error(messages)
	}
	s.run(cli.NoInput, "bundle", "verify", "{}/none")
	s.run(cli.Usage, "bundle", "verify")
	s.run(cli.Usage, "bundle", "sign", "{}/unsigned.json")
	s.run(cli.Failed, "bundle", "sign", "{}/keys.json", "--key", "{}/entrant.pem")
	s.run(cli.Usage, "bundle")
}

func TestPublishedBundlesAndCertificates(t *testing.T) {
	s := newSession(t)
	const academy = testdata + "opentakeoff-academy/"
	s.run(cli.Done, "trust", academy+"site/academy-public-key.pem", "--registry", "{}/keys.json", "--holder", "Academy", "--role", "proctor")
	_, messages := s.run(cli.Failed, "bundle", "verify", academy+"derived-adversarial/proto-smuggled.bundle.json", "--keys", "{}/keys.json")
	if !strings.Contains(messages, "finding PrototypeKey") || !strings.Contains(messages, "finding UnknownKey") {
		t.Error(messages)
	}
	s.run(cli.Done, "bundle", "verify", academy+"derived-adversarial/proto-smuggled.bundle.json", "--as-original")
	certificate := academy + "site/certs/OTA-D9A-0047.json"
	s.run(cli.Done, "bundle", "verify", certificate, "--keys", "{}/keys.json", "--at", "2026-07-20T00:00:00Z")
	out, _ := s.run(cli.Failed, "bundle", "verify", certificate, "--keys", "{}/keys.json", "--at", "2027-07-20T00:00:00Z", "--json")
	if !strings.Contains(out, `"name":"Expired"`) {
		t.Error(out)
	}
	s.run(cli.Usage, "bundle", "verify", certificate, "--at", "tomorrow")
	s.write("deep.json", []byte(strings.Repeat("[", 100)+strings.Repeat("]", 100)))
	for _, verb := range []string{"bundle verify", "verify-manifest"} {
		if _, messages := s.run(cli.BadInput, append(strings.Fields(verb), "{}/deep.json")...); !strings.Contains(messages, "no verdict") {
			t.Error(messages)
		}
	}
	s.write("task.json", []byte("{}"))
	s.run(cli.Internal, "bundle", "verify", academy+"submissions/example-submission.bundle.json", "--task", "{}/task.json")
}
