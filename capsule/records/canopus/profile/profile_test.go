package profile

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/mission"
	"github.com/erdos1056/erdos1056/capsule/records/internal/vectors"
	"github.com/erdos1056/erdos1056/internal/digest"
)

func TestSeedProfilesHaveTheirPublishedRoots(t *testing.T) {
	p := Package{Root: vectors.Root + "/v0.4.0", Policy: Original}
	for name, want := range map[string]digest.Digest{
		"erdos1056-k15-10428401-10428600": "sha256:012702a71520356b80f58c120f2e5348db7771b2102b80dc4799b2eed3a0f03b",
		"formal-erdos-505-test-dim-one":   "sha256:afbc35eb743fd25e4a783db1558af5cd106ac6ba8f12871f13830b98be5ac2dc",
	} {
		profile, root, err := p.Load(name)
		if err != nil || root != want {
			t.Errorf("%s: root %s, %v; want %s", name, root, err, want)
			continue
		}
		draft, err := os.ReadFile(filepath.Join(p.Root, profile.Draft))
		if err != nil {
			t.Fatal(err)
		}
		if err := profile.CheckDraft(draft); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The drafts of a profile's time stand in the same history, known by digest.
func TestEveryHistoricalProfileMatchesItsDraftAndContract(t *testing.T) {
	byDigest := map[digest.Digest][]byte{}
	files, _ := filepath.Glob(vectors.Root + "/history/*/missions/*/*.json")
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		byDigest[digest.Of(data)] = data
	}
	valid, replayOnly := 0, 0
	for i, line := range strings.Split(strings.TrimSpace(string(vectors.Read(t, "history/VERDICTS.tsv"))), "\n") {
		fields := strings.Split(line, "\t")
		if len(fields) < 4 {
			t.Fatalf("line %d: %q", i+1, line)
		}
		found, _ := filepath.Glob(vectors.Root + "/history/*-" + fields[0] + "/" + fields[1])
		if len(found) != 1 {
			t.Fatalf("%s %s: %d files", fields[0], fields[1], len(found))
		}
		data, err := os.ReadFile(found[0])
		if err != nil {
			t.Fatal(err)
		}
		early := Original
		early.ImageIDs = true
		profile, err := early.Parse(data)
		if strings.Contains(fields[2], SchemaV1) {
			replayOnly++
			if !errors.Is(err, ErrReplayOnly) {
				t.Errorf("%s: %v", found[0], err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", found[0], err)
			continue
		}
		if err := profile.CheckDraft(byDigest[digest.Digest(profile.DraftSHA256)]); err != nil {
			t.Errorf("%s: %v", found[0], err)
		}
		if contract := profile.ResultContractSHA256; contract != "" && byDigest[digest.Digest(contract)] == nil {
			t.Errorf("%s: no contract %s", found[0], contract)
		}
		valid++
	}
	if valid != 34 || replayOnly != 2 {
		t.Errorf("%d valid and %d replay-only profiles; want 34 and 2", valid, replayOnly)
	}
}

// packageOf lays out a package with the seed's draft and worker profiles.
// Capsules are not redistributed: stand-ins take their place, and the profile
// records their digests.
func packageOf(t *testing.T, name string, document []byte) Package {
	t.Helper()
	root := t.TempDir()
	write := func(path string, data []byte) {
		t.Helper()
		full := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"missions/erdos1056-k15-next/mission.draft.json", "runtime/native-worker/config.toml", "runtime/native-worker/config-linux.toml"} {
		write(path, vectors.Read(t, "v0.4.0/"+path))
	}
	for host, frozen := range map[string]string{
		"linux-arm64":  "sha256:a6fc0d2ad4dd8e665474d6efd530e8a574880b7191d246b1c245d8cf4db175aa",
		"linux-x86_64": "sha256:3cdcb487db4907b63230548a7c7fd94d4be6acf003ca532971f9cf1650f19546",
	} {
		standIn := []byte("capsule for " + host)
		write("capsules/erdos1056-k15/bin/"+host+"/10428401-10428600/verifier", standIn)
		document = bytes.ReplaceAll(document, []byte(frozen), []byte(digest.Of(standIn)))
	}
	write("profiles/"+name+".json", document)
	return Package{Root: root, Policy: Original}
}

const seed = "erdos1056-k15-10428401-10428600"

func TestProfileVerdictsAreTheOriginals(t *testing.T) {
	vectors.Compare(t, "profile", func(document []byte) error {
		_, err := packageOf(t, seed, document).Validate(seed)
		return err
	})
}

func TestValidationIsPrintedAsTheOriginalPrintsIt(t *testing.T) {
	v, err := packageOf(t, seed, vectors.Read(t, "v0.4.0/profiles/"+seed+".json")).Validate(seed)
	if err != nil {
		t.Fatal(err)
	}
	// The file with stand-in digests has another root; everything else is equal.
	original := v
	original.ProfileSHA256 = "sha256:012702a71520356b80f58c120f2e5348db7771b2102b80dc4799b2eed3a0f03b"
	for host, frozen := range map[string]string{
		"darwin-arm64": "sha256:a6fc0d2ad4dd8e665474d6efd530e8a574880b7191d246b1c245d8cf4db175aa",
		"linux-x86_64": "sha256:3cdcb487db4907b63230548a7c7fd94d4be6acf003ca532971f9cf1650f19546",
	} {
		platform := original.Platforms[host]
		platform.VerifierCapsuleSHA256 = frozen
		original.Platforms[host] = platform
	}
	value, err := canon.Of(struct {
		OK         bool       `json:"ok"`
		Command    string     `json:"command"`
		Validation Validation `json:"validation"`
	}{true, "profile validate", original})
	if err != nil {
		t.Fatal(err)
	}
	text, err := canon.EncodeInOrder(value)
	want := vectors.Read(t, "original-tool-output/profile-validate."+seed+".v0.4.0.stdout")
	if err != nil || string(text)+"\n" != string(want) {
		t.Errorf("%s\nwant %s", text, want)
	}
}

func TestValidateFollowsNoLinkOutOfThePackage(t *testing.T) {
	p := packageOf(t, seed, vectors.Read(t, "v0.4.0/profiles/"+seed+".json"))
	outside := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(outside, vectors.Read(t, "v0.4.0/runtime/native-worker/config.toml"), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(p.Root, "runtime/native-worker/config.toml")
	os.Remove(path)
	if err := os.Symlink(outside, path); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Validate(seed); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("Validate: %v", err)
	}
}

func TestPacksAreTheOriginalsByteForByte(t *testing.T) {
	paths, _ := filepath.Glob(vectors.Root + "/original-tool-output/profile-pack/*.json")
	if len(paths) != 3 {
		t.Fatalf("found %d packs", len(paths))
	}
	roots := map[digest.Digest]bool{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		pack, err := PackSpec.Parse(data)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if again, err := PackSpec.Encode(pack); err != nil || !bytes.Equal(again, data) {
			t.Errorf("%s: written as %s, %v", path, again, err)
		}
		roots[digest.Of(data)] = true
	}
	for root := range roots {
		if prefix := string(root)[:15]; prefix != "sha256:97325599" && prefix != "sha256:2ab57ba8" && prefix != "sha256:3d8d9dba" {
			t.Errorf("root %s", root)
		}
	}
}

func TestPackCopiesWhatTheOriginalPacks(t *testing.T) {
	p := packageOf(t, seed, vectors.Read(t, "v0.4.0/profiles/"+seed+".json"))
	output := filepath.Join(t.TempDir(), "pack")
	pack, root, err := p.Pack(seed, output)
	if err != nil {
		t.Fatal(err)
	}
	original, err := PackSpec.Parse(vectors.Read(t, "original-tool-output/profile-pack/"+seed+".v0.4.0.profile-pack.json"))
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range original.Files {
		if pack.Files[i].Path != f.Path {
			t.Errorf("file %d: %s; the original packs %s", i, pack.Files[i].Path, f.Path)
		}
	}
	manifest, err := os.ReadFile(filepath.Join(output, "profile-pack.json"))
	if err != nil || digest.Of(manifest) != root {
		t.Errorf("root %s, %v", root, err)
	}
	again := Package{Root: output, Policy: Original}
	if _, err := again.Validate(seed); err != nil {
		t.Errorf("the pack does not validate: %v", err)
	}
	if _, _, err := p.Pack(seed, output); err == nil {
		t.Error("a second pack replaced the first")
	}
}

func TestNewMakesAProfileThatValidates(t *testing.T) {
	image := "registry.example.org/verifier@" + string(digest.Of([]byte("image")))
	policy := Policy{Images: []string{"registry.example.org/verifier"}, Hosts: []Host{HostsByName["linux-x86_64"], HostsByName["linux-arm64"]}}
	p := Package{Root: t.TempDir(), Policy: policy}
	in := Ingredients{
		Range: Range{15, 10428401, 10428600}, Image: image,
		Capsules: map[string]CapsuleOf{
			"linux-x86_64": {"linux/amd64", []byte("amd64")},
			"linux-arm64":  {"linux/arm64", []byte("arm64")},
		},
	}
	name, err := p.New(in)
	if err != nil || name != "erdos1056-k15-10428401-10428600" {
		t.Fatalf("New = %s, %v", name, err)
	}
	v, err := p.Validate(name)
	if err != nil || v.Platforms["linux-arm64"].VerifierPlatform != "linux/arm64" || v.Platforms["linux-x86_64"].VerifierCapsuleSHA256 != string(digest.Of([]byte("amd64"))) {
		t.Errorf("Validate = %+v, %v", v, err)
	}
	if names, err := p.List(); err != nil || len(names) != 1 || names[0] != name {
		t.Errorf("List = %v, %v", names, err)
	}
	if _, err := p.New(in); err != nil {
		t.Errorf("the same again: %v", err)
	}
	in.Capsules["linux-x86_64"] = CapsuleOf{"linux/amd64", []byte("another")}
	if _, err := p.New(in); err == nil || !strings.Contains(err.Error(), "exists with another content") {
		t.Errorf("another capsule: %v", err)
	}
	original := Package{Root: t.TempDir(), Policy: Original}
	in.Capsules["darwin-arm64"] = CapsuleOf{"linux/arm64", []byte("arm64")}
	if _, err := original.New(in); err == nil || !strings.Contains(err.Error(), "verifier_image") {
		t.Errorf("a foreign image under the original's policy: %v", err)
	}
	in.Image = Original.Images[0] + "@" + string(digest.Of(nil))
	if _, err := original.New(in); err != nil {
		t.Errorf("under the original's policy: %v", err)
	}
	in.Range.Start = in.Range.End + 1
	if _, err := p.New(in); err == nil {
		t.Error("an empty range passed")
	}
}

func TestRegisterBindsADraftAndItsContract(t *testing.T) {
	p := packageOf(t, seed, vectors.Read(t, "v0.4.0/profiles/"+seed+".json"))
	path := filepath.Join(p.Root, "profiles", seed+".json")
	draft := vectors.Read(t, "v0.4.0/missions/erdos1056-k15-next/mission.draft.json")
	r, err := Register(path, draft)
	if err != nil || r.Reference.Name != seed || r.Landing.Route() != "defer" || r.Contract != nil {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := Register(path, append(draft, ' ')); err == nil || !strings.Contains(err.Error(), "profile.draft_sha256") {
		t.Errorf("another draft: %v", err)
	}

	contract, err := mission.ResultContractSpec.Encode(mission.ResultContract{Schema: mission.ResultContractSpec.ID, Target: "erdos:1056", ClaimExact: "C",
		ClaimType: "computational", Replayability: "exact", CandidateStatus: "success", VerifierStatus: "passed", RequiredArtifactKinds: []string{"witness"}})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := canon.ParseStrict(data, canon.DocumentLimits)
	if err != nil {
		t.Fatal(err)
	}
	landing := canon.NewObject(canon.Member{Key: "expected_routes", Value: canon.NewArray(canon.NewString("permit"))}, canon.Member{Key: "max_accepted_delta", Value: canon.NewInteger(1)})
	doc = doc.With("landing", landing).With("result_contract", canon.NewString("missions/contract.json")).
		With("result_contract_sha256", canon.NewString(string(digest.Of(contract))))
	text, err := canon.EncodeLine(doc)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{path: text, filepath.Join(p.Root, "missions/contract.json"): contract} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if r, err = Register(path, draft); err != nil || r.Landing.Route() != "permit" || r.Contract.ClaimExact != "C" {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := p.Validate(seed); err != nil {
		t.Errorf("Validate: %v", err)
	}
	changed := bytes.Replace(contract, []byte("erdos:1056"), []byte("erdos:1057"), 1)
	if err := os.WriteFile(filepath.Join(p.Root, "missions/contract.json"), changed, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Register(path, draft); err == nil || !strings.Contains(err.Error(), "profile.result_contract_sha256") {
		t.Errorf("another contract: %v", err)
	}
}

func FuzzProfile(f *testing.F) {
	f.Add(vectors.Read(f, "v0.4.0/profiles/"+seed+".json"))
	f.Fuzz(func(t *testing.T, data []byte) {
		profile, err := Original.Parse(data)
		if err != nil {
			return
		}
		if _, err := Original.Spec().Encode(profile); err != nil {
			t.Fatalf("an accepted profile cannot be written: %v", err)
		}
	})
}

// The order was printed by the original's expression, a.localeCompare(b), under
// Node.js 20 (ICU 78, locale en-US). Pairs of printable ASCII, 209 025 of them,
// were compared in the same way when this was written, and none differed.
func TestFilesOfAPackAreOrderedAsTheOriginalOrdersThem(t *testing.T) {
	want := []string{
		"#hash", "~tilde", "10", "1a", "9", "apple", "Apple",
		"capsules/a b/verifier", "capsules/a_b/verifier", "capsules/a-b/verifier", "capsules/a.b/verifier",
		"capsules/a/bin/linux-x86_64/1-2/verifier", "capsules/a/bin/linux-X86_64/1-2/verifier", "capsules/A/verifier",
		"capsules/a+b/verifier", "capsules/a~b/verifier", "capsules/ab/verifier",
		"profiles/k_15.json", "profiles/k-15.json", "profiles/k.15.json", "profiles/k15-2.json", "profiles/k15.json", "profiles/K15.json",
		"Profiles/k15.json", "profiles/k15/x.json", "zebra", "Zebra",
	}
	got := slices.Clone(want)
	slices.Sort(got)
	if slices.Equal(got, want) {
		t.Fatal("these names do not tell the order from that of bytes")
	}
	slices.SortFunc(got, comparePaths())
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	files := []PackedFile{{Path: "a_b", SHA256: "sha256:" + strings.Repeat("0", 64)}, {Path: "a-b", SHA256: "sha256:" + strings.Repeat("0", 64)}}
	pack := Pack{Schema: PackSpec.ID, Profile: "p", ProfileSHA256: files[0].SHA256, Files: files}
	if _, err := PackSpec.Encode(pack); err != nil {
		t.Errorf("in the order of the original: %v", err)
	}
	slices.Reverse(pack.Files)
	if _, err := PackSpec.Encode(pack); err == nil || !strings.Contains(err.Error(), "paths must ascend") {
		t.Errorf("in the order of bytes: %v", err)
	}
}
