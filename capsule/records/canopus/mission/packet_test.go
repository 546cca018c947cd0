package mission

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/internal/digest"
)

const packets = "../../../../testdata/erdos-frontier-packets/"

func TestProblemPacketsAreReadByteForByte(t *testing.T) {
	want := map[string]digest.Digest{
		"site-problems-1056.d0a2f56.json": "sha256:d724686d60ffbb61e5e24eab9084b34f1a797381bfb2731a2fa81e14d7ee652e",
		"site-problems-1056.7028ab2.json": "sha256:351cf94d7a6bfee8f8abd386af54f8bfa7fcc2cd01cf5cc155cf0a981086fcc5",
		"site-problems-1056.7252d06.json": "sha256:72b3f4e234849bf88755a05aef10c1f1c1e946760acc564e72a0493a0306c834",
	}
	for name, digest := range want {
		data, err := os.ReadFile(filepath.Join(packets, name))
		if err != nil {
			t.Fatal(err)
		}
		packet, err := ParsePacket(data)
		if err != nil || packet.SHA256 != digest || packet.Target != "erdos:1056" {
			t.Errorf("%s: %s %s, %v", name, packet.SHA256, packet.Target, err)
			continue
		}
		if again, err := ProblemWorkSpec.Encode(packet.Value); err != nil || !bytes.Equal(again, data) {
			t.Errorf("%s: written differently, %v", name, err)
		}
	}
}

func TestProblemPacketRefusesAnotherShape(t *testing.T) {
	data, err := os.ReadFile(packets + "site-problems-1056.7252d06.json")
	if err != nil {
		t.Fatal(err)
	}
	packet, err := ParsePacket(data)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]canon.Value{
		"packet.surplus: this format has no such field":    packet.Value.With("surplus", canon.NewInteger(1)),
		"packet.witnesses: this field is required":         packet.Value.Without("witnesses"),
		"packet.frontier_root: expected a digest":          packet.Value.With("frontier_root", canon.NewString("sha256:0")),
		"packet.accepted_activity: expected true or false": packet.Value.With("accepted_activity", canon.NewInteger(1)),
	}
	for want, value := range cases {
		text, _ := canon.EncodeLine(value)
		if want == "packet.frontier_root: expected a digest" {
			want = "packet.frontier_root: expected"
		}
		if _, err := ParsePacket(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	blank := bytes.Replace(data, []byte(`"problem":1056`), []byte(`"problem": 1056`), 1)
	if _, err := ParsePacket(blank); err == nil || !strings.Contains(err.Error(), "canonical form") {
		t.Errorf("a blank: %v", err)
	}
}

func leanWork() LeanProofWork {
	object := canon.NewObject()
	return LeanProofWork{
		Schema: LeanProofWorkSchema, Target: "formal:two-is-even", Objective: "Prove the exact statement.",
		Selection: object,
		Source: LeanSource{"https://example.org/r", strings.Repeat("a", 40), strings.Repeat("b", 40), "A/B.lean",
			Absent, "two_even", "theorem two_even : Even 2"},
		Environment:    LeanEnvironment{"leanprover/lean4:v4.27.0", Absent, Absent, Absent, strings.Repeat("c", 40)},
		OutputContract: object,
		Verification: LeanVerification{canon.NewString("exact"), object,
			LeanAxioms{[]string{"propext", "Classical.choice", "Quot.sound"}, []string{"sorryAx"}}, object},
		Authority: object,
	}
}

func TestLeanPacketIsWrittenAndRead(t *testing.T) {
	data, err := leanWork().Encode()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(data, []byte("{\n  \"schema\": \"formal-conjectures.lean-proof-work.v1\",\n  \"target\": \"formal:two-is-even\",")) {
		t.Errorf("written as %s", data)
	}
	packet, err := ParsePacket(data)
	if err != nil || packet.Target != "formal:two-is-even" {
		t.Errorf("target %q, %v", packet.Target, err)
	}
	both := leanWork()
	both.Verification.Axioms.Forbidden = []string{"propext"}
	if _, err := both.Encode(); err == nil || !strings.Contains(err.Error(), "packet.verification.axioms: propext is both allowed and forbidden") {
		t.Errorf("an axiom both allowed and forbidden: %v", err)
	}
}

func TestRangePacketIsWrittenAndRead(t *testing.T) {
	data, err := RangeWorkSpec.Encode(NewRangeWork(15, 10428401, 10428600))
	want := `{"k":15,"problem":1056,"range_end":10428600,"range_start":10428401,"schema":"erdos1056.range-work.v1","target":"erdos:1056"}` + "\n"
	if err != nil || string(data) != want {
		t.Fatalf("%s, %v", data, err)
	}
	if packet, err := ParsePacket(data); err != nil || packet.Target != "erdos:1056" {
		t.Errorf("%+v, %v", packet, err)
	}
	if _, err := RangeWorkSpec.Encode(NewRangeWork(15, 3, 2)); err == nil {
		t.Error("an empty range passed")
	}
}

func TestPacketOfAnUnknownSchemaIsKeptByDigest(t *testing.T) {
	if packet, err := ParsePacket([]byte(`{"schema":"sidon"}`)); err != nil || packet.Target != "" || packet.Schema != "sidon" {
		t.Errorf("%+v, %v", packet, err)
	}
	if _, err := ParsePacket([]byte(`{"schema":"sidon","schema":"sidon"}`)); err == nil {
		t.Error("a duplicate key passed")
	}
}

func FuzzPacket(f *testing.F) {
	data, err := leanWork().Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"schema":"erdos1056.range-work.v1"}`))
	f.Fuzz(func(t *testing.T, data []byte) { ParsePacket(data) })
}
