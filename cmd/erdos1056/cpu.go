package main

import (
	"context"
	"fmt"
	"runtime"

	"github.com/klauspost/cpuid/v2"
	"github.com/spf13/pflag"

	"github.com/erdos1056/erdos1056/internal/cli"
	"github.com/erdos1056/erdos1056/kernel/residues"
)

var cpuVerb = cli.Verb{
	Name:    "cpu",
	Summary: "print the processor, its caches, and which kernels it can run",
	Example: `erdos1056 cpu`,
	Text:    true,
	Declare: declareCPU,
}

func declareCPU(f *pflag.FlagSet) func(context.Context, *cli.Call) error {
	return func(_ context.Context, c *cli.Call) error {
		chip := cpuid.CPU
		c.Print("processor  %s (%s)", chip.BrandName, runtime.GOARCH)
		c.Print("cores      %d logical; this process may use %d", runtime.NumCPU(), runtime.GOMAXPROCS(0))
		c.Print("caches     L1 data %s, L2 %s, L3 %s", size(chip.Cache.L1D), size(chip.Cache.L2), size(chip.Cache.L3))
		best := residues.Best()
		for _, impl := range residues.All() {
			switch {
			case impl == best:
				c.Print("kernel     %-9s chosen", impl.Name)
			case impl.Available():
				c.Print("kernel     %-9s available", impl.Name)
			default:
				c.Print("kernel     %-9s needs %s", impl.Name, impl.Needs)
			}
		}
		c.Print("kernel     %-9s available", "reference")
		return nil
	}
}

// size writes a number of bytes; cpuid reports -1 for an unknown cache.
func size(bytes int) string {
	switch {
	case bytes <= 0:
		return "unknown"
	case bytes < 1<<20:
		return fmt.Sprintf("%d KiB", bytes>>10)
	default:
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
}
