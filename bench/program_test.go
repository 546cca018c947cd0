package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/kernel/plan"
)

var (
	someArtifact = Workload{Name: "artifact", Question: Artifact, Range: plan.Range{Lo: 101, Hi: 199}, Cuts: 1}
	someHunt     = Workload{Name: standard, Question: Hunt, Range: plan.Range{Lo: 101, Hi: 199}, Cuts: 1}
	someSpecial  = Workload{Name: "residue -1", Question: Special, Residue: -1, Range: plan.Range{Lo: 101, Hi: 199}, Cuts: 1}
)

func TestCommandLines(t *testing.T) {
	peer, err := parsePeer("scan=/opt/scan --from {lo} --to={hi} {m} {residue}")
	if err != nil {
		t.Fatal(err)
	}
	avx2 := searcher("avx2", "bin/erdos1056", "avx2", 2)
	for _, c := range []struct {
		program  Program
		workload Workload
		want     string
	}{
		{baseline("bin/baseline"), someArtifact, "bin/baseline 101 199"},
		{avx2, someArtifact, "bin/erdos1056 search --range=101..199 --kernel=avx2 --threads=2 --progress=none"},
		{avx2, someHunt, "bin/erdos1056 fibers --range=101..199 --at-least=16 --kernel=avx2 --threads=2 --progress=none"},
		{avx2, someSpecial, "bin/erdos1056 fibers --range=101..199 --residue=-1 --at-least=14 --kernel=avx2 --threads=2 --progress=none"},
		{peer, someHunt, "/opt/scan --from 101 --to=199 16 0"},
		{peer, someSpecial, "/opt/scan --from 101 --to=199 14 -1"},
	} {
		if got := strings.Join(c.program.command(c.workload), " "); got != c.want {
			t.Errorf("%s on %s:\ngot  %s\nwant %s", c.program.Name, c.workload.Name, got, c.want)
		}
	}
}

func TestParsePeerRefuses(t *testing.T) {
	for s, want := range map[string]string{
		"":                     "expected NAME=",
		"scan":                 "expected NAME=",
		"=scan {lo} {hi}":      "expected NAME=",
		"scan=":                "expected NAME=",
		"scan=  ":              "expected NAME=",
		"scan=scan {hi}":       "not told the range",
		"scan=scan {lo} {m}":   "not told the range",
		"scan=scan {Lo} {hi} ": "not told the range",
	} {
		if p, err := parsePeer(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("parsePeer(%q) = %v, %v; want an error with %q", s, p.Name, err, want)
		}
	}
}

func TestPeersHaveDistinctNames(t *testing.T) {
	var ps peers
	for _, s := range []string{"a=x {lo} {hi}", "b=x {lo} {hi}"} {
		if err := ps.Set(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := ps.Set("a=y {lo} {hi}"); err == nil || !strings.Contains(err.Error(), `"a" is given twice`) {
		t.Errorf("error %v, want one that names the peer given twice", err)
	}
	if len(ps) != 2 {
		t.Errorf("%d peers, want 2", len(ps))
	}
}

func FuzzParsePeer(f *testing.F) {
	for _, s := range []string{"scan=scan {lo} {hi} {m}", "a=b={lo}{hi}", "=", "a= \t{hi}{lo}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := parsePeer(s)
		if err != nil {
			return
		}
		argv := p.command(someHunt)
		if len(argv) == 0 || slices.Contains(argv, "") {
			t.Fatalf("%q: accepted, but the command is %q", s, argv)
		}
	})
}
