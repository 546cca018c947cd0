package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// repository makes a small repository: a module whose command prints the given words,
// one commit each. The function it returns runs git in it.
func repository(t *testing.T, words ...string) (root string, git func(args ...string) string) {
	t.Helper()
	root = t.TempDir()
	git = func(args ...string) string {
		t.Helper()
		identity := []string{"-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false", "-c", "tag.gpgsign=false"}
		out, err := command(t.Context(), root, "git", append(identity, args...)...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	git("init", "--quiet")
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.org/search\n\ngo 1.26\n")
	for _, word := range words {
		write("cmd/erdos1056/main.go", "package main\n\nimport \"os\"\n\nfunc main() { os.Stdout.WriteString(\""+word+"\") }\n")
		git("add", "--all")
		git("commit", "--quiet", "--message", word)
	}
	return root, git
}

func TestLastTagIsThatOfAnAncestor(t *testing.T) {
	root, git := repository(t, "one", "two", "three")
	expect := func(when, want string) {
		t.Helper()
		if tag, err := lastTag(t.Context(), root); err != nil || tag != want {
			t.Errorf("%s: last tag %q, %v; want %q", when, tag, err, want)
		}
	}
	expect("without tags", "")
	git("tag", "v3", "HEAD")
	expect("with a tag of HEAD only", "")
	t.Setenv("GIT_COMMITTER_DATE", "2030-01-01T00:00:00Z")
	git("tag", "--annotate", "--message", "first", "v1", "HEAD~2")
	expect("with a tag of the first commit", "v1")
	t.Setenv("GIT_COMMITTER_DATE", "2030-01-02T00:00:00Z")
	git("tag", "--annotate", "--message", "second", "v2", "HEAD~1")
	expect("with a later tag", "v2")
	git("checkout", "--quiet", "v1")
	expect("at the first commit", "")
}

func TestLastTagOutsideARepositoryIsAnError(t *testing.T) {
	if tag, err := lastTag(t.Context(), t.TempDir()); err == nil {
		t.Errorf("found the tag %q", tag)
	}
}

func TestRevisionsAreBuiltWithoutTouchingTheTree(t *testing.T) {
	root, git := repository(t, "one", "two")
	git("tag", "v1", "HEAD~1")
	main := filepath.Join(root, "cmd", "erdos1056", "main.go")
	if err := os.WriteFile(main, []byte("not committed"), 0o644); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for revision, want := range map[string]string{"v1": "one", "HEAD": "two"} {
		path := filepath.Join(dir, revision)
		if err := buildRevision(t.Context(), root, revision, filepath.Join(dir, "tree"), path); err != nil {
			t.Fatal(err)
		}
		if got, err := command(t.Context(), dir, path); err != nil || got != want {
			t.Errorf("the program of %s prints %q, %v; want %q", revision, got, err, want)
		}
	}
	if text, err := os.ReadFile(main); err != nil || string(text) != "not committed" {
		t.Errorf("the tree's own file became %q, %v", text, err)
	}
	if trees := git("worktree", "list"); strings.Count(trees, "\n") != 0 {
		t.Errorf("trees were left behind:\n%s", trees)
	}
}

func TestUnbuildableRevisionLeavesNoTreeBehind(t *testing.T) {
	root, git := repository(t, "one", "two\" + 1 + \"")
	dir := t.TempDir()
	err := buildRevision(t.Context(), root, "HEAD", filepath.Join(dir, "tree"), filepath.Join(dir, "program"))
	if err == nil || !strings.Contains(err.Error(), "main.go") {
		t.Errorf("error %v, want that of the compiler", err)
	}
	if trees := git("worktree", "list"); strings.Count(trees, "\n") != 0 {
		t.Errorf("trees were left behind:\n%s", trees)
	}
}
