package main

import (
	"fmt"

	"github.com/erdos1056/erdos1056/kernel/plan"
	"github.com/erdos1056/erdos1056/kernel/primes"
)

// A Question is what a workload asks about every prime of its range.
type Question int

const (
	Artifact Question = iota // the largest fiber of all, as the published method finds it
	Hunt                     // all fibers of at least huntCuts cuts
	Special                  // the fiber of one special residue, 1 or -1
)

// huntCuts is the threshold of hunting: the number of cuts of a witness for k = 15.
const huntCuts = 16

// specialCuts is the threshold of special residues, so high that hardly anything is printed.
const specialCuts = 14

// A Workload is a question about the primes of a range.
type Workload struct {
	Name     string
	Question Question
	Residue  int // of a Special question
	Range    plan.Range
	Cuts     uint64 // the cuts of all primes of Range: their sum
}

// artifactRange is the published range that the baseline is timed on.
var artifactRange = plan.Range{Lo: 10_428_401, Hi: 10_428_600}

// workloads returns what is measured. At 1 ns per cut each takes 0.5 to 3 s, at the speed
// of special residues about 2 s. With quick, all ranges but that of the artifact are a
// quarter as long.
func workloads(quick bool) []Workload {
	shrink := uint32(1)
	if quick {
		shrink = 4
	}
	from := func(name string, q Question, residue int, lo, length uint32) Workload {
		return newWorkload(name, q, residue, plan.Range{Lo: lo, Hi: lo + length/shrink})
	}
	return []Workload{
		newWorkload("artifact", Artifact, 0, artifactRange),
		from("hunt near 1e5", Hunt, 0, 100_000, 50_000),
		from("hunt near 1e6", Hunt, 0, 1_000_000, 10_000),
		from("hunt near 1e7", Hunt, 0, 10_000_000, 2_000),
		from("hunt near 5e7", Hunt, 0, 50_000_000, 1_000),
		from("hunt near 1e8", Hunt, 0, 100_000_000, 400),
		from("residue 1 near 1e7", Special, 1, 10_000_000, 30_000),
		from("residue -1 near 1e7", Special, -1, 10_000_000, 30_000),
	}
}

// standard names the workload that the others are compared with.
const standard = "hunt near 1e7"

// scaled names the workloads that are also run with two threads.
var scaled = []string{"artifact", standard, "residue 1 near 1e7"}

func newWorkload(name string, q Question, residue int, r plan.Range) Workload {
	w := Workload{Name: name, Question: q, Residue: residue, Range: r}
	sieve := primes.New(r.Lo, r.Hi)
	for p, ok := sieve.Next(); ok; p, ok = sieve.Next() {
		w.Cuts += uint64(p)
	}
	return w
}

// args are the arguments of erdos1056 that ask the question.
func (w Workload) args() []string {
	r := "--range=" + w.Range.String()
	switch w.Question {
	case Artifact:
		return []string{"search", r}
	case Hunt:
		return []string{"fibers", r, fmt.Sprintf("--at-least=%d", huntCuts)}
	default:
		return []string{"fibers", r, fmt.Sprintf("--residue=%d", w.Residue), fmt.Sprintf("--at-least=%d", specialCuts)}
	}
}

// atLeast is the smallest fiber that the question asks for.
func (w Workload) atLeast() int {
	if w.Question == Special {
		return specialCuts
	}
	return huntCuts
}
