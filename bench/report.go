package main

import (
	"fmt"
	"io"
)

// printTable prints a line for each trial. The last two columns compare with the first
// trial, the baseline.
func printTable(out io.Writer, trials []*Trial) {
	base := trials[0]
	const row = "%-42s %-20s %9s %17s %8s %9s %9s\n"
	fmt.Fprintf(out, row, "workload", "program", "ns/cut", "least..most", "MB", "CPU", "memory")
	workload := ""
	for _, t := range trials {
		label := ""
		if t.Workload.Name != workload {
			workload = t.Workload.Name
			label = fmt.Sprintf("%s %s", workload, t.Workload.Range)
		}
		least, most := t.perCut(t.least(cpu)), t.perCut(t.most(cpu))
		fmt.Fprintf(out, row, label, t.Program.Name, fmt.Sprintf("%.3f", t.perCut(t.median(cpu))),
			fmt.Sprintf("%.3f..%.3f", least, most), fmt.Sprintf("%.1f", t.median(memory)/1e6),
			fmt.Sprintf("%.1fx", t.speed(base)), fmt.Sprintf("%.1fx", base.median(memory)/t.median(memory)))
	}
	fmt.Fprintf(out, "\nCPU, memory: what the baseline needs for a cut, and at its peak, divided by what this program needs\n")
}

// printRatios prints what the table does not show at a glance: workloads against the
// standard one, two threads against one, and peers.
func printRatios(out io.Writer, trials []*Trial) {
	ours := map[string]*Trial{} // by workload, the fastest kernel on one core
	for _, t := range trials {
		if w := t.Workload.Name; t.Program.Kernel != "" && ours[w] == nil {
			ours[w] = t
		}
	}
	fmt.Fprintln(out)
	for _, t := range trials {
		w := t.Workload.Name
		best := ours[w]
		switch {
		case t.Program.Peer:
			fmt.Fprintf(out, "%s: %s is %.2f times as fast as %s (CPU time)\n", w, best.Program.Name, best.speed(t), t.Program.Name)
		case t.Program.Threads == 2:
			fmt.Fprintf(out, "%s: 2 threads are %.2f times as fast as 1 (wall time)\n", w, best.median(wall)/t.median(wall))
		case t == best && t.Workload.Question != Artifact && w != standard:
			fmt.Fprintf(out, "%s: a cut takes %.2f times what it takes in %s\n", w, ours[standard].speed(t), standard)
		}
	}
}
