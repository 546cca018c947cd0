package sandbox

import (
	"context"
	"testing"
)

// BenchmarkStartup measures what each runtime adds to a program that ends at
// once.
func BenchmarkStartup(b *testing.B) {
	for _, r := range Runtimes() {
		if _, err := r.Probe(context.Background()); err != nil {
			b.Logf("%s: %v", r.Name(), err)
			continue
		}
		b.Run(r.Name(), func(b *testing.B) {
			command := hostile(b, "exit", "0")
			for b.Loop() {
				if outcome, err := r.Run(context.Background(), command, testLimits()); err != nil || outcome.ExitCode != 0 {
					b.Fatal(outcome, err)
				}
			}
		})
	}
}
