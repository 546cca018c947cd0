package residues

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Go's assembler lacks some NEON instructions, so the generated code holds them as words.
// Go's disassembler knows them: it must read each word as what the comment spells.
func TestWordsAreTheInstructionsTheyAreSaidToBe(t *testing.T) {
	text, err := os.ReadFile("residues_arm64.s")
	if err != nil {
		t.Fatal(err)
	}
	source := string(text)
	for _, complaint := range misspelled(t, source) {
		t.Error(complaint)
	}
	const right = "// FADD V18.2D, V18.2D, V20.2D"
	for _, wrong := range []string{"// FSUB V18.2D, V18.2D, V20.2D", "// FADD V18.2D, V20.2D, V18.2D", "// i = i + 1"} {
		if complaints := misspelled(t, strings.Replace(source, right, wrong, 1)); len(complaints) != 1 {
			t.Errorf("%s was spelled %s: complaints %q, want one", right, wrong, complaints)
		}
	}
}

// misspelled assembles source and says which words are not what their comments spell.
func misspelled(t *testing.T, source string) (complaints []string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "residues_arm64.s")
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	object := strings.TrimSuffix(file, "s") + "o"
	headers := filepath.Join(strings.TrimSpace(goForArm(t, "env", "GOROOT")), "pkg", "include")
	goForArm(t, "tool", "asm", "-p", "residues", "-I", headers, "-o", object, file)
	instructions := map[string]string{} // by word
	for _, m := range regexp.MustCompile(`\t([0-9a-f]{8})\t.*// ([^\t]*)`).FindAllStringSubmatch(goForArm(t, "tool", "objdump", "-gnu", object), -1) {
		instructions[m[1]] = strings.TrimSpace(m[2])
	}
	spelled := regexp.MustCompile(`WORD +\$0x([0-9A-F]{8}) +// (\w+ V\d+\.2D, V\d+\.2D, V\d+\.2D|.*)`).FindAllStringSubmatch(source, -1)
	if all := strings.Count(source, "WORD"); len(spelled) != all || all == 0 {
		t.Fatalf("%d of %d words have a comment", len(spelled), all)
	}
	for _, m := range spelled {
		if got := instructions[strings.ToLower(m[1])]; got != strings.ToLower(m[2]) {
			complaints = append(complaints, fmt.Sprintf("word %s is spelled %q, the disassembler reads %q", m[1], m[2], got))
		}
	}
	return complaints
}

// goForArm runs the go command for arm64 and returns what it prints.
func goForArm(t *testing.T, arguments ...string) string {
	t.Helper()
	command := exec.Command("go", arguments...)
	command.Env = append(os.Environ(), "GOARCH=arm64")
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(arguments, " "), err, out)
	}
	return string(out)
}
