package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

// interruptible returns a context that the first SIGINT, SIGTERM or SIGHUP cancels; a second
// one ends the process at once. A signal that the process was started without, as by nohup,
// stays ignored. A reader that has gone away is an error of writing, not the end.
func interruptible(stderr io.Writer) (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	go func() {
		<-signals
		fmt.Fprintln(stderr, "\nstopping (again to end at once)")
		cancel()
		<-signals
		if restore := restoreTerminal.Load(); restore != nil {
			(*restore)()
		}
		os.Exit(TryAgain)
	}()
	return ctx, cancel
}

// restoreTerminal undoes what a prompt did to the terminal.
var restoreTerminal atomic.Pointer[func()]
