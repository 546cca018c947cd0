package freeze

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/erdos1056/erdos1056/capsule/formal"
	"github.com/erdos1056/erdos1056/internal/disk"
)

// A Platform is one that verifiers are made for.
type Platform struct {
	OS, Architecture string // in Go's words
	Folder           string // in the published capsules' words
}

func (p Platform) String() string { return p.OS + "/" + p.Architecture }

// Platforms are all that verifiers are made for.
var Platforms = []Platform{
	{"linux", "amd64", "linux-x86_64"},
	{"linux", "arm64", "linux-arm64"},
}

// ParsePlatforms reads a comma-separated list such as "linux/amd64,linux/arm64".
func ParsePlatforms(list string) ([]Platform, error) {
	var found []Platform
	for name := range strings.SplitSeq(list, ",") {
		p, err := parsePlatform(name)
		if err != nil {
			return nil, err
		}
		for _, other := range found {
			if other == p {
				return nil, fmt.Errorf("platform %s is named twice", name)
			}
		}
		found = append(found, p)
	}
	return found, nil
}

func parsePlatform(name string) (Platform, error) {
	for _, p := range Platforms {
		if p.String() == name {
			return p, nil
		}
	}
	return Platform{}, fmt.Errorf("platform %q: want linux/amd64 or linux/arm64", name)
}

// A Program is one that is made to be frozen: the name of its file and of its
// folder in cmd.
type Program string

// The programs: Verifier judges the search of a range, FormalVerifier the proof
// of a theorem.
const (
	Verifier       Program = "verifier"
	FormalVerifier Program = "formalverifier"
)

const (
	modulePath  = "github.com/erdos1056/erdos1056"
	maxVerifier = 64 << 20 // bytes
)

// A Source has the unfrozen verifiers. Verifiers is a folder of a release with
// linux-x86_64/verifier, linux-arm64/verifier and the formal ones beside; Module is the folder of this
// module's source. The first that is set is used.
type Source struct {
	Verifiers string
	Module    string
}

// FindSource looks for the verifiers of a release beside the running program,
// then for this module's source in the working folder and above.
func FindSource() (Source, error) {
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), "verifiers")
		if info, err := os.Stat(beside); err == nil && info.IsDir() {
			return Source{Verifiers: beside}, nil
		}
	}
	dir, err := os.Getwd()
	if err != nil {
		return Source{}, err
	}
	for {
		if text, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil && strings.HasPrefix(string(text), "module "+modulePath+"\n") {
			return Source{Module: dir}, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return Source{}, errors.New("no unfrozen verifiers beside this program and no source of " + modulePath +
				" in this folder; name one with --verifiers or --source")
		}
		dir = parent
	}
}

// Unfrozen returns the unfrozen program for a platform.
func (s Source) Unfrozen(ctx context.Context, program Program, p Platform) ([]byte, error) {
	if s.Verifiers != "" {
		return readVerifier(filepath.Join(s.Verifiers, p.Folder, string(program)))
	}
	folder, err := disk.NewScratch(disk.Freeze)
	if err != nil {
		return nil, err
	}
	defer folder.Remove()
	output := filepath.Join(folder.Path, string(program))
	if err := s.compile(ctx, program, p, output); err != nil {
		return nil, err
	}
	return readVerifier(output)
}

func readVerifier(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxVerifier {
		return nil, fmt.Errorf("%s: want a regular file of at most %d bytes", name, maxVerifier)
	}
	return os.ReadFile(name)
}

// recipe is the go command's environment for a verifier: everything that could
// change a byte of the executable is said, nothing is taken from the user.
func recipe(p Platform) []string {
	return []string{
		"GOOS=" + p.OS, "GOARCH=" + p.Architecture, "GOAMD64=v1", "GOARM64=v8.0",
		"CGO_ENABLED=0", "GOEXPERIMENT=", "GODEBUG=", "GOFLAGS=", "GOPROXY=off", "GOWORK=off", "GOENV=off", "GOTOOLCHAIN=local",
		"GOFIPS140=off",
	}
}

// GoVersion is the version of Go that released verifiers are built with; others
// give other bytes.
const GoVersion = "go1.26.8"

// compile builds the unfrozen program from source.
func (s Source) compile(ctx context.Context, program Program, p Platform, output string) error {
	environment := append(os.Environ(), recipe(p)...)
	version := exec.CommandContext(ctx, "go", "env", "GOVERSION")
	version.Dir, version.Env = s.Module, environment
	found, err := version.Output()
	if err != nil {
		return fmt.Errorf("asking the go command for its version (without one, name the verifiers of a release with --verifiers): %w", err)
	}
	if v := strings.TrimSpace(string(found)); v != GoVersion {
		return fmt.Errorf("verifiers are built with %s, this is %s: another version gives another digest; install %s or name the verifiers of a release with --verifiers", GoVersion, v, GoVersion)
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-tags=purego",
		"-ldflags=-s -w -buildid=", "-o", output, "./cmd/"+string(program))
	cmd.Dir = s.Module
	cmd.Env = environment
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building the %s for %v from %s: %w\n%s", program, p, s.Module, err, text)
	}
	return nil
}

// Path is where the frozen verifier of a platform lies below an output folder,
// as the published capsules do: bin/linux-x86_64/10428401-10428600/verifier.
func Path(p Platform, lo, hi uint32) string {
	return fmt.Sprintf("bin/%s/%d-%d/verifier", p.Folder, lo, hi)
}

// FormalPath is where the frozen formal verifier of a platform lies below an
// output folder: bin/linux-x86_64/formal-erdos-505-test-dim-one-0a1b2c3d4e5f/verifier.
func FormalPath(p Platform, claim formal.Claim) string {
	return fmt.Sprintf("bin/%s/%s/verifier", p.Folder, claim.Name())
}

// Write writes a verifier, executable by all and writable by none. The file
// appears complete or not at all.
func Write(name string, verifier []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	if err := disk.Replace(name, verifier, 0o555); err != nil {
		return err
	}
	return os.Chmod(name, 0o555) // whatever the umask is
}
