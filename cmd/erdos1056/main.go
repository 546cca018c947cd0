// Command erdos1056 searches ranges of primes for consecutive intervals of product 1
// (Erdős problem 1056), replays and checks what others found, and lists fibers.
package main

import (
	"fmt"
	"runtime"

	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/kernel/residues"
)

var command = cli.Command{
	Name:    "erdos1056",
	About:   "finds, for every prime p of a range, the largest set of cuts t with equal t! mod p.",
	Default: "search",
	Example: "erdos1056 --range 10428401..10428600 --output artifact.txt",
	Groups: []cli.Group{
		{Title: "Search", Verbs: []cli.Verb{searchVerb, fibersVerb, planVerb}},
		{Title: "Campaigns (a search with --checkpoint DIR, to be stopped and resumed)", Verbs: []cli.Verb{statusVerb, mergeVerb, auditVerb}},
		{Title: "Check", Verbs: []cli.Verb{replayVerb, witnessVerb, certifyVerb}},
		{Title: "This machine", Verbs: []cli.Verb{selftestVerb, cpuVerb}},
	},
	Version:     func() string { return "kernel " + residues.Best().Name },
	Interrupted: "interrupted; nothing was written",
}

func main() { command.Main() }

// program names this program in a ledger.
func program() string {
	return fmt.Sprintf("erdos1056 %s %s %s/%s", cli.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
