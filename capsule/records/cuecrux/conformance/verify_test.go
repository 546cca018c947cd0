package conformance

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/capsule/records/finding"
	"github.com/erdos1056/erdos1056/capsule/records/keys"
)

const (
	reference = "ext.conformance.reference/0.2.0/manifest.json"
	corpus    = "ext.conformance.reference/0.2.0/replay-corpus.json"
	studio    = "studio-board-example/0.1.0/manifest.json"
	// exampleSeed is the seed that the reference pack publishes for examples.
	exampleSeed = "cuecrux-pack-conformance-ref-v1!"
)

func exampleKey(t testing.TB) keys.Key {
	t.Helper()
	key, err := keys.FromSeed([]byte(exampleSeed))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// publishers returns a registry of the vectors' two publishers.
func publishers(t testing.TB) keys.Registry {
	t.Helper()
	registry := keys.NewRegistry(keys.Entry{Public: exampleKey(t).Public(), Holder: "reference pack", Roles: []keys.Role{keys.Publisher}})
	board := mustRead(t, studio)
	public, err := keys.ParsePublic(*board.Signature.PublicKeyHex)
	if err != nil {
		t.Fatal(err)
	}
	return registry.With(keys.Entry{Public: public, Holder: "studio board", Roles: []keys.Role{keys.Publisher}})
}

func mustRead(t testing.TB, name string) *Manifest {
	t.Helper()
	m, _, err := Read(readFile(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func names(findings []finding.Finding) []string {
	var list []string
	for _, f := range findings {
		list = append(list, f.Name+" "+f.Field)
	}
	return list
}

func TestReferencePackIsVerified(t *testing.T) {
	r := Verify(readFile(t, reference), publishers(t), readFile(t, corpus))
	if r.Refusal != nil {
		t.Fatal(r.Refusal)
	}
	if want := "blake3:00e1c65eb1b2f3d52a3e650a6a32865ecf9d9782ff5b8e43145da4bd2cb80478"; r.Hash != want {
		t.Errorf("hash %s, want %s", r.Hash, want)
	}
	want := []string{"UnsignedField external_tool_endpoint", "UnsignedField tools"}
	if got := names(r.Findings); !slices.Equal(got, want) {
		t.Errorf("findings %q, want %q", got, want)
	}
	if err := r.Err(false); err != nil {
		t.Errorf("as the original: %v", err)
	}
	if err := r.Err(true); err == nil || !strings.Contains(err.Error(), "UnsignedField") {
		t.Errorf("strict: %v, want the unsigned fields", err)
	}
}

func TestSigningPayloadIsByteExact(t *testing.T) {
	payload, err := mustRead(t, reference).SigningPayload()
	if err != nil {
		t.Fatal(err)
	}
	if want := readFile(t, "derived/reference-0.2.0.signing-payload.json"); !bytes.Equal(payload, want) {
		t.Errorf("payload\n%s\nwant\n%s", payload, want)
	}
	board, err := mustRead(t, studio).SigningPayload()
	if err != nil || len(board) != 608 {
		t.Errorf("studio board: %d bytes, %v; want 608", len(board), err)
	}
}

func TestFingerprintAndCorpusDigestOfTheReferencePack(t *testing.T) {
	m := mustRead(t, reference)
	if got := string(exampleKey(t).Fingerprint()); got != m.PublisherFPR {
		t.Errorf("fingerprint %s, want %s", got, m.PublisherFPR)
	}
	sum := sha256.Sum256(readFile(t, corpus))
	if got := hex.EncodeToString(sum[:]); got != m.Conformance.ReplayCorpus.SHA256 {
		t.Errorf("corpus digest %s, want %s", got, m.Conformance.ReplayCorpus.SHA256)
	}
}

func TestSigningAgainReproducesThePublishedFile(t *testing.T) {
	for _, name := range []string{reference, "derived/m1-regenerated/manifest.json"} {
		m := mustRead(t, name)
		m.Hashes, m.Signature, m.PublisherFPR = Hashes{}, nil, "nobody"
		if err := m.Sign(exampleKey(t)); err != nil {
			t.Fatal(err)
		}
		file, err := m.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(file, readFile(t, name)) {
			t.Errorf("%s: the signed file differs:\n%s", name, file)
		}
	}
}

func TestManifestWithoutBlockVerifiesAsBefore(t *testing.T) {
	r := Verify(readFile(t, studio), publishers(t), nil)
	if r.Refusal != nil {
		t.Fatal(r.Refusal)
	}
	if want := "blake3:35cb29332d5ed716816e9b6b801fa371f404d4655a6baaec5551d7a51a7f2d51"; r.Hash != want {
		t.Errorf("hash %s, want %s", r.Hash, want)
	}
	if got, want := names(r.Findings), []string{"UnknownField studio", "UnsignedField hashes.bundle"}; !slices.Equal(got, want) {
		t.Errorf("findings %q, want %q", got, want)
	}
}

// TestExpectedVerdicts holds every line of EXPECTED.tsv.
func TestExpectedVerdicts(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(string(readFile(t, "derived/EXPECTED.tsv"))), "\n")
	if len(lines) != 15 {
		t.Fatalf("%d lines, want 15", len(lines))
	}
	for _, line := range lines {
		name, expected, _ := strings.Cut(line, "\t")
		t.Run(name, func(t *testing.T) {
			r := Verify(readFile(t, "derived/"+name), publishers(t), nil)
			if strings.HasPrefix(expected, "ACCEPT") {
				if r.Refusal != nil || !slices.Contains(names(r.Findings), "UnknownField conformance.extra") {
					t.Fatalf("refusal %v, findings %q; want acceptance with an unknown field", r.Refusal, names(r.Findings))
				}
				if r.Err(true) == nil {
					t.Fatal("the strict verdict accepts")
				}
				return
			}
			want, field, _ := strings.Cut(strings.Fields(expected)[1], "(")
			var refusal *finding.Refusal
			if !errors.As(r.Refusal, &refusal) || refusal.Name != want {
				t.Fatalf("got %v, want %s", r.Refusal, want)
			}
			if field = strings.TrimSuffix(field, ")"); field != "" && refusal.Field != field {
				t.Errorf("field %s, want %s", refusal.Field, field)
			}
		})
	}
}

func TestEveryByteOfTheSignedFieldsIsCovered(t *testing.T) {
	data := readFile(t, reference)
	registry := publishers(t)
	start := bytes.Index(data, []byte(`"claimed_capabilities"`))
	for i := start; i < len(data); i++ {
		changed := bytes.Clone(data)
		changed[i] ^= 1
		if bytes.Equal(compact(changed), compact(data)) {
			continue // a blank became another blank
		}
		r := Verify(changed, registry, nil)
		if r.Refusal == nil && !slices.ContainsFunc(r.Findings, func(f finding.Finding) bool { return f.Name == UnknownField }) {
			t.Fatalf("byte %d (%q) can change unnoticed", i, data[i])
		}
	}
}

func compact(data []byte) []byte {
	return bytes.Join(bytes.Fields(data), nil)
}

func TestWideningAnyBoundAfterSigningFails(t *testing.T) {
	widen := map[string]func(*Declaration){
		"tokens per call":   func(d *Declaration) { d.Envelope.MaxTokensPerCall++ },
		"tokens per run":    func(d *Declaration) { d.Envelope.MaxTokensPerRun++ },
		"latency per call":  func(d *Declaration) { d.Envelope.MaxLatencyMSPerCall++ },
		"latency per run":   func(d *Declaration) { d.Envelope.MaxLatencyMSPerRun++ },
		"response bytes":    func(d *Declaration) { d.Envelope.MaxResponseBytesPerCall++ },
		"fact writes":       func(d *Declaration) { d.Envelope.MaxFactWritesPerCall++ },
		"half-life":         func(d *Declaration) { d.Envelope.Decay.MinHalfLifeSeconds-- },
		"refreshes":         func(d *Declaration) { d.Envelope.Decay.MaxRefreshesPerCall++ },
		"contradictions":    func(d *Declaration) { d.Envelope.MaxContradictionRatePPM++ },
		"undo operations":   func(d *Declaration) { d.Envelope.Undo.MaxOperationsPerCall++ },
		"undo latency":      func(d *Declaration) { d.Envelope.Undo.MaxLatencyMS++ },
		"receipts":          func(d *Declaration) { d.ExpectedMutations.Receipts[0].MaxPerCall++ },
		"dropped invariant": func(d *Declaration) { d.Invariants = d.Invariants[1:] },
	}
	for name, change := range widen {
		t.Run(name, func(t *testing.T) {
			for _, withHash := range []bool{true, false} {
				m := mustRead(t, reference)
				change(m.Conformance)
				want := "ManifestHashMismatch"
				if !withHash {
					m.Hashes.Manifest, want = nil, "SignatureInvalid"
				}
				file, err := m.Encode()
				if err != nil {
					t.Fatal(err)
				}
				var refusal *finding.Refusal
				if r := Verify(file, publishers(t), nil); !errors.As(r.Refusal, &refusal) || refusal.Name != want {
					t.Errorf("got %v, want %s", r.Refusal, want)
				}
			}
		})
	}
}

func TestHolesOfTheOriginalAreFindings(t *testing.T) {
	stranger, err := keys.FromSeed(bytes.Repeat([]byte{7}, 32))
	if err != nil {
		t.Fatal(err)
	}
	text := string(readFile(t, reference))
	resigned := func(change func(*Manifest)) string {
		m := mustRead(t, reference)
		change(m)
		if err := m.Sign(exampleKey(t)); err != nil {
			t.Fatal(err)
		}
		file, err := m.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return string(file)
	}
	impostor := func() string {
		m := mustRead(t, reference)
		payload, err := m.SigningPayload()
		if err != nil {
			t.Fatal(err)
		}
		m.Signature.PassportFPR = string(stranger.Fingerprint())
		m.Signature.PublicKeyHex = nil
		m.Signature.Sig = keys.EncodeSignature(stranger.Sign(payload))
		file, err := m.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return string(file)
	}
	for _, tc := range []struct{ name, text, finding string }{
		{"endpoint pointed elsewhere", strings.Replace(text, "https://reference.pack.invalid/tools", "https://evil.invalid/", 1), "UnsignedField external_tool_endpoint"},
		{"key __proto__", strings.Replace(text, `"version":`, `"__proto__": {}, "version":`, 1), "PrototypeKey line 5, column 3"},
		{"key in other case", strings.Replace(text, `"version":`, `"Version": "9", "version":`, 1), "UnknownField Version"},
		{"signed by a trusted key that is not the publisher's", impostor(), "PublisherMismatch signature.passport_fpr"},
		{"hash removed", strings.Replace(text, `"manifest": "blake3`, `"bundle": "blake3`, 1), "NoManifestHash hashes.manifest"},
		{"path not in shortest form", resigned(func(m *Manifest) { m.Conformance.ReplayCorpus.Path = "./replay-corpus.json" }), "UncleanPath conformance.replay_corpus.path"},
		{"unsorted arguments", resigned(func(m *Manifest) {
			m.Conformance.ReplayCorpus.Cases[0].Args = parse(t, `{"b":1,"a":[{"d":1,"c":2}]}`)
		}), "ArgumentOrder conformance.replay_corpus.cases[0].args"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			registry := publishers(t).With(keys.Entry{Public: stranger.Public(), Holder: "stranger", Roles: []keys.Role{keys.Publisher}})
			r := Verify([]byte(tc.text), registry, nil)
			if r.Refusal != nil {
				t.Fatalf("the original's verdict is %v, want acceptance", r.Refusal)
			}
			if !slices.Contains(names(r.Findings), tc.finding) {
				t.Errorf("findings %q, want %q among them", names(r.Findings), tc.finding)
			}
		})
	}
}

func TestSignatureRefusals(t *testing.T) {
	key := exampleKey(t)
	for _, tc := range []struct {
		name     string
		registry keys.Registry
		change   func(*Manifest)
		want     string
	}{
		{"stripped", publishers(t), func(m *Manifest) { m.Signature = nil }, "SignatureRequired"},
		{"unknown key", keys.Registry{}, func(*Manifest) {}, "MissingTrustedKey"},
		{"other inline key", publishers(t), func(m *Manifest) { s := strings.Repeat("00", 32); m.Signature.PublicKeyHex = &s }, "InvalidSignatureMaterial"},
		{"short signature", publishers(t), func(m *Manifest) { m.Signature.Sig = "AAAA" }, "InvalidSignatureMaterial"},
		{"line break in base64", publishers(t), func(m *Manifest) { m.Signature.Sig = m.Signature.Sig[:4] + "\n" + m.Signature.Sig[4:] }, "InvalidSignatureMaterial"},
		{"signature of other bytes", publishers(t), func(m *Manifest) { m.Signature.Sig = keys.EncodeSignature(key.Sign([]byte("x"))) }, "SignatureInvalid"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := mustRead(t, reference)
			tc.change(m)
			file, err := m.Encode()
			if err != nil {
				t.Fatal(err)
			}
			var refusal *finding.Refusal
			if r := Verify(file, tc.registry, nil); !errors.As(r.Refusal, &refusal) || refusal.Name != tc.want {
				t.Errorf("got %v, want %s", r.Refusal, tc.want)
			}
		})
	}
}

func TestFirstPartyMayBeUnsignedButIsReported(t *testing.T) {
	m := mustRead(t, studio)
	m.PublisherFPR, m.Signature, m.Hashes.Manifest = FirstPartyPublisher, nil, nil
	file, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	r := Verify(file, keys.Registry{}, nil)
	if r.Refusal != nil || !slices.Contains(names(r.Findings), "UnsignedManifest signature") {
		t.Errorf("refusal %v, findings %q", r.Refusal, names(r.Findings))
	}
}
