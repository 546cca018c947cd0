package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/erdos1056/erdos1056/kernel"
	"github.com/erdos1056/erdos1056/kernel/campaign"
)

const auditHelp = `erdos1056 audit DIR checks a ledger: the number of primes of every unit, the cuts of every near
miss, and the fingerprints of primes drawn at random by the ledger's root, with the
reference kernel. Units whose side file of fingerprints is gone are computed again.

  erdos1056 audit k15
  erdos1056 audit k15.txt.ledger --fingerprints shards/1/fingerprints --seed "closing price of today"

With --all-half-factorials one column of the fingerprints, h! mod p, is compared for every prime
that has one, without walking a chain: so every chain is known to be right up to its middle. The
counting is still drawn.

Whoever made a ledger could make it again and again until the draws suit him; a seed that
he could not know prevents that.
`

func runAudit(ctx context.Context, args []string) error {
	f := newFlags("audit", auditHelp)
	var w work
	draws := 459
	f.Var(wholeFlag{&draws, 1, 1 << 30}, "draws", "number of primes to draw; 459 exclude 1 % of wrong records at 99 % confidence")
	seed := f.String("seed", "", "text that is mixed into the draws")
	folders := f.StringArray("fingerprints", nil, "folder of side files; beside the ledger if not given")
	halves := f.Bool("all-half-factorials", false, "compare h! mod p, h = (p-1)/2, of every prime that has a fingerprint with a remainder tree")
	w.add(f, kernel.Auto)
	if err := parse(f, args, 1, "erdos1056 audit DIR"); err != nil {
		return helped(err)
	}
	l, err := soundLedger(f.Arg(0))
	if err != nil {
		return err
	}
	if len(*folders) == 0 {
		*folders = []string{besideLedger(f.Arg(0))}
	}
	o := w.options()
	fmt.Fprintf(os.Stderr, "audit of %s: %d units, %d draws, %d threads\n", describe(l.Header), len(l.Units), draws, o.Threads)
	steps := newSteps(w.progress)
	r, err := l.Audit(ctx, campaign.AuditOptions{Draws: draws, Seed: *seed, Fingerprints: *folders, HalfFactorials: *halves, Options: o, Report: steps.see})
	if err != nil {
		var wrong *campaign.AuditError
		if errors.As(err, &wrong) || !errors.Is(err, context.Canceled) && !errors.As(err, new(*kernel.InternalError)) {
			err = &codedError{exitMismatch, err}
		}
		if w.json {
			printVerdict("rejected", err.Error())
		}
		return err
	}
	if w.json {
		return printJSON(map[string]any{"type": "audit", "root": r.Root, "seed": r.Seed, "primes": r.Primes, "draws": r.Draws,
			"units_recomputed": r.Recomputed, "near_misses": r.NearMisses, "half_factorials": r.HalfFactorials, "excluded": r.Wrong, "confidence": r.Confidence})
	}
	fmt.Printf("passed: %d draws from %d primes agree with the reference kernel; %d units recomputed; the cuts of %d near misses checked\n", r.Draws, r.Primes, r.Recomputed, r.NearMisses)
	if *halves {
		fmt.Printf("half factorials: h! mod p of %d of %d primes agrees with a remainder tree%s\n", r.HalfFactorials, r.Primes, leftOut(r.Primes-r.HalfFactorials))
	}
	fmt.Printf("excluded at %.0f %% confidence: that %.3g %% of the fingerprints or more are wrong (root %s)\n", 100*r.Confidence, 100*r.Wrong, r.Root)
	fmt.Println("a single wrong prime can still hide a witness: only a full replay settles that")
	return nil
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
	mu   sync.Mutex
	last time.Time
	mute bool
}

func newSteps(format string) *steps { return &steps{last: time.Now(), mute: format == "none"} }

func (s *steps) see(done, total int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mute || time.Since(s.last) < lineInterval {
		return
	}
	s.last = time.Now()
	fmt.Fprintf(os.Stderr, "%d of %d steps: units looked up or computed again, primes compared\n", done, total)
}
