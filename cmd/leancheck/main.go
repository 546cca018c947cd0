// Command leancheck judges an exported Lean 4 proof without Lean.
package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/internal/disk"
	"github.com/erdos1056/erdos1056/lean"
	"github.com/erdos1056/erdos1056/lean/audit"
)

// Verdicts are exit codes, as arenas of checkers expect them.
const (
	accepted = iota
	rejected
	declined
	failed
)

var command = cli.Command{
	Name: "leancheck",
	Only: &cli.Verb{
		Args:    "FILE",
		Summary: "judge an exported Lean 4 proof without Lean",
		Details: `FILE is a lean4export file (NDJSON 3.1.x, 3.0.0 or text 2.0.0), plain or gzip; - is
standard input. Without --target the verdict is the kernel's alone, and the axioms
declared are listed.`,
		Example: "leancheck proof.ndjson.gz --target erdos_505.test_dim_one --challenge statement.ndjson",
		Declare: func(flags *pflag.FlagSet) func(context.Context, *cli.Call) error {
			cmd := new(options)
			cmd.declare(flags)
			return cmd.run
		},
	},
	ExitCodes: `Exit codes: 0 accept, 1 reject, 2 decline (a limit or an unsupported format),
3 error (nothing was judged).
`,
	ExitCode: func(err error) int { return min(cli.ExitCode(err), failed) },
}

func main() { command.Main() }

// options hold the command line.
type options struct {
	target, challenge string
	permit            []string
	permitFlag        *pflag.Flag
	threads           int
	memory            sizeFlag
	steps             int64
}

func (o *options) declare(flags *pflag.FlagSet) {
	o.memory = 4 << 30
	flags.StringVar(&o.target, "target", "", "theorem `NAME` whose axioms and statement decide, too")
	flags.StringVar(&o.challenge, "challenge", "", "trusted export `FILE` with the statement the target must have")
	flags.StringSliceVar(&o.permit, "permit", audit.Standard, "`AXIOMS` the target may rest on (default: the three of Lean)")
	flags.IntVar(&o.threads, "threads", 0, "check `N` declarations at once (default: all cores)")
	flags.Var(&o.memory, "memory", "bound on memory, such as 512M or 8G")
	flags.Int64Var(&o.steps, "steps", 0, "`N` steps bound the work on one declaration (default: none)")
	o.permitFlag = flags.Lookup("permit")
	o.permitFlag.DefValue = "[]" // told in words
}

func (o *options) check() error {
	switch {
	case o.threads < 0 || o.threads > 1024:
		return cli.Usagef("--threads %d: expected 1 to 1024, or 0 for all cores", o.threads)
	case o.steps < 0:
		return cli.Usagef("--steps %d: expected a positive number", o.steps)
	case o.target == "" && (o.challenge != "" || o.permitFlag.Changed):
		return cli.Usagef("--challenge and --permit need a --target")
	case o.challenge == "-":
		return cli.Usagef("--challenge cannot be standard input")
	}
	return nil
}

// maxInput bounds an export in bytes; the memory that a proof takes is bounded apart.
const maxInput = 1 << 40

func (o *options) run(ctx context.Context, c *cli.Call) error {
	if err := o.check(); err != nil {
		return err
	}
	show := newShower(c)
	report, err := o.judge(ctx, c, show)
	if err != nil {
		return err
	}
	if err := show.report(report); err != nil {
		return err
	}
	code := map[string]int{"accept": accepted, "reject": rejected, "decline": declined}[report.Verdict]
	if code == accepted {
		return nil
	}
	return cli.Exit(code)
}

func (o *options) judge(ctx context.Context, c *cli.Call, show *shower) (*lean.Report, error) {
	opts := lean.Options{
		Target: o.target, Permit: o.permit, Threads: o.threads,
		Memory: int64(o.memory), Steps: o.steps, Progress: show.progress,
	}
	if o.challenge != "" {
		f, err := disk.Open(o.challenge, maxInput, disk.FollowLinks)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		opts.Challenge = f
	}
	if c.Args[0] == "-" {
		return lean.Judge(ctx, c.Input(ctx), opts)
	}
	f, err := disk.Open(c.Args[0], maxInput, disk.FollowLinks)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return lean.Judge(ctx, f, opts)
}

// sizeFlag is a number of bytes.
type sizeFlag int64

func (s *sizeFlag) String() string {
	if *s == 0 {
		return ""
	}
	return fmt.Sprintf("%dG", *s>>30)
}
func (s *sizeFlag) Type() string { return "SIZE" }
func (s *sizeFlag) Set(text string) error {
	n, err := parseSize(text)
	*s = sizeFlag(n)
	return err
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
