package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/kernel"
	"github.com/erdos1056/erdos1056/kernel/plan"
)

var fibersVerb = cli.Verb{
	Name:    "fibers",
	Summary: "list the large fibers of a range, or those of some residues",
	Details: `Lists, prime by prime, every fiber of at least M cuts, or the fibers of some residues.`,
	Example: `erdos1056 fibers --range 2..100 --at-least 5 --csv
erdos1056 fibers --range 1e7+1e4 --residue 1,-1 --at-least 8`,
	Declare: declareFibers,
}

func declareFibers(f *pflag.FlagSet) func(context.Context, *cli.Call) error {
	var (
		r        rangeFlag
		w        work
		atLeast  int
		residues []int64
		asCSV    bool
	)
	f.Var(&r, "range", "the range: "+plan.RangeForms)
	f.Var(wholeFlag{&atLeast, 1, plan.MaxK}, "at-least", "smallest number of cuts to list; 1 if --residue is given")
	f.Int64SliceVar(&residues, "residue", nil, "list the fibers of the residues `R,...` only, for example 1,-1; taken mod p, so -1 stands for p-1")
	f.BoolVar(&asCSV, "csv", false, "comma-separated values with a header line")
	w.add(f, kernel.Auto)
	return func(ctx context.Context, c *cli.Call) error {
		switch {
		case r.Hi == 0:
			return cli.Usagef("--range is missing; write --range %s", plan.RangeForms)
		case atLeast == 0 && len(residues) == 0:
			return cli.Usagef("--at-least is missing; write --at-least M (1 to %d), or --residue R", plan.MaxK)
		case asCSV && c.JSON:
			return cli.Usagef("--csv and --json exclude each other")
		}
		report := newReporter(w.progress)
		defer report.Close()
		o := w.options()
		o.Progress = report.See
		out := fiberPrinter{Writer: bufio.NewWriter(c.Stdout), csv: asCSV, json: c.JSON}
		out.header()
		sel := kernel.Selection{AtLeast: max(atLeast, 1), Residues: residues}
		err := kernel.Fibers(ctx, r.Range, sel, o, out.print)
		if flushed := out.Flush(); err == nil && flushed != nil {
			err = fmt.Errorf("writing to stdout: %w", flushed)
		}
		return err
	}
}

type fiberPrinter struct {
	*bufio.Writer
	csv, json bool
}

func (o fiberPrinter) header() {
	if o.csv {
		fmt.Fprintln(o, "p,residue,multiplicity,cuts")
	}
}

// print writes the fibers of one prime and hands them on at once, so that a reader of a
// long run sees each when it is found.
func (o fiberPrinter) print(p uint32, fs []kernel.Fiber) error {
	if len(fs) == 0 {
		return nil
	}
	for _, f := range fs {
		cuts := strings.Trim(fmt.Sprint(f.Cuts), "[]")
		switch {
		case o.csv:
			fmt.Fprintf(o, "%d,%d,%d,%s\n", p, f.Residue, len(f.Cuts), cuts)
		case o.json:
			b, err := json.Marshal(struct {
				Type         string   `json:"type"`
				P            uint32   `json:"p"`
				Residue      uint32   `json:"residue"`
				Multiplicity int      `json:"multiplicity"`
				Cuts         []uint32 `json:"cuts"`
			}{"fiber", p, f.Residue, len(f.Cuts), f.Cuts})
			if err != nil {
				return err
			}
			fmt.Fprintf(o, "%s\n", b)
		default:
			fmt.Fprintf(o, "p = %d  residue %d  %d cuts: %s\n", p, f.Residue, len(f.Cuts), cuts)
		}
	}
	if err := o.Flush(); err != nil {
		return fmt.Errorf("writing to stdout: %w", err)
	}
	return nil
}
