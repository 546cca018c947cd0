package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/erdos1056/erdos1056/internal/cli"
)

// named is a program whose command is its name and the workload's.
func named(name string, peer bool) Program {
	return Program{Name: name, Threads: 1, Peer: peer, command: func(w Workload) []string { return []string{name, w.Name} }}
}

func TestRunsAlternate(t *testing.T) {
	trials := []*Trial{
		{Workload: someArtifact, Program: named("a", false)},
		{Workload: someArtifact, Program: named("b", false)},
		{Workload: someHunt, Program: named("a", false)},
	}
	var order []string
	run := func(_ context.Context, argv []string, cores int) (Run, string, error) {
		order = append(order, argv[0]+"/"+argv[1])
		return Run{CPU: time.Duration(len(order))}, "the answer for " + argv[1], nil
	}
	if err := alternate(t.Context(), 2, trials, run, io.Discard); err != nil {
		t.Fatal(err)
	}
	round := []string{"a/artifact", "b/artifact", "a/" + standard}
	if want := slices.Concat(round, round); !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
	if runs := trials[1].Runs; len(runs) != 2 || runs[0].CPU != 2 || runs[1].CPU != 5 {
		t.Errorf("the second trial has the runs %v, want the second and the fifth", runs)
	}
}

func TestDifferentAnswersStopTheBenchmark(t *testing.T) {
	answerWithName := func(_ context.Context, argv []string, _ int) (Run, string, error) { return Run{}, argv[0], nil }
	disagree := []*Trial{
		{Workload: someHunt, Program: named("a", false)},
		{Workload: someArtifact, Program: named("b", false)},
		{Workload: someHunt, Program: named("c", false)},
	}
	err := alternate(t.Context(), 1, disagree, answerWithName, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "a and c print different answers") {
		t.Errorf("error %v, want one that names a and c", err)
	}
	if code := cli.ExitCode(err); code != cli.Failed {
		t.Errorf("exit code %d, want %d", code, cli.Failed)
	}

	peers := []*Trial{
		{Workload: someHunt, Program: named("a", true)},
		{Workload: someHunt, Program: named("b", false)},
		{Workload: someHunt, Program: named("c", true)},
	}
	if err := alternate(t.Context(), 2, peers, answerWithName, io.Discard); err != nil {
		t.Errorf("peers may print what they like, but: %v", err)
	}
}

func TestAnswersMustNotChangeFromRoundToRound(t *testing.T) {
	runs := 0
	run := func(context.Context, []string, int) (Run, string, error) {
		runs++
		return Run{}, strings.Repeat("x", runs), nil
	}
	err := alternate(t.Context(), 2, []*Trial{{Workload: someHunt, Program: named("a", false)}}, run, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "different answers") {
		t.Errorf("error %v, want different answers", err)
	}
}

func TestFailureNamesTheTrial(t *testing.T) {
	fault := errors.New("no such program")
	run := func(context.Context, []string, int) (Run, string, error) { return Run{}, "", fault }
	err := alternate(t.Context(), 1, []*Trial{{Workload: someHunt, Program: named("a", false)}}, run, io.Discard)
	if !errors.Is(err, fault) || !strings.HasPrefix(err.Error(), standard+", a: ") {
		t.Errorf("error %v, want one that names the trial", err)
	}
}
