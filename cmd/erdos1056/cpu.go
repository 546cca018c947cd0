package main

import (
	"context"
	"fmt"
	"runtime"

	"github.com/klauspost/cpuid/v2"

	"github.com/erdos1056/erdos1056/kernel/residues"
)

func runCPU(_ context.Context, args []string) error {
	help := "erdos1056 cpu prints the processor, its caches, and which kernels this machine can run.\n"
	if err := parse(newFlags("cpu", help), args, 0, "erdos1056 cpu"); err != nil {
		return helped(err)
	}
	c := cpuid.CPU
	fmt.Printf("processor  %s (%s)\n", c.BrandName, runtime.GOARCH)
	fmt.Printf("cores      %d logical; this process may use %d\n", runtime.NumCPU(), runtime.GOMAXPROCS(0))
	fmt.Printf("caches     L1 data %s, L2 %s, L3 %s\n", size(c.Cache.L1D), size(c.Cache.L2), size(c.Cache.L3))
	best := residues.Best()
	for _, impl := range residues.All() {
		switch {
		case impl == best:
			fmt.Printf("kernel     %-9s chosen\n", impl.Name)
		case impl.Available():
			fmt.Printf("kernel     %-9s available\n", impl.Name)
		default:
			fmt.Printf("kernel     %-9s needs %s\n", impl.Name, impl.Needs)
		}
	}
	fmt.Printf("kernel     %-9s available\n", "reference")
	return nil
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
