package main

import (
	"slices"

	"github.com/erdos1056/erdos1056/kernel/residues"
)

// kernels names the kernels that this machine can run, fastest first.
func kernels() []string {
	var names []string
	for _, impl := range residues.All() {
		if impl.Available() {
			names = append(names, impl.Name)
		}
	}
	return names
}

// A contest says which programs there are.
type contest struct {
	baseline, searcher string   // paths
	kernels            []string // fastest first
	hunters, special   []Program
	twoCores           bool
}

// schedule lists the trials of one round: the baseline and every kernel on the artifact,
// the fastest kernel and its peers on the rest, and two threads where they are of
// interest, right behind one.
func schedule(ws []Workload, c contest) []*Trial {
	best := c.kernels[0]
	var trials []*Trial
	for _, w := range ws {
		programs := []Program{searcher(best, c.searcher, best, 1)}
		if c.twoCores && slices.Contains(scaled, w.Name) {
			programs = append(programs, searcher(best+", 2 threads", c.searcher, best, 2))
		}
		if w.Question == Artifact {
			programs = append([]Program{baseline(c.baseline)}, programs...)
			for _, name := range c.kernels[1:] {
				programs = append(programs, searcher(name, c.searcher, name, 1))
			}
		}
		switch w.Question {
		case Hunt:
			programs = append(programs, c.hunters...)
		case Special:
			programs = append(programs, c.special...)
		}
		for _, p := range programs {
			trials = append(trials, &Trial{Workload: w, Program: p})
		}
	}
	return trials
}
