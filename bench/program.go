package main

import (
	"fmt"
	"strconv"
	"strings"
)

// A Program is something to be timed on workloads.
type Program struct {
	Name    string
	Kernel  string // as erdos1056 names it; empty for other programs
	Threads int
	Peer    bool // prints in a form of its own, so that its answers are not compared

	command func(Workload) []string
}

// searcher is the command erdos1056 at path.
func searcher(name, path, kernel string, threads int) Program {
	return Program{Name: name, Kernel: kernel, Threads: threads, command: func(w Workload) []string {
		return append(append([]string{path}, w.args()...),
			"--kernel="+kernel, fmt.Sprintf("--threads=%d", threads), "--progress=none")
	}}
}

// baseline is the published method at path. It answers Artifact workloads only.
func baseline(path string) Program {
	return Program{Name: "baseline", Threads: 1, command: func(w Workload) []string {
		return []string{path, fmt.Sprint(w.Range.Lo), fmt.Sprint(w.Range.Hi)}
	}}
}

// peerForm is what parsePeer accepts.
const peerForm = "NAME='COMMAND {lo} {hi} {m}'"

// parsePeer reads a program to compare with. In its arguments, which blanks separate,
// {lo} and {hi} stand for the range, both ends included, {m} for the number of cuts to
// report, {residue} for the residue of a special workload.
func parsePeer(s string) (Program, error) {
	name, command, ok := strings.Cut(s, "=")
	fields := strings.Fields(command)
	switch {
	case !ok || name == "" || len(fields) == 0:
		return Program{}, fmt.Errorf("%q: expected %s", s, peerForm)
	case !strings.Contains(command, "{lo}") || !strings.Contains(command, "{hi}"):
		return Program{}, fmt.Errorf("%q: the command is not told the range; write %s", s, peerForm)
	}
	return Program{Name: name, Threads: 1, Peer: true, command: func(w Workload) []string {
		fill := strings.NewReplacer("{lo}", fmt.Sprint(w.Range.Lo), "{hi}", fmt.Sprint(w.Range.Hi),
			"{m}", strconv.Itoa(w.atLeast()), "{residue}", strconv.Itoa(w.Residue))
		argv := make([]string, len(fields))
		for i, field := range fields {
			argv[i] = fill.Replace(field)
		}
		return argv
	}}, nil
}

// peers are the flags --peer and --special-peer: programs with distinct names.
type peers []Program

func (p *peers) String() string { return "" }
func (p *peers) Type() string   { return "NAME=COMMAND" }
func (p *peers) Set(s string) error {
	peer, err := parsePeer(s)
	if err != nil {
		return err
	}
	for _, other := range *p {
		if other.Name == peer.Name {
			return fmt.Errorf("the name %q is given twice", peer.Name)
		}
	}
	*p = append(*p, peer)
	return nil
}
