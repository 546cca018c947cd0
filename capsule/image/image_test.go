package image

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/erdos1056/erdos1056/capsule/formal"
	"github.com/erdos1056/erdos1056/capsule/freeze"
	"github.com/erdos1056/erdos1056/internal/digest"
	"github.com/erdos1056/erdos1056/kernel/plan"
	"github.com/erdos1056/erdos1056/oci"
)

// fakeCapsule has texts for verifiers.
func fakeCapsule(t *testing.T) Capsule {
	t.Helper()
	c := Capsule{Claim: plan.Plan{Range: plan.Range{Lo: 2, Hi: 100}, K: 15}, Verifiers: make(map[freeze.Platform][]byte)}
	for _, p := range freeze.Platforms {
		c.Verifiers[p] = []byte("verifier for " + p.String())
	}
	return c
}

func fakeImage(t *testing.T, o Options) *oci.Image {
	t.Helper()
	im, err := fakeCapsule(t).Image(o)
	if err != nil {
		t.Fatal(err)
	}
	return im
}

// TestPinnedImagesAreRebuilt builds every image of images.lock.json from this
// source. If this fails after a change of the verifier's code, the change gave
// the verifier another digest; pin it with
//
//	SOURCE_DATE_EPOCH=0 capsule image --range 10428401..10428600 --write-lock
//	SOURCE_DATE_EPOCH=0 capsule image --lean --challenge testdata/formal/erdos1056-k09.ndjson.gz --target Erdos1056.certificate --permit "" --write-lock
func TestPinnedImagesAreRebuilt(t *testing.T) {
	text, err := os.ReadFile("../../images.lock.json")
	if err != nil {
		t.Fatal(err)
	}
	lock, err := ParseLock(text)
	if err != nil {
		t.Fatal(err)
	}
	if lock.Go != freeze.GoVersion || len(lock.Images) == 0 {
		t.Fatalf("the lock file pins %d images built with %s", len(lock.Images), lock.Go)
	}
	for _, want := range lock.Images {
		got, err := want.Rebuild(context.Background(), freeze.Source{Module: "../.."}, "../..")
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range want.Differences(got) {
			t.Errorf("%v: %s", want, line)
		}
	}
	again, err := lock.Encode()
	if err != nil || !bytes.Equal(again, text) {
		t.Errorf("the lock file is not in its own form: %v", err)
	}
}

func TestDifferencesGoDownToTheFile(t *testing.T) {
	claim := LockClaim(fakeCapsule(t), "")
	lock := func(im *oci.Image) LockedImage {
		l, err := LockImage(im, claim, 0)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	want := lock(fakeImage(t, Options{}))
	if lines := want.Differences(lock(fakeImage(t, Options{}))); lines != nil {
		t.Errorf("the same image differs: %q", lines)
	}
	other := fakeCapsule(t)
	other.Verifiers[freeze.Platforms[1]] = []byte("changed")
	changed, err := other.Image(Options{})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Join(want.Differences(lock(changed)), "\n")
	for _, part := range []string{
		"linux/arm64: capsule/verifier: expected sha256:", "linux/arm64: manifest: expected sha256:", "index: expected sha256:",
	} {
		if !strings.Contains(lines, part) {
			t.Errorf("no line with %q in\n%s", part, lines)
		}
	}
	if strings.Contains(lines, "linux/amd64") {
		t.Errorf("the unchanged platform differs:\n%s", lines)
	}
	delete(other.Verifiers, freeze.Platforms[1])
	half, err := other.Image(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Join(want.Differences(lock(half)), "\n"); !strings.Contains(lines, "linux/arm64: not built") {
		t.Errorf("a missing platform: %s", lines)
	}
	later := lock(fakeImage(t, Options{Created: 5}))
	later.Created = 5
	if lines := strings.Join(want.Differences(later), "\n"); !strings.Contains(lines, "time (SOURCE_DATE_EPOCH): expected 0, found 5") {
		t.Errorf("another time: %s", lines)
	}
}

func TestLockFilesThatAreRefused(t *testing.T) {
	const head = `{"schema":"erdos1056.images-lock.v1","go":"go1.26.8","images":[`
	theorem := `"theorem":{"target":"T","permit":["a","b"],"challenge":{"path":"c/d","digest":"sha256:` + strings.Repeat("0", 64) + `"}}`
	if _, err := ParseLock([]byte(head + `{` + theorem + `,"platforms":[{"platform":"linux/amd64"}]}]}`)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ text, want string }{
		"empty":            {"", "EOF"},
		"unknown field":    {`{"schema":"erdos1056.images-lock.v1","extra":1}`, "unknown field"},
		"other schema":     {`{"schema":"v2"}`, `schema "v2"`},
		"more behind":      {head + `]} {}`, "follows"},
		"bad range":        {head + `{"range":"5..4","k":15}]}`, "image 1"},
		"bad k":            {head + `{"range":"2..4","k":0}]}`, "image 1"},
		"unknown platform": {head + `{"range":"2..4","k":15,"platforms":[{"platform":"plan9/amd64"}]}]}`, "image 1"},
		"no claim":         {head + `{}]}`, "image 1"},
		"two claims":       {head + `{"range":"2..4","k":15,` + theorem + `}]}`, "want one"},
		"no target":        {head + `{` + strings.Replace(theorem, `"T"`, `""`, 1) + `}]}`, "no target"},
		"unsorted axioms":  {head + `{` + strings.Replace(theorem, `["a","b"]`, `["b","a"]`, 1) + `}]}`, "not sorted"},
		"path upwards":     {head + `{` + strings.Replace(theorem, `c/d`, `../d`, 1) + `}]}`, "below the folder"},
		"absolute path":    {head + `{` + strings.Replace(theorem, `c/d`, `/d`, 1) + `}]}`, "below the folder"},
		"bad digest":       {head + `{` + strings.Replace(theorem, `:0`, `:x`, 1) + `}]}`, "64 lower-case"},
		"too long":         {strings.Repeat(" ", maxLock+1), "the limit is"},
	} {
		if _, err := ParseLock([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

func TestImageIsPinnedInThePlaceOfItsClaim(t *testing.T) {
	var lock Lock
	put := func(claim LockedClaim, index digest.Digest) { lock.Put(LockedImage{LockedClaim: claim, Index: index}) }
	theorem := func(target, path string, challenge string, permit ...string) LockedClaim {
		return LockClaim(Capsule{Formal: &formal.Claim{Target: target, Permit: permit, Challenge: []byte(challenge)}}, path)
	}
	put(LockedClaim{Range: "2..100", K: 15}, "old")
	put(LockedClaim{Range: "2..100", K: 14}, "other k")
	put(theorem("T", "c", "1"), "old theorem")
	put(theorem("T", "c", "1", "propext"), "other axioms")
	put(theorem("T", "d", "1"), "other file")
	put(theorem("U", "c", "1"), "other target")
	put(LockedClaim{Range: "2..100", K: 15}, "new")
	put(theorem("T", "c", "2"), "new theorem")
	var pinned []string
	for _, im := range lock.Images {
		pinned = append(pinned, string(im.Index))
	}
	if got := strings.Join(pinned, ", "); got != "new, other k, new theorem, other axioms, other file, other target" {
		t.Errorf("pinned are %s", got)
	}
}

func TestChallengeOfARebuildIsThePinnedOne(t *testing.T) {
	folder := t.TempDir()
	pins := LockedImage{LockedClaim: LockClaim(Capsule{Formal: &formal.Claim{Target: "T", Challenge: []byte("pinned")}}, "challenge"),
		Platforms: []LockedPlatform{{Platform: "linux/amd64"}}}
	if _, err := pins.Rebuild(context.Background(), freeze.Source{Module: "../.."}, folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without the challenge: error %v", err)
	}
	if err := os.WriteFile(folder+"/challenge", []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := pins.Rebuild(context.Background(), freeze.Source{Module: "../.."}, folder); !errors.Is(err, ErrOtherChallenge) {
		t.Errorf("with another challenge: error %v", err)
	}
}

func TestVerifierIsFoundThroughTheEntryPoint(t *testing.T) {
	capsule := fakeCapsule(t)
	im := fakeImage(t, Options{})
	for p, want := range capsule.Verifiers {
		got, err := Verifier(im, oci.Platform{Architecture: p.Architecture, OS: p.OS})
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%v: got %q, %v", p, got, err)
		}
	}
	tree, err := oci.NewTree(oci.Entry{Path: "other", Mode: 0o555})
	if err != nil {
		t.Fatal(err)
	}
	amd64 := oci.Platform{Architecture: "amd64", OS: "linux"}
	for name, entrypoint := range map[string][]string{
		"none": nil, "with arguments": {"/other", "x"}, "relative": {"other"}, "missing": {"/verifier"}, "a shell": {"/bin/sh", "-c", "true"},
	} {
		im, err := oci.Build(oci.Recipe{Trees: map[oci.Platform]oci.Tree{amd64: tree}, Entrypoint: entrypoint})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Verifier(im, amd64); err == nil {
			t.Errorf("entry point %s: a verifier was found", name)
		}
	}
}

func TestOptionsArePartOfTheImage(t *testing.T) {
	plain := fakeImage(t, Options{})
	for name, o := range map[string]Options{
		"annotation": {Annotations: map[string]string{"a": "b"}},
		"label":      {Labels: map[string]string{"a": "b"}},
		"user":       {User: "1:1"},
		"time":       {Created: 1},
	} {
		if fakeImage(t, o).Digest() == plain.Digest() {
			t.Errorf("%s: the same digest", name)
		}
	}
}

func TestStatementsAboutAnImage(t *testing.T) {
	at := time.Unix(0, 0)
	capsule, err := Freeze(context.Background(), freeze.Source{Module: "../.."}, fakeCapsule(t).Claim, freeze.Platforms[:1])
	if err != nil {
		t.Fatal(err)
	}
	im, err := capsule.Image(Options{})
	if err != nil {
		t.Fatal(err)
	}
	provenance, err := Provenance(im, "name", capsule.Parameters(), at)
	if err != nil {
		t.Fatal(err)
	}
	verifier := digest.Of(capsule.Verifiers[freeze.Platforms[0]])
	if !provenance.About(im.Digest().Hex()) || !strings.Contains(string(provenance.Predicate), verifier.Hex()) || !strings.Contains(string(provenance.Predicate), `"range":"2..100"`) {
		t.Errorf("provenance: %+v %s", provenance.Subjects, provenance.Predicate)
	}
	contents, err := Contents(im, im.Manifests[0], at)
	if err != nil {
		t.Fatal(err)
	}
	if !contents.About(im.Manifests[0].Digest.Hex()) || !strings.Contains(string(contents.Predicate), "pkg:golang/std@"+strings.TrimPrefix(freeze.GoVersion, "go")) {
		t.Errorf("contents: %+v %s", contents.Subjects, contents.Predicate)
	}
}

func FuzzParseLock(f *testing.F) {
	text, err := os.ReadFile("../../images.lock.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		lock, err := ParseLock(text)
		if err != nil {
			return
		}
		for _, im := range lock.Images {
			im.Differences(LockedImage{})
		}
	})
}
