package freeze

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"debug/elf"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/erdos1056/erdos1056/capsule/formal"
	"github.com/erdos1056/erdos1056/kernel/plan"
)

var seed = plan.Plan{Range: plan.Range{Lo: 10428401, Hi: 10428600}, K: 15}

// theorem is the claim of a formal verifier.
var theorem = formal.Claim{Target: "T.main", Permit: []string{"Classical.choice", "propext"}, Challenge: []byte("an export")}

// fake is no executable, but has a slot.
func fake() []byte { return rangeSlot.fake() }

func (s slot) fake() []byte {
	return bytes.Join([][]byte{[]byte("before"), []byte(s.mark), make([]byte, s.size-len(s.mark)), []byte("after")}, nil)
}

func TestClaimIsPatchedAndNothingElse(t *testing.T) {
	unfrozen := fake()
	verifier, err := Freeze(unfrozen, seed)
	if err != nil {
		t.Fatal(err)
	}
	claim, err := ReadClaim(verifier)
	if err != nil || claim != seed {
		t.Errorf("got %v, %v; want %v", claim, err, seed)
	}
	if !bytes.Equal(unfrozen, fake()) {
		t.Error("the unfrozen verifier was changed")
	}
	if !bytes.HasPrefix(verifier, []byte("before"+rangeSlot.mark)) || !bytes.HasSuffix(verifier, []byte("after")) || len(verifier) != len(unfrozen) {
		t.Errorf("something outside the slot changed: %q", verifier)
	}
}

func TestFormalClaimIsPatchedAndNothingElse(t *testing.T) {
	unfrozen := formalSlot.fake()
	verifier, err := FreezeFormal(unfrozen, theorem)
	if err != nil {
		t.Fatal(err)
	}
	claim, err := ReadFormalClaim(verifier)
	if err != nil || !reflect.DeepEqual(claim, theorem) {
		t.Errorf("got %v, %v; want %v", claim, err, theorem)
	}
	if !bytes.Equal(unfrozen, formalSlot.fake()) {
		t.Error("the unfrozen verifier was changed")
	}
	if !bytes.HasPrefix(verifier, []byte("before"+formalSlot.mark)) || !bytes.HasSuffix(verifier, []byte("after")) || len(verifier) != len(unfrozen) {
		t.Error("something outside the slot changed")
	}
}

// TestKindsOfVerifiersAreNotMixedUp: a range does not fit a formal verifier, nor
// a theorem another one.
func TestKindsOfVerifiersAreNotMixedUp(t *testing.T) {
	if _, err := Freeze(formalSlot.fake(), seed); err == nil || !strings.Contains(err.Error(), "has no slot") {
		t.Errorf("a range in a formal verifier: %v", err)
	}
	if _, err := FreezeFormal(fake(), theorem); err == nil || !strings.Contains(err.Error(), "has no slot") {
		t.Errorf("a theorem in a verifier of ranges: %v", err)
	}
	if !IsFormal(formalSlot.fake()) || IsFormal(fake()) {
		t.Error("the kinds are not told apart")
	}
	once, err := FreezeFormal(formalSlot.fake(), theorem)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := FreezeFormal(once, theorem); err == nil || !strings.Contains(err.Error(), "has a claim already") {
		t.Errorf("frozen twice: %v", err)
	}
	if _, err := FreezeFormal(formalSlot.fake(), formal.Claim{}); err == nil || !strings.Contains(err.Error(), "no target") {
		t.Errorf("no claim: %v", err)
	}
	if _, err := FreezeFormal(formalSlot.fake(), formal.Claim{Target: "t", Challenge: []byte(formalSlot.mark)}); err == nil || !strings.Contains(err.Error(), "more than one slot") {
		t.Errorf("a challenge that holds the mark: %v", err)
	}
	if _, err := ReadFormalClaim(formalSlot.fake()); err == nil || !strings.Contains(err.Error(), "not frozen") {
		t.Errorf("unfrozen: %v", err)
	}
}

func TestProgramsThatCannotBeFrozen(t *testing.T) {
	once, err := Freeze(fake(), seed)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		program []byte
		claim   plan.Plan
		want    string
	}{
		"no slot":        {[]byte("a program"), seed, "has no slot"},
		"two slots":      {append(fake(), fake()...), seed, "more than one slot"},
		"cut off":        {fake()[:100], seed, "cut off"},
		"frozen already": {once, seed, "has a claim already"},
		"no claim":       {fake(), plan.Plan{}, "starts at 0"},
	} {
		if _, err := Freeze(c.program, c.claim); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	if _, err := ReadClaim(fake()); err == nil || !strings.Contains(err.Error(), "not frozen") {
		t.Errorf("reading the claim of an unfrozen verifier: %v", err)
	}
	damaged := bytes.Replace(once, []byte("10428401"), []byte("10428400"), 1)
	if _, err := ReadClaim(damaged); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("reading a damaged claim: %v", err)
	}
}

// programs are all that are frozen, with the most bytes that each may have: an
// image has at most 6 MB, a formal one 8 MB, including two headers of 512 bytes.
var programs = map[Program]int{Verifier: 6_000_000 - 10240, FormalVerifier: 8_000_000 - 10240}

func TestVerifierIsStaticAndNamesNoMachine(t *testing.T) {
	for program, limit := range programs {
		for _, p := range Platforms {
			unfrozen, err := Source{Module: "../.."}.Unfrozen(context.Background(), program, p)
			if err != nil {
				t.Fatal(err)
			}
			checkStatic(t, fmt.Sprintf("%s %v", program, p), unfrozen)
			if len(unfrozen) > limit {
				t.Errorf("%s %v: %d bytes; the limit is %d", program, p, len(unfrozen), limit)
			}
			checkSlot(t, program, unfrozen)
		}
	}
}

func checkStatic(t *testing.T, name string, unfrozen []byte) {
	t.Helper()
	program, err := elf.NewFile(bytes.NewReader(unfrozen))
	if err != nil {
		t.Fatal(err)
	}
	for _, segment := range program.Progs {
		if segment.Type == elf.PT_INTERP {
			t.Errorf("%s: dynamically linked", name)
		}
	}
	info, err := buildinfo.Read(bytes.NewReader(unfrozen))
	if err != nil {
		t.Fatal(err)
	}
	if len(info.Deps) > 0 || info.GoVersion != GoVersion {
		t.Errorf("%s: %s with modules %v; want %s and the standard library alone", name, info.GoVersion, info.Deps, GoVersion)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(unfrozen, []byte(filepath.Dir(filepath.Dir(here)))) {
		t.Errorf("%s: the folder of the source is in the executable", name)
	}
}

// checkSlot freezes a program and reads the claim back.
func checkSlot(t *testing.T, program Program, unfrozen []byte) {
	t.Helper()
	if program == Verifier {
		verifier, err := Freeze(unfrozen, seed)
		if err != nil {
			t.Fatal(err)
		}
		if claim, err := ReadClaim(verifier); err != nil || claim != seed {
			t.Errorf("%s: got %v, %v", program, claim, err)
		}
		return
	}
	verifier, err := FreezeFormal(unfrozen, theorem)
	if err != nil {
		t.Fatal(err)
	}
	if claim, err := ReadFormalClaim(verifier); err != nil || !reflect.DeepEqual(claim, theorem) {
		t.Errorf("%s: got %v, %v", program, claim, err)
	}
}

// TestVerifiersAreTheSameEverywhere builds from two copies of the source in
// different folders. The second build of this machine's verifier has nothing in
// common with the first but the toolchain: no cache, no modules, another user,
// umask, home, time zone and language.
func TestVerifiersAreTheSameEverywhere(t *testing.T) {
	if dir := os.Getenv("FREEZE_TEST_SOURCE"); dir != "" {
		syscall.Umask(0o077)
		fmt.Println(digests(t, dir, native(t)))
		return
	}
	first, second := t.TempDir(), filepath.Join(t.TempDir(), "a longer path", "with blanks")
	copySource(t, first)
	copySource(t, second)
	other := exec.Command("/proc/self/exe", "-test.run=^TestVerifiersAreTheSameEverywhere$", "-test.v")
	home := filepath.Join(second, "home")
	if err := os.Mkdir(home, 0o777); err != nil {
		t.Fatal(err)
	}
	other.Dir = second
	other.Env = []string{
		"FREEZE_TEST_SOURCE=" + second, "PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home, "GOCACHE=" + filepath.Join(home, "cache"),
		"GOMODCACHE=" + filepath.Join(home, "modules"), "TZ=Pacific/Kiritimati", "LC_ALL=tr_TR.UTF-8", "GOFLAGS=-ldflags=-X=main.x=y", "GOAMD64=v3",
	}
	if os.Geteuid() == 0 {
		// Another user must be able to reach the folders.
		other.Path = openToAll(t, second)
		other.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 4242, Gid: 4242}}
	}
	output, err := other.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	if want := digests(t, first, native(t)); !strings.Contains(string(output), want) {
		t.Errorf("expected %s, the other build says\n%s", want, output)
	}
	for _, p := range Platforms {
		if a, b := digests(t, first, p), digests(t, second, p); a != b {
			t.Errorf("%s in one folder, %s in the other", a, b)
		}
	}
}

func native(t *testing.T) Platform {
	t.Helper()
	p, err := parsePlatform("linux/" + runtime.GOARCH)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// digests builds the programs for a platform and returns their digests.
func digests(t *testing.T, dir string, p Platform) string {
	t.Helper()
	text := p.String()
	for _, program := range slices.Sorted(maps.Keys(programs)) {
		unfrozen, err := Source{Module: dir}.Unfrozen(context.Background(), program, p)
		if err != nil {
			t.Fatal(err)
		}
		text += fmt.Sprintf(" %s sha256:%x", program, sha256.Sum256(unfrozen))
	}
	return text
}

// copySource copies what the programs are made of.
func copySource(t *testing.T, dir string) {
	t.Helper()
	list := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{range .GoFiles}}{{$.Dir}}/{{.}}\n{{end}}{{end}}", "./cmd/verifier", "./cmd/formalverifier")
	list.Dir = "../.."
	list.Env = append(os.Environ(), "GOFLAGS=-tags=purego")
	files, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(strings.Fields(string(files)), filepath.Join(root, "go.mod"), filepath.Join(root, "go.sum")) {
		relative, err := filepath.Rel(root, name)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		target := filepath.Join(dir, relative)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(target, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// openToAll lets every user reach the folder, gives the home folder away, and
// copies this test program there. It returns the copy.
func openToAll(t *testing.T, dir string) string {
	t.Helper()
	for d := dir; len(d) > len(os.TempDir()); d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(filepath.Join(dir, "home"), 4242, 4242); err != nil {
		t.Fatal(err)
	}
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "freeze.test")
	if err := os.WriteFile(program, self, 0o755); err != nil {
		t.Fatal(err)
	}
	return program
}

func TestReleaseVerifiersNeedNoToolchain(t *testing.T) {
	dir := t.TempDir()
	for _, p := range Platforms {
		if err := Write(filepath.Join(dir, p.Folder, "verifier"), fake()); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", "")
	if err := Write(filepath.Join(dir, "linux-arm64", "formalverifier"), formalSlot.fake()); err != nil {
		t.Fatal(err)
	}
	if got, err := (Source{Verifiers: dir}).Unfrozen(context.Background(), FormalVerifier, Platforms[1]); err != nil || !IsFormal(got) {
		t.Errorf("the formal verifier of a release: %v", err)
	}
	for _, p := range Platforms {
		got, err := Source{Verifiers: dir}.Unfrozen(context.Background(), Verifier, p)
		if err != nil || !bytes.Equal(got, fake()) {
			t.Errorf("%v: %v", p, err)
		}
	}
	if _, err := (Source{Module: "../.."}).Unfrozen(context.Background(), Verifier, Platforms[0]); err == nil || !strings.Contains(err.Error(), "--verifiers") {
		t.Errorf("building without a toolchain: %v", err)
	}
}

func TestOtherToolchainsAreRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte("#!/bin/sh\necho go1.27.0\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	_, err := Source{Module: "../.."}.Unfrozen(context.Background(), Verifier, Platforms[0])
	if err == nil || !strings.Contains(err.Error(), "are built with "+GoVersion+", this is go1.27.0") {
		t.Errorf("got %v", err)
	}
}

func TestWrittenVerifierIsExecutableByAll(t *testing.T) {
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	name := filepath.Join(t.TempDir(), filepath.FromSlash(Path(Platforms[0], 2, 100)))
	for range 2 { // a second time over the first
		if err := Write(name, fake()); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(name)
	if err != nil || info.Mode() != 0o555 {
		t.Errorf("got %v, %v", info.Mode(), err)
	}
	if !strings.HasSuffix(name, "bin/linux-x86_64/2-100/verifier") {
		t.Errorf("the path is %s", name)
	}
	if formal := FormalPath(Platforms[1], theorem); !strings.HasPrefix(formal, "bin/linux-arm64/formal-t-main-") || !strings.HasSuffix(formal, "/verifier") {
		t.Errorf("the path is %s", formal)
	}
}

func TestPlatformLists(t *testing.T) {
	got, err := ParsePlatforms("linux/arm64,linux/amd64")
	if err != nil || len(got) != 2 || got[0].Folder != "linux-arm64" {
		t.Errorf("got %v, %v", got, err)
	}
	for _, list := range []string{"", "linux", "linux/riscv64", "linux/amd64,linux/amd64", "linux/amd64, linux/arm64"} {
		if _, err := ParsePlatforms(list); err == nil {
			t.Errorf("%q was accepted", list)
		}
	}
}

func FuzzReadClaim(f *testing.F) {
	frozen, err := Freeze(fake(), seed)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(frozen)
	f.Add(fake())
	f.Fuzz(func(t *testing.T, program []byte) {
		if claim, err := ReadClaim(program); err == nil && claim.Validate() != nil {
			t.Errorf("an invalid claim was read: %v", claim)
		}
		Freeze(program, seed)
	})
}
