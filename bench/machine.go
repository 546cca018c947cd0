package main

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/klauspost/cpuid/v2"
)

// A Machine says what figures were taken on, and of which source. Sizes are in bytes,
// 0 where the processor does not tell.
type Machine struct {
	Date     string `json:"date"` // when the benchmark began, UTC
	Revision string `json:"revision"`
	CPU      string `json:"cpu"`
	Cores    int    `json:"cores"` // that the benchmark may use
	L1Data   int    `json:"l1d_bytes"`
	L2       int    `json:"l2_bytes"`
	L3       int    `json:"l3_bytes"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Compiler string `json:"compiler"` // of the baseline
}

// thisMachine describes the machine and the tree at root.
func thisMachine(ctx context.Context, root string, cores int, now time.Time) Machine {
	c := cpuid.CPU
	m := Machine{Date: now.UTC().Format(time.RFC3339), Revision: "unknown", CPU: strings.TrimSpace(c.BrandName), Cores: cores,
		L1Data: max(0, c.Cache.L1D), L2: max(0, c.Cache.L2), L3: max(0, c.Cache.L3),
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Compiler: "unknown"}
	if m.CPU == "" {
		m.CPU = "unknown " + runtime.GOARCH
	}
	if revision, err := command(ctx, root, "git", "describe", "--tags", "--always", "--dirty"); err == nil {
		m.Revision = revision
	}
	if version, err := command(ctx, root, "g++", "--version"); err == nil {
		m.Compiler, _, _ = strings.Cut(version, "\n")
	}
	return m
}

func (m Machine) String() string {
	return fmt.Sprintf("%s, L1 data %s, L2 %s, L3 %s; %s %s; baseline by %s; revision %s",
		m.CPU, kib(m.L1Data), kib(m.L2), kib(m.L3), m.Go, m.Platform, m.Compiler, m.Revision)
}

// kib writes the size of a cache.
func kib(bytes int) string {
	if bytes == 0 {
		return "unknown"
	}
	return fmt.Sprintf("%d KiB", bytes>>10)
}

// slug is the processor's name as a file name.
func (m Machine) slug() string {
	words := strings.FieldsFunc(strings.ToLower(m.CPU), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	return strings.Join(words, "-")
}
