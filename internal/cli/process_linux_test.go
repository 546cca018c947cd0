package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"
)

// TestMain lets the test binary stand in for a command, so that the tests see real exit
// codes, signals and terminals.
func TestMain(m *testing.M) {
	if os.Getenv("CLI_TEST_COMMAND") == "1" {
		waiting().Main()
	}
	os.Exit(m.Run())
}

func waiting() *Command {
	verb := func(name string, act func(context.Context, *Call) error) Verb {
		return Verb{Name: name, Declare: func(*pflag.FlagSet) func(context.Context, *Call) error { return act }}
	}
	return &Command{Name: "waiting", Groups: []Group{{"", []Verb{
		verb("polite", func(ctx context.Context, c *Call) error {
			c.Say("ready")
			<-ctx.Done()
			return context.Cause(ctx)
		}),
		verb("deaf", func(ctx context.Context, c *Call) error {
			c.Say("ready")
			<-ctx.Done()
			c.Say("deaf")
			select {}
		}),
		verb("secret", func(ctx context.Context, c *Call) error {
			secret, err := c.Secret(ctx, "ready")
			if err != nil {
				return err
			}
			return c.Print("%d letters", len(secret))
		}),
		verb("print", func(ctx context.Context, c *Call) error {
			var err error
			for err == nil {
				err = c.Print("text")
			}
			return err
		}),
	}}}}
}

// start starts the command and returns when it says what is expected.
func start(t *testing.T, stdin *os.File, expected string, line ...string) (cmd *exec.Cmd, stderr *bufio.Reader) {
	t.Helper()
	cmd = exec.Command(line[0], line[1:]...)
	cmd.Env = append(os.Environ(), "CLI_TEST_COMMAND=1")
	cmd.Stdin = stdin
	pipe, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	stderr = bufio.NewReader(pipe)
	await(t, stderr, expected)
	return cmd, stderr
}

// await reads until the text has come.
func await(t *testing.T, from *bufio.Reader, text string) {
	t.Helper()
	found := ""
	for !strings.Contains(found, text) {
		b, err := from.ReadByte()
		if err != nil {
			t.Fatalf("expected %q, found %q, %v", text, found, err)
		}
		found += string(b)
	}
}

func ended(t *testing.T, cmd *exec.Cmd, stderr io.Reader) (code int, rest string) {
	t.Helper()
	text, err := io.ReadAll(stderr)
	if err != nil {
		t.Error(err)
	}
	cmd.Wait()
	return cmd.ProcessState.ExitCode(), string(text)
}

func TestTheFirstSignalInterrupts(t *testing.T) {
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		cmd, stderr := start(t, nil, "ready\n", os.Args[0], "polite")
		cmd.Process.Signal(s)
		if code, rest := ended(t, cmd, stderr); code != TryAgain || !strings.HasSuffix(rest, "waiting polite: interrupted\n") {
			t.Errorf("%v: exit %d, %q", s, code, rest)
		}
	}
}

func TestTheSecondSignalEndsAtOnce(t *testing.T) {
	cmd, stderr := start(t, nil, "ready\n", os.Args[0], "deaf")
	cmd.Process.Signal(syscall.SIGINT)
	await(t, stderr, "deaf\n")
	cmd.Process.Signal(syscall.SIGTERM)
	if code, _ := ended(t, cmd, stderr); code != TryAgain {
		t.Errorf("exit %d", code)
	}
}

func TestAnIgnoredHangupStaysIgnored(t *testing.T) {
	cmd, stderr := start(t, nil, "ready\n", "sh", "-c", `trap "" HUP; exec "$0" polite`, os.Args[0])
	cmd.Process.Signal(syscall.SIGHUP)
	cmd.Process.Signal(syscall.SIGTERM)
	if code, rest := ended(t, cmd, stderr); code != TryAgain || strings.Count(rest, "stopping") != 1 || !strings.HasSuffix(rest, "interrupted\n") {
		t.Errorf("exit %d, %q", code, rest)
	}
}

func TestAReaderThatHasGoneIsAnError(t *testing.T) {
	cmd := exec.Command(os.Args[0], "print")
	cmd.Env = append(os.Environ(), "CLI_TEST_COMMAND=1")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	bufio.NewReader(stdout).ReadString('\n')
	stdout.Close()
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != NoOutput || !strings.Contains(stderr.String(), "broken pipe") {
		t.Errorf("exit %d, %q", code, stderr.String())
	}
}

// terminal opens a pseudo-terminal.
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { slave.Close() })
	return master, slave
}

func echoes(t *testing.T, terminal *os.File) bool {
	t.Helper()
	state, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return state.Lflag&unix.ECHO != 0
}

func TestAPromptCanBeInterrupted(t *testing.T) {
	_, slave := terminal(t)
	cmd, stderr := start(t, slave, "ready: ", os.Args[0], "secret")
	for echoes(t, slave) { // until the prompt has the terminal
	}
	cmd.Process.Signal(syscall.SIGINT)
	if code, rest := ended(t, cmd, stderr); code != TryAgain || !strings.HasSuffix(rest, "interrupted\n") || !echoes(t, slave) {
		t.Errorf("exit %d, %q, the terminal echoes: %t", code, rest, echoes(t, slave))
	}
}

func TestAPromptReadsALine(t *testing.T) {
	master, slave := terminal(t)
	cmd, stderr := start(t, slave, "ready: ", os.Args[0], "secret")
	for echoes(t, slave) {
	}
	if _, err := master.WriteString("open sesame\n"); err != nil {
		t.Fatal(err)
	}
	if code, rest := ended(t, cmd, stderr); code != Done || rest != "\n" || !echoes(t, slave) {
		t.Errorf("exit %d, %q", code, rest)
	}
}

func TestWithoutATerminalASecretIsAUsageError(t *testing.T) {
	cmd := exec.Command(os.Args[0], "secret")
	cmd.Env = append(os.Environ(), "CLI_TEST_COMMAND=1")
	out, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != Usage || !strings.Contains(string(out), "no terminal") {
		t.Errorf("exit %d, %q", code, out)
	}
}
