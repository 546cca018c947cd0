package sandbox

import (
	"fmt"
	"runtime"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"golang.org/x/sys/unix"
)

// allowedSyscalls is what a static program needs to compute, read its files,
// write to the streams that it was given, and run threads. Everything else is
// refused with EPERM, above all: new processes, sockets, namespaces, mounts,
// tracing, shared memory, signals to others, changes of scheduling and limits.
var allowedSyscalls = []string{
	"read", "readv", "pread64", "write", "writev", "close", "lseek", "fcntl", "dup", "dup3",
	"openat", "fstat", "newfstatat", "statx", "getdents64", "readlinkat", "faccessat", "getcwd",
	"munmap", "mprotect", "mremap", "madvise", "brk",
	"rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigtimedwait", "rt_sigsuspend", "sigaltstack", "tgkill",
	"futex", "set_robust_list", "set_tid_address", "rseq", "restart_syscall", "membarrier",
	"nanosleep", "clock_gettime", "clock_getres", "clock_nanosleep", "gettimeofday",
	"timer_create", "timer_settime", "timer_delete", "setitimer",
	"sched_yield", "sched_getaffinity", "getrusage", "sysinfo", "uname", "getrandom",
	"getpid", "getppid", "gettid", "getuid", "geteuid", "getgid", "getegid", "getrlimit",
	"capget", "ppoll", "pselect6", "epoll_create1", "epoll_ctl", "epoll_pwait", "eventfd2", "pipe2",
	"execve", "exit", "exit_group",
}

// legacySyscalls are the older spellings that only amd64 has.
var legacySyscalls = []string{
	"arch_prctl", "open", "stat", "lstat", "access", "readlink", "poll", "select", "epoll_create", "epoll_wait",
	"pipe", "dup2", "time",
}

// Some calls are allowed for one use only.
const (
	cloneThread = unix.CLONE_THREAD // threads, not processes
	mapPrivate  = unix.MAP_PRIVATE  // memory that RLIMIT_DATA counts
	mapShared   = unix.MAP_SHARED
	noLimit     = 0 // prlimit64 may read limits: its new-limit argument is null
	getSetting  = unix.PR_GET_NO_NEW_PRIVS
	readBound   = unix.PR_CAPBSET_READ
	nameMapping = unix.PR_SET_VMA
)

// syscallNames returns the unconditionally allowed calls of an architecture in
// Go's spelling.
func syscallNames(arch string) []string {
	names := append([]string(nil), allowedSyscalls...)
	if arch == "amd64" {
		names = append(names, legacySyscalls...)
	}
	return names
}

// loadSeccomp installs the filter on the calling thread. It cannot be undone.
func loadSeccomp() error {
	only := func(name string, conditions ...seccomp.Condition) seccomp.NameWithConditions {
		return seccomp.NameWithConditions{Name: name, Conditions: conditions}
	}
	policy := seccomp.Policy{
		DefaultAction: seccomp.ActionErrno,
		Syscalls: []seccomp.SyscallGroup{
			{Action: seccomp.ActionAllow, Names: syscallNames(runtime.GOARCH)},
			// A C library tries clone3 first and falls back to clone only on ENOSYS.
			{Action: seccomp.ActionErrno | seccomp.Action(unix.ENOSYS), Names: []string{"clone3"}},
			{Action: seccomp.ActionAllow, NamesWithCondtions: []seccomp.NameWithConditions{
				only("clone", seccomp.Condition{Argument: 0, Operation: seccomp.BitsSet, Value: cloneThread}),
				only("mmap",
					seccomp.Condition{Argument: 3, Operation: seccomp.BitsSet, Value: mapPrivate},
					seccomp.Condition{Argument: 3, Operation: seccomp.BitsNotSet, Value: mapShared}),
				only("prlimit64", seccomp.Condition{Argument: 2, Operation: seccomp.Equal, Value: noLimit}),
				only("prctl", seccomp.Condition{Argument: 0, Operation: seccomp.Equal, Value: getSetting}),
				only("prctl", seccomp.Condition{Argument: 0, Operation: seccomp.Equal, Value: readBound}),
				only("prctl", seccomp.Condition{Argument: 0, Operation: seccomp.Equal, Value: nameMapping}),
			}},
		},
	}
	if !seccomp.Supported() {
		return fmt.Errorf("seccomp: this kernel has no system call filter")
	}
	return seccomp.LoadFilter(seccomp.Filter{NoNewPrivs: true, Policy: policy})
}
