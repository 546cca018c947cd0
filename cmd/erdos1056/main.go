// Command erdos1056 searches ranges of primes for consecutive intervals of product 1
// (Erdős problem 1056), replays and checks what others found, and lists fibers.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// Exit codes, the same for every command of this project.
const (
	exitDone        = 0
	exitMismatch    = 1
	exitUsage       = 64
	exitNoInput     = 66
	exitInternal    = 70
	exitInterrupted = 75
)

const usage = `erdos1056 finds, for every prime p of a range, the largest set of cuts t with equal t! mod p.

  erdos1056 --range A..B [flags]        search a range, write the artifact
  erdos1056 --range A..B --checkpoint DIR   the same, to be stopped and resumed
  erdos1056 plan --range A..B           what a search will cost; job scripts for many machines
  erdos1056 status DIR                  how far a campaign has come
  erdos1056 merge DIR... --output FILE  one artifact and one ledger of many shards
  erdos1056 audit DIR                   draw primes from a ledger and recompute them
  erdos1056 replay ARTIFACT             recompute an artifact with the other kernel
  erdos1056 fibers --range A..B         list the large fibers, or those of one residue
  erdos1056 witness FILE                check the intervals of a witness file
  erdos1056 certify FILE                turn a witness into a Lean proof
  erdos1056 selftest                    test this program on this machine
  erdos1056 cpu | version | help

Example:  erdos1056 --range 10428401..10428600 --output artifact.txt
Flags of a verb:  erdos1056 VERB --help      of the search:  erdos1056 search --help

Exit codes: 0 done or verified, 1 mismatch or failed check, 64 usage,
66 input missing, 70 internal error, 75 interrupted, to be resumed.
`

var verbs = map[string]func(context.Context, []string) error{
	"search":   runSearch,
	"plan":     runPlan,
	"status":   runStatus,
	"merge":    runMerge,
	"audit":    runAudit,
	"replay":   runReplay,
	"fibers":   runFibers,
	"witness":  runWitness,
	"certify":  runCertify,
	"selftest": runSelftest,
	"cpu":      runCPU,
	"version":  runVersion,
}

func main() {
	ctx, stop := interruptible()
	code := exitCode(run(ctx, os.Args[1:]))
	stop()
	os.Exit(code)
}

// run picks the verb. A call that begins with a flag is a search.
func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		fmt.Fprint(os.Stderr, usage)
		return usageError("no range given; write %s", "erdos1056 --range A..B")
	}
	switch verb := args[0]; {
	case verb == "help" || verb == "--help" || verb == "-h":
		fmt.Print(usage)
		return nil
	case strings.HasPrefix(verb, "-"):
		return runSearch(ctx, args)
	case verbs[verb] != nil:
		return verbs[verb](ctx, args[1:])
	default:
		return usageError("%q is not a verb; see erdos1056 help", verb)
	}
}

// interruptible returns a context that the first SIGINT or SIGTERM cancels; a second one
// ends the process at once.
func interruptible() (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		fmt.Fprintln(os.Stderr, "\nstopping after the current primes (again to stop at once)")
		cancel()
		<-signals
		os.Exit(exitInterrupted)
	}()
	return ctx, cancel
}

// A codedError carries the exit code of a failure.
type codedError struct {
	code int
	err  error
}

func (e *codedError) Error() string { return e.err.Error() }
func (e *codedError) Unwrap() error { return e.err }

func usageError(format string, args ...any) error {
	return &codedError{exitUsage, fmt.Errorf(format, args...)}
}

// exitCode prints the error, if there is one, and returns its code.
func exitCode(err error) int {
	if err == nil {
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
	fmt.Fprintf(os.Stderr, "erdos1056: %v\n", err)
	return code
}
