// Package sandbox runs one verifier shut in and says how it ended.
//
// A verifier is a program that nobody has to trust: it reads the artifacts that
// are named, answers with its exit code and its output, and can do nothing else.
// It has no network, no writable file, no other process, no privilege and no
// way to gain one, no environment, and bounded memory, processes, processors,
// time and output. It sees only the files that the [Command] names; they are
// copied before the program starts, so what runs is what was read.
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
