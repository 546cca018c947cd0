// Command leancheck judges an exported Lean 4 proof without Lean.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/lean"
	"github.com/erdos1056/erdos1056/lean/audit"
)

const usage = `leancheck judges an exported Lean 4 proof without Lean.

  leancheck FILE                                  check every declaration
  leancheck FILE --target NAME --challenge FILE   and audit one theorem

FILE is a lean4export file (NDJSON 3.1.x, 3.0.0 or text 2.0.0), plain or gzip; - is
standard input. Without --target the verdict is the kernel's alone, and the axioms
declared are listed.

What to judge
      --target NAME       theorem whose axioms and statement decide, too
      --challenge FILE    trusted export with the statement the target must have
      --permit AXIOMS     axioms the target may rest on, separated by commas
                          (default propext,Classical.choice,Quot.sound)
How
      --threads N         declarations checked at the same time (default: all cores)
      --memory SIZE       bound on memory, such as 512M or 8G (default 4G)
      --steps N           bound on the work on one declaration (default: none)
      --json              one JSON object per line on standard output

Example
  leancheck proof.ndjson.gz --target erdos_505.test_dim_one --challenge statement.ndjson

Exit status: 0 accept, 1 reject, 2 decline (a limit or an unsupported format),
3 error (nothing was judged).
`

const (
	exitAccept = iota
	exitReject
	exitDecline
	exitError
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// command holds the command line.
type command struct {
	file, target, challenge string
	permit                  []string
	threads                 int
	memory                  int64
	steps                   int64
	json                    bool
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	cmd, err := parse(args)
	if errors.Is(err, pflag.ErrHelp) {
		fmt.Fprint(stdout, usage)
		return exitAccept
	}
	if err == nil {
		var report *lean.Report
		show := newShower(cmd.json, stdout, stderr)
		if report, err = cmd.judge(ctx, stdin, show); err == nil {
			show.report(report)
			return map[string]int{"accept": exitAccept, "reject": exitReject, "decline": exitDecline}[report.Verdict]
		}
	}
	fmt.Fprintf(stderr, "leancheck: %v\n", err)
	return exitError
}

func parse(args []string) (*command, error) {
	cmd := &command{}
	flags := pflag.NewFlagSet("leancheck", pflag.ContinueOnError)
	flags.Usage = func() {}
	flags.SetOutput(io.Discard)
	flags.StringVar(&cmd.target, "target", "", "")
	flags.StringVar(&cmd.challenge, "challenge", "", "")
	flags.StringSliceVar(&cmd.permit, "permit", audit.Standard, "")
	flags.IntVar(&cmd.threads, "threads", 0, "")
	memory := flags.String("memory", "4G", "")
	flags.Int64Var(&cmd.steps, "steps", 0, "")
	flags.BoolVar(&cmd.json, "json", false, "")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() != 1 {
		return nil, fmt.Errorf("expected one FILE, found %d; see leancheck --help", flags.NArg())
	}
	cmd.file = flags.Arg(0)
	var err error
	if cmd.memory, err = parseSize(*memory); err != nil {
		return nil, fmt.Errorf("--memory %s: %w", *memory, err)
	}
	switch {
	case cmd.threads < 0 || cmd.threads > 1024:
		return nil, fmt.Errorf("--threads %d: expected 1 to 1024, or 0 for all cores", cmd.threads)
	case cmd.steps < 0:
		return nil, fmt.Errorf("--steps %d: expected a positive number", cmd.steps)
	case cmd.target == "" && (cmd.challenge != "" || flags.Changed("permit")):
		return nil, errors.New("--challenge and --permit need a --target")
	case cmd.challenge == "-":
		return nil, errors.New("--challenge cannot be standard input")
	}
	return cmd, nil
}

// parseSize reads a number of bytes with an optional unit K, M or G, each 1024
// times the one before.
func parseSize(text string) (int64, error) {
	digits := strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(text), "IB"), "B")
	shift := 0
	for unit, s := range map[string]int{"K": 10, "M": 20, "G": 30} {
		if rest, ok := strings.CutSuffix(digits, unit); ok {
			digits, shift = rest, s
			break
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > 1<<50>>shift {
		return 0, errors.New("expected a size such as 512M or 8G")
	}
	if n<<shift < 64<<20 {
		return 0, errors.New("at least 64M are needed")
	}
	return n << shift, nil
}

func (cmd *command) judge(ctx context.Context, stdin io.Reader, show *shower) (*lean.Report, error) {
	opts := lean.Options{
		Target: cmd.target, Permit: cmd.permit, Threads: cmd.threads,
		Memory: cmd.memory, Steps: cmd.steps, Progress: show.progress,
	}
	if cmd.challenge != "" {
		f, err := os.Open(cmd.challenge)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		opts.Challenge = f
	}
	in := stdin
	if cmd.file != "-" {
		f, err := os.Open(cmd.file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	return lean.Judge(ctx, in, opts)
}
