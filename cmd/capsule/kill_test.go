package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/erdos1056/erdos1056/internal/cli"
)

// A binary is the built command, as a user has it.
type binary struct {
	path      string
	temporary string // its TMPDIR
}

func buildBinary(t *testing.T) binary {
	t.Helper()
	b := binary{filepath.Join(t.TempDir(), "capsule"), t.TempDir()}
	if text, err := exec.Command("go", "build", "-o", b.path, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return b
}

func (b binary) command(args ...string) *exec.Cmd {
	cmd := exec.Command(b.path, args...)
	cmd.Env = append(os.Environ(), "TMPDIR="+b.temporary)
	return cmd
}

// call runs the binary and returns its exit code and all its output.
func (b binary) call(t *testing.T, args ...string) (code int, output string) {
	t.Helper()
	cmd := b.command(args...)
	text, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(text)
}

func (b binary) must(t *testing.T, args ...string) {
	t.Helper()
	if code, output := b.call(t, args...); code != cli.Done {
		t.Fatalf("capsule %s: exit code %d: %s", strings.Join(args, " "), code, output)
	}
}

func (b binary) refuses(t *testing.T, code int, message string, args ...string) {
	t.Helper()
	if got, output := b.call(t, args...); got != code || !strings.Contains(output, message) {
		t.Fatalf("capsule %s: exit code %d: %s; want %d and %q", strings.Join(args, " "), got, output, code, message)
	}
}

// TestKilledRunIsCompleteOrNamedIncomplete kills the built command at random
// instants of a run. What it leaves is complete and verifies, or is named as
// incomplete, is never taken for a run, and gives way to the next one.
func TestKilledRunIsCompleteOrNamedIncomplete(t *testing.T) {
	b, folder := buildBinary(t), tempDir(t)
	bundle, whole, output := filepath.Join(folder, "mission"), filepath.Join(folder, "whole"), filepath.Join(folder, "killed")
	b.must(t, "mission", "prepare", writeDraft(t, folder), "--output", bundle)
	run := func(output string) []string {
		return []string{"run", bundle, "--no-land", "--threads", "1", "--output", output}
	}
	began := time.Now()
	b.must(t, run(whole)...)
	duration := time.Since(began)

	random := rand.New(rand.NewPCG(1056, 15))
	complete := 0
	for range 50 {
		killed := b.command(run(output)...)
		if err := killed.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(random.Int64N(int64(duration * 11 / 10))))
		killed.Process.Kill()
		killed.Wait()
		b.must(t, "inspect", "latest", "--runs", folder)
		_, err := os.Lstat(output)
		switch {
		case err == nil:
			complete++
			b.must(t, "inspect", output)
			b.must(t, "verify", output, "--no-replay")
			if err := os.Rename(output, fmt.Sprintf("%s.complete-%d", output, complete)); err != nil {
				t.Fatal(err)
			}
		case errors.Is(err, fs.ErrNotExist):
			b.refuses(t, cli.NoInput, "expected run.json or failure.json", "inspect", output)
			b.refuses(t, cli.Internal, "this run is incomplete", "inspect", output+".new")
			b.refuses(t, cli.Internal, "this run is incomplete", "verify", output+".new")
		default:
			t.Fatal(err)
		}
	}
	b.must(t, run(output)...)
	b.must(t, "verify", output)
	stopped, err := filepath.Glob(output + ".stopped-*")
	if err != nil || len(stopped) == 0 {
		t.Errorf("%d stopped runs, %v: none was killed in its midst", len(stopped), err)
	}
	for _, folder := range stopped {
		b.refuses(t, cli.Internal, "this run is incomplete", "inspect", folder)
	}
	if left, err := filepath.Glob(filepath.Join(b.temporary, "*")); err != nil || len(left) != 0 {
		t.Errorf("%q is left in the temporary folder, %v", left, err)
	}
	t.Logf("%d of 50 complete, %d stopped and set aside", complete, len(stopped))
}

// A replay works in the temporary folder. What a killed one leaves there is
// removed by the next, and by capsule doctor.
func TestFoldersOfKilledReplaysAreSwept(t *testing.T) {
	b, folder := buildBinary(t), tempDir(t)
	run1 := filepath.Join(folder, "run1")
	b.must(t, "run", writeDraft(t, folder), "--no-land", "--output", run1)
	stale := func() []string {
		found, err := filepath.Glob(filepath.Join(b.temporary, "erdos1056-scratch-replay-*"))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	killReplay := func() {
		t.Helper()
		for range 100 {
			killed := b.command("verify", run1)
			if err := killed.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- killed.Wait() }()
			for len(ended) == 0 && len(stale()) == 0 {
				time.Sleep(time.Millisecond)
			}
			killed.Process.Kill()
			<-ended
			if len(stale()) > 0 {
				return
			}
		}
		t.Fatal("no replay was killed in its midst")
	}
	killReplay()
	b.must(t, "verify", run1)
	if left := stale(); len(left) != 0 {
		t.Errorf("%q is left after another replay", left)
	}
	killReplay()
	if _, output := b.call(t, "doctor"); !strings.Contains(output, "1 folders of killed processes removed") || len(stale()) != 0 {
		t.Errorf("doctor: %s\nleft %q", output, stale())
	}
}
