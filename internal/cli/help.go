package cli

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/pflag"
)

// help prints the verbs, by group. With a prefix it prints those alone that begin with it.
func (c *Command) help(w io.Writer, prefix string) {
	if prefix == "" {
		fmt.Fprintf(w, "%s %s\n", c.Name, c.About)
	}
	width := 0
	for _, name := range c.names() {
		width = max(width, len(name+" "+c.verb(name).Args))
	}
	for _, g := range c.Groups {
		title := "\n" + g.Title + "\n"
		for _, v := range g.Verbs {
			if strings.HasPrefix(v.Name, prefix) {
				fmt.Fprintf(w, "%s  %s %-*s  %s\n", title, c.Name, width, strings.TrimSpace(v.Name+" "+v.Args), v.Summary)
				title = ""
			}
		}
	}
	if prefix == "" {
		fmt.Fprintf(w, "\nExample:  %s\nFlags of a verb:  %s help VERB      version:  %s --version\n\n%s%s", c.Example, c.Name, c.Name, c.exitCodes(), c.Notes)
	}
}

func (c *Command) exitCodes() string {
	if c.ExitCodes != "" {
		return c.ExitCodes
	}
	return exitCodes
}

// helpOn prints the help of the verb that is named, or of the verbs that begin with the word.
func (c *Command) helpOn(words []string, call *Call) error {
	if len(words) == 0 {
		c.help(call.Stdout, "")
		return nil
	}
	v := c.verb(strings.Join(words, " "))
	if v == nil && len(words) == 1 {
		return c.unknown(append(words, "--help"), call)
	}
	if v == nil {
		return c.unknown(words, call)
	}
	flags, _, _ := v.flags()
	return c.helpVerb(call.Stdout, v, flags)
}

// helpVerb prints the help of one verb.
func (c *Command) helpVerb(w io.Writer, v *Verb, flags *pflag.FlagSet) error {
	text := fmt.Sprintf("%s: %s\n", strings.TrimSpace(c.path(v)+" "+v.Args), v.Summary)
	if v.Details != "" {
		text += "\n" + strings.TrimSpace(v.Details) + "\n"
	}
	if usage := flags.FlagUsages(); usage != "" {
		text += "\nFlags:\n" + usage
	}
	if v.Example != "" {
		text += "\nExample:\n  " + strings.ReplaceAll(strings.TrimSpace(v.Example), "\n", "\n  ") + "\n"
	}
	if c.Only != nil {
		text += "\n" + c.exitCodes() + c.Notes
	}
	_, err := io.WriteString(w, text)
	return err
}

// version is a line about the program: its version, commit, Go, platform.
func (c *Command) version() string {
	text := fmt.Sprintf("%s %s %s %s/%s", c.Name, Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	if c.Version != nil {
		text += " " + c.Version()
	}
	return text
}

// Version is the version of this module with the commit that it was built from, as far as
// the Go tool recorded them.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && !strings.Contains(info.Main.Version, s.Value[:min(len(s.Value), 12)]) {
			return info.Main.Version + " commit " + s.Value
		}
	}
	return info.Main.Version
}
