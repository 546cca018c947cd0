package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/erdos1056/erdos1056/internal/disk"
)

// Exit codes, the same for every verb of every command.
const (
	Done     = 0  // done or verified
	Failed   = 1  // a check failed: what was judged is not what it claims to be
	Usage    = 64 // the command line is wrong
	BadInput = 65 // an input is not what it should be
	NoInput  = 66 // an input is missing or cannot be read
	Internal = 70 // a fault of a program, or no verdict
	NoOutput = 73 // an output cannot be made
	TryAgain = 75 // interrupted, or prevented by what may go away by itself
)

// exitCodes is the table as help prints it.
const exitCodes = `Exit codes: 0 done or verified, 1 a check failed, 64 usage, 65 an input is not
what it should be, 66 an input is missing, 70 fault of a program or no verdict,
73 an output cannot be made, 75 interrupted or try again later.
`

// A coded error carries its exit code.
type coded struct {
	code int
	err  error
}

func (e *coded) Error() string { return e.err.Error() }
func (e *coded) Unwrap() error { return e.err }

// WithCode returns the error with an exit code of its own; nil stays nil.
func WithCode(code int, err error) error {
	if err == nil {
		return nil
	}
	return &coded{code, err}
}

// Exit is an error that ends the command with a code and without a message: what there was
// to say has been said.
func Exit(code int) error { return &coded{code, errSaid} }

var errSaid = errors.New("")

// Usagef is the error of a wrong command line.
func Usagef(format string, args ...any) error { return &coded{Usage, fmt.Errorf(format, args...)} }

// Failf is the error of a check that failed.
func Failf(format string, args ...any) error { return &coded{Failed, fmt.Errorf(format, args...)} }

// BadInputf is the error of an input that is not what it should be.
func BadInputf(format string, args ...any) error {
	return &coded{BadInput, fmt.Errorf(format, args...)}
}

// ExitCode returns the exit code of an error. One that carries none is told by its class: a
// program that is not at fault says what is.
func ExitCode(err error) int {
	var own *coded
	var output *disk.WriteError
	switch {
	case err == nil:
		return Done
	case errors.Is(err, context.Canceled):
		return TryAgain
	case errors.As(err, &own):
		return own.code
	case disk.Temporary(err), unreachable(err):
		return TryAgain
	case errors.As(err, &output), errors.Is(err, syscall.EPIPE):
		return NoOutput
	case errors.Is(err, disk.ErrKind), errors.Is(err, disk.ErrTooLarge), errors.Is(err, syscall.EISDIR):
		return BadInput
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ELOOP),
		errors.Is(err, syscall.ENAMETOOLONG):
		return NoInput
	}
	return Internal
}

// unreachable reports whether another machine did not answer.
func unreachable(err error) bool {
	var silent interface{ Timeout() bool }
	if errors.As(err, &silent) && silent.Timeout() {
		return true
	}
	for _, e := range []error{syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.ETIMEDOUT} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
