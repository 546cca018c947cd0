package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/mission"
	"github.com/erdos1056/erdos1056/capsule/sandbox"
	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/internal/digest"
	"github.com/erdos1056/erdos1056/lean/certificate"
	"github.com/erdos1056/erdos1056/lean/source/sourcetest"
	"github.com/erdos1056/erdos1056/oci"
	"github.com/erdos1056/erdos1056/oci/registrytest"
)

// writeExport writes declarations as an export, a file of that name in a new folder.
func writeExport(t *testing.T, name, text string) string {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(name, sourcetest.Export(t, text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// theoremFiles writes a challenge and answers to it. The statement is a
// stand-in: it has the name of the mission's theorem and nothing of its content.
func theoremFiles(t *testing.T) (challenge, proof, wrong, cheating, unknown string) {
	t.Helper()
	const statement = "Erdos505.erdos_505.test_dim_one : ∀ (p : Prop), p → p"
	challenge = writeExport(t, "challenge.ndjson", "axiom "+statement)
	proof = writeExport(t, "proof.ndjson", "theorem "+statement+" := fun (p : Prop) (h : p) => h")
	wrong = writeExport(t, "wrong.ndjson", "theorem "+statement+" := fun (p : Prop) (h : p) => p")
	cheating = writeExport(t, "cheating.ndjson", "axiom cheat : ∀ (p : Prop), p\ntheorem "+statement+" := fun (p : Prop) (h : p) => cheat p")
	unknown = filepath.Join(t.TempDir(), "unknown")
	if err := os.WriteFile(unknown, []byte("1.0.0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return challenge, proof, wrong, cheating, unknown
}

const theoremTarget = "Erdos505.erdos_505.test_dim_one"

// formalVerifier builds the formal verifier of this machine.
func formalVerifier(t *testing.T, challenge string) string {
	t.Helper()
	dist := t.TempDir()
	must(t, "build", "--lean", "--challenge", challenge, "--target", theoremTarget, "--platform", sandbox.Native, "--output", dist)
	found, err := filepath.Glob(dist + "/bin/*/formal-erdos505-erdos-505-test-dim-one-????????????/verifier")
	if err != nil || len(found) != 1 {
		t.Fatalf("%v, %v", found, err)
	}
	return found[0]
}

func TestFormalCapsuleIsReplayedShutIn(t *testing.T) {
	challenge, proof, wrong, cheating, unknown := theoremFiles(t)
	verifier := formalVerifier(t, challenge)
	if out := must(t, "replay", "--sandbox", "built-in", "--capsule", verifier, "--artifact", proof); out != "accepted: 1 constants (1 theorems) from format 3.1.0; "+theoremTarget+" rests on none\n" {
		t.Errorf("got %q", out)
	}
	for _, c := range []struct {
		name, file string
		code       int
		want       string
	}{
		{"a false proof", wrong, cli.Failed, "rejected: theorem " + theoremTarget},
		{"an axiom more", cheating, cli.Failed, "rejected: target " + theoremTarget + ": cheat: the target rests on an axiom that is not permitted\n"},
		{"an unknown version", unknown, cli.Internal, "no verdict: the verifier ended with exit code 2: declined: line 1: "},
		{"an artifact of a range", published, cli.Internal, "declined: "},
	} {
		out, messages := capsule(t, c.code, "replay", "--sandbox", "built-in", "--capsule", verifier, "--artifact", c.file)
		if !strings.Contains(out+messages, c.want) {
			t.Errorf("%s: got %q, %q; want %q", c.name, out, messages, c.want)
		}
	}
}

// TestLargeExportIsJudgedShutIn: larger than any artifact of a range, and
// compressed, with itself as the challenge.
func TestLargeExportIsJudgedShutIn(t *testing.T) {
	const initial = "../../testdata/lean/ansatz/init-medium.ndjson.gz"
	dist := t.TempDir()
	must(t, "build", "--lean", "--challenge", initial, "--target", "Classical.em", "--platform", sandbox.Native, "--output", dist)
	found, err := filepath.Glob(dist + "/bin/*/formal-classical-em-*/verifier")
	if err != nil || len(found) != 1 {
		t.Fatalf("%v, %v", found, err)
	}
	if out := must(t, "replay", "--sandbox", "built-in", "--capsule", found[0], "--artifact", initial); !strings.Contains(out, "Classical.em rests on propext, Quot.sound, Classical.choice\n") {
		t.Errorf("got %q", out)
	}
}

// TestCertificateOfAWitnessIsJudgedByAFormalCapsule: a theorem that is no
// stand-in. The certificate serves as its own challenge, for the statement alone
// is compared.
func TestCertificateOfAWitnessIsJudgedByAFormalCapsule(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, w certificate.Witness) string {
		var b bytes.Buffer
		if err := certificate.Write(&b, w); err != nil {
			t.Fatal(err)
		}
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	five := write("five", certificate.Witness{K: 5, P: 71, Cuts: []uint64{7, 9, 19, 51, 61, 63}})
	four := write("four", certificate.Witness{K: 4, P: 71, Cuts: []uint64{7, 9, 19, 51, 61}})
	must(t, "build", "--lean", "--challenge", five, "--target", certificate.Theorem, "--permit", "", "--platform", sandbox.Native, "--output", dir)
	found, err := filepath.Glob(dir + "/bin/*/formal-erdos1056-certificate-*/verifier")
	if err != nil || len(found) != 1 {
		t.Fatalf("%v, %v", found, err)
	}
	if out := must(t, "replay", "--sandbox", "built-in", "--capsule", found[0], "--artifact", five); !strings.Contains(out, certificate.Theorem+" rests on none\n") {
		t.Errorf("got %q", out)
	}
	if out, _ := capsule(t, cli.Failed, "replay", "--sandbox", "built-in", "--capsule", found[0], "--artifact", four); !strings.Contains(out, "the type differs from the challenge's") {
		t.Errorf("the certificate of another witness: %q", out)
	}
}

func TestFormalImageIsSmallAndTheSameFromFiles(t *testing.T) {
	challenge, proof, wrong, _, _ := theoremFiles(t)
	dir := t.TempDir()
	theorem := []string{"--lean", "--challenge", challenge, "--target", theoremTarget}
	repository := registrytest.InProcess(t, true) + "/erdos1056/formal"
	out := must(t, append([]string{"image", "--oci-layout-path", dir + "/oci", "--push", repository}, theorem...)...)
	pinned := repository + "@" + digestIn(t, out)
	im, err := oci.ReadLayout(dir+"/oci", digest.Digest(digestIn(t, out)))
	if err != nil {
		t.Fatal(err)
	}
	if len(im.Manifests) != 2 {
		t.Errorf("%d platforms, want 2", len(im.Manifests))
	}
	blobs, err := filepath.Glob(dir + "/oci/blobs/sha256/*")
	if err != nil || len(blobs) < 5 {
		t.Fatal(blobs, err)
	}
	for _, name := range blobs {
		if info, err := os.Stat(name); err != nil || info.Size() > 8_000_000 {
			t.Errorf("%s: %v, %v; an image has at most 8 MB", name, info.Size(), err)
		}
	}
	if _, messages := capsule(t, cli.Done, append([]string{"build", "--output", dir}, theorem...)...); messages != theoremTarget+" : ∀ (p : Prop), p → p\n" {
		t.Errorf("build says %q; want the statement", messages)
	}
	files, err := filepath.Glob(dir + "/bin/*/*/verifier")
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	name, _, _ := strings.Cut(pinned, "@")
	if again := must(t, "image", "--push", repository, "--capsule", files[0], "--capsule", files[1]); again != out {
		t.Errorf("%s from files %q, from the claim %q", name, again, out)
	}
	// Another list of axioms is another claim.
	if other := must(t, append([]string{"image", "--permit", "propext"}, theorem...)...); digestIn(t, other) == digestIn(t, out) {
		t.Error("the axioms are no part of the claim")
	}

	private, public := writeKeys(t)
	capsule(t, cli.Failed, "attest", "--key", private, "--image", pinned, "--artifact", wrong, "--attach")
	must(t, "attest", "--key", private, "--image", pinned, "--artifact", proof, "--attach")
	if text := must(t, "verify-attestation", "--key", public, "--image", pinned, "--artifact", proof); !strings.Contains(text, "rests on none") {
		t.Errorf("got %s", text)
	}
}

func TestFormalImageIsPinnedAndRebuilt(t *testing.T) {
	challenge, proof, _, _, _ := theoremFiles(t)
	folder := filepath.Dir(challenge)
	lock := filepath.Join(folder, "images.lock.json")
	must(t, "image", "--lock", lock, "--write-lock", "--range", "2..100", "--platform", sandbox.Native)
	must(t, "image", "--lock", lock, "--write-lock", "--lean", "--challenge", challenge, "--target", theoremTarget, "--platform", sandbox.Native)
	out := must(t, "image", "--lock", lock, "--check", "--json")
	for _, want := range []string{`"k":15`, `"target":"` + theoremTarget + `"`, `"permit":["Classical.choice","Quot.sound","propext"]`} {
		if !strings.Contains(out, want) || strings.Count(out, `"same":true`) != 2 {
			t.Errorf("no %s in %s", want, out)
		}
	}
	verifier := formalVerifier(t, challenge)
	refuses(t, cli.Usage, "pins where the challenge is", "image", "--lock", lock, "--write-lock", "--capsule", verifier)

	// A statement changed later is seen before anything is built.
	other, err := os.ReadFile(proof)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(challenge, other, 0o600); err != nil {
		t.Fatal(err)
	}
	refuses(t, cli.Failed, "not the challenge that is pinned", "image", "--lock", lock, "--check")
	if err := os.Remove(challenge); err != nil {
		t.Fatal(err)
	}
	refuses(t, cli.NoInput, "no such file", "image", "--lock", lock, "--check")
}

// TestPinnedChallengeIsTheCertificateOfThePublishedWitness: what images.lock.json
// pins is made from a witness by this program.
func TestPinnedChallengeIsTheCertificateOfThePublishedWitness(t *testing.T) {
	packed, err := os.Open("../../testdata/formal/erdos1056-k09.ndjson.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	found, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	w := certificate.Witness{K: 9, P: 27901, Cuts: []uint64{2451, 2867, 4768, 10383, 18707, 19589, 19965, 22981, 24673, 26322}}
	if err := certificate.Write(&want, w); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(found, want.Bytes()) {
		t.Error("the challenge is another; make it anew with erdos1056 certify and gzip -9 -n, and pin the image again")
	}
}

func TestTheoremsThatCannotBeFrozen(t *testing.T) {
	challenge, proof, _, _, unknown := theoremFiles(t)
	for _, c := range []struct {
		code int
		args string
		want string
	}{
		{cli.Usage, "build --output x --lean", "needs --challenge FILE and --target NAME"},
		{cli.Usage, "build --output x --target t --challenge " + challenge, "add --lean"},
		{cli.Usage, "build --output x --range 2..100 --permit propext", "one claim"},
		{cli.Usage, "build --output x --lean --range 2..100 --target t --challenge " + challenge, "one claim"},
		{cli.NoInput, "build --output x --lean --target t --challenge /nonexistent", "no such file"},
		{cli.Failed, "build --output x --lean --target T.other --challenge " + challenge, `declares no constant named "T.other"`},
		{cli.Failed, "build --output x --lean --target cheat --challenge " + unknown, "reading the challenge"},
		{cli.Failed, "build --output x --lean --target " + theoremTarget + " --permit prop --challenge " + challenge, `permitted axiom "prop"`},
		{cli.Usage, "image --write-lock --lean --target " + theoremTarget + " --challenge " + challenge, "must lie below"},
		{cli.Usage, "image --write-lock --range 2..100 --image-user 1:1", "from its claim alone"},
		{cli.Usage, "image --lean --capsule x --target t --challenge " + challenge, "leave --range out, and --lean"},
		{cli.Usage, "run x --no-land --worker w --artifact " + proof, "--artifact or --worker"},
	} {
		refuses(t, c.code, c.want, strings.Fields(c.args)...)
	}
}

// leanPacket is a target packet for the mission of Erdős problem 505. Its source
// and environment are invented.
func leanPacket(t *testing.T) string {
	t.Helper()
	object := canon.NewObject()
	text, err := mission.LeanProofWork{
		Schema: mission.LeanProofWorkSchema, Target: "formal:erdos-505-test-dim-one", Objective: "Prove a stand-in for the statement.", Selection: object,
		Source: mission.LeanSource{Repository: "https://example.org/r", GitCommit: strings.Repeat("a", 40), GitTree: strings.Repeat("b", 40), Path: "A.lean",
			SHA256: mission.Absent, Declaration: theoremTarget, Statement: "∀ p : Prop, p → p"},
		Environment: mission.LeanEnvironment{LeanToolchain: "leanprover/lean4:v4.27.0", LeanToolchainSHA256: mission.Absent, LakeManifestSHA256: mission.Absent,
			LakefileSHA256: mission.Absent, MathlibGitCommit: strings.Repeat("c", 40)},
		OutputContract: object, Authority: object,
		Verification: mission.LeanVerification{StatementFidelity: canon.NewString("stand-in"), Kernel: object, Replay: object,
			Axioms: mission.LeanAxioms{Allowed: []string{"propext", "Classical.choice", "Quot.sound"}, Forbidden: []string{"sorryAx"}}},
	}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "packet.json")
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestMissionOfATheoremRunsWithAnExport runs the published mission and profile
// of Erdős problem 505 with an export as the artifact. What is proved is a
// stand-in for the statement.
func TestMissionOfATheoremRunsWithAnExport(t *testing.T) {
	const published = "../../testdata/canopus/v0.4.0/"
	challenge, proof, wrong, cheating, _ := theoremFiles(t)
	folder := tempDir(t)
	order := []string{"run", published + "missions/formal-erdos-505-test-dim-one/mission.draft.json", "--no-land",
		"--profile", published + "profiles/formal-erdos-505-test-dim-one.json", "--packet", leanPacket(t), "--capsule", formalVerifier(t, challenge)}
	run1 := filepath.Join(folder, "run1")
	if text := must(t, append(order, "--artifact", proof, "--output", run1)...); !strings.HasPrefix(text, "recorded  ") {
		t.Errorf("run: %s", text)
	}
	claims := must(t, "verify", run1)
	if !strings.Contains(claims, "verdict by replay") || !strings.Contains(claims, "accepted: 1 constants") {
		t.Errorf("verify:\n%s", claims)
	}
	must(t, "replay", run1)
	for name, file := range map[string]string{"wrong": wrong, "cheating": cheating} {
		output := filepath.Join(folder, name)
		refuses(t, cli.Failed, "verifier_non_success", append(order, "--artifact", file, "--output", output)...)
		must(t, "verify", output)
	}
	// The draft's budget for artifacts is 131072 bytes.
	large := filepath.Join(folder, "large.ndjson")
	if err := os.WriteFile(large, bytes.Repeat([]byte("{}\n"), 50_000), 0o600); err != nil {
		t.Fatal(err)
	}
	refuses(t, cli.Failed, "artifact_bytes budget exceeded: 150000 > 131072", append(order, "--artifact", large, "--output", filepath.Join(folder, "large"))...)
}
