package academy

import (
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/capsule/records/keys"
)

func mustRead(t testing.TB, data []byte) *Document {
	t.Helper()
	d, err := Read(data)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestSigningKeepsTheHash(t *testing.T) {
	d := mustRead(t, readFile(t, example))
	want := d.Integrity.BundleHash
	if err := d.Sign(keyOf(t, 1)); err != nil {
		t.Fatal(err)
	}
	if d.Integrity.BundleHash != want {
		t.Errorf("hash %s, want %s", d.Integrity.BundleHash, want)
	}
}

func TestSigningAgainRemovesTheCosignature(t *testing.T) {
	d := mustRead(t, readFile(t, example))
	cosignature := "AAAA"
	d.setIntegrity(Integrity{HashAlg: "sha256", BundleHash: d.Integrity.BundleHash, AcademySignature: &cosignature})
	if err := d.Sign(keyOf(t, 1)); err != nil {
		t.Fatal(err)
	}
	if d.Integrity.AcademySignature != nil {
		t.Error("the co-signature vouches for another signature")
	}
}

func TestWhatReadersSeeDifferentlyIsNotSigned(t *testing.T) {
	for _, name := range []string{"proto-smuggled", "duplicate-key", "number-spelling-variant"} {
		d := mustRead(t, readFile(t, "derived-adversarial/"+name+".bundle.json"))
		if err := d.Sign(keyOf(t, 1)); err == nil || !strings.Contains(err.Error(), "line ") {
			t.Errorf("%s: got %v, want a refusal with its line", name, err)
		}
	}
}

func TestCosigningNeedsASignedProctoredBundle(t *testing.T) {
	entrant, proctor := keyOf(t, 1), keyOf(t, 3)
	registry := keys.NewRegistry(
		keys.Entry{Public: entrant.Public(), Holder: "entrant", Roles: []keys.Role{keys.Entrant}},
		keys.Entry{Public: proctor.Public(), Holder: "proctor", Roles: []keys.Role{keys.Proctor}},
	)
	attest := func(a Attestation) Bundle {
		b := mustRead(t, readFile(t, example)).Bundle
		b.Attestation = a
		return b
	}
	proctored := attest(Attestation{Mode: Proctored, Proctor: map[string]any{"proctorId": "p-1"}})
	for _, tc := range []struct {
		name   string
		bundle Bundle
		signer *keys.Key
		key    keys.Key
		want   string
	}{
		{"in order", proctored, &entrant, proctor, ""},
		{"unsigned", proctored, nil, proctor, "no entrant"},
		{"own key", proctored, &entrant, entrant, "entrant's own"},
		{"self-reported", attest(Attestation{Mode: SelfReported}), &entrant, proctor, "proctored"},
		{"no proctor block", attest(Attestation{Mode: Proctored}), &entrant, proctor, "proctor block"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d, err := New(tc.bundle)
			if err != nil {
				t.Fatal(err)
			}
			if tc.signer != nil {
				if err := d.Sign(*tc.signer); err != nil {
					t.Fatal(err)
				}
			}
			err = d.Cosign(tc.key, registry)
			if tc.want != "" {
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("got %v, want %q", err, tc.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			file, err := d.Encode()
			if err != nil {
				t.Fatal(err)
			}
			r := Verify(file, registry)
			if r.Err(true) != nil || r.Proctor != proctor.Fingerprint() || r.Entrant != entrant.Fingerprint() {
				t.Errorf("verdict %v, entrant %s, proctor %s", r.Err(true), r.Entrant, r.Proctor)
			}
		})
	}
}
