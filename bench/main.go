// Command bench compares erdos1056 with the published method, kernel with kernel, and
// HEAD with the last tag, by CPU time and peak memory. README.md says how to read it.
package main

import (
	"github.com/erdos1056/erdos1056/internal/cli"
)

var bench = cli.Command{
	Name:    "bench",
	About:   "compares programs that search for fibers, on one core, by CPU time and peak memory.",
	Default: "compare",
	Example: "go run ./bench --quick",
	Groups: []cli.Group{{Title: "Compare", Verbs: []cli.Verb{
		{Name: "compare", Summary: "the baseline, every kernel of this machine, and peers; the word may be left out", Text: true, Declare: declareCompare},
		{Name: "gate", Summary: "HEAD against the last tag", Text: true, Declare: declareGate},
	}}},
}

func main() { bench.Main() }
