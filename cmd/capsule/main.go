// Command capsule makes frozen verifiers, packs them into images that anyone can
// rebuild to the same digest, and runs them shut in.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/sandbox"
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

// A verb is one thing that the command does; each has a file of its own. Its
// name is one or two words.
type verb struct {
	name    string
	summary string
	example string
	// declare adds the verb's flags and returns what to do once they are parsed.
	declare func(flags *pflag.FlagSet) func(context.Context, *call) error
}

var verbs = []verb{
	build, image, replayVerb, elaborateVerb, attest, verifyAttestation,
	missionPrepare, missionValidate, profileList, profileShow, profileValidate, profilePack, profileNew,
	runVerb, inspect, verify, publishRun, schemaVerb,
	keygen, trust, declare, conform, verifyManifest, bundleExport, bundleSign, bundleCosign, bundleVerify,
	doctor,
}

// A call is what a verb is given besides its flags.
type call struct {
	args           []string
	stdout, stderr io.Writer
	json           bool
}

func main() {
	sandbox.RunInit()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run finds the verb, parses its flags, and turns its error into an exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		usage(stderr)
		return exitUsage
	}
	switch args[0] {
	case "help", "--help", "-h":
		usage(stdout)
		return exitDone
	}
	for _, v := range verbs {
		words := strings.Fields(v.name)
		if len(args) >= len(words) && slices.Equal(args[:len(words)], words) {
			return v.run(ctx, args[len(words):], stdout, stderr)
		}
	}
	fmt.Fprintf(stderr, "capsule: %q is not a verb; see capsule help\n", args[0])
	return exitUsage
}

func usage(w io.Writer) {
	fmt.Fprint(w, "capsule makes frozen verifiers of Erdős problem 1056, packs and runs them.\n\n")
	for _, v := range verbs {
		fmt.Fprintf(w, "  capsule %-20s %s\n", v.name, v.summary)
	}
	fmt.Fprint(w, `
Example:  capsule replay --image oci:dist/oci@sha256:... --artifact artifact.txt
Flags of a verb:  capsule VERB --help

Exit codes: 0 done or verified, 1 mismatch or failed check, 64 usage,
66 input missing, 70 internal error or no verdict, 75 interrupted; of
elaborate also 2 declined.
`)
}

func (v verb) run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := pflag.NewFlagSet(v.name, pflag.ContinueOnError)
	flags.SortFlags = false
	flags.SetOutput(io.Discard)
	act := v.declare(flags)
	asJSON := flags.Bool("json", false, "print JSON lines")
	c := &call{stdout: stdout, stderr: stderr}
	err := flags.Parse(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		fmt.Fprintf(stdout, "capsule %s: %s\n\n%s\nExample:  %s\n", v.name, v.summary, flags.FlagUsages(), v.example)
		return exitDone
	case err != nil:
		err = usageError("%v", err)
	default:
		c.args, c.json = flags.Args(), *asJSON
		err = act(ctx, c)
	}
	if err == nil {
		return exitDone
	}
	code := exitCode(err)
	if c.json {
		c.line(map[string]any{"type": "error", "exit_code": code, "message": err.Error()})
	}
	fmt.Fprintf(stderr, "capsule %s: %v\n", v.name, err)
	return code
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

func mismatchError(format string, args ...any) error {
	return &codedError{exitMismatch, fmt.Errorf(format, args...)}
}

// failedCheck is the error of a document that was read and is not what it must
// be. A file that is missing stays one, and a limit of the reader is no verdict.
func failedCheck(err error) error {
	var limit *canon.LimitError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return err
	case errors.As(err, &limit):
		return fmt.Errorf("no verdict: %w", err)
	}
	return &codedError{exitMismatch, err}
}

func exitCode(err error) int {
	var coded *codedError
	switch {
	case errors.As(err, &coded):
		return coded.code
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.Is(err, fs.ErrNotExist):
		return exitNoInput
	}
	return exitInternal
}

// line prints one JSON object.
func (c *call) line(object map[string]any) error {
	e := json.NewEncoder(c.stdout)
	e.SetEscapeHTML(false)
	return e.Encode(object)
}

// print prints a result: the object with --json, else the text.
func (c *call) print(object map[string]any, format string, args ...any) error {
	if c.json {
		return c.line(object)
	}
	_, err := fmt.Fprintf(c.stdout, format+"\n", args...)
	return err
}

// say prints a message for people.
func (c *call) say(format string, args ...any) {
	fmt.Fprintf(c.stderr, format+"\n", args...)
}

// noArguments refuses what is left after the flags.
func (c *call) noArguments() error {
	if len(c.args) > 0 {
		return usageError("%q is not expected; everything is said with flags", strings.Join(c.args, " "))
	}
	return nil
}

// sourceDateEpoch reads SOURCE_DATE_EPOCH, the only clock of reproducible
// results; without it they are dated 1970.
func sourceDateEpoch() (seconds int64, set bool, err error) {
	text, set := os.LookupEnv("SOURCE_DATE_EPOCH")
	if !set {
		return 0, false, nil
	}
	seconds, err = strconv.ParseInt(text, 10, 64)
	if err != nil || seconds < 0 || seconds > 253402300799 {
		return 0, true, usageError("SOURCE_DATE_EPOCH=%q: want seconds since 1970 in decimal, at most 253402300799", text)
	}
	return seconds, true, nil
}
