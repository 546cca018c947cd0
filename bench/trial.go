package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/erdos1056/erdos1056/internal/cli"
)

// A Run is what one process used.
type Run struct {
	CPU    time.Duration // user and system time
	Wall   time.Duration
	Memory int64 // bytes, the largest resident set
}

// A Trial is one program on one workload, and its runs.
type Trial struct {
	Workload Workload
	Program  Program
	Runs     []Run
}

func (t *Trial) String() string { return t.Workload.Name + ", " + t.Program.Name }

// A runner runs a command on as many cores as are given and returns what it used and a
// digest of what it printed.
type runner func(ctx context.Context, argv []string, cores int) (Run, string, error)

// alternate runs the trials in their order, rounds times over, so that a slow change of
// the machine's speed falls on all of them alike. Programs that are not peers must print
// the same for the same workload.
func alternate(ctx context.Context, rounds int, trials []*Trial, run runner, log io.Writer) error {
	first := map[string]*Trial{} // by workload, of those whose answers are compared
	answers := map[string]string{}
	for round := range rounds {
		for _, t := range trials {
			fmt.Fprintf(log, "round %d of %d: %s\n", round+1, rounds, t)
			argv := t.Program.command(t.Workload)
			used, answer, err := run(ctx, argv, t.Program.Threads)
			if err != nil {
				return fmt.Errorf("%s: %w", t, err)
			}
			t.Runs = append(t.Runs, used)
			w := t.Workload.Name
			switch {
			case t.Program.Peer:
			case first[w] == nil:
				first[w], answers[w] = t, answer
			case answers[w] != answer:
				return cli.Failf("%s: %s and %s print different answers; compare\n  %s\n  %s", w,
					first[w].Program.Name, t.Program.Name, strings.Join(first[w].Program.command(t.Workload), " "), strings.Join(argv, " "))
			}
		}
	}
	return nil
}
