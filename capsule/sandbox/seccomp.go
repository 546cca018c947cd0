package sandbox

import (
	"errors"
	"runtime"
	"slices"

	seccomp "github.com/elastic/go-seccomp-bpf"
	specs "github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"
)

// allowedCalls is what a static program needs to compute, read its files, write
// to the streams that it was given, and run threads. Everything else is refused
// with EPERM, above all: new processes, sockets, namespaces, mounts, tracing,
// shared memory, signals to others, changes of scheduling and limits.
var allowedCalls = []string{
	"read", "readv", "pread64", "write", "writev", "close", "lseek", "fcntl", "dup", "dup3",
	"openat", "fstat", "newfstatat", "statx", "getdents64", "readlinkat", "faccessat", "getcwd",
	"munmap", "mprotect", "mremap", "madvise", "brk",
	"rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigtimedwait", "rt_sigsuspend", "sigaltstack", "tgkill",
	"futex", "set_robust_list", "set_tid_address", "rseq", "restart_syscall", "membarrier",
	"nanosleep", "clock_gettime", "clock_getres", "clock_nanosleep", "gettimeofday",
	"timer_create", "timer_settime", "timer_delete", "setitimer",
	"sched_yield", "sched_getaffinity", "getrusage", "sysinfo", "uname", "getrandom",
	"getpid", "getppid", "gettid", "getuid", "geteuid", "getgid", "getegid", "getgroups", "getrlimit",
	"capget", "ppoll", "pselect6", "epoll_create1", "epoll_ctl", "epoll_pwait", "eventfd2", "pipe2",
	"execve", "exit", "exit_group",
}

// legacyCalls are the older spellings that only amd64 has.
var legacyCalls = []string{
	"arch_prctl", "open", "stat", "lstat", "access", "readlink", "poll", "select", "epoll_create", "epoll_wait",
	"pipe", "dup2", "time",
}

// workspaceCalls are allowed to a program with a workspace, to write files and
// folders there. Links, pipes and devices are not made.
var workspaceCalls = []string{
	"pwrite64", "pwritev", "ftruncate", "truncate", "fallocate", "fsync", "fdatasync", "copy_file_range",
	"mkdirat", "unlinkat", "renameat", "renameat2", "fchmod", "fchmodat", "utimensat", "chdir", "fchdir", "flock", "umask", "statfs", "fstatfs",
}

// legacyWorkspaceCalls are the older spellings that only amd64 has.
var legacyWorkspaceCalls = []string{"creat", "mkdir", "rmdir", "unlink", "rename", "chmod"}

// A partialCall is allowed if its argument, masked, has the value.
type partialCall struct {
	name        string
	argument    uint
	mask, value uint64
}

const whole = ^uint64(0)

var partialCalls = []partialCall{
	{"clone", 0, unix.CLONE_THREAD, unix.CLONE_THREAD},                // threads, not processes
	{"mmap", 3, unix.MAP_PRIVATE | unix.MAP_SHARED, unix.MAP_PRIVATE}, // memory that RLIMIT_DATA counts
	{"prlimit64", 2, whole, 0},                                        // reads limits: there are no new ones
	{"prctl", 0, whole, unix.PR_GET_NO_NEW_PRIVS},                     // lets a program look at itself
	{"prctl", 0, whole, unix.PR_CAPBSET_READ},                         //
	{"prctl", 0, whole, unix.PR_SET_VMA},                              // names memory for debuggers
}

// absentCall looks as if the kernel did not know it: a C library then falls
// back to clone, whose flags a filter can see.
const absentCall = "clone3"

func (c Command) unconditionalCalls() []string {
	calls := slices.Clone(allowedCalls)
	if c.Workspace != nil {
		calls = append(calls, workspaceCalls...)
	}
	if runtime.GOARCH != "amd64" {
		return calls
	}
	calls = append(calls, legacyCalls...)
	if c.Workspace != nil {
		calls = append(calls, legacyWorkspaceCalls...)
	}
	return calls
}

// loadSeccomp installs the filter on the calling thread. It cannot be undone.
func loadSeccomp(command Command) error {
	if !seccomp.Supported() {
		return errors.New("seccomp: this kernel has no system call filter")
	}
	var partial []seccomp.NameWithConditions
	for _, c := range partialCalls {
		call := seccomp.NameWithConditions{Name: c.name}
		condition := func(operation seccomp.Operation, value uint64) {
			call.Conditions = append(call.Conditions, seccomp.Condition{Argument: uint32(c.argument), Operation: operation, Value: value})
		}
		if c.mask == whole {
			condition(seccomp.Equal, c.value)
		} else {
			condition(seccomp.BitsSet, c.value) // a single bit in every rule
			if other := c.mask &^ c.value; other != 0 {
				condition(seccomp.BitsNotSet, other)
			}
		}
		partial = append(partial, call)
	}
	return seccomp.LoadFilter(seccomp.Filter{NoNewPrivs: true, Policy: seccomp.Policy{
		DefaultAction: seccomp.ActionErrno,
		Syscalls: []seccomp.SyscallGroup{
			{Action: seccomp.ActionAllow, Names: command.unconditionalCalls()},
			{Action: seccomp.ActionErrno | seccomp.Action(unix.ENOSYS), Names: []string{absentCall}},
			{Action: seccomp.ActionAllow, NamesWithCondtions: partial},
		},
	}})
}

// seccompProfile is the same filter in the form of the OCI runtime
// specification, which runc, podman and docker read. These need a few calls more
// for themselves, between loading the filter and starting the program.
func (c Command) seccompProfile() *specs.LinuxSeccomp {
	missing, refused := uint(unix.ENOSYS), uint(unix.EPERM)
	profile := &specs.LinuxSeccomp{
		DefaultAction:   specs.ActErrno,
		DefaultErrnoRet: &refused,
		Syscalls: []specs.LinuxSyscall{
			{Names: append(c.unconditionalCalls(), "fstatfs", "close_range"), Action: specs.ActAllow},
			{Names: []string{absentCall}, Action: specs.ActErrno, ErrnoRet: &missing},
		},
	}
	for _, call := range partialCalls {
		argument := specs.LinuxSeccompArg{Index: call.argument, Value: call.value, Op: specs.OpEqualTo}
		if call.mask != whole {
			argument = specs.LinuxSeccompArg{Index: call.argument, Value: call.mask, ValueTwo: call.value, Op: specs.OpMaskedEqual}
		}
		profile.Syscalls = append(profile.Syscalls, specs.LinuxSyscall{
			Names: []string{call.name}, Action: specs.ActAllow, Args: []specs.LinuxSeccompArg{argument},
		})
	}
	return profile
}
