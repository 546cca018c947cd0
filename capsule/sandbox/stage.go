package sandbox

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// stageName is the name under which the executable is started again to mount
// folders and workspace in a mount namespace of its own, where it becomes the
// client of another runtime. The client finds the mounts in the container's
// folder; the rest of the machine never sees them.
const stageName = "erdos1056-sandbox-mounts"

// A stageOrder tells the stage what to mount and what to become.
type stageOrder struct {
	Command Command
	Folder  string // of the container
	Program string
	Args    []string
}

func (c *container) workspace() string        { return c.path("workspace") }
func (c *container) folderMount(i int) string { return c.path(fmt.Sprintf("folder-%d", i)) }

// runStage does nothing in an ordinary process; in a stage it never returns.
func runStage() {
	if len(os.Args) != 1 || os.Args[0] != stageName {
		return
	}
	report := os.NewFile(reportFD, "report")
	giveUp(report, becomeClient(os.NewFile(orderFD, "order"), report))
}

// becomeClient returns only if it fails.
func becomeClient(source, report *os.File) error {
	var o stageOrder
	if err := json.NewDecoder(source).Decode(&o); err != nil {
		return fmt.Errorf("reading the order: %w", err)
	}
	if err := unix.CloseRange(orderFD, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("closing descriptors: %w", err)
	}
	place := &container{folder: o.Folder}
	for i, f := range o.Command.Folders {
		source, err := f.open()
		if err != nil {
			return err
		}
		tree, err := cloneReadOnly(source)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Source, err)
		}
		if err := os.Mkdir(place.folderMount(i), 0o755); err != nil {
			return err
		}
		if err := f.attach(place.folderMount(i), tree, true); err != nil {
			return err
		}
	}
	if w := o.Command.Workspace; w != nil {
		if err := os.Mkdir(place.workspace(), 0o755); err != nil {
			return err
		}
		folder, err := w.mount(place.workspace())
		if err != nil {
			return err
		}
		if err := handOver(report, folder); err != nil {
			return err
		}
	}
	return fmt.Errorf("starting %s: %w", o.Program, unix.Exec(o.Program, o.Args, os.Environ()))
}

// stage returns the client as it runs behind the mounts of the command, and what
// to do once it is started: it returns the open workspace, if there is one.
func (c *container) stage(command Command, client *exec.Cmd) (*exec.Cmd, func() (*os.File, error), error) {
	if command.Workspace == nil && len(command.Folders) == 0 {
		return client, func() (*os.File, error) { return nil, nil }, client.Err
	}
	if !initReady {
		return nil, nil, errNotReady
	}
	if client.Err != nil {
		return nil, nil, client.Err
	}
	order, err := json.Marshal(stageOrder{Command: command, Folder: c.folder, Program: client.Path, Args: client.Args})
	if err != nil {
		return nil, nil, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	report, err := newReport()
	if err != nil {
		closeAll([]*os.File{read, write})
		return nil, nil, err
	}
	staged := exec.Command("/proc/self/exe")
	staged.Args, staged.Env, staged.Dir = []string{stageName}, client.Env, client.Dir
	staged.ExtraFiles = []*os.File{read, report.stage}
	staged.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	started := func() (*os.File, error) {
		defer report.close()
		read.Close()
		report.stage.Close()
		_, err := write.Write(order)
		write.Close()
		if err != nil {
			return nil, err
		}
		return report.hear()
	}
	return staged, started, nil
}
