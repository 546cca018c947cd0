package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path"
	"runtime"

	"github.com/landlock-lsm/go-landlock/landlock"
	llsyscall "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// initName is the name under which the executable is started again to become
// the verifier.
const initName = "erdos1056-sandbox-init"

// File descriptors of the init stage, after the three standard streams.
const (
	orderFD  = 3 // the order, read to its end
	reportFD = 4 // the report, closed by a successful exec
	filesFD  = 5 // the sources of the files, then those of the folders, in order
)

// An order tells the init stage what to become.
type order struct {
	Command   Command
	Detached  bool // the sources of the folders are mounts of their own
	Lowered   protection
	Memory    uint64 // RLIMIT_DATA in bytes where no cgroup limits memory, else 0
	Processes uint64 // RLIMIT_NPROC where no cgroup limits processes, else 0
	CPUs      int    // processors to run on where no cgroup limits them, else 0
	Seconds   uint64 // RLIMIT_CPU
	Rehearsal bool   // do everything but start the program
}

var initReady bool

var errNotReady = errors.New("RunInit was not called at the start of main")

// RunInit does nothing in an ordinary process. In a process that a runtime of
// this package started it never returns: it shuts itself in and becomes the
// verifier, or mounts what the verifier sees and becomes the client of another
// runtime.
func RunInit() {
	initReady = true
	runStage()
	if len(os.Args) != 1 || os.Args[0] != initName {
		return
	}
	runtime.LockOSThread()
	report := os.NewFile(reportFD, "report")
	if err := becomeVerifier(os.NewFile(orderFD, "order"), report); err != nil {
		giveUp(report, err)
	}
	os.Exit(0)
}

// becomeVerifier returns only if it fails or if all that was asked for is a
// rehearsal.
func becomeVerifier(source io.Reader, report *os.File) error {
	// If the caller dies, so does everything in here.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("parent death signal: %w", err)
	}
	var o order
	data, err := io.ReadAll(source)
	if err != nil {
		return fmt.Errorf("reading the order: %w", err)
	}
	// An empty order means that the caller gave up or died.
	if err := json.Unmarshal(data, &o); err != nil {
		return fmt.Errorf("reading the order: %w", err)
	}
	// Nothing that this process holds is handed on, nor what the caller's caller
	// may have left open.
	if !o.Lowered.has(closedDescriptors) {
		if err := unix.CloseRange(orderFD, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
			return fmt.Errorf("closing descriptors: %w", err)
		}
	}
	if err := unix.Sethostname([]byte("capsule")); err != nil {
		return fmt.Errorf("host name: %w", err)
	}
	if err := enterTree(o, report); err != nil {
		return err
	}
	if err := limitProcess(o); err != nil {
		return err
	}
	if err := dropPrivileges(o); err != nil {
		return err
	}
	if o.Rehearsal {
		return nil
	}
	if w := o.Command.Workspace; w != nil {
		if err := unix.Chdir(w.Path); err != nil {
			return fmt.Errorf("entering the workspace: %w", err)
		}
	}
	environment := o.Command.environment()
	if o.Lowered.has(cleanEnvironment) {
		environment = os.Environ()
	}
	err = unix.Exec(o.Command.Args[0], o.Command.Args, environment)
	return fmt.Errorf("starting %s: %w", o.Command.Args[0], err)
}

// environment returns everything that the program finds in its environment.
func (c Command) environment() []string {
	return append([]string{"HOME=/nonexistent"}, c.Env...)
}

// enterTree makes a memory file system with nothing but the command's files,
// folders and workspace, makes it read-only, and leaves the host's tree for
// good.
func enterTree(o order, report *os.File) error {
	// Any existing folder will do as a place to mount on: the mount is seen by
	// this mount namespace alone. /proc is always there.
	const stage = "/proc"
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making mounts private: %w", err)
	}
	const flags = unix.MS_NOSUID | unix.MS_NODEV
	if err := unix.Mount("capsule", stage, "tmpfs", flags, "mode=755"); err != nil {
		return fmt.Errorf("mounting the memory file system: %w", err)
	}
	unix.Umask(0o022)
	var sources []*os.File
	for i := range len(o.Command.Files) + len(o.Command.Folders) {
		sources = append(sources, os.NewFile(uintptr(filesFD+i), "source"))
	}
	files, folders := sources[:len(o.Command.Files)], sources[len(o.Command.Files):]
	if err := o.Command.plant(stage, files); err != nil {
		return err
	}
	if err := o.Command.attachFolders(stage, folders, o.Detached); err != nil {
		return err
	}
	if len(o.Command.Folders) > 0 {
		if err := showItself(stage, o.Command.Args[0]); err != nil {
			return err
		}
	}
	if w := o.Command.Workspace; w != nil {
		folder, err := w.mount(path.Join(stage, w.Path))
		if err != nil {
			return err
		}
		if err := handOver(report, folder); err != nil {
			return err
		}
	}
	if err := unix.Chdir(stage); err != nil {
		return fmt.Errorf("entering the tree: %w", err)
	}
	// pivot_root(2): with both paths ".", the old root is stacked on the new one
	// and can be detached without a folder to hold it.
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("changing the root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("detaching the old root: %w", err)
	}
	if err := unix.Chdir("/"); err != nil {
		return fmt.Errorf("entering the tree: %w", err)
	}
	if o.Lowered.has(readOnlyRoot) {
		return nil
	}
	if err := unix.Mount("", "/", "", flags|unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		return fmt.Errorf("making the tree read-only: %w", err)
	}
	return nil
}

// showItself lets a program find its own path where Linux shows it, though there
// is no /proc: the programs of a toolchain look for the rest of it from there.
// The program is the first process of its namespace.
func showItself(root, program string) error {
	if err := os.MkdirAll(path.Join(root, "proc/1"), 0o755); err != nil {
		return err
	}
	return errors.Join(os.Symlink("1", path.Join(root, "proc/self")), os.Symlink(program, path.Join(root, "proc/1/exe")))
}

// fileSize is the greatest size of a file that the program writes, in bytes.
func (c Command) fileSize() uint64 {
	if c.Workspace == nil {
		return 0
	}
	return uint64(c.Workspace.Size)
}

// limitProcess sets the limits that the kernel keeps per process.
func limitProcess(o order) error {
	type limit struct {
		name     string
		resource int
		value    uint64
	}
	var limits []limit
	if !o.Lowered.has(fileLimits) {
		limits = []limit{
			{"RLIMIT_CORE", unix.RLIMIT_CORE, 0},
			{"RLIMIT_FSIZE", unix.RLIMIT_FSIZE, o.Command.fileSize()},
			{"RLIMIT_MEMLOCK", unix.RLIMIT_MEMLOCK, 0},
			{"RLIMIT_MSGQUEUE", unix.RLIMIT_MSGQUEUE, 0},
			{"RLIMIT_NOFILE", unix.RLIMIT_NOFILE, 64},
			{"RLIMIT_STACK", unix.RLIMIT_STACK, 8 << 20},
		}
	}
	if !o.Lowered.has(timeLimit) {
		limits = append(limits, limit{"RLIMIT_CPU", unix.RLIMIT_CPU, o.Seconds})
	}
	if o.Memory > 0 {
		limits = append(limits, limit{"RLIMIT_DATA", unix.RLIMIT_DATA, o.Memory})
	}
	if o.Processes > 0 {
		limits = append(limits, limit{"RLIMIT_NPROC", unix.RLIMIT_NPROC, o.Processes})
	}
	for _, l := range limits {
		if err := unix.Setrlimit(l.resource, &unix.Rlimit{Cur: l.value, Max: l.value}); err != nil {
			return fmt.Errorf("%s %d: %w", l.name, l.value, err)
		}
	}
	if o.CPUs > 0 {
		return pinProcessors(o.CPUs)
	}
	return nil
}

// pinProcessors confines the calling thread, and the program that it becomes,
// to n of the processors that it may use now.
func pinProcessors(n int) error {
	var may, only unix.CPUSet
	if err := unix.SchedGetaffinity(0, &may); err != nil {
		return fmt.Errorf("processors: %w", err)
	}
	for cpu := 0; only.Count() < n && only.Count() < may.Count(); cpu++ {
		if may.IsSet(cpu) {
			only.Set(cpu)
		}
	}
	if err := unix.SchedSetaffinity(0, &only); err != nil {
		return fmt.Errorf("processors: %w", err)
	}
	return nil
}

// dropPrivileges gives up everything that could be used to undo the rest, the
// system calls last.
func dropPrivileges(o order) error {
	lowered := o.Lowered
	if !lowered.has(noCapabilities) {
		for c := range uintptr(unix.CAP_LAST_CAP + 1) {
			// EINVAL: the kernel is older than this capability.
			if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil && err != unix.EINVAL {
				return fmt.Errorf("dropping capability %d: %w", c, err)
			}
		}
		if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
			return fmt.Errorf("clearing ambient capabilities: %w", err)
		}
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var none [2]unix.CapUserData
		if err := unix.Capset(&header, &none[0]); err != nil {
			return fmt.Errorf("giving up capabilities: %w", err)
		}
	}
	if !lowered.has(noNewPrivileges) {
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return fmt.Errorf("no_new_privs: %w", err)
		}
	}
	if !lowered.has(landlockRules) {
		if err := restrictFiles(o.Command.Workspace); err != nil {
			return err
		}
	}
	if !lowered.has(seccompFilter) {
		if err := loadSeccomp(o.Command); err != nil {
			return err
		}
	}
	return nil
}

// landlockConfigs are the rule sets by kernel interface version, the newest
// that is known here last.
var landlockConfigs = []landlock.Config{
	landlock.V1, landlock.V2, landlock.V3, landlock.V4, landlock.V5, landlock.V6, landlock.V7,
}

// landlockVersion returns the kernel's Landlock interface version, at least 1.
func landlockVersion() (int, error) {
	version, err := llsyscall.LandlockGetABIVersion()
	if err != nil || version < 1 {
		return 0, fmt.Errorf("landlock: the kernel does not offer it (%v); it needs Linux 5.13 with landlock among its security modules", err)
	}
	return version, nil
}

// workspaceRights are what a program may do in its workspace besides reading.
// Symbolic links, pipes, sockets and devices cannot be made there.
const workspaceRights = llsyscall.AccessFSWriteFile | llsyscall.AccessFSRemoveFile | llsyscall.AccessFSRemoveDir |
	llsyscall.AccessFSMakeReg | llsyscall.AccessFSMakeDir

// restrictFiles allows reading and executing below the root, writing files in
// the workspace, and nothing else: no other writing of any kind, no TCP, no
// signal or abstract socket beyond this process, as far as the kernel's
// interface version knows these.
func restrictFiles(workspace *Workspace) error {
	version, err := landlockVersion()
	if err != nil {
		return err
	}
	config := landlockConfigs[min(version, len(landlockConfigs))-1]
	allowed := []landlock.Rule{landlock.RODirs("/")}
	if workspace != nil {
		rights := landlock.AccessFSSet(workspaceRights)
		const knowsTruncate = 3
		if version >= knowsTruncate {
			rights |= llsyscall.AccessFSTruncate
		}
		allowed = append(allowed, landlock.PathAccess(rights, workspace.Path))
	}
	rules, flags, err := config.NewRulesetFD(allowed...)
	if err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	defer unix.Close(rules)
	// It suffices to restrict this thread: it alone survives exec.
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("landlock: no_new_privs: %w", err)
	}
	if err := llsyscall.LandlockRestrictSelf(rules, flags); err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	return nil
}
