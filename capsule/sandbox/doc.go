// Package sandbox runs one verifier shut in and says how it ended.
//
// A verifier is a program that nobody has to trust: it reads the artifacts that
// are named, answers with its exit code and its output, and can do nothing else.
// It has no network, no writable file, no other process, no privilege and no
// way to gain one, no environment, and bounded memory, processes, processors,
// time and output. It sees only the files that the [Command] names; they are
// copied before the program starts, so what runs is what was read.
//
// Two things are given only on demand, to programs that make something. A
// [Folder] of this machine is seen in place, read-only with all mounts below it.
// A [Workspace] is one folder to write to, of bounded size and number of
// entries. What is left in it comes back as names and bytes. The workspace lies
// in a memory file system that only the sandbox's mount namespace has; before
// the program starts, the stage that mounted it hands the caller an open
// descriptor of its root. The caller reads through that descriptor after all
// processes of the sandbox are dead, one name at a time, following nothing. So
// nothing is ever written to a disk of this machine, no path of the program's is
// resolved on it, and no helper has to stay alive inside, next to the program,
// to send the files out.
//
// One interface, [Runtime], has several implementations, in this order of
// preference: the built-in one, which needs nothing but the kernel; runc; podman
// and docker. All of them apply every protection or refuse with the reason. A
// program that was stopped by a limit or by a signal is reported as such, never
// as a verdict: see [Outcome].
//
// A program that links this package must call [RunInit] first thing in main:
// the built-in runtime starts the same executable again inside new namespaces,
// to close the door behind itself and become the verifier.
package sandbox
