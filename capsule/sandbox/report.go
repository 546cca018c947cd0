package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// A report is how a stage that this package starts speaks to its caller, before
// it becomes the program: it hands over the open workspace, and says why it
// could not go on. It ends when the program starts, or with the stage.
type report struct {
	caller *net.UnixConn
	stage  *os.File // the stage's end, to be inherited
}

func newReport() (*report, error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	r := &report{stage: os.NewFile(uintptr(ends[1]), "report")}
	own := os.NewFile(uintptr(ends[0]), "report")
	defer own.Close()
	conn, err := net.FileConn(own)
	if err != nil {
		r.stage.Close()
		return nil, err
	}
	r.caller = conn.(*net.UnixConn)
	return r, nil
}

func (r *report) close() {
	r.stage.Close()
	r.caller.Close()
}

// maxReport bounds what is kept of a reason, in bytes.
const maxReport = 4096

// hear listens until the report ends. The error is the stage's reason.
func (r *report) hear() (workspace *os.File, err error) {
	var reason bytes.Buffer
	text, control := make([]byte, maxReport), make([]byte, unix.CmsgSpace(4))
	for {
		n, controlN, _, _, err := r.caller.ReadMsgUnix(text, control)
		if controlN > 0 {
			workspace = inherited(control[:controlN])
		}
		reason.Write(bytes.Trim(text[:max(n, 0)], handedOver))
		if err != nil || n == 0 || reason.Len() > maxReport {
			break
		}
	}
	if reason.Len() == 0 {
		return workspace, nil
	}
	if workspace != nil {
		workspace.Close()
	}
	return nil, errors.New(string(bytes.TrimSpace(reason.Bytes())))
}

// handedOver is the text that a file comes with.
const handedOver = "\x00"

// inherited returns the file in a control message.
func inherited(control []byte) *os.File {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil || len(messages) != 1 {
		return nil
	}
	descriptors, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(descriptors) != 1 {
		return nil
	}
	return os.NewFile(uintptr(descriptors[0]), "workspace")
}

// handOver sends an open file to the caller, and closes it here.
func handOver(stage, file *os.File) error {
	defer file.Close()
	if err := unix.Sendmsg(int(stage.Fd()), []byte(handedOver), unix.UnixRights(int(file.Fd())), nil, 0); err != nil {
		return fmt.Errorf("handing over the workspace: %w", err)
	}
	return nil
}

// giveUp tells the caller the reason and ends this process.
func giveUp(stage io.Writer, reason error) {
	fmt.Fprint(stage, reason)
	os.Exit(70)
}
