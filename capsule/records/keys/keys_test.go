package keys

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func keyOf(t testing.TB, seed byte) Key {
	t.Helper()
	key, err := FromSeed(bytes.Repeat([]byte{seed}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func secret(s string) func() (string, error) { return func() (string, error) { return s, nil } }

func TestPublishedExampleKey(t *testing.T) {
	key, err := FromSeed([]byte("cuecrux-pack-conformance-ref-v1!"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := hex.EncodeToString(key.Public()), "b791b18a7eeb32c7f9149f30ba7270a8f41df434e731a704cd8e1d73e76f9848"; got != want {
		t.Errorf("public key %s, want %s", got, want)
	}
	if got, want := key.String(), "p_ecd0588a5ccd437d9a6a5544d858939d"; got != want {
		t.Errorf("fingerprint %s, want %s", got, want)
	}
}

func TestKeyFilesComeBack(t *testing.T) {
	for _, passphrase := range []string{"", "correct horse"} {
		path := filepath.Join(t.TempDir(), "key.pem")
		key, err := Generate()
		if err != nil {
			t.Fatal(err)
		}
		if err := Create(path, key, passphrase); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Fatalf("mode %v, error %v; want 0600", info.Mode(), err)
		}
		back, err := Read(path, secret(passphrase))
		if err != nil || back.Fingerprint() != key.Fingerprint() {
			t.Errorf("passphrase %q: read %v, %v; want %v", passphrase, back, err, key)
		}
		text, err := os.ReadFile(path)
		if err != nil || (passphrase != "") == strings.Contains(string(text), "PRIVATE KEY") {
			t.Errorf("passphrase %q: file %s", passphrase, text)
		}
		if err := Create(path, key, ""); !errors.Is(err, os.ErrExist) {
			t.Errorf("a key file was replaced: %v", err)
		}
	}
}

func TestKeyFilesThatAreRefused(t *testing.T) {
	plain, err := encodePEM(keyOf(t, 1))
	if err != nil {
		t.Fatal(err)
	}
	locked, err := encrypt(plain, "correct horse")
	if err != nil {
		t.Fatal(err)
	}
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(rsaKey)
	if err != nil {
		t.Fatal(err)
	}
	other := pem.EncodeToMemory(&pem.Block{Type: pemType, Bytes: der})
	for _, tc := range []struct {
		name       string
		text       []byte
		mode       os.FileMode
		passphrase func() (string, error)
		want       string
	}{
		{"others can read it", plain, 0o644, nil, "chmod 600"},
		{"another kind of key", other, 0o600, nil, "expected an Ed25519 key"},
		{"not a key", []byte("hello"), 0o600, nil, "expected one PEM block"},
		{"two keys", append(bytes.Clone(plain), plain...), 0o600, nil, "expected one PEM block"},
		{"damaged key", bytes.Replace(plain, []byte("MC"), []byte("AA"), 1), 0o600, nil, "parse the private key"},
		{"too large", make([]byte, maxFileBytes+1), 0o600, nil, "exceeds the limit"},
		{"encrypted, no passphrase", locked, 0o600, nil, "give its passphrase"},
		{"encrypted, empty passphrase", locked, 0o600, secret(""), "give its passphrase"},
		{"encrypted, wrong passphrase", locked, 0o600, secret("wrong"), "is the passphrase right?"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "key")
			if err := os.WriteFile(path, tc.text, tc.mode); err != nil {
				t.Fatal(err)
			}
			if _, err := Read(path, tc.passphrase); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestKeyFileBehindALinkIsRefused(t *testing.T) {
	folder := t.TempDir()
	if err := Create(filepath.Join(folder, "key"), keyOf(t, 1), ""); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(folder, "link")
	if err := os.Symlink("key", link); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(link, nil); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("got %v", err)
	}
}

func TestPublicKeys(t *testing.T) {
	key := keyOf(t, 1)
	text, err := EncodePublicPEM(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	if back, err := ParsePublicPEM(text); err != nil || !back.Equal(key.Public()) {
		t.Errorf("read %x, %v", back, err)
	}
	for _, bad := range []string{"", "hello", text + text, strings.Replace(text, "PUBLIC", "SECRET", 2), strings.Replace(text, "MC", "AA", 1)} {
		if _, err := ParsePublicPEM(bad); err == nil {
			t.Errorf("%q was read as a key", bad)
		}
	}
	for _, bad := range []string{"", "zz", strings.Repeat("0", 62), strings.Repeat("0", 66)} {
		if _, err := ParsePublic(bad); err == nil {
			t.Errorf("%q was read as a key", bad)
		}
	}
}

func TestSignatures(t *testing.T) {
	key, message := keyOf(t, 1), []byte("message")
	text := EncodeSignature(key.Sign(message))
	raw, err := DecodeSignature(text)
	if err != nil || !ed25519.Verify(key.Public(), message, raw) {
		t.Fatalf("signature %s: %v", text, err)
	}
	for name, bad := range map[string]string{
		"short":         text[:84] + "====",
		"no padding":    strings.TrimRight(text, "="),
		"line break":    text[:4] + "\n" + text[4:],
		"stray bits":    text[:85] + "B==",
		"URL alphabet":  "-_" + text[2:],
		"empty":         "",
		"not base64":    "!" + text[1:],
		"too many bits": EncodeSignature(make([]byte, 65)),
	} {
		if _, err := DecodeSignature(bad); err == nil {
			t.Errorf("%s: %q was read as a signature", name, bad)
		}
	}
}

func TestRegistryComesBack(t *testing.T) {
	registry := NewRegistry(
		Entry{Public: keyOf(t, 1).Public(), Holder: "old name", Roles: []Role{Entrant}},
		Entry{Public: keyOf(t, 2).Public(), Holder: "b", Roles: []Role{Proctor, Publisher}},
		Entry{Public: keyOf(t, 1).Public(), Holder: "a", Roles: []Role{Publisher}},
	)
	text, err := registry.Encode()
	if err != nil {
		t.Fatal(err)
	}
	back, err := ParseRegistry(text)
	if err != nil || len(back.Entries()) != 2 {
		t.Fatalf("read %v, %v", back, err)
	}
	entry, known := back.Lookup(keyOf(t, 1).Fingerprint())
	if !known || entry.Holder != "a" || !entry.May(Publisher) || entry.May(Entrant) {
		t.Errorf("entry %+v", entry)
	}
	if _, known := back.Lookup(keyOf(t, 3).Fingerprint()); known {
		t.Error("a key that was never listed is known")
	}
}

func TestRegistriesThatAreRefused(t *testing.T) {
	text, err := NewRegistry(Entry{Public: keyOf(t, 1).Public(), Holder: "a", Roles: []Role{Publisher}}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	good := strings.TrimSpace(string(text))
	entry := good[strings.Index(good, "[{")+1 : strings.Index(good, `],"schema"`)]
	for name, bad := range map[string]string{
		"other fingerprint": strings.Replace(good, string(keyOf(t, 1).Fingerprint()), string(keyOf(t, 2).Fingerprint()), 1),
		"listed twice":      strings.Replace(good, entry, entry+","+entry, 1),
		"unknown role":      strings.Replace(good, `"publisher"`, `"friend"`, 1),
		"no role":           strings.Replace(good, `"publisher"`, ``, 1),
		"no holder":         strings.Replace(good, `"holder":"a"`, `"holder":""`, 1),
		"unknown field":     strings.Replace(good, `"holder":`, `"note":1,"holder":`, 1),
		"duplicate field":   strings.Replace(good, `"holder":`, `"holder":"b","holder":`, 1),
		"other schema":      strings.Replace(good, "keys.v1", "keys.v2", 1),
		"not JSON":          good[:10],
	} {
		if _, err := ParseRegistry([]byte(bad)); err == nil {
			t.Errorf("%s: %s was read", name, bad)
		}
	}
}

func FuzzParseRegistry(f *testing.F) {
	text, err := NewRegistry(Entry{Public: keyOf(f, 1).Public(), Holder: "a", Roles: []Role{Publisher}}).Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, data []byte) {
		registry, err := ParseRegistry(data)
		if err != nil {
			return
		}
		if _, err := registry.Encode(); err != nil {
			t.Fatalf("read, but cannot be written: %v", err)
		}
	})
}

func FuzzKeyFile(f *testing.F) {
	text, err := encodePEM(keyOf(f, 1))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(func(_ *testing.T, data []byte) { _, _ = decodePEM(data) })
}
