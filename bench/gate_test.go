package main

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/erdos1056/erdos1056/internal/cli"
)

// machine is a runner on which the tag takes 1000 ns and head, in its n-th attempt, as
// long as the n-th of the given times.
type machine struct {
	head  []time.Duration
	order []string
}

func (m *machine) run(_ context.Context, argv []string, _ int) (Run, string, error) {
	m.order = append(m.order, argv[0])
	if argv[0] == "tag" {
		return Run{CPU: 1000}, "answer", nil
	}
	return Run{CPU: m.head[(len(m.order)-1)/(4*testRounds)]}, "answer", nil
}

const testRounds = 2

func TestGate(t *testing.T) {
	for _, c := range []struct {
		name   string
		head   []time.Duration
		ratios []float64
		passes bool
	}{
		{"faster", []time.Duration{500}, []float64{0.5}, true},
		{"as fast", []time.Duration{1000}, []float64{1}, true},
		{"at the limit", []time.Duration{1050}, []float64{1.05}, true},
		{"slower in every attempt", []time.Duration{1051, 1100, 1200}, []float64{1.051, 1.1, 1.2}, false},
		{"slow once, from noise", []time.Duration{1300, 1010}, []float64{1.3, 1.01}, true},
		{"slow twice, from noise", []time.Duration{1300, 1060, 990}, []float64{1.3, 1.06, 0.99}, true},
	} {
		m := &machine{head: c.head}
		ratios, err := attempts(t.Context(), someHunt, named("tag", false), named("head", false), testRounds, m.run, io.Discard)
		if err != nil || !slices.Equal(ratios, c.ratios) || passes(ratios) != c.passes {
			t.Errorf("%s: ratios %v, passes %v, error %v; want %v, %v", c.name, ratios, passes(ratios), err, c.ratios, c.passes)
		}
	}
}

func TestGateRunsBothOrders(t *testing.T) {
	m := &machine{head: []time.Duration{1000}}
	if _, err := bothOrders(t.Context(), someHunt, named("tag", false), named("head", false), testRounds, m.run, io.Discard); err != nil {
		t.Fatal(err)
	}
	if want := []string{"tag", "head", "tag", "head", "head", "tag", "head", "tag"}; !slices.Equal(m.order, want) {
		t.Errorf("order %v, want %v", m.order, want)
	}
}

func TestGateFailsWhereAnswersDiffer(t *testing.T) {
	run := func(_ context.Context, argv []string, _ int) (Run, string, error) {
		return Run{CPU: 1}, argv[0], nil
	}
	_, err := attempts(t.Context(), someHunt, named("tag", false), named("head", false), 1, run, io.Discard)
	if cli.ExitCode(err) != cli.Failed {
		t.Errorf("error %v, want different answers", err)
	}
}

func TestGateReport(t *testing.T) {
	for want, ratios := range map[string][]float64{
		"0.980 ok": {0.98}, "1.120 1.050 ok": {1.12, 1.05}, "1.060 1.070 1.080 slower": {1.06, 1.07, 1.08},
	} {
		if got := describe(ratios); got != want {
			t.Errorf("describe(%v) = %q, want %q", ratios, got, want)
		}
	}
}

func TestGateNamesTheWorkloadsThatAreSlower(t *testing.T) {
	run := func(_ context.Context, argv []string, _ int) (Run, string, error) {
		if argv[0] == "HEAD" && argv[1] == standard {
			return Run{CPU: 1200}, "", nil
		}
		return Run{CPU: 1000}, "", nil
	}
	var out strings.Builder
	err := judge(t.Context(), []Workload{someArtifact, someHunt}, named("v1", false), named("HEAD", false), 1, run, &out, io.Discard)
	if cli.ExitCode(err) != cli.Failed || !strings.HasSuffix(err.Error(), "HEAD is more than 5 % slower than v1: "+standard) {
		t.Errorf("error %v, want one that names %s only", err, standard)
	}
	if lines := strings.Fields(out.String()); !slices.Contains(lines, "ok") || !slices.Contains(lines, "slower") {
		t.Errorf("printed\n%s\nwant one workload ok, one slower", out.String())
	}
	err = judge(t.Context(), []Workload{someArtifact}, named("v1", false), named("HEAD", false), 1, run, io.Discard, io.Discard)
	if err != nil {
		t.Errorf("error %v, want none where HEAD is as fast", err)
	}
}

func TestGateWithoutATagPassesOnlyWhenAsked(t *testing.T) {
	err := withoutTag(false, io.Discard)
	if cli.ExitCode(err) != cli.Failed || !strings.Contains(err.Error(), "--allow-no-tag") {
		t.Errorf("error %v, want a mismatch that names --allow-no-tag", err)
	}
	var out strings.Builder
	if err := withoutTag(true, &out); err != nil || !strings.Contains(out.String(), "no tag before HEAD") {
		t.Errorf("error %v and %q, want success that says why", err, out.String())
	}
}
