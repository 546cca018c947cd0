package keys

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"

	"filippo.io/age"
	"filippo.io/age/armor"

	"github.com/erdos1056/erdos1056/internal/disk"
)

const (
	maxFileBytes = 64 << 10
	pemType      = "PRIVATE KEY"
	// workFactor is log2 of scrypt's N; 2^18 takes about a second.
	workFactor    = 18
	maxWorkFactor = 22
)

// ErrEncrypted says that a key file needs a passphrase and none was given.
var ErrEncrypted = errors.New("the key file is encrypted; give its passphrase")

// Create writes a new key file with mode 0600: PKCS #8 in PEM, or that text
// encrypted for the passphrase in the armored age format when the passphrase
// is not empty. It never replaces a file.
func Create(path string, k Key, passphrase string) error {
	text, err := encodePEM(k)
	if err != nil {
		return err
	}
	if passphrase != "" {
		if text, err = encrypt(text, passphrase); err != nil {
			return fmt.Errorf("encrypt the key: %w", err)
		}
	}
	return disk.Create(path, text, 0o600)
}

// Read reads a key file. It refuses a link and a file that others than its
// owner can read. passphrase is asked only when the file is encrypted; nil
// stands for none.
func Read(path string, passphrase func() (string, error)) (Key, error) {
	text, err := readPrivate(path)
	if err != nil {
		return Key{}, err
	}
	if bytes.HasPrefix(text, []byte(armor.Header)) {
		if text, err = decrypt(text, passphrase); err != nil {
			return Key{}, fmt.Errorf("%s: %w", path, err)
		}
	}
	k, err := decodePEM(text)
	if err != nil {
		return Key{}, fmt.Errorf("%s: %w", path, err)
	}
	return k, nil
}

func readPrivate(path string) ([]byte, error) {
	key, err := disk.Open(path, maxFileBytes, disk.RefuseLinks)
	if err != nil {
		return nil, err
	}
	defer key.Close()
	info, err := key.Stat()
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s: the key file has mode %04o, so others can read it; run chmod 600 on it", path, info.Mode().Perm())
	}
	return io.ReadAll(io.LimitReader(key, maxFileBytes))
}

func encodePEM(k Key) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(k.private)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: pemType, Bytes: der}), nil
}

func decodePEM(text []byte) (Key, error) {
	block, rest := pem.Decode(text)
	if block == nil || block.Type != pemType || len(bytes.TrimSpace(rest)) > 0 {
		return Key{}, errors.New("expected one PEM block PRIVATE KEY (PKCS #8) and nothing else")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return Key{}, fmt.Errorf("parse the private key: %w", err)
	}
	private, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return Key{}, fmt.Errorf("expected an Ed25519 key, found %T", parsed)
	}
	return Key{private}, nil
}

func encrypt(text []byte, passphrase string) ([]byte, error) {
	recipient, err := age.NewScryptRecipient(passphrase)
	if err != nil {
		return nil, err
	}
	recipient.SetWorkFactor(workFactor)
	var encrypted bytes.Buffer
	armored := armor.NewWriter(&encrypted)
	plain, err := age.Encrypt(armored, recipient)
	if err != nil {
		return nil, err
	}
	if _, err := plain.Write(text); err != nil {
		return nil, err
	}
	if err := errors.Join(plain.Close(), armored.Close()); err != nil {
		return nil, err
	}
	return encrypted.Bytes(), nil
}

func decrypt(text []byte, passphrase func() (string, error)) ([]byte, error) {
	if passphrase == nil {
		return nil, ErrEncrypted
	}
	secret, err := passphrase()
	if err != nil {
		return nil, err
	}
	if secret == "" {
		return nil, ErrEncrypted
	}
	identity, err := age.NewScryptIdentity(secret)
	if err != nil {
		return nil, err
	}
	identity.SetMaxWorkFactor(maxWorkFactor)
	plain, err := age.Decrypt(armor.NewReader(bytes.NewReader(text)), identity)
	if err != nil {
		return nil, fmt.Errorf("decrypt the key file (is the passphrase right?): %w", err)
	}
	return io.ReadAll(io.LimitReader(plain, maxFileBytes))
}
