package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/kernel"
	"github.com/erdos1056/erdos1056/kernel/campaign"
)

var auditVerb = cli.Verb{
	Name:    "audit",
	Args:    "DIR",
	Summary: "draw primes from a ledger and recompute them",
	Details: `Checks a ledger: the number of primes of every unit, the cuts of every near miss, and the fingerprints
of primes drawn at random by the ledger's root, with the reference kernel. Units whose side file of
fingerprints is gone are computed again.

With --all-half-factorials one column of the fingerprints, h! mod p, is compared for every prime
that has one, without walking a chain: so every chain is known to be right up to its middle. The
counting is still drawn.

Whoever made a ledger could make it again and again until the draws suit him; a seed that
he could not know prevents that.`,
	Example: `erdos1056 audit k15
erdos1056 audit k15.txt.ledger --fingerprints shards/1/fingerprints --seed "closing price of today"`,
	Declare: declareAudit,
}

func declareAudit(f *pflag.FlagSet) func(context.Context, *cli.Call) error {
	var w work
	draws := 459
	f.Var(wholeFlag{&draws, 1, 1 << 30}, "draws", "number of primes to draw; 459 exclude 1 % of wrong records at 99 % confidence")
	seed := f.String("seed", "", "text that is mixed into the draws")
	folders := f.StringArray("fingerprints", nil, "folder of side files; beside the ledger if not given")
	halves := f.Bool("all-half-factorials", false, "compare h! mod p, h = (p-1)/2, of every prime that has a fingerprint with a remainder tree")
	w.add(f, kernel.Auto)
	return func(ctx context.Context, c *cli.Call) error {
		l, err := soundLedger(c.Args[0])
		if err != nil {
			return err
		}
		if len(*folders) == 0 {
			*folders = []string{besideLedger(c.Args[0])}
		}
		o := w.options()
		c.Say("audit of %s: %d units, %d draws, %d threads", describe(l.Header), len(l.Units), draws, o.Threads)
		steps := newSteps(c.Stderr, w.progress)
		r, err := l.Audit(ctx, campaign.AuditOptions{Draws: draws, Seed: *seed, Fingerprints: *folders, HalfFactorials: *halves, Options: o, Report: steps.see})
		if err != nil {
			var wrong *campaign.AuditError
			if errors.As(err, &wrong) || !errors.Is(err, context.Canceled) && !errors.As(err, new(*kernel.InternalError)) {
				err = judged(err)
			}
			if c.JSON {
				printVerdict(c, "rejected", err.Error())
			}
			return err
		}
		if c.JSON {
			return c.Line(map[string]any{"type": "audit", "root": r.Root, "seed": r.Seed, "primes": r.Primes, "draws": r.Draws,
				"units_recomputed": r.Recomputed, "near_misses": r.NearMisses, "half_factorials": r.HalfFactorials, "excluded": r.Wrong, "confidence": r.Confidence})
		}
		c.Print("passed: %d draws from %d primes agree with the reference kernel; %d units recomputed; the cuts of %d near misses checked", r.Draws, r.Primes, r.Recomputed, r.NearMisses)
		if *halves {
			c.Print("half factorials: h! mod p of %d of %d primes agrees with a remainder tree%s", r.HalfFactorials, r.Primes, leftOut(r.Primes-r.HalfFactorials))
		}
		c.Print("excluded at %.0f %% confidence: that %.3g %% of the fingerprints or more are wrong (root %s)", 100*r.Confidence, 100*r.Wrong, r.Root)
		c.Print("a single wrong prime can still hide a witness: only a full replay settles that")
		return nil
	}
}

// leftOut says how many primes were not compared.
func leftOut(n uint64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; %d were not compared: their units have no side file and none of their primes was drawn", n)
}

// besideLedger is the folder where a campaign keeps its side files.
func besideLedger(name string) string {
	if info, err := os.Stat(name); err != nil || !info.IsDir() {
		name = filepath.Dir(name)
	}
	return filepath.Join(name, "fingerprints")
}

// steps reports long work that is counted in steps.
type steps struct {
	out  io.Writer
	mu   sync.Mutex
	last time.Time
	mute bool
}

func newSteps(out io.Writer, format string) *steps {
	return &steps{out: out, last: time.Now(), mute: format == "none"}
}

func (s *steps) see(done, total int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mute || time.Since(s.last) < lineInterval {
		return
	}
	s.last = time.Now()
	fmt.Fprintf(s.out, "%d of %d steps: units looked up or computed again, primes compared\n", done, total)
}
