// Command bench compares erdos1056 with the published method, kernel with kernel, and
// HEAD with the last tag, by CPU time and peak memory. README.md says how to read it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"
)

// Exit codes, the same as those of the commands.
const (
	exitDone        = 0
	exitMismatch    = 1
	exitUsage       = 64
	exitInternal    = 70
	exitInterrupted = 75
)

const usage = `bench compares programs that search for fibers, on one core, by CPU time and peak memory.

  go run ./bench [flags]        the baseline, every kernel of this machine, and peers
  go run ./bench gate [flags]   HEAD against the last tag

Exit codes: 0 done, 1 HEAD is slower or two programs disagree, 64 usage, 70 internal error,
75 interrupted.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := exitCode(run(ctx, os.Args[1:], os.Stdout, os.Stderr), os.Stderr)
	stop()
	os.Exit(code)
}

// run picks the verb. Without one it is the comparison with the baseline.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) > 0 && args[0] == "gate" {
		return runGate(ctx, args[1:], stdout, stderr)
	}
	return runCompare(ctx, args, stdout, stderr)
}

// parse reads flags and refuses everything else. Asking for help is errHelp.
func parse(f *pflag.FlagSet, args []string, stdout io.Writer) error {
	f.SortFlags = false
	f.SetOutput(io.Discard)
	f.Usage = func() { fmt.Fprint(stdout, usage, "\nFlags:\n", f.FlagUsages()) }
	err := f.Parse(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return errHelp
	case err != nil:
		return &codedError{exitUsage, fmt.Errorf("%w; see go run ./bench --help", err)}
	case f.NArg() > 0:
		return &codedError{exitUsage, fmt.Errorf("%q is neither a verb nor a flag; see go run ./bench --help", f.Arg(0))}
	}
	return nil
}

// errHelp ends a verb whose help was asked for and printed.
var errHelp = errors.New("help")

// A codedError carries the exit code of a failure.
type codedError struct {
	code int
	err  error
}

func (e *codedError) Error() string { return e.err.Error() }
func (e *codedError) Unwrap() error { return e.err }

// exitCode prints the error, if there is one, and returns its code.
func exitCode(err error, stderr io.Writer) int {
	if err == nil || errors.Is(err, errHelp) {
		return exitDone
	}
	code := exitInternal
	var coded *codedError
	switch {
	case errors.Is(err, context.Canceled):
		code, err = exitInterrupted, errors.New("interrupted; nothing was written")
	case errors.As(err, &coded):
		code = coded.code
	}
	fmt.Fprintf(stderr, "bench: %v\n", err)
	return code
}
