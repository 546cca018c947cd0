// Hostile is a verifier that tries to get out. It makes the attempts that its
// first argument names, separated by commas, prints which succeeded, and exits
// with 0 if all were denied and with 3 if not.
//
// It is safe to run only where a sandbox put it: without its marker file in the
// root folder it refuses. It harms nothing even where it succeeds: it asks the
// kernel for a route and sends no packet, it creates empty files, starts a
// bounded number of processes that sleep, touches a bounded amount of memory,
// and traces nobody.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

const (
	marker   = "/hostile-fixture-may-run-here"
	denied   = 0
	refused  = 2
	broke    = 3
	attempts = 200 // processes of the fork bomb
)

func main() {
	if _, err := os.Lstat(marker); err != nil {
		fmt.Fprintln(os.Stderr, "hostile: this is not a sandbox made for this program; nothing was tried")
		os.Exit(refused)
	}
	if len(os.Args) < 2 {
		os.Exit(refused)
	}
	code := denied
	for name := range strings.SplitSeq(os.Args[1], ",") {
		attempt, ok := table[name]
		if !ok {
			fmt.Fprintln(os.Stderr, "hostile: unknown attempt", name)
			os.Exit(refused)
		}
		if got := attempt(os.Args[2:]); got != "" {
			fmt.Println(name, "succeeded:", got)
			code = broke
		}
	}
	os.Exit(code)
}

// Each attempt returns what it achieved, or nothing.
var table = map[string]func(args []string) string{
	"capabilities":      capabilities,
	"chmod":             chmod,
	"descriptors":       descriptors,
	"device":            device,
	"endless-output":    endlessOutput,
	"environment":       environment,
	"exit":              exit,
	"fork-bomb":         forkBomb,
	"interfaces":        interfaces,
	"kernel-surface":    kernelSurface,
	"links":             links,
	"memory":            memory,
	"mount":             mount,
	"namespace":         namespace,
	"new-privileges":    newPrivileges,
	"other-processes":   otherProcesses,
	"print-environment": printEnvironment,
	"processors":        processors,
	"read-folder":       readFolder,
	"read-host":         readHost,
	"root-user":         rootUser,
	"route":             route,
	"signal":            signal,
	"sleep":             sleep,
	"threads":           threads,
	"unix-socket":       unixSocket,
	"write":             write,

	"workspace-execute":   workspaceExecute,
	"workspace-fill":      workspaceFill,
	"workspace-hard-link": workspaceHardLink,
	"workspace-inodes":    workspaceInodes,
	"workspace-litter":    workspaceLitter,
	"workspace-pipe":      workspacePipe,
	"workspace-symlink":   workspaceSymlink,
	"folder-write":        folderWrite,
}

func route([]string) string {
	// Connecting a datagram socket asks for a route and sends nothing.
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0)
	if err != nil {
		return ""
	}
	address := &syscall.SockaddrInet4{Port: 9, Addr: [4]byte{192, 0, 2, 1}}
	if syscall.Connect(fd, address) != nil {
		return ""
	}
	return "there is a route to 192.0.2.1"
}

func interfaces([]string) string {
	all, _ := net.Interfaces()
	for _, i := range all {
		if i.Flags&net.FlagLoopback == 0 {
			return "there is a network interface " + i.Name
		}
	}
	return ""
}

func unixSocket([]string) string {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return ""
	}
	if syscall.Bind(fd, &syscall.SockaddrUnix{Name: "@erdos1056-hostile"}) != nil {
		return ""
	}
	return "bound a socket"
}

// write tries every folder and file that it can see, kernel interfaces, device
// nodes and its workspace excepted.
func write([]string) (got string) {
	workspace, _ := os.Getwd()
	filepath.WalkDir("/", func(path string, d fs.DirEntry, err error) error {
		if err != nil || got != "" {
			return filepath.SkipDir
		}
		if path == "/proc" || path == "/sys" || path == workspace && path != "/" {
			return filepath.SkipDir
		}
		target := path
		if d.IsDir() {
			target = filepath.Join(path, "escape")
		} else if !d.Type().IsRegular() {
			return nil
		}
		f, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE, 0o600)
		if err != nil {
			return nil
		}
		f.Close()
		got = "opened for writing: " + target
		return nil
	})
	return got
}

func links([]string) string {
	if os.Symlink("/etc", "/link") == nil || os.Link(os.Args[0], "/hard-link") == nil || os.Mkdir("/folder", 0o700) == nil {
		return "changed the tree"
	}
	if os.Rename(os.Args[0], "/renamed") == nil || os.Remove(os.Args[0]) == nil {
		return "moved its own executable"
	}
	return ""
}

func chmod([]string) string {
	if os.Chmod(os.Args[0], 0o777) == nil {
		return "changed the mode of its own executable"
	}
	return ""
}

func device([]string) string {
	const zero = 1<<8 | 5
	for _, dir := range []string{"/", "/dev/", "/dev/shm/", "/tmp/"} {
		if syscall.Mknod(dir+"zero-device", syscall.S_IFCHR|0o600, zero) == nil {
			return "made a device"
		}
	}
	return ""
}

func otherProcesses([]string) string {
	if parent := os.Getppid(); parent > 1 {
		return fmt.Sprintf("has a parent outside: %d", parent)
	}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && pid > 2 && pid != os.Getpid() {
			return fmt.Sprintf("sees process %d", pid)
		}
	}
	return ""
}

// signal asks whether any of the first process ids could be signalled; signal 0
// is only a question.
func signal([]string) string {
	for pid := 1; pid < 4096; pid++ {
		if pid != os.Getpid() && pid > 2 && syscall.Kill(pid, 0) == nil {
			return fmt.Sprintf("may signal process %d", pid)
		}
	}
	return ""
}

func namespace([]string) string {
	for name, flag := range map[string]uintptr{"user": syscall.CLONE_NEWUSER, "mount": syscall.CLONE_NEWNS, "network": syscall.CLONE_NEWNET} {
		// The calling thread is the only one of this process that changes.
		runtime.LockOSThread()
		if _, _, errno := syscall.RawSyscall(syscall.SYS_UNSHARE, flag, 0, 0); errno == 0 {
			return "made a namespace: " + name
		}
	}
	// A process with several threads cannot change its user namespace, but it can
	// start a process in a new one.
	if start(&syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER}, "exit", "0") {
		return "started a process in a new user namespace"
	}
	return ""
}

// start starts this program once more.
func start(attributes *syscall.SysProcAttr, args ...string) bool {
	child, err := os.StartProcess(os.Args[0], append([]string{os.Args[0]}, args...), &os.ProcAttr{Sys: attributes})
	if err != nil {
		return false
	}
	child.Release()
	return true
}

func mount([]string) string {
	for _, dir := range []string{"/", "/tmp", "/proc", "/dev"} {
		if syscall.Mount("none", dir, "tmpfs", 0, "size=4k") == nil {
			return "mounted on " + dir
		}
		if syscall.Mount("none", dir, "", syscall.MS_REMOUNT, "") == nil {
			return "remounted " + dir
		}
	}
	return ""
}

func capabilities([]string) string {
	const version3 = 0x20080522
	header := struct {
		version uint32
		pid     int32
	}{version3, 0}
	var data [2]struct{ effective, permitted, inheritable uint32 }
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CAPGET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&data)), 0); errno == 0 {
		for _, d := range data {
			if d.effective|d.permitted|d.inheritable != 0 {
				return fmt.Sprintf("has capabilities %v", data)
			}
		}
	}
	const readBoundingSet = 23
	for c := range uintptr(41) {
		if r, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, readBoundingSet, c, 0); errno == 0 && r == 1 {
			return fmt.Sprintf("could gain capability %d", c)
		}
	}
	return ""
}

func newPrivileges([]string) string {
	const getNoNewPrivileges = 39
	r, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, getNoNewPrivileges, 0, 0, 0, 0, 0)
	if errno != 0 || r == 0 {
		return "a set-user-id program would give privileges"
	}
	return ""
}

func rootUser([]string) string {
	if os.Getuid() == 0 || os.Geteuid() == 0 || os.Getgid() == 0 {
		return "is root"
	}
	groups, _ := os.Getgroups()
	if slices.Contains(groups, 0) {
		return "belongs to root's group"
	}
	return ""
}

// kernelSurface calls rarely needed parts of the kernel with arguments that
// cannot do anything; an answer other than a refusal means that they were
// reached.
func kernelSurface([]string) string {
	const (
		bpf         = 321
		userfaultfd = 323
		ioUring     = 425
		keyctl      = 250
	)
	if runtime.GOARCH != "amd64" {
		return ""
	}
	for name, number := range map[string]uintptr{"bpf": bpf, "userfaultfd": userfaultfd, "io_uring_setup": ioUring, "keyctl": keyctl} {
		_, _, errno := syscall.RawSyscall(number, ^uintptr(0), 0, 0)
		if errno != syscall.EPERM && errno != syscall.ENOSYS && errno != syscall.EACCES {
			return fmt.Sprintf("reached %s: %v", name, errno)
		}
	}
	return ""
}

// readHost looks for anything that is not the fixture's own.
func readHost(visible []string) (got string) {
	for _, path := range []string{"/etc/passwd", "/etc/shadow", "/root", "/home", "/proc/1/root/etc/passwd", "/sys/class", "/dev/mem", "/dev/vda", "/dev/kvm"} {
		if f, err := os.Open(path); err == nil {
			f.Close()
			return "opened " + path
		}
	}
	filepath.WalkDir("/", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if slices.ContainsFunc([]string{"/proc", "/dev"}, func(dir string) bool { return path == dir }) {
			return filepath.SkipDir
		}
		if d.Type().IsRegular() && !slices.Contains(visible, path) && got == "" {
			if f, err := os.Open(path); err == nil {
				n, _ := f.Read(make([]byte, 1))
				f.Close()
				if n > 0 {
					got = "read " + path
				}
			}
		}
		return nil
	})
	return got
}

// descriptors looks for files and folders that somebody left open.
func descriptors([]string) string {
	for fd := 3; fd < 64; fd++ {
		var info syscall.Stat_t
		if syscall.Fstat(fd, &info) != nil {
			continue
		}
		if kind := info.Mode & syscall.S_IFMT; kind == syscall.S_IFREG || kind == syscall.S_IFDIR {
			return fmt.Sprintf("descriptor %d is open", fd)
		}
	}
	return ""
}

func environment([]string) string {
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if !slices.Contains([]string{"HOME", "PATH", "HOSTNAME", "TERM", "container"}, name) {
			return "found in the environment: " + name
		}
	}
	return ""
}

// forkBomb starts processes that sleep, until it is refused or has enough.
func forkBomb([]string) string {
	started := 0
	for range attempts {
		if !start(nil, "sleep", "2s") {
			break
		}
		started++
	}
	if started == attempts {
		return fmt.Sprintf("started %d processes", started)
	}
	return ""
}

// threads does the same with threads, which no system call filter can refuse.
// A Go program that is refused a thread dies.
func threads([]string) string {
	ready := make(chan bool)
	for range attempts {
		go func() {
			runtime.LockOSThread()
			ready <- true
			time.Sleep(time.Minute)
		}()
	}
	for range attempts {
		<-ready
	}
	return fmt.Sprintf("runs %d threads", attempts)
}

// memory touches as many mebibytes as it is told.
func memory(args []string) string {
	n, _ := strconv.Atoi(args[0])
	var kept [][]byte
	for range n {
		kept = append(kept, bytes.Repeat([]byte{1}, 1<<20))
	}
	runtime.KeepAlive(kept)
	return fmt.Sprintf("used %d MiB", n)
}

// processors counts the processors that it may run on.
func processors([]string) string {
	if n := runtime.NumCPU(); n > 1 {
		return fmt.Sprintf("may use %d processors", n)
	}
	return ""
}

func endlessOutput(args []string) string {
	limit, _ := strconv.Atoi(args[0])
	line := bytes.Repeat([]byte{'x'}, 4096)
	for written := 0; written < limit; {
		n, err := os.Stdout.Write(line)
		if errors.Is(err, syscall.EPIPE) {
			return ""
		}
		written += n
	}
	return "wrote everything"
}

func sleep(args []string) string {
	d, _ := time.ParseDuration(args[0])
	time.Sleep(d)
	return "slept to the end"
}

func exit(args []string) string {
	code, _ := strconv.Atoi(args[0])
	os.Exit(code)
	return ""
}
