package mission

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/capsule/records/internal/vectors"
)

// standalone writes a bundle of the seed's draft with an invented capsule.
func standalone(t *testing.T) string {
	t.Helper()
	draft, err := DraftSpec.Parse(vectors.Read(t, "v0.4.0/missions/erdos1056-k15-next/mission.draft.json"))
	if err != nil {
		t.Fatal(err)
	}
	packet, err := RangeWorkSpec.Encode(NewRangeWork(15, 10428401, 10428600))
	if err != nil {
		t.Fatal(err)
	}
	parts := Parts{[]byte("#!/bin/true\n"), packet, []byte("{}\n"), []byte("# none\n")}
	m, err := Prepare(draft, Standalone("erdos:1056", Absent, "linux/amd64"), parts)
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "mission")
	if err := WriteBundle(folder, m, parts); err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestBundleIsWrittenOnceAndRead(t *testing.T) {
	folder := standalone(t)
	b, err := OpenBundle(folder)
	if err != nil {
		t.Fatal(err)
	}
	if b.Mission.Target != "erdos:1056" || b.Packet.Schema != RangeWorkSchema || b.Capsule() != filepath.Join(folder, "capsule", "verifier") {
		t.Errorf("%+v", b)
	}
	if err := WriteBundle(folder, b.Mission, Parts{}); err == nil {
		t.Error("a second bundle replaced the first")
	}
}

func TestBundleRefusesEveryChangedFile(t *testing.T) {
	cases := []struct {
		file, from, to, want string
	}{
		{"mission.json", `"target":"erdos:1056"`, `"target":"erdos:1057"`, "mission_sha256"},
		{"mission.json", `"actor"`, ` "actor"`, "not in canonical form"},
		{"bundle-manifest.json", `"authority":"non_authoritative"`, `"authority":"total"`, "bundle.authority"},
		{"bundle-manifest.json", `"platform":"linux"`, `"platform":"darwin"`, "not the one of this mission"},
		{"capsule/verifier", "true", "evil", "capsule/verifier: expected sha256:"},
		{"packet/target.json", "10428600", "10428601", "packet/target.json: expected sha256:"},
		{"contract/engine-output.v0.json", "{}", "[]", "contract/engine-output.v0.json: expected sha256:"},
		{"contract/native-worker.config.toml", "none", "some", "contract/native-worker.config.toml: expected sha256:"},
	}
	for _, c := range cases {
		folder := standalone(t)
		path := filepath.Join(folder, c.file)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		changed := bytes.Replace(data, []byte(c.from), []byte(c.to), 1)
		if bytes.Equal(changed, data) {
			t.Fatalf("%s has no %q", c.file, c.from)
		}
		os.Chmod(path, 0o700)
		if err := os.WriteFile(path, changed, 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenBundle(folder); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %s: %v; want %q", c.file, c.to, err, c.want)
		}
	}
}

func TestBundleRefusesLinksAndACapsuleThatCannotRun(t *testing.T) {
	folder := standalone(t)
	if err := os.Chmod(filepath.Join(folder, CapsulePath), 0o400); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenBundle(folder); err == nil || !strings.Contains(err.Error(), "not executable") {
		t.Errorf("capsule without x: %v", err)
	}
	folder = standalone(t)
	packet := filepath.Join(folder, PacketPath)
	os.Rename(packet, packet+".real")
	os.Symlink("target.json.real", packet)
	if _, err := OpenBundle(folder); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("packet as a link: %v", err)
	}
}

// A bundle of the vectors lacks its capsule, which is not redistributed here.
func TestPublishedBundlesAreCompleteButForTheCapsule(t *testing.T) {
	paths, _ := filepath.Glob(vectors.Root + "/original-tool-output/runs/*/mission")
	if len(paths) != 8 {
		t.Fatalf("found %d bundles", len(paths))
	}
	for _, path := range paths {
		if _, err := OpenBundle(path); err == nil || !strings.Contains(err.Error(), "capsule/verifier: no such file") {
			t.Errorf("%s: %v", path, err)
		}
	}
}
