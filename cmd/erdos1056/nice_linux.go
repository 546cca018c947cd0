package main

import (
	"os"
	"strconv"
	"syscall"
)

// lowestPriority gives way to every other process. Linux keeps a priority for each thread,
// and new threads take that of the one that makes them.
func lowestPriority() error {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	for _, t := range threads {
		id, err := strconv.Atoi(t.Name())
		if err != nil {
			return err
		}
		if err := syscall.Setpriority(syscall.PRIO_PROCESS, id, 19); err != nil && err != syscall.ESRCH {
			return err
		}
	}
	return nil
}
