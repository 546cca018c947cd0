//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// onDemand delivers SIGUSR1, which asks for one line of progress.
func onDemand() (<-chan os.Signal, func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR1)
	return c, func() { signal.Stop(c) }
}
