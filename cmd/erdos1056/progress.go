package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/kernel"
	"github.com/erdos1056/erdos1056/kernel/campaign"
)

// A reporter shows how far a search is. See receives the kernel's snapshots; a ticker
// shows the last one: as a bar, as complete lines, as JSON lines, or on SIGUSR1 only.
type reporter struct {
	mu      sync.Mutex
	out     io.Writer
	format  string
	started time.Time
	last    kernel.Progress
	from    float64 // fraction that was done before this run
	units   string  // of a campaign: done and saved
	bar     *progressbar.ProgressBar
	done    chan struct{}
	ended   sync.WaitGroup
}

const (
	lineInterval = 10 * time.Second
	barInterval  = 200 * time.Millisecond
	barUnits     = 10_000
)

// newReporter starts reporting to stderr in the given format.
func newReporter(format string) *reporter {
	if format == "auto" {
		format = "lines"
		if term.IsTerminal(int(os.Stderr.Fd())) {
			format = "bar"
		}
	}
	r := &reporter{out: os.Stderr, format: format, started: time.Now(), done: make(chan struct{})}
	interval := lineInterval
	if format == "bar" {
		interval = barInterval
		r.bar = progressbar.NewOptions(barUnits, progressbar.OptionSetWriter(r.out), progressbar.OptionSetWidth(20),
			progressbar.OptionSetElapsedTime(false), progressbar.OptionSetPredictTime(false), progressbar.OptionClearOnFinish())
	}
	demand, stop := onDemand()
	r.ended.Go(func() {
		defer stop()
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				r.show()
			case <-demand:
				r.mu.Lock()
				fmt.Fprintln(r.out, r.line())
				r.mu.Unlock()
			case <-r.done:
				return
			}
		}
	})
	return r
}

// See takes a snapshot.
func (r *reporter) See(p kernel.Progress) {
	r.mu.Lock()
	r.last = p
	r.mu.Unlock()
}

// SeeCampaign takes a snapshot of a campaign's run.
func (r *reporter) SeeCampaign(p campaign.Progress, saved time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = p.Progress
	r.units = fmt.Sprintf("  units %s/%s", cli.Thousands(p.Done), cli.Thousands(p.Units))
	if !saved.IsZero() {
		r.units += fmt.Sprintf("  saved %s ago", cli.Duration(time.Since(saved).Seconds()))
	}
}

// Close ends the reporting and removes the bar.
func (r *reporter) Close() {
	close(r.done)
	r.ended.Wait()
	if r.bar != nil {
		r.bar.Clear()
	}
}

func (r *reporter) show() {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch r.format {
	case "bar":
		r.bar.Describe(r.line())
		r.bar.Set(int(r.last.Fraction() * barUnits))
	case "lines":
		fmt.Fprintln(r.out, r.line())
	case "json":
		b, _ := json.Marshal(map[string]any{"type": "progress", "range_start": r.last.Lo, "range_end": r.last.Hi, "p": r.last.P,
			"primes": r.last.Primes, "cuts": r.last.Cuts, "fraction": r.last.Fraction(), "seconds": r.seconds(),
			"best_p": r.last.Best.P, "max_multiplicity": len(r.last.Best.Cuts)})
		fmt.Fprintf(r.out, "%s\n", b)
	}
}

func (r *reporter) seconds() float64 { return time.Since(r.started).Seconds() }

// line is one complete line: done, place, rate, time left, best so far.
func (r *reporter) line() string {
	p := r.last
	if p.Primes == 0 {
		return fmt.Sprintf("%s  no prime finished yet", p.Range)
	}
	best := "none"
	if n := len(p.Best.Cuts); n > 0 {
		best = fmt.Sprintf("%d at %s", n, cli.Thousands(p.Best.P))
	}
	return fmt.Sprintf("%s  %4.1f %%  p = %s  %s cuts/s  ETA %s  best %s%s", p.Range, 100*p.Fraction(), cli.Thousands(p.P),
		cli.Metric(float64(p.Cuts)/r.seconds()), timeLeft(r.seconds(), (p.Fraction()-r.from)/(1-r.from)), best, r.units)
}

// timeLeft extrapolates from the fraction done, which is weighted by cost.
func timeLeft(seconds, fraction float64) string {
	if fraction < 0.001 || seconds < 1 {
		return "unknown"
	}
	return cli.Duration(seconds * (1 - fraction) / fraction)
}
