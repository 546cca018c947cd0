package attestation

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"strings"
	"testing"
	"time"
)

var (
	sum   = strings.Repeat("ab", 32)
	other = strings.Repeat("cd", 32)
	epoch = time.Unix(1700000000, 0)
)

func pemBlock(t testing.TB, kind string, der []byte, err error) []byte {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// keys returns a new key pair of each supported kind as PEM texts.
func keys(t testing.TB) map[string][2][]byte {
	t.Helper()
	pairs := make(map[string][2][]byte)
	add := func(name string, private crypto.Signer, err error) {
		if err != nil {
			t.Fatal(err)
		}
		secret, err := x509.MarshalPKCS8PrivateKey(private)
		privatePEM := pemBlock(t, "PRIVATE KEY", secret, err)
		public, err := x509.MarshalPKIXPublicKey(private.Public())
		pairs[name] = [2][]byte{privatePEM, pemBlock(t, "PUBLIC KEY", public, err)}
	}
	p256, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	add("ECDSA P-256", p256, err)
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	add("Ed25519", edwards, err)
	return pairs
}

func pair(t testing.TB, texts [2][]byte) (*Signer, PublicKey) {
	t.Helper()
	signer, err := ParsePrivateKey(texts[0])
	if err != nil {
		t.Fatal(err)
	}
	public, err := ParsePublicKey(texts[1])
	if err != nil {
		t.Fatal(err)
	}
	return signer, public
}

func sample(t testing.TB) Statement {
	t.Helper()
	s, err := NewVerification("pkg:oci/verifier@sha256:"+other, epoch, []string{"ERDOS1056_VERIFIED"}, NewSubject("artifact.txt", sum))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSignedStatementIsReadBack(t *testing.T) {
	for name, texts := range keys(t) {
		t.Run(name, func(t *testing.T) {
			signer, public := pair(t, texts)
			if signer.Public().Hint() != public.Hint() || public.Hint() == "" {
				t.Errorf("hints %q and %q", signer.Public().Hint(), public.Hint())
			}
			data, err := Sign(signer, sample(t))
			if err != nil {
				t.Fatal(err)
			}
			got, err := Verify(public, data)
			if err != nil {
				t.Fatal(err)
			}
			v, err := got.Verification()
			if err != nil {
				t.Fatal(err)
			}
			if v.Time != "2023-11-14T22:13:20Z" || v.Verifier.ID != "pkg:oci/verifier@sha256:"+other || len(v.Properties) != 1 {
				t.Errorf("got %+v", v)
			}
			if !got.About(sum) || got.About(other) {
				t.Errorf("the statement is about %v", got.Subjects)
			}
			for otherName, otherTexts := range keys(t) {
				_, stranger := pair(t, otherTexts)
				if _, err := Verify(stranger, data); !errors.Is(err, ErrSignature) {
					t.Errorf("a stranger's %s key gave %v", otherName, err)
				}
			}
		})
	}
}

func TestAlteredBundlesAreRefused(t *testing.T) {
	for name, texts := range keys(t) {
		signer, public := pair(t, texts)
		good, err := Sign(signer, sample(t))
		if err != nil {
			t.Fatal(err)
		}
		payload, err := encode(sample(t))
		if err != nil {
			t.Fatal(err)
		}
		replaced := bytes.Replace(payload, []byte(sum), []byte(other), 1)
		for change, c := range map[string]struct {
			edit func(b *bundle)
			want string
		}{
			"nothing":           {func(*bundle) {}, ""},
			"hint":              {func(b *bundle) { b.VerificationMaterial.PublicKey.Hint = "x" }, ""}, // a hint proves nothing
			"subject":           {func(b *bundle) { b.DSSEEnvelope.Payload = base64.StdEncoding.EncodeToString(replaced) }, "signature is not by this key"},
			"payload type":      {func(b *bundle) { b.DSSEEnvelope.PayloadType = "text/plain" }, "payload type"},
			"media type":        {func(b *bundle) { b.MediaType = "application/json" }, "media type"},
			"no signature":      {func(b *bundle) { b.DSSEEnvelope.Signatures = nil }, "0 signatures"},
			"second signature":  {func(b *bundle) { b.DSSEEnvelope.Signatures = append(b.DSSEEnvelope.Signatures, signature{"AAAA"}) }, "2 signatures"},
			"signature emptied": {func(b *bundle) { b.DSSEEnvelope.Signatures[0].Sig = "" }, "signature is not by this key"},
			"signature garbled": {func(b *bundle) { b.DSSEEnvelope.Signatures[0].Sig = "!" }, "signature: illegal base64"},
			"payload garbled":   {func(b *bundle) { b.DSSEEnvelope.Payload = "!" }, "payload: illegal base64"},
		} {
			var b bundle
			if err := json.Unmarshal(good, &b); err != nil {
				t.Fatal(err)
			}
			c.edit(&b)
			data, err := encode(b)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Verify(public, data)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %s changed: got %v, want %q", name, change, err, c.want)
			}
		}
		if _, err := Verify(public, make([]byte, MaxBundle+1)); err == nil {
			t.Error("an oversized bundle was read")
		}
	}
}

func TestStatementsWithoutSenseAreNotSigned(t *testing.T) {
	signer, _ := pair(t, keys(t)["Ed25519"])
	for name, edit := range map[string]func(*Statement){
		"type":           func(s *Statement) { s.Type = "x" },
		"no subject":     func(s *Statement) { s.Subjects = nil },
		"subject digest": func(s *Statement) { s.Subjects[0].Digest.SHA256 = "AB" },
		"no predicate":   func(s *Statement) { s.Predicate = nil },
	} {
		s := sample(t)
		edit(&s)
		if _, err := Sign(signer, s); err == nil {
			t.Errorf("%s: was signed", name)
		}
	}
	s := sample(t)
	s.PredicateType = ProvenanceType
	if _, err := s.Verification(); err == nil {
		t.Error("a provenance was read as a verification")
	}
}

func TestKeysThatAreRefused(t *testing.T) {
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	rsaDER, err := x509.MarshalPKCS8PrivateKey(rsaKey)
	rsaPEM := pemBlock(t, "PRIVATE KEY", rsaDER, err)
	p384DER, err := x509.MarshalECPrivateKey(p384)
	p384PEM := pemBlock(t, "EC PRIVATE KEY", p384DER, err)
	good := keys(t)["Ed25519"]
	for name, text := range map[string][]byte{
		"empty": nil, "no PEM": []byte("hello"), "RSA": rsaPEM, "P-384": p384PEM,
		"a public key": good[1], "two keys": append(append([]byte{}, good[0]...), good[0]...),
		"damaged": bytes.Replace(good[0], []byte("MC4"), []byte("MC5"), 1), "too long": make([]byte, maxKeyFile+1),
	} {
		if _, err := ParsePrivateKey(text); err == nil || !strings.HasPrefix(err.Error(), "private key: ") {
			t.Errorf("%s as a private key: got %v", name, err)
		}
	}
	for name, text := range map[string][]byte{"empty": nil, "a private key": good[0], "two keys": append(append([]byte{}, good[1]...), good[1]...)} {
		if _, err := ParsePublicKey(text); err == nil || !strings.HasPrefix(err.Error(), "public key: ") {
			t.Errorf("%s as a public key: got %v", name, err)
		}
	}
}

func TestStatementsSayWhatTheyAreGiven(t *testing.T) {
	provenance, err := NewProvenance(Build{
		BuildType: "https://example.org/recipe", Parameters: map[string]string{"range": "2..100"},
		Dependencies: []Dependency{{Name: "verifier", Digest: map[string]string{"sha256": other}}},
		Builder:      "https://example.org/builder", Finished: epoch,
	}, NewSubject("image", sum))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"buildDefinition":{"buildType":"https://example.org/recipe","externalParameters":{"range":"2..100"},` +
		`"resolvedDependencies":[{"name":"verifier","digest":{"sha256":"cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd"}}]},` +
		`"runDetails":{"builder":{"id":"https://example.org/builder"},"metadata":{"finishedOn":"2023-11-14T22:13:20Z"}}}`
	if string(provenance.Predicate) != want {
		t.Errorf("provenance: got\n%s\nwant\n%s", provenance.Predicate, want)
	}
	contents, err := NewContents(Contents{
		Name: "verifier", Digest: sum, Created: epoch, Tool: "capsule-1", License: "Apache-2.0 OR MIT",
		Files:    []ContentFile{{"capsule/verifier", []byte("abc")}},
		Packages: []ContentPackage{{"std", "go1.26.8", "pkg:golang/std@1.26.8"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"spdxVersion":"SPDX-2.3"`, `"fileName":"./capsule/verifier"`,
		`{"algorithm":"SHA1","checksumValue":"a9993e364706816aba3e25717850c26c9cd0d89d"}`,
		`{"algorithm":"SHA256","checksumValue":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}`,
		`"referenceLocator":"pkg:golang/std@1.26.8"`, `"relationshipType":"DESCRIBES"`,
	} {
		if !strings.Contains(string(contents.Predicate), want) {
			t.Errorf("SPDX document lacks %s:\n%s", want, contents.Predicate)
		}
	}
}

func FuzzVerify(f *testing.F) {
	// Every process of a fuzz run needs the same key.
	private := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	privatePEM := pemBlock(f, "PRIVATE KEY", secret, err)
	der, err := x509.MarshalPKIXPublicKey(private.Public())
	signer, public := pair(f, [2][]byte{privatePEM, pemBlock(f, "PUBLIC KEY", der, err)})
	good, err := Sign(signer, sample(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"mediaType":"` + bundleType + `"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if s, err := Verify(public, data); err == nil && !s.About(sum) {
			t.Errorf("a forged statement was accepted: %+v", s)
		}
	})
}
