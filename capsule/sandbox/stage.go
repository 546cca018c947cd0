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

// A stage is a client as it runs behind the mounts of a command.
type stage struct {
	client      *exec.Cmd
	order       []byte
	read, write *os.File
	report      *report
}

// newStage prepares the stage of a client.
func (c *container) newStage(command Command, client *exec.Cmd) (*stage, error) {
	if !initReady {
		return nil, errNotReady
	}
	if client.Err != nil {
		return nil, client.Err
	}
	s := &stage{client: exec.Command("/proc/self/exe")}
	var err error
	if s.order, err = json.Marshal(stageOrder{Command: command, Folder: c.folder, Program: client.Path, Args: client.Args}); err != nil {
		return nil, err
	}
	if s.report, err = newReport(); err != nil {
		return nil, err
	}
	if s.read, s.write, err = os.Pipe(); err != nil {
		s.report.close()
		return nil, err
	}
	s.client.Args, s.client.Env, s.client.Dir = []string{stageName}, client.Env, client.Dir
	s.client.ExtraFiles = []*os.File{s.read, s.report.stage}
	s.client.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	return s, nil
}

// started gives the stage its order once it runs, and returns the open
// workspace, if the command has one.
func (s *stage) started() (workspace *os.File, err error) {
	closeAll([]*os.File{s.read, s.report.stage})
	if _, err := s.write.Write(s.order); err != nil {
		return nil, err
	}
	s.write.Close()
	return s.report.hear()
}

func (s *stage) close() {
	closeAll([]*os.File{s.read, s.write})
	s.report.close()
}
