package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/capsule/formal"
	"github.com/erdos1056/erdos1056/capsule/freeze"
	"github.com/erdos1056/erdos1056/lean/audit"
	"github.com/erdos1056/erdos1056/lean/source/sourcetest"
)

// exported writes Lean source as an export and returns the file's name.
func exported(t *testing.T, text string) string {
	t.Helper()
	return write(t, sourcetest.Export(t, text))
}

func write(t *testing.T, data []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "export")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func claimOf(t *testing.T, target, challenge string, permit ...string) formal.Claim {
	t.Helper()
	text, err := os.ReadFile(exported(t, challenge))
	if err != nil {
		t.Fatal(err)
	}
	claim, err := formal.New(target, permit, text)
	if err != nil {
		t.Fatal(err)
	}
	return claim
}

// frozenTo builds the formal verifier of this machine frozen to a claim.
func frozenTo(t *testing.T, claim formal.Claim) string {
	t.Helper()
	i := slices.IndexFunc(freeze.Platforms, func(p freeze.Platform) bool { return p.Architecture == runtime.GOARCH })
	if i < 0 {
		t.Fatalf("no verifier for %s", runtime.GOARCH)
	}
	unfrozen, err := freeze.Source{Module: "../.."}.Unfrozen(context.Background(), freeze.FormalVerifier, freeze.Platforms[i])
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := freeze.FreezeFormal(unfrozen, claim)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "verifier")
	if err := freeze.Write(name, verifier); err != nil {
		t.Fatal(err)
	}
	return name
}

// The claim of these tests: a statement with a definition of its own, left open
// as an axiom.
const (
	definitions = `
def Always : ∀ (p : Prop → Prop), Prop := fun (p : Prop → Prop) => ∀ (a : Prop), p a
`
	challenge = definitions + `axiom T.main : Always (fun (a : Prop) => a → a)`
	proof     = definitions + `theorem T.main : Always (fun (a : Prop) => a → a) := fun (a : Prop) (h : a) => h`
)

// call runs a verifier with nothing in its environment but what is given.
func call(t *testing.T, verifier string, environment []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, messages bytes.Buffer
	cmd := exec.Command(verifier, args...)
	cmd.Stdout, cmd.Stderr, cmd.Env = &out, &messages, append([]string{}, environment...)
	cmd.Run()
	return cmd.ProcessState.ExitCode(), out.String(), messages.String()
}

func TestVerdicts(t *testing.T) {
	verifier := frozenTo(t, claimOf(t, "T.main", challenge, audit.Standard...))
	for _, c := range []struct {
		name, file string
		code       int
		want       string
	}{
		{"a proof", exported(t, proof), accepted, "rests on none\n  statement: Always (fun (a : Prop) => a → a)\n"},
		{"another statement", exported(t, definitions+`theorem T.main : Always (fun (a : Prop) => a → a → a) := fun (a : Prop) (h : a) (i : a) => h`),
			rejected, "rejected: target T.main: the type differs from the challenge's"},
		{"another definition", exported(t, strings.Replace(proof, "∀ (a : Prop), p a\n", "∀ (b a : Prop), p a\n", 1)), rejected, "rejected: "},
		{"another definition, proved", exported(t, `
def Always : ∀ (p : Prop → Prop), Prop := fun (p : Prop → Prop) => ∀ (a : Prop), a → a
theorem T.main : Always (fun (a : Prop) => a → a) := fun (a : Prop) (h : a) => h`), rejected, "rejected: target T.main: Always: the value differs from the challenge's"},
		{"another name", exported(t, strings.Replace(proof, "T.main", "T.mine", 1)), rejected, "the file declares no constant of this name"},
		{"the statement alone", exported(t, challenge), rejected, "the target must be a theorem, but is declared as axiom"},
		{"an axiom more", exported(t, definitions+`
axiom cheat : ∀ (p : Prop), p
theorem T.main : Always (fun (a : Prop) => a → a) := cheat (Always (fun (a : Prop) => a → a))`), rejected,
			"cheat: the target rests on an axiom that is not permitted"},
		{"an axiom with a permitted name", exported(t, definitions+`
axiom propext : ∀ (p : Prop), p
theorem T.main : Always (fun (a : Prop) => a → a) := propext (Always (fun (a : Prop) => a → a))`), rejected,
			"propext: the axiom has a permitted name, but another type"},
		{"a false proof", exported(t, strings.Replace(proof, "=> h", "=> a", 1)), rejected, "rejected: theorem T.main at line"},
		{"no export", write(t, []byte("1056")), declined, "declined: line 1: "},
		{"another version", write(t, []byte("0.1.2\n")), declined, `text format version "0.1.2" is not supported`},
		{"terms that are too deep", write(t, deep(500_000)), declined, "declined: "},
		{"nothing", "/nonexistent/export", failed, "no such file"},
		{"a folder", t.TempDir(), failed, "is a directory"},
	} {
		code, out, messages := call(t, verifier, nil, c.file)
		if code != c.code || !strings.Contains(out+messages, c.want) {
			t.Errorf("%s: exit code %d, want %d with %q; it says\n%s%s", c.name, code, c.code, c.want, out, messages)
		}
		if (messages == "") != (code == accepted) || (out == "") == (code == accepted) {
			t.Errorf("%s: stdout %q, stderr %q", c.name, out, messages)
		}
	}
}

// deep is an export of an axiom whose type is nested deeply: ((Prop → Prop) → Prop) → …
func deep(layers int) []byte {
	var b bytes.Buffer
	b.WriteString("2.0.0\n1 #NS 0 T\n0 #ES 0\n")
	for i := 1; i <= layers; i++ {
		fmt.Fprintf(&b, "%d #EP #BD 0 %d 0\n", i, i-1)
	}
	fmt.Fprintf(&b, "#AX 1 %d\n", layers)
	return b.Bytes()
}

// TestClaimCannotBeChangedFromOutside: neither arguments nor the environment nor
// the file that is judged.
func TestClaimCannotBeChangedFromOutside(t *testing.T) {
	verifier := frozenTo(t, claimOf(t, "T.main", challenge))
	other := exported(t, `theorem T.main : ∀ (p : Prop), p → p := fun (p : Prop) (h : p) => h`)
	environment := []string{"TARGET=T.other", "CHALLENGE=" + other, "PERMIT=cheat", "GOGC=1", "GOMEMLIMIT=1", "GODEBUG=gctrace=0"}
	for _, c := range []struct {
		name string
		args []string
		code int
	}{
		{"its own theorem", []string{exported(t, proof)}, accepted},
		{"another theorem", []string{other}, rejected},
		{"a target", []string{other, "--target", "T.main"}, failed},
		{"a challenge as flag", []string{"--challenge=" + other, other}, failed},
		{"a flag alone", []string{"--permit=cheat"}, failed},
		{"standard input", []string{"-"}, failed},
		{"no argument", nil, failed},
	} {
		if code, out, messages := call(t, verifier, environment, c.args...); code != c.code {
			t.Errorf("%s: exit code %d, want %d: %s%s", c.name, code, c.code, out, messages)
		}
	}
}

// TestDamagedClaimIsNoVerdict changes one byte of the frozen challenge.
func TestDamagedClaimIsNoVerdict(t *testing.T) {
	claim := claimOf(t, "T.main", challenge)
	verifier, err := os.ReadFile(frozenTo(t, claim))
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(verifier, claim.Challenge)
	if at < 0 {
		t.Fatal("the challenge is not in the verifier")
	}
	verifier[at+len(claim.Challenge)/2] ^= 1
	damaged := filepath.Join(t.TempDir(), "verifier")
	if err := freeze.Write(damaged, verifier); err != nil {
		t.Fatal(err)
	}
	if code, _, messages := call(t, damaged, nil, exported(t, proof)); code != failed || !strings.Contains(messages, "the frozen claim is damaged") {
		t.Errorf("exit code %d, %q", code, messages)
	}
}

func TestUnfrozenVerifierHasNoAnswer(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := run([]string{exported(t, proof)}, &stdout, &stderr); code != failed || !strings.Contains(stderr.String(), "not frozen to a claim") {
		t.Errorf("exit code %d, stderr %q", code, &stderr)
	}
}

// TestVerifierIsIndependent: it is linked with the claim, the checker of proofs
// and the standard library, and with nothing else.
func TestVerifierIsIndependent(t *testing.T) {
	const module = "github.com/erdos1056/erdos1056/"
	allowed := []string{"cmd/formalverifier", "capsule/formal", "lean", "lean/audit", "lean/check", "lean/export", "lean/term"}
	output, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields(string(output)) {
		if !slices.Contains(allowed, strings.TrimPrefix(name, module)) {
			t.Errorf("the formal verifier is linked with %s; allowed are %v", name, allowed)
		}
	}
}
