package sandbox

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// A container is one run in the hands of another program, runc, podman or
// docker.
type container struct {
	name   string // unique on this machine
	folder string // private to this run, removed at its end
}

func newContainer() (*container, error) {
	// The name is short: podman wants at most 50 characters for its folders.
	folder, err := os.MkdirTemp("", fmt.Sprintf("erdos1056-%d-", os.Getpid()))
	if err != nil {
		return nil, err
	}
	return &container{name: runName(), folder: folder}, nil
}

// runName returns a name that no other run on this machine has, and that tells
// which process it belongs to.
func runName() string {
	var token [8]byte
	rand.Read(token[:])
	return fmt.Sprintf("erdos1056-%d-%x", os.Getpid(), token)
}

func (c *container) path(name string) string { return filepath.Join(c.folder, name) }

// remove removes the folder. A client's helpers may still write their last notes
// into it.
func (c *container) remove() (err error) {
	for wait := 10 * time.Millisecond; wait < 3*time.Second; wait *= 2 {
		if err = os.RemoveAll(c.folder); err == nil {
			return nil
		}
		time.Sleep(wait)
	}
	return err
}

// plant copies the command's files into the folder "root" of the container.
func (c *container) plant(command Command) (root string, err error) {
	sources, err := command.open()
	if err != nil {
		return "", err
	}
	defer closeAll(sources)
	root = c.path("root")
	if err := os.Mkdir(root, 0o755); err != nil {
		return "", err
	}
	if err := command.plant(root, sources); err != nil {
		return "", err
	}
	// The umask may have narrowed the folders.
	return root, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(path, 0o755)
		}
		return err
	})
}

// supervise runs a client behind the mounts of the command, and returns the open
// workspace with the outcome, if there is one; the caller closes it.
func (c *container) supervise(ctx context.Context, command Command, client *exec.Cmd, kill func(), limits Limits) (outcome Outcome, workspace *os.File, err error) {
	if command.Workspace == nil && len(command.Folders) == 0 {
		outcome, err = supervise(ctx, client, kill, limits, func() error { return nil })
		return outcome, nil, err
	}
	s, err := c.newStage(command, client)
	if err != nil {
		return Outcome{}, nil, err
	}
	defer s.close()
	outcome, err = supervise(ctx, s.client, kill, limits, func() (err error) {
		workspace, err = s.started()
		return err
	})
	if err != nil && workspace != nil {
		workspace.Close()
	}
	return outcome, workspace, err
}

// supervise runs a client that stays in the foreground until the program ends.
// To end the program early it calls kill, since killing the client would leave
// the program running. If this process dies, the client is asked to end; runc
// hands that on to the program, podman keeps the program's time limit instead.
// End is Exited unless a limit that this process keeps was
// exceeded; the client's exit code is in ExitCode. started is called once the
// client is.
func supervise(ctx context.Context, client *exec.Cmd, kill func(), limits Limits, started func() error) (Outcome, error) {
	var timedOut atomic.Bool
	output := &budget{left: limits.Output, stop: func() { go kill() }}
	stdout, stderr := &capture{budget: output}, &capture{budget: output}
	client.Stdout, client.Stderr = stdout, stderr
	if client.SysProcAttr == nil {
		client.SysProcAttr = new(syscall.SysProcAttr)
	}
	client.SysProcAttr.Pdeathsig = syscall.SIGTERM
	runtime.LockOSThread() // the signal is sent when the thread that started the client ends
	defer runtime.UnlockOSThread()
	began := time.Now()
	if err := client.Start(); err != nil {
		return Outcome{}, err
	}
	if err := started(); err != nil {
		client.Process.Kill()
		client.Wait()
		return Outcome{}, err
	}
	timer := time.AfterFunc(limits.Time, func() { timedOut.Store(true); kill() })
	defer timer.Stop()
	defer context.AfterFunc(ctx, kill)()
	err := client.Wait()
	if ctx.Err() != nil {
		return Outcome{}, context.Cause(ctx)
	}
	var status *exec.ExitError
	if err != nil && !errors.As(err, &status) {
		return Outcome{}, err
	}
	outcome := Outcome{
		End: Exited, ExitCode: client.ProcessState.ExitCode(),
		Stdout: stdout.kept.Bytes(), Stderr: stderr.kept.Bytes(), Elapsed: time.Since(began),
	}
	switch {
	case output.overrun():
		outcome.End = OutputLimit
	case timedOut.Load():
		outcome.End = TimeLimit
	}
	return outcome, nil
}

// answer runs a client for its answer, within a minute even if ctx has ended.
func answer(ctx context.Context, client func(context.Context) *exec.Cmd) (string, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	cmd := client(ctx)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, lastLine(stderr.String()))
	}
	return strings.TrimSpace(stdout.String()), nil
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}
