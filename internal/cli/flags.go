package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// errVersion ends a parse that met --version.
var errVersion = errors.New("version")

// parse reads flags and arguments. A flag given twice is an error unless it takes a list.
func parse(flags *pflag.FlagSet, args []string) error {
	given := map[string]bool{}
	var fault error
	err := flags.ParseAll(args, func(flag *pflag.Flag, value string) error {
		if _, list := flag.Value.(pflag.SliceValue); given[flag.Name] && !list {
			fault = fmt.Errorf("--%s is given twice", flag.Name)
			return fault
		}
		given[flag.Name] = true
		fault = flags.Set(flag.Name, value)
		return fault
	})
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(fault, &invalid):
		return fmt.Errorf("--%s %s: %w", invalid.GetFlag().Name, invalid.GetValue(), invalid.Unwrap())
	case fault != nil:
		return fault
	case errors.As(err, &unknown) && unknown.GetSpecifiedName() == "version":
		return errVersion
	case errors.As(err, &unknown):
		return fmt.Errorf("%w%s", err, didYouMean("--"+unknown.GetSpecifiedName(), flagNames(flags)))
	}
	return err
}

func flagNames(flags *pflag.FlagSet) (names []string) {
	flags.VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return names
}

// didYouMean names the word that another resembles most, if any does.
func didYouMean(word string, words []string) string {
	best, least := "", max(2, len(word)/4)+1
	for _, w := range words {
		if d := distance(word, w); d < least {
			best, least = w, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", best)
}

// distance is the number of letters to insert, delete or replace to turn a into b
// (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// A Choice is a flag that is one of some words.
type Choice struct {
	Value *string
	Words []string
}

func (c Choice) String() string {
	if c.Value == nil {
		return ""
	}
	return *c.Value
}

// Type lists the words for the help.
func (c Choice) Type() string { return strings.Join(c.Words, "|") }

// Set takes one of the words.
func (c Choice) Set(s string) error {
	if !slices.Contains(c.Words, s) {
		return fmt.Errorf("expected one of %s%s", strings.Join(c.Words, ", "), didYouMean(s, c.Words))
	}
	*c.Value = s
	return nil
}
