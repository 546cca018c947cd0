package image

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/capsule/freeze"
	"github.com/erdos1056/erdos1056/oci"
)

// A stage is what one FROM of a Dockerfile builds.
type stage struct {
	base       string
	files      []oci.Entry
	user       string
	entrypoint []string
}

// evaluate runs the few instructions that Dockerfile.verifier uses, for one
// architecture, and returns the stage of the target with all that it stands on.
// An instruction it does not know is an error: the comparison would be worth
// nothing.
func evaluate(text, folder, target string, arguments map[string]string) (stage, error) {
	stages := make(map[string]stage)
	name := ""
	text = strings.ReplaceAll(text, "\\\n", " ")
	for i, line := range strings.Split(text, "\n") {
		line = os.Expand(line, func(key string) string { return arguments[key] })
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		current := stages[name]
		switch {
		case fields[0] == "FROM" && len(fields) == 4 && fields[2] == "AS":
			current = stages[fields[1]] // a stage, or nothing for scratch and other images
			if _, ok := stages[fields[1]]; !ok {
				current.base = fields[1]
			}
			current.files = append([]oci.Entry(nil), current.files...)
			name = fields[3]
		case fields[0] == "ARG" && len(fields) == 2:
			if key, value, ok := strings.Cut(fields[1], "="); ok && arguments[key] == "" {
				arguments[key] = value
			}
			if name == "" {
				continue
			}
		case fields[0] == "COPY" && len(fields) == 4 && strings.HasPrefix(fields[1], "--chmod="):
			mode, err := strconv.ParseUint(strings.TrimPrefix(fields[1], "--chmod="), 8, 9)
			if err != nil {
				return stage{}, err
			}
			data, err := os.ReadFile(filepath.Join(folder, fields[2]))
			if err != nil {
				return stage{}, err
			}
			current.files = append(current.files, oci.Entry{Path: strings.TrimPrefix(fields[3], "/"), Mode: fs.FileMode(mode), Data: data})
		case fields[0] == "USER" && len(fields) == 2:
			current.user = fields[1]
		case fields[0] == "WORKDIR" && len(fields) == 2 && fields[1] == "/":
		case fields[0] == "ENTRYPOINT":
			if err := json.Unmarshal([]byte(strings.TrimPrefix(line, "ENTRYPOINT ")), &current.entrypoint); err != nil {
				return stage{}, err
			}
		default:
			return stage{}, fmt.Errorf("line %d: %q is not understood here", i+1, line)
		}
		stages[name] = current
	}
	found, ok := stages[target]
	if !ok {
		return stage{}, fmt.Errorf("no target %s", target)
	}
	return found, nil
}

func dockerfile(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../Dockerfile.verifier")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestDockerfileMakesTheSameTree compares path, mode and digest of every file,
// the user and the entry point.
func TestDockerfileMakesTheSameTree(t *testing.T) {
	capsule := fakeCapsule(t)
	im, err := capsule.Image(Options{})
	if err != nil {
		t.Fatal(err)
	}
	dist := t.TempDir()
	for p, verifier := range capsule.Verifiers {
		if err := freeze.Write(filepath.Join(dist, freeze.Path(p, capsule.Claim.Lo, capsule.Claim.Hi)), verifier); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range im.Manifests {
		ours, err := im.Tree(m)
		if err != nil {
			t.Fatal(err)
		}
		arguments := map[string]string{"RANGE": fmt.Sprintf("%d-%d", capsule.Claim.Lo, capsule.Claim.Hi), "TARGETARCH": m.Platform.Architecture}
		theirs, err := evaluate(dockerfile(t), dist, "verifier", arguments)
		if err != nil {
			t.Fatal(err)
		}
		tree, err := oci.NewTree(theirs.files...)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range FileDifferences(m.Platform.String(), LockTree(ours), LockTree(tree)) {
			t.Error(line)
		}
		if theirs.user != m.User() || strings.Join(theirs.entrypoint, " ") != strings.Join(m.Entrypoint(), " ") || theirs.base != "scratch" {
			t.Errorf("%v: the Dockerfile has user %s, entry point %q, base %s", m.Platform, theirs.user, theirs.entrypoint, theirs.base)
		}
	}
}

func TestDockerfileComparisonSeesDifferences(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tree := func(text string) []LockedFile {
		s, err := evaluate(text, folder, "verifier", map[string]string{})
		if err != nil {
			t.Fatal(err)
		}
		made, err := oci.NewTree(s.files...)
		if err != nil {
			t.Fatal(err)
		}
		return LockTree(made)
	}
	want := tree("FROM scratch AS verifier\nCOPY --chmod=0555 a /x/a")
	for name, text := range map[string]string{
		"mode":    "FROM scratch AS verifier\nCOPY --chmod=0755 a /x/a",
		"content": "FROM scratch AS verifier\nCOPY --chmod=0555 b /x/a",
		"path":    "FROM scratch AS verifier\nCOPY --chmod=0555 a /x/b",
		"nothing": "FROM scratch AS verifier",
		"more":    "FROM scratch AS verifier\nCOPY --chmod=0555 a /x/a\nCOPY --chmod=0555 b /x/b",
	} {
		if lines := FileDifferences("image", want, tree(text)); len(lines) == 0 {
			t.Errorf("%s: no difference seen", name)
		}
	}
	if _, err := evaluate("FROM scratch AS verifier\nRUN true", folder, "verifier", map[string]string{}); err == nil {
		t.Error("an unknown instruction was passed over")
	}
}

func TestLeanTargetIsPinned(t *testing.T) {
	capsule := fakeCapsule(t)
	dist := t.TempDir()
	for p, verifier := range capsule.Verifiers {
		if err := freeze.Write(filepath.Join(dist, freeze.Path(p, capsule.Claim.Lo, capsule.Claim.Hi)), verifier); err != nil {
			t.Fatal(err)
		}
	}
	for p, verifier := range capsule.Verifiers {
		lean, err := evaluate(dockerfile(t), dist, "lean", map[string]string{"RANGE": "2-100", "TARGETARCH": p.Architecture})
		if err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(`@sha256:[0-9a-f]{64}$`).MatchString(lean.base) {
			t.Errorf("%v: the base %s is not pinned by digest", p, lean.base)
		}
		if len(lean.files) != 1 || lean.files[0].Path != VerifierPath || string(lean.files[0].Data) != string(verifier) {
			t.Errorf("%v: the verifier is not beside Lean", p)
		}
	}
	for _, line := range strings.Split(dockerfile(t), "\n") {
		if from := strings.Fields(line); len(from) > 1 && from[0] == "FROM" && from[1] != "scratch" && !strings.Contains(from[1], "${") {
			t.Errorf("%s: an image that is not pinned", line)
		}
	}
}
