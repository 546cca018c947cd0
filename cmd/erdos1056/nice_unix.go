//go:build unix && !linux && !solaris && !aix

package main

import "syscall"

// lowestPriority gives way to every other process.
func lowestPriority() error { return syscall.Setpriority(syscall.PRIO_PROCESS, 0, 19) }
