// Package cli is what the commands of this project have in common: verbs and their help,
// flags, exit codes, signals, streams, and how foreign text and numbers are shown.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/internal/disk"
)

// A Command is a program with verbs, or with one task and no verbs.
type Command struct {
	Name    string
	About   string  // one sentence
	Groups  []Group // of verbs
	Default string  // the verb of a command line that begins with a flag; "" for none
	Only    *Verb   // the task of a command without verbs
	Example string
	Notes   string // at the end of the help, behind the exit codes

	// ExitCode replaces the table of this package, and its text in the help, for a command
	// whose callers rely on others.
	ExitCode  func(error) int
	ExitCodes string

	// Version is what --version adds to the version of the module.
	Version func() string
	// Interrupted is what an interruption is told as; by default "interrupted".
	Interrupted string
}

// A Group is some verbs under a title.
type Group struct {
	Title string
	Verbs []Verb
}

// A Verb is one thing that a command does.
type Verb struct {
	Name    string // one or two words
	Args    string // as help writes them: "FILE", "DIR...", "[DIR]"; "" for none
	Summary string // a line without a full stop
	Details string // paragraphs for the help, if there is more to say
	Example string // one command line or several lines
	Text    bool   // it prints text alone: no --json

	// Declare adds the verb's flags and returns what to do once they are parsed.
	Declare func(flags *pflag.FlagSet) func(context.Context, *Call) error
}

// Main runs the command on the arguments and streams of the process, and ends it.
func (c *Command) Main() {
	ctx, stop := interruptible(os.Stderr)
	code := c.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	if err := os.Stdout.Close(); err != nil && code == Done {
		code = c.report(err, os.Stderr, c.Name) // a disk that was full at the last moment
	}
	stop()
	os.Exit(code)
}

// Run runs the command and returns its exit code.
func (c *Command) Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	out := &checked{writer: stdout}
	call := &Call{Stdin: stdin, Stdout: out, Stderr: stderr}
	name := c.Name
	defer func() {
		if fault := recover(); fault != nil {
			fmt.Fprintf(stderr, "%s: %v\n%s", name, fault, debug.Stack())
			code = c.code(errors.New("panic"))
		}
	}()
	verb, err := c.find(args, call)
	if verb != nil {
		if c.Only == nil {
			name += " " + verb.Name
		}
		err = c.call(ctx, verb, c.rest(args, verb), call)
	}
	if ctx.Err() != nil && err != nil && c.code(err) == c.code(errInternal) {
		err = context.Canceled // what an interruption broke is no fault
	}
	if out.err != nil && (err == nil || errors.Is(err, out.err) || errors.Is(err, errSaid)) {
		err = &disk.WriteError{Path: "standard output", Err: out.err}
	}
	if err != nil && call.JSON && out.err == nil && !errors.Is(err, errSaid) {
		call.Line(map[string]any{"type": "error", "exit_code": c.code(err), "message": err.Error()})
	}
	return c.report(err, stderr, name)
}

var errInternal = errors.New("fault")

func (c *Command) code(err error) int {
	if c.ExitCode != nil {
		return c.ExitCode(err)
	}
	return ExitCode(err)
}

// report tells of an error, if there is one, and returns its exit code.
func (c *Command) report(err error, stderr io.Writer, name string) int {
	code := c.code(err)
	switch {
	case err == nil || errors.Is(err, errSaid):
	case err == context.Canceled || errors.Is(err, context.Canceled) && !saysMore(err):
		fmt.Fprintf(stderr, "%s: %s\n", name, cmp.Or(c.Interrupted, "interrupted"))
	default:
		fmt.Fprintf(stderr, "%s: %s\n", name, indent(Clean(err.Error())))
	}
	return code
}

// saysMore reports whether an interruption is told of in words of its own.
func saysMore(err error) bool {
	var own *coded
	return errors.As(err, &own)
}

// indent sets the lines behind the first apart, so that none looks like the start of a
// message.
func indent(text string) string {
	return strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ")
}

// find returns the verb that the arguments begin with; nil after help, the version or an
// error.
func (c *Command) find(args []string, call *Call) (*Verb, error) {
	if c.Only != nil {
		return c.Only, nil
	}
	if len(args) == 0 {
		c.help(call.Stderr, "")
		return nil, Usagef("no verb given")
	}
	switch args[0] {
	case "help":
		return nil, c.helpOn(args[1:], call)
	case "--help", "-h":
		c.help(call.Stdout, "")
		return nil, nil
	case "version", "--version":
		if len(args) > 1 {
			return nil, Usagef("%s takes no arguments", args[0])
		}
		return nil, call.Print("%s", c.version())
	}
	if c.Default != "" && strings.HasPrefix(args[0], "-") {
		return c.verb(c.Default), nil
	}
	if v := c.longest(args); v != nil {
		return v, nil
	}
	return nil, c.unknown(args, call)
}

// longest returns the verb whose words the arguments begin with.
func (c *Command) longest(args []string) *Verb {
	for n := min(2, len(args)); n > 0; n-- {
		if v := c.verb(strings.Join(args[:n], " ")); v != nil {
			return v
		}
	}
	return nil
}

func (c *Command) verb(name string) *Verb {
	for _, g := range c.Groups {
		for i := range g.Verbs {
			if g.Verbs[i].Name == name {
				return &g.Verbs[i]
			}
		}
	}
	return nil
}

// rest returns the arguments behind the verb.
func (c *Command) rest(args []string, v *Verb) []string {
	if c.Only != nil || c.Default == v.Name && (len(args) == 0 || strings.HasPrefix(args[0], "-")) {
		return args
	}
	return args[len(strings.Fields(v.Name)):]
}

// unknown tells of arguments that begin with no verb: the first word of some verbs, or a
// word that resembles one.
func (c *Command) unknown(args []string, call *Call) error {
	first := args[0] + " "
	if slices.ContainsFunc(c.names(), func(name string) bool { return strings.HasPrefix(name, first) }) {
		if len(args) == 1 {
			c.help(call.Stderr, first)
			return Usagef("%q begins several verbs; write one of them", args[0])
		}
		if args[1] == "--help" || args[1] == "-h" {
			c.help(call.Stdout, first)
			return nil
		}
		return Usagef("%q is not a verb%s; see %s help %s", strings.Join(args[:2], " "), didYouMean(strings.Join(args[:2], " "), c.names()), c.Name, args[0])
	}
	return Usagef("%q is not a verb%s; see %s help", args[0], didYouMean(args[0], c.names()), c.Name)
}

func (c *Command) names() []string {
	var names []string
	for _, g := range c.Groups {
		for _, v := range g.Verbs {
			names = append(names, v.Name)
		}
	}
	return names
}

// call parses the flags of a verb and acts.
func (c *Command) call(ctx context.Context, v *Verb, args []string, call *Call) error {
	flags, act, asJSON := v.flags()
	err := parse(flags, args)
	call.JSON = *asJSON
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return c.helpVerb(call.Stdout, v, flags)
	case errors.Is(err, errVersion):
		return call.Print("%s", c.version())
	case err != nil:
		return Usagef("%s; see %s --help", err, c.path(v))
	}
	if err := checkArguments(v.Args, flags.Args()); err != nil {
		return Usagef("%v; write %s", err, strings.TrimSpace(c.path(v)+" "+v.Args))
	}
	call.Args = flags.Args()
	return act(ctx, call)
}

// flags returns the verb's flags, what to do once they are parsed, and whether --json was
// among them.
func (v *Verb) flags() (flags *pflag.FlagSet, act func(context.Context, *Call) error, asJSON *bool) {
	flags = pflag.NewFlagSet(v.Name, pflag.ContinueOnError)
	flags.SortFlags = false
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	act, asJSON = v.Declare(flags), new(bool)
	if !v.Text {
		flags.BoolVar(asJSON, "json", false, "print JSON lines, each with a type")
	}
	return flags, act, asJSON
}

// path is how the verb is called.
func (c *Command) path(v *Verb) string {
	if c.Only != nil {
		return c.Name
	}
	return c.Name + " " + v.Name
}

// checkArguments compares the number of arguments with their form.
func checkArguments(form string, args []string) error {
	least, most := 0, 0
	for _, word := range strings.Fields(form) {
		if !strings.HasPrefix(word, "[") {
			least++
		}
		if most++; strings.Contains(word, "...") {
			most = 1 << 30
		}
	}
	switch n := len(args); {
	case n < least:
		return fmt.Errorf("expected %s, found %s", form, Plural(n, "argument"))
	case most == 0 && n > 0:
		return fmt.Errorf("expected no arguments, found %s", Quote(strings.Join(args, " ")))
	case n > most:
		return fmt.Errorf("expected %s, found %s: %s", form, Plural(n, "argument"), Quote(strings.Join(args, " ")))
	}
	return nil
}
