package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/erdos1056/erdos1056/capsule/sandbox"
)

const programOf = "ERDOS1056_TEST_PROGRAM"

// runAndExit is the process that the test below kills.
func runAndExit(output string) int {
	order, err := prepareOrder(os.Getenv(programOf), draftOf("verify"))
	if err == nil {
		order.Output, order.Engine = output, &Search{Threads: 1}
		order.Runtime, err = sandbox.Choose(context.Background(), "")
	}
	if err == nil {
		_, err = Run(context.Background(), order)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func startRun(t *testing.T, output string) *exec.Cmd {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), runOutput+"="+output, programOf+"="+path)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// A run that is killed at any instant is complete and verifies, or is named as
// incomplete, is never found as a run, and gives way to the next one.
func TestKilledRunIsCompleteOrNamedIncomplete(t *testing.T) {
	if _, err := program(); err != nil {
		t.Fatal(err)
	}
	folder := tempDir(t)
	began := time.Now()
	whole := filepath.Join(folder, "whole")
	if err := startRun(t, whole).Wait(); err != nil {
		t.Fatal(err)
	}
	duration := time.Since(began)
	holds(t, Folder(whole), Examination{})

	random := rand.New(rand.NewPCG(1056, 15))
	output := filepath.Join(folder, "killed")
	complete, incomplete := 0, 0
	for range 50 {
		cmd := startRun(t, output)
		time.Sleep(time.Duration(random.Int64N(int64(duration * 11 / 10))))
		cmd.Process.Kill()
		cmd.Wait()
		if _, err := os.Lstat(output); errors.Is(err, fs.ErrNotExist) {
			incomplete++
			if f, err := Find(output, folder); err == nil {
				t.Fatalf("%s was found as a run", f)
			}
			continue
		}
		complete++
		holds(t, Folder(output), Examination{})
		if err := os.Rename(output, fmt.Sprintf("%s.complete-%d", output, complete)); err != nil {
			t.Fatal(err)
		}
	}
	if incomplete == 0 {
		t.Error("no run was killed before its end")
	}
	if err := startRun(t, output).Wait(); err != nil {
		t.Fatalf("the run after 50 killed ones: %v", err)
	}
	holds(t, Folder(output), Examination{})
	t.Logf("%d complete, %d incomplete", complete, incomplete)
}
