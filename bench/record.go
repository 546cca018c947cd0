package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/erdos1056/erdos1056/internal/disk"
)

// A record is one run as a JSON line; README.md describes its fields.
type record struct {
	Type string `json:"type"` // "run"
	Machine
	Round    int    `json:"round"`
	Workload string `json:"workload"`
	Range    string `json:"range"`
	Cuts     uint64 `json:"cuts"`
	Program  string `json:"program"`
	Kernel   string `json:"kernel,omitempty"`
	Threads  int    `json:"threads"`
	CPUTime  int64  `json:"cpu_ns"`
	WallTime int64  `json:"wall_ns"`
	Memory   int64  `json:"memory_bytes"`
}

// records writes every run as a JSON line, round by round as they were run.
func records(m Machine, trials []*Trial) ([]byte, error) {
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	for round := range len(trials[0].Runs) {
		for _, t := range trials {
			r := t.Runs[round]
			if err := encoder.Encode(record{"run", m, round + 1, t.Workload.Name, t.Workload.Range.String(), t.Workload.Cuts,
				t.Program.Name, t.Program.Kernel, t.Program.Threads, int64(r.CPU), int64(r.Wall), r.Memory}); err != nil {
				return nil, err
			}
		}
	}
	return lines.Bytes(), nil
}

// resultsFile is where the runs of a machine are kept.
func resultsFile(root string, m Machine) string {
	return filepath.Join(root, "bench", "results", m.slug()+".jsonl")
}

// keep adds lines to the end of a results file, whole or not at all.
func keep(name string, lines []byte) error {
	old, err := kept(name)
	if err != nil {
		return err
	}
	return disk.Replace(name, append(old, lines...), 0o644)
}

// canKeep reports whether keep can be expected to succeed, so that no long run is lost.
func canKeep(name string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	if _, err := kept(name); err != nil {
		return err
	}
	return disk.CheckReplaceable(name)
}

// kept reads a results file; one that does not exist is empty.
func kept(name string) ([]byte, error) {
	old, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case len(old) > 0 && old[len(old)-1] != '\n':
		return nil, fmt.Errorf("%s: the last line has no end; repair or remove the file", name)
	}
	return old, nil
}
