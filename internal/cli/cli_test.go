package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/internal/disk"
)

// sample is a command with verbs of all forms.
func sample() *Command {
	do := func(act func(context.Context, *Call) error) func(*pflag.FlagSet) func(context.Context, *Call) error {
		return func(flags *pflag.FlagSet) func(context.Context, *Call) error {
			flags.Int("count", 1, "how many")
			flags.StringArray("item", nil, "an item")
			return act
		}
	}
	echo := func(_ context.Context, c *Call) error {
		return c.Result(map[string]any{"type": "echo", "args": c.Args}, "%q", c.Args)
	}
	return &Command{Name: "sample", About: "is a sample.", Default: "echo", Example: "sample echo a", Groups: []Group{
		{"Say things", []Verb{{Name: "echo", Args: "[WORD...]", Summary: "say words", Example: "sample echo a b", Declare: do(echo)}}},
		{"Boxes", []Verb{
			{Name: "box open", Args: "BOX", Summary: "open a box", Declare: do(echo)},
			{Name: "box shut", Args: "BOX KEY", Summary: "shut a box", Text: true, Declare: do(echo)},
			{Name: "fail", Summary: "fail", Declare: do(func(ctx context.Context, c *Call) error {
				if ctx.Err() != nil {
					return errors.New("what an interruption breaks")
				}
				return Failf("no good: \x1b[31m%s", "a\nverified")
			})},
			{Name: "panic", Summary: "panic", Declare: do(func(context.Context, *Call) error { panic("fault") })},
			{Name: "careless", Summary: "print without looking", Declare: do(func(_ context.Context, c *Call) error {
				fmt.Fprintln(c.Stdout, "text")
				return nil
			})},
		}},
	}}
}

func call(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = sample().Run(context.Background(), args, nil, &out, &errs)
	return code, out.String(), errs.String()
}

func TestArgumentsFindTheirVerb(t *testing.T) {
	for _, c := range []struct {
		line, stdout string
	}{
		{"echo", "[]\n"},
		{"echo a b", `["a" "b"]` + "\n"},
		{"--count 2 a", `["a"]` + "\n"},
		{"echo --item a --item b -- --count", `["--count"]` + "\n"},
		{"box open red", `["red"]` + "\n"},
		{"box open red --json", `{"args":["red"],"type":"echo"}` + "\n"},
	} {
		if code, stdout, stderr := call(t, strings.Fields(c.line)...); code != Done || stdout != c.stdout || stderr != "" {
			t.Errorf("%s: exit %d, %q, %q; expected %q", c.line, code, stdout, stderr, c.stdout)
		}
	}
}

func TestUsageErrorsSayWhatToWrite(t *testing.T) {
	for line, expected := range map[string]string{
		"":                         "no verb given",
		"ecko":                     `"ecko" is not a verb; did you mean echo?; see sample help`,
		"xyzzy":                    `"xyzzy" is not a verb; see sample help`,
		"box":                      `"box" begins several verbs`,
		"box opne x":               `"box opne" is not a verb; did you mean box open?`,
		"box open":                 "expected BOX, found 0 arguments; write sample box open BOX",
		"box open a b":             `expected BOX, found 2 arguments: "a b"`,
		"box shut a":               "expected BOX KEY, found 1 argument; write sample box shut BOX KEY",
		"box shut a b --json":      "unknown flag: --json",
		"fail x":                   `expected no arguments, found "x"`,
		"echo --cuont 2":           "unknown flag: --cuont; did you mean --count?; see sample echo --help",
		"echo --count x":           `--count x: `,
		"echo --count 1 --count 2": "--count is given twice",
		"echo --count":             "flag needs an argument",
		"version now":              "version takes no arguments",
		"help nothing":             `"nothing" is not a verb`,
		"help box nothing":         `"box nothing" is not a verb`,
	} {
		if code, stdout, stderr := call(t, strings.Fields(line)...); code != Usage || stdout != "" || !strings.Contains(stderr, expected) {
			t.Errorf("%q: exit %d, %q, %q; expected exit %d and %q", line, code, stdout, stderr, Usage, expected)
		}
	}
}

func TestHelpAndVersionAreResults(t *testing.T) {
	for line, expected := range map[string][]string{
		"help":               {"sample is a sample.", "Say things\n  sample echo [WORD...]", "Boxes\n", "box shut BOX KEY", "Exit codes: 0 done"},
		"--help":             {"Exit codes: 0 done"},
		"help box":           {"Boxes\n  sample box open BOX", "box shut"},
		"box --help":         {"box open"},
		"help box open":      {"sample box open BOX: open a box", "--count int"},
		"echo --help":        {"sample echo [WORD...]: say words", "--json", "sample echo a b"},
		"version":            {"sample ", " go1."},
		"--version":          {"sample "},
		"box open --version": {"sample "},
	} {
		code, stdout, stderr := call(t, strings.Fields(line)...)
		for _, text := range expected {
			if code != Done || stderr != "" || !strings.Contains(stdout, text) {
				t.Errorf("%q: exit %d, stderr %q, expected %q in\n%s", line, code, stderr, text, stdout)
			}
		}
	}
	if _, stdout, _ := call(t, "help", "box"); strings.Contains(stdout, "echo") {
		t.Errorf("other verbs are shown:\n%s", stdout)
	}
}

func TestFailuresAreToldOnceAndCannotForgeLines(t *testing.T) {
	code, stdout, stderr := call(t, "fail")
	if code != Failed || stdout != "" || stderr != "sample fail: no good: \\x1b[31ma\n  verified\n" {
		t.Errorf("exit %d, %q, %q", code, stdout, stderr)
	}
	code, stdout, _ = call(t, "fail", "--json")
	if code != Failed || stdout != `{"exit_code":1,"message":"no good: \u001b[31ma\nverified","type":"error"}`+"\n" {
		t.Errorf("exit %d, %q", code, stdout)
	}
	if code, _, stderr := call(t, "panic"); code != Internal || !strings.Contains(stderr, "sample panic: fault") || !strings.Contains(stderr, "cli_test.go") {
		t.Errorf("exit %d, %q", code, stderr)
	}
}

func TestInterruptionIsNoFault(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, errs bytes.Buffer
	if code := sample().Run(ctx, []string{"fail"}, nil, &out, &errs); code != TryAgain || errs.String() != "sample fail: interrupted\n" {
		t.Errorf("exit %d, %q", code, errs.String())
	}
}

// A failing is a writer that always fails.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestOutputThatCannotBeWrittenIsNoSuccess(t *testing.T) {
	for _, line := range []string{"careless", "echo a", "echo --json", "help", "--help", "help echo", "echo --help", "version", "--version", "box --help"} {
		for err, expected := range map[error]int{syscall.ENOSPC: TryAgain, syscall.EPIPE: NoOutput, io.ErrClosedPipe: NoOutput} {
			var errs bytes.Buffer
			code := sample().Run(context.Background(), strings.Fields(line), nil, failing{err}, &errs)
			if code != expected || !strings.Contains(errs.String(), "standard output cannot be written: "+err.Error()) {
				t.Errorf("%s, %v: exit %d, %q; expected %d", line, err, code, errs.String(), expected)
			}
		}
	}
}

func TestExitCodesByClass(t *testing.T) {
	folder := t.TempDir()
	_, missing := os.Open(filepath.Join(folder, "absent"))
	_, isFolder := disk.Read(folder, 1, disk.FollowLinks)
	exists := disk.Create(folder, nil, 0o600)
	for _, c := range []struct {
		err      error
		expected int
	}{
		{nil, Done}, {errors.New("x"), Internal}, {Usagef("x"), Usage}, {Failf("x"), Failed}, {BadInputf("x"), BadInput}, {Exit(3), 3},
		{missing, NoInput}, {fs.ErrPermission, NoInput}, {isFolder, BadInput}, {disk.ErrTooLarge, BadInput}, {exists, NoOutput},
		{&disk.WriteError{Path: "f", Err: fs.ErrPermission}, NoOutput}, {&disk.WriteError{Path: "f", Err: fs.ErrNotExist}, NoOutput},
		{&disk.WriteError{Path: "f", Err: syscall.ENOSPC}, TryAgain}, {syscall.EROFS, TryAgain}, {syscall.ENOLCK, TryAgain}, {syscall.ESTALE, TryAgain},
		{disk.ErrHeld, TryAgain}, {context.Canceled, TryAgain}, {syscall.ECONNREFUSED, TryAgain}, {os.ErrDeadlineExceeded, TryAgain},
		{fmt.Errorf("reading: %w", missing), NoInput}, {WithCode(Failed, missing), Failed}, {WithCode(Failed, nil), Done},
	} {
		if code := ExitCode(c.err); code != c.expected {
			t.Errorf("%v: exit code %d, expected %d", c.err, code, c.expected)
		}
	}
}

func TestACommandWithoutVerbsHasItsOwnCodes(t *testing.T) {
	c := &Command{Name: "judge", ExitCodes: "Exit codes: 3 error\n", ExitCode: func(err error) int {
		if err == nil {
			return 0
		}
		return 3
	}, Only: &Verb{Args: "FILE", Summary: "judge a file", Declare: func(*pflag.FlagSet) func(context.Context, *Call) error {
		return func(_ context.Context, c *Call) error { return c.Print("%s", c.Args[0]) }
	}}}
	for line, expected := range map[string]int{"f": 0, "": 3, "a b": 3, "--nonsense f": 3, "--help": 0, "--version": 0} {
		var out, errs bytes.Buffer
		if code := c.Run(context.Background(), strings.Fields(line), nil, &out, &errs); code != expected {
			t.Errorf("%q: exit %d, %s; expected %d", line, code, errs.String(), expected)
		}
		if line == "--help" && !strings.Contains(out.String(), "judge FILE: judge a file") || line == "--help" && !strings.Contains(out.String(), "Exit codes: 3 error") {
			t.Errorf("help:\n%s", out.String())
		}
	}
}

func TestForeignTextIsHarmless(t *testing.T) {
	for text, expected := range map[string]string{
		"plain":                     `"plain"`,
		"a\nverified\x1b[2J":        `"a\nverified\x1b[2J"`,
		"\u202egnp.exe\u2066\u200f": `"\u202egnp.exe\u2066\u200f"`,
		"\xff\x00\u009b31m\u00ad":   `"\xff\x00\u009b31m\u00ad"`,
		strings.Repeat("ä", 201):    `"` + strings.Repeat("ä", 200) + `"... (402 bytes)`,
		"Erdős – «505» 𝔽":           `"Erdős – «505» 𝔽"`,
	} {
		if found := Quote(text); found != expected {
			t.Errorf("Quote(%q): expected %s, found %s", text, expected, found)
		}
	}
	if found := Clean("two\nlines\tand \x1b\x7f\u202e\xff\u2028"); found != "two\nlines\tand "+`\x1b\x7f\u202e\xff\u2028` {
		t.Errorf("Clean: %q", found)
	}
	var out bytes.Buffer
	c := Call{Stdout: &out, Stderr: &out}
	c.Print("%s", "a\nverified\r")
	c.Say("%s", "b\n")
	c.Line("c\u202e<\U000e0041")
	if expected := "a\\nverified\\r\nb\\n\n" + `"c\u202e<\udb40\udc41"` + "\n"; out.String() != expected {
		t.Errorf("expected %q, found %q", expected, out.String())
	}
}

func TestNumbersForPeople(t *testing.T) {
	for found, expected := range map[string]string{
		Thousands(0): "0", Thousands(999): "999", Thousands(10_428_401): "10 428 401", Thousands(-1234): "-1 234", Thousands(uint64(1<<64 - 1)): "18 446 744 073 709 551 615",
		Metric(0): "0", Metric(12.34): "12.3", Metric(999_700): "1 M", Metric(1.305e9): "1.3 G", Metric(2e18): "2e+03 P",
		Bytes(12): "12 bytes", Bytes(1234): "1.23 kB", Bytes(1_900_000): "1.9 MB",
		Duration(0): "0 s", Duration(59.4): "59 s", Duration(60): "1 min", Duration(33120): "9 h 12 min",
		Plural(0, "folder"): "0 folders", Plural(1, "folder"): "1 folder", Plural(1000, "folder"): "1 000 folders",
	} {
		if found != expected {
			t.Errorf("expected %q, found %q", expected, found)
		}
	}
}

func TestOutputGoesToAFileOrStdout(t *testing.T) {
	var out bytes.Buffer
	c := Call{Stdout: &out}
	path := filepath.Join(t.TempDir(), "f")
	for _, name := range []string{path, Stdout} {
		if err := errors.Join(CheckOutput(name), c.Output(name, []byte("text"))); err != nil {
			t.Error(err)
		}
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "text" || out.String() != "text" {
		t.Errorf("%q, %v, %q", data, err, out.String())
	}
	if err := CheckOutput(filepath.Join(path, "below")); ExitCode(err) != NoOutput {
		t.Errorf("%v", err)
	}
}

func TestAChoiceIsOneOfItsWords(t *testing.T) {
	value := "auto"
	c := Choice{&value, []string{"auto", "lines"}}
	if err := c.Set("lines"); err != nil || value != "lines" || c.String() != "lines" || c.Type() != "auto|lines" {
		t.Errorf("%v, %q", err, value)
	}
	if err := c.Set("line"); err == nil || err.Error() != "expected one of auto, lines; did you mean lines?" {
		t.Errorf("%v", err)
	}
}
