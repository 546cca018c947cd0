package academy

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/capsule/records/finding"
	"github.com/erdos1056/erdos1056/capsule/records/keys"
)

const (
	testdata  = "../../../testdata/opentakeoff-academy/"
	reference = "site/runs/reference-va-bldg28.bundle.json"
	example   = "submissions/example-submission.bundle.json"
)

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(testdata + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func keyOf(t testing.TB, seed byte) keys.Key {
	t.Helper()
	key, err := keys.FromSeed(bytes.Repeat([]byte{seed}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// academyRegistry trusts the entrant of the reference run and the academy.
func academyRegistry(t testing.TB) keys.Registry {
	t.Helper()
	d, err := Read(readFile(t, reference))
	if err != nil {
		t.Fatal(err)
	}
	entrant, err := keys.ParsePublicPEM(*d.Integrity.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	academy, err := keys.ParsePublicPEM(string(readFile(t, "site/academy-public-key.pem")))
	if err != nil {
		t.Fatal(err)
	}
	return keys.NewRegistry(
		keys.Entry{Public: entrant, Holder: "reference run", Roles: []keys.Role{keys.Entrant}},
		keys.Entry{Public: academy, Holder: "academy", Roles: []keys.Role{keys.Proctor}},
	)
}

func names(findings []finding.Finding) []string {
	var list []string
	for _, f := range findings {
		if !slices.Contains(list, f.Name) {
			list = append(list, f.Name)
		}
	}
	return list
}

// TestOriginalVerdicts holds every line of ORIGINAL-VERDICTS.tsv, and that the
// strict verdict refuses all but the one signed and unaltered bundle.
func TestOriginalVerdicts(t *testing.T) {
	strict := map[string]string{
		"duplicate-key.bundle.json":           finding.DuplicateKey,
		"number-spelling-variant.bundle.json": finding.NumberSpelling,
		"proto-smuggled.bundle.json":          finding.PrototypeKey,
		"signature-corrupt.bundle.json":       "SignatureInvalid",
		"value-tampered.bundle.json":          "HashMismatch",
		example:                               Unsigned,
		reference:                             "",
	}
	lines := strings.Split(strings.TrimSpace(string(readFile(t, "derived-adversarial/ORIGINAL-VERDICTS.tsv"))), "\n")
	if len(lines) != len(strict) {
		t.Fatalf("%d lines, want %d", len(lines), len(strict))
	}
	for _, line := range lines {
		name, text, _ := strings.Cut(line, "\t")
		t.Run(name, func(t *testing.T) {
			var original struct {
				HashMatch      bool
				SignatureValid *bool
				OK             bool
			}
			if err := json.Unmarshal([]byte(text), &original); err != nil {
				t.Fatal(err)
			}
			path := name
			if !strings.Contains(name, "/") {
				path = "derived-adversarial/" + name
			}
			r := Verify(readFile(t, path), academyRegistry(t))
			if err := r.Err(false); (err == nil) != original.OK {
				t.Errorf("as the original: %v, want %s", err, text)
			}
			wantRefusal := ""
			if !original.HashMatch {
				wantRefusal = "HashMismatch"
			} else if original.SignatureValid != nil && !*original.SignatureValid {
				wantRefusal = "SignatureInvalid"
			}
			if got := refusalName(r.Refusal); got != wantRefusal {
				t.Errorf("refusal %q, want %q", got, wantRefusal)
			}
			err := r.Err(true)
			if want := strict[name]; want == "" {
				if err != nil {
					t.Errorf("strict: %v, want acceptance", err)
				}
			} else if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("strict: %v, want %s", err, want)
			}
		})
	}
}

func refusalName(err error) string {
	var refusal *finding.Refusal
	if errors.As(err, &refusal) {
		return refusal.Name
	}
	return ""
}

func TestEveryByteOfABundleIsCovered(t *testing.T) {
	data := readFile(t, reference)
	registry := academyRegistry(t)
	for i := range data {
		changed := bytes.Clone(data)
		changed[i] ^= 1
		if bytes.Equal(bytes.Join(bytes.Fields(changed), nil), bytes.Join(bytes.Fields(data), nil)) {
			continue
		}
		if r := Verify(changed, registry); r.Err(true) == nil {
			t.Fatalf("byte %d (%q) can change unnoticed", i, data[i])
		}
	}
}

// TestHolesOfTheOriginalAreFindings changes a good bundle in ways that the
// original accepts.
func TestHolesOfTheOriginalAreFindings(t *testing.T) {
	entrant, stranger, proctor := keyOf(t, 1), keyOf(t, 2), keyOf(t, 3)
	registry := keys.NewRegistry(
		keys.Entry{Public: entrant.Public(), Holder: "entrant", Roles: []keys.Role{keys.Entrant}},
		keys.Entry{Public: proctor.Public(), Holder: "proctor", Roles: []keys.Role{keys.Proctor}},
	)
	proctored := func(b *Bundle) {
		b.Attestation = Attestation{Mode: Proctored, Proctor: map[string]any{"proctorId": "p-1"}}
	}
	unchanged := func(*Bundle) {}
	edit := func(change func(*Integrity)) func(*Document) {
		return func(d *Document) {
			block := d.Integrity
			change(&block)
			d.setIntegrity(block)
		}
	}
	cosign := func(key keys.Key) func(*Document) {
		return edit(func(i *Integrity) {
			s := keys.EncodeSignature(key.Sign([]byte(i.BundleHash)))
			i.AcademySignature = &s
		})
	}
	for _, tc := range []struct {
		name   string
		before func(*Bundle)
		key    keys.Key
		after  func(*Document)
		want   []string
	}{
		{"signed by the entrant", unchanged, entrant, func(*Document) {}, nil},
		{"signature stripped", unchanged, entrant, edit(func(i *Integrity) { i.Signature, i.PublicKey = nil, nil }), []string{Unsigned}},
		{"key stripped", unchanged, entrant, edit(func(i *Integrity) { i.PublicKey = nil }), []string{UnverifiableSignature}},
		{"signature replaced", unchanged, stranger, func(*Document) {}, []string{UnknownKey}},
		{"signed by a proctor", unchanged, proctor, func(*Document) {}, []string{UnknownKey}},
		{"signature respelled", unchanged, entrant, edit(func(i *Integrity) {
			s := strings.TrimRight(*i.Signature, "=") + "\n"
			i.Signature = &s
		}), []string{SignatureSpelling}},
		{"claims a proctor", proctored, entrant, func(*Document) {}, []string{UnprovenProctoring}},
		{"replaced signature claims a proctor", proctored, stranger, func(*Document) {}, []string{UnknownKey, UnprovenProctoring}},
		{"co-signed by a stranger", proctored, entrant, cosign(stranger), []string{InvalidCosignature, UnprovenProctoring}},
		{"co-signed by the entrant", proctored, entrant, cosign(entrant), []string{InvalidCosignature, UnprovenProctoring}},
		{"co-signed", proctored, entrant, cosign(proctor), nil},
		{"co-signed without a proctor block", func(b *Bundle) { b.Attestation.Mode = Proctored }, entrant, cosign(proctor), []string{UnprovenProctoring}},
		{"co-signed, but self-reported", unchanged, entrant, cosign(proctor), []string{UnclaimedProctoring}},
		{"step missing", func(b *Bundle) { b.Tasks[0].Trace = b.Tasks[0].Trace[1:] }, entrant, func(*Document) {}, []string{TraceOrder}},
		{"step back in time", func(b *Bundle) { early := int64(0); b.Tasks[0].Trace[9].TOffsetMS = &early }, entrant, func(*Document) {}, []string{TraceOrder}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			source, err := Read(readFile(t, reference))
			if err != nil {
				t.Fatal(err)
			}
			tc.before(&source.Bundle)
			d, err := New(source.Bundle)
			if err != nil {
				t.Fatal(err)
			}
			if err := d.Sign(tc.key); err != nil {
				t.Fatal(err)
			}
			tc.after(d)
			file, err := d.Encode()
			if err != nil {
				t.Fatal(err)
			}
			r := Verify(file, registry)
			if r.Refusal != nil {
				t.Fatalf("the original's verdict is %v, want acceptance", r.Refusal)
			}
			if got := names(r.Findings); !slices.Equal(got, tc.want) {
				t.Errorf("findings %q, want %q", got, tc.want)
			}
		})
	}
}

func TestSchemaViolationsNameTheirPlace(t *testing.T) {
	text := string(readFile(t, example))
	for _, tc := range []struct{ name, from, to, want string }{
		{"unknown field", `"bundleVersion"`, `"extra": 1, "bundleVersion"`, "extra"},
		{"missing field", `"runId"`, `"runID"`, "runId"},
		{"other version", `"bundleVersion": "1.0"`, `"bundleVersion": "1.1"`, "/bundleVersion"},
		{"short run id", `"runId": "run_`, `"runId": "ran_`, "/runId"},
		{"unknown mode", `"mode": "practice"`, `"mode": "warm-up"`, "/suite/mode"},
		{"fractional sequence", `"seq": 1,`, `"seq": 1.5,`, "/tasks/0/trace/1/seq"},
		{"confidence above one", `"confidence": 0.93`, `"confidence": 1.93`, "/tasks/0/answer/quantities/0/confidence"},
		{"hash in upper case", `"bundleHash": "f`, `"bundleHash": "F`, "/integrity/bundleHash"},
		{"number beyond a double", `"value": 244`, `"value": 1e999`, "no JSON form"},
		{"not JSON", `"bundleVersion":`, `"bundleVersion"`, "line 2"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if !strings.Contains(text, tc.from) {
				t.Fatalf("the example has no %s", tc.from)
			}
			r := Verify([]byte(strings.Replace(text, tc.from, tc.to, 1)), keys.Registry{})
			if refusalName(r.Refusal) != "SchemaInvalid" || !strings.Contains(r.Refusal.Error(), tc.want) {
				t.Errorf("got %v, want SchemaInvalid at %s", r.Refusal, tc.want)
			}
		})
	}
}

// TestHostileExponentIsReadAsADouble would not end if the number became an
// exact fraction.
func TestHostileExponentIsReadAsADouble(t *testing.T) {
	text := strings.Replace(string(readFile(t, example)), `"value": 244`, `"value": 1e-1000000000`, 1)
	if r := Verify([]byte(text), keys.Registry{}); refusalName(r.Refusal) != "HashMismatch" {
		t.Errorf("got %v, want HashMismatch", r.Refusal)
	}
}

func TestIntegerLikeKeysHashInECMAScriptOrder(t *testing.T) {
	source, err := Read(readFile(t, reference))
	if err != nil {
		t.Fatal(err)
	}
	step := &source.Tasks[0].Trace[0]
	step.Args = map[string]any{"10": 1, "9": 2, "b": 3, "a": 4}
	d, err := New(source.Bundle)
	if err != nil {
		t.Fatal(err)
	}
	file, err := d.Encode()
	if err != nil || !bytes.Contains(file, []byte(`"args":{"9":2,"10":1,"a":4,"b":3}`)) {
		t.Errorf("error %v, text %s", err, file)
	}
}

func FuzzVerify(f *testing.F) {
	for _, name := range []string{reference, example, "derived-adversarial/proto-smuggled.bundle.json", "derived-adversarial/duplicate-key.bundle.json"} {
		f.Add(readFile(f, name))
	}
	registry := academyRegistry(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		r := Verify(data, registry)
		if r.Document == nil || r.Err(true) != nil {
			return
		}
		file, err := r.Document.Encode()
		if err != nil {
			t.Fatalf("accepted, but cannot be written: %v", err)
		}
		if again := Verify(file, registry); again.Err(true) != nil || again.Hash != r.Hash {
			t.Fatalf("accepted, but after rewriting: %v", again.Err(true))
		}
	})
}
