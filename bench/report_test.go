package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/erdos1056/erdos1056/kernel/plan"
)

var update = flag.Bool("update", false, "rewrite testdata")

// golden compares text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test -update rewrites it):\ngot\n%s\nwant\n%s", path, got, want)
	}
}

// exampleTrials are made up: three rounds with round figures.
func exampleTrials() []*Trial {
	artifact := Workload{Name: "artifact", Question: Artifact, Range: artifactRange, Cuts: 1_000_000}
	hunt := Workload{Name: standard, Question: Hunt, Range: plan.Range{Lo: 10_000_000, Hi: 10_000_500}, Cuts: 2_000_000}
	far := Workload{Name: "hunt near 1e8", Question: Hunt, Range: plan.Range{Lo: 100_000_000, Hi: 100_000_050}, Cuts: 2_000_000}
	avx2 := Program{Name: "avx2", Kernel: "avx2", Threads: 1}
	two := trialOf(hunt, Program{Name: "avx2, 2 threads", Kernel: "avx2", Threads: 2}, 36_000_000, 3*time.Millisecond, 3*time.Millisecond, 3*time.Millisecond)
	for i := range two.Runs {
		two.Runs[i].Wall /= 3
	}
	return []*Trial{
		trialOf(artifact, Program{Name: "baseline", Threads: 1}, 300_000_000, 59*time.Millisecond, 61*time.Millisecond, 60*time.Millisecond),
		trialOf(artifact, avx2, 20_000_000, 2*time.Millisecond, time.Millisecond, 3*time.Millisecond),
		trialOf(artifact, Program{Name: "generic", Kernel: "generic", Threads: 1}, 20_000_000, 4*time.Millisecond, 4*time.Millisecond, 5*time.Millisecond),
		trialOf(hunt, avx2, 18_000_000, 2*time.Millisecond, 2*time.Millisecond, 2*time.Millisecond),
		two,
		trialOf(hunt, Program{Name: "scan", Threads: 1, Peer: true}, 9_000_000, 3*time.Millisecond, 3*time.Millisecond, 3*time.Millisecond),
		trialOf(far, avx2, 60_000_000, 3*time.Millisecond, 3*time.Millisecond, 3*time.Millisecond),
	}
}

func TestReport(t *testing.T) {
	var out strings.Builder
	printTable(&out, exampleTrials())
	printRatios(&out, exampleTrials())
	golden(t, "report.txt", out.String())
}
