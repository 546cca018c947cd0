package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// allowedCores lists the cores that this process may use.
func allowedCores() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("reading the cores that this process may use: %w", err)
	}
	var cores []int
	for core := range 64 * len(set) {
		if set.IsSet(core) {
			cores = append(cores, core)
		}
	}
	return cores, nil
}

// measure runs a command shut in on the last cores that this process may use (the first
// ones serve most interrupts). It is a runner.
//
// The kernel counts the largest resident set from the fork on, so no process seems to
// use less memory than this one, a few megabytes.
func measure(ctx context.Context, argv []string, cores int) (Run, string, error) {
	allowed, err := allowedCores()
	if err != nil {
		return Run{}, "", err
	}
	if cores > len(allowed) {
		return Run{}, "", fmt.Errorf("expected %d cores, may use %d", cores, len(allowed))
	}
	if err := wake(allowed[len(allowed)-cores:]); err != nil {
		return Run{}, "", err
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	answer := sha256.New()
	var messages tail
	cmd.Stdout, cmd.Stderr = answer, &messages
	started := time.Now()
	if err := startOn(cmd, allowed[len(allowed)-cores:]); err != nil {
		return Run{}, "", err
	}
	err = cmd.Wait()
	wall := time.Since(started)
	if ctx.Err() != nil {
		return Run{}, "", ctx.Err()
	}
	if err != nil {
		return Run{}, "", fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, messages)
	}
	state := cmd.ProcessState
	used := Run{CPU: state.UserTime() + state.SystemTime(), Wall: wall,
		Memory: state.SysUsage().(*syscall.Rusage).Maxrss << 10} // Linux counts KiB
	return used, hex.EncodeToString(answer.Sum(nil)), nil
}

// wakeTime is how long cores are kept busy before a run.
const wakeTime = 300 * time.Millisecond

// wake keeps some cores busy for a moment. A core that was idle is slow at first, or not there
// at all where a hypervisor lends it: after a tenth of a second of sleep two threads
// took 10 % longer for the artifact. The core of the runs on one core is never idle for long.
func wake(cores []int) error {
	failures := make([]error, len(cores))
	var workers sync.WaitGroup
	for i, core := range cores {
		workers.Go(func() {
			runtime.LockOSThread() // a thread that ends with the goroutine
			var set unix.CPUSet
			set.Set(core)
			if err := unix.SchedSetaffinity(0, &set); err != nil {
				failures[i] = fmt.Errorf("pinning to core %d: %w", core, err)
				return
			}
			for end := time.Now().Add(wakeTime); time.Now().Before(end); {
			}
		})
	}
	workers.Wait()
	return errors.Join(failures...)
}

// startOn starts a command on the given cores. A child inherits the cores of the thread
// that forks it, so the thread is shut in for that moment.
func startOn(cmd *exec.Cmd, cores []int) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, wanted unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return fmt.Errorf("reading the cores of a thread: %w", err)
	}
	for _, core := range cores {
		wanted.Set(core)
	}
	if err := unix.SchedSetaffinity(0, &wanted); err != nil {
		return fmt.Errorf("pinning to cores %v: %w", cores, err)
	}
	err := cmd.Start()
	if restored := unix.SchedSetaffinity(0, &before); err == nil && restored != nil {
		return fmt.Errorf("giving a thread its cores back: %w", restored)
	}
	return err
}
