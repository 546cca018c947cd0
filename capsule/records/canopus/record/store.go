package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"unicode/utf8"

	"github.com/erdos1056/erdos1056/internal/digest"
	"github.com/erdos1056/erdos1056/internal/disk"
)

// Store is the folder of frozen artifacts: read-only files named by the
// hexadecimal digits of their digest.
type Store struct {
	Folder string
	// Remaining is how many bytes may still be frozen.
	Remaining int64
}

// OpenStore makes the folder of a new store.
func OpenStore(folder string, budget int64) (*Store, error) {
	return &Store{folder, budget}, os.MkdirAll(folder, 0o700)
}

// maxArtifactBytes bounds one artifact: a text that a record can hold.
const maxArtifactBytes = 64 << 20

// ErrBudget says that an artifact would exceed the budget of bytes.
var ErrBudget = errors.New("artifact budget exceeded")

// Freeze copies the file at a path below root into the store. It refuses a
// path that leads through or to a symbolic link, a file with several names,
// anything but a regular file, an empty file, text that is not UTF-8, text that
// holds authentication material, and a file that changes while it is copied.
func (s *Store) Freeze(root, relative, kind string) (Artifact, error) {
	if err := noLinks(root, relative); err != nil {
		return Artifact{}, err
	}
	data, err := disk.Read(filepath.Join(root, filepath.FromSlash(relative)), min(s.Remaining, maxArtifactBytes), disk.RefuseLinks)
	if err != nil {
		return Artifact{}, fmt.Errorf("artifact %s: %w", relative, err)
	}
	if err := CheckText(data); err != nil {
		return Artifact{}, fmt.Errorf("artifact %s: %w", relative, err)
	}
	return s.FreezeBytes(relative, kind, data)
}

// CheckText refuses what is no artifact's text: nothing, bytes that are not
// UTF-8, and authentication material.
func CheckText(data []byte) error {
	if len(data) == 0 {
		return errors.New("the file is empty")
	}
	if !utf8.Valid(data) {
		return errors.New("the file is not UTF-8 text")
	}
	if name := secretIn(data); name != "" {
		return fmt.Errorf("the file holds what looks like %s; authentication material is not frozen", name)
	}
	return nil
}

// FreezeBytes puts a file that this program made into the store.
func (s *Store) FreezeBytes(relative, kind string, data []byte) (Artifact, error) {
	if int64(len(data)) > s.Remaining {
		return Artifact{}, fmt.Errorf("artifact %s: %w: %d bytes, %d remain", relative, ErrBudget, len(data), s.Remaining)
	}
	digest := digest.Of(data)
	if err := disk.Create(s.Path(string(digest)), data, 0o444); err != nil && !errors.Is(err, fs.ErrExist) {
		return Artifact{}, err
	}
	if err := s.Check(string(digest)); err != nil {
		return Artifact{}, err
	}
	s.Remaining -= int64(len(data))
	return Artifact{relative, kind, string(digest), int64(len(data))}, nil
}

// noLinks refuses a symbolic link anywhere between root and the file.
func noLinks(root, relative string) error {
	folder, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer folder.Close()
	if !filepath.IsLocal(filepath.FromSlash(relative)) {
		return fmt.Errorf("artifact %q: the path leads out of the workspace", relative)
	}
	for part := filepath.FromSlash(relative); part != "."; part = filepath.Dir(part) {
		info, err := folder.Lstat(part)
		if err != nil {
			return fmt.Errorf("artifact %s: %w", relative, err)
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("artifact %s: %s is a symbolic link", relative, filepath.ToSlash(part))
		}
	}
	return nil
}

// secrets are the forms of authentication material that a worker could carry
// off in an artifact.
var secrets = []struct {
	name    string
	pattern *regexp.Regexp
}{
	{"a private key", regexp.MustCompile(`-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----`)},
	{"an API key", regexp.MustCompile(`\bsk-[A-Za-z0-9_-]{20,}`)},
	{"an access token of a code host", regexp.MustCompile(`\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,}|glpat-[A-Za-z0-9_-]{20,})`)},
	{"a cloud access key", regexp.MustCompile(`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`)},
	{"a bearer token", regexp.MustCompile(`(?i)\bauthorization["']?\s*[:=]\s*["']?bearer\s+[A-Za-z0-9._~+/-]{16,}`)},
	{"a signed web token", regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`)},
	{"a stored login", regexp.MustCompile(`"(?:access_token|refresh_token|id_token|OPENAI_API_KEY)"\s*:\s*"[^"]{8,}"`)},
}

func secretIn(text []byte) string {
	for _, s := range secrets {
		if s.pattern.Match(text) {
			return s.name
		}
	}
	return ""
}

// Path returns the path of the frozen artifact that a digest names.
func (s *Store) Path(name string) string {
	return filepath.Join(s.Folder, digest.Digest(name).Hex())
}

// Check reports whether a frozen artifact still has its digest.
func (s *Store) Check(name string) error {
	_, err := s.Bytes(name)
	return err
}

// Seal makes the store read-only and checks that it holds exactly the given
// artifacts.
func (s *Store) Seal(artifacts []Artifact) error {
	want := map[string]bool{}
	for _, a := range artifacts {
		want[digest.Digest(a.Digest).Hex()] = true
		if err := s.Check(a.Digest); err != nil {
			return err
		}
	}
	entries, err := os.ReadDir(s.Folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !want[entry.Name()] {
			return fmt.Errorf("%s: the store holds %q, which is no frozen artifact", s.Folder, entry.Name())
		}
	}
	return os.Chmod(s.Folder, 0o555)
}

// Bytes returns the content of a frozen artifact.
func (s *Store) Bytes(name string) ([]byte, error) {
	data, err := disk.Read(s.Path(name), maxArtifactBytes, disk.RefuseLinks)
	if err == nil && string(digest.Of(data)) != name {
		err = fmt.Errorf("%s: expected %s, found %s", s.Path(name), name, digest.Of(data))
	}
	return data, err
}
