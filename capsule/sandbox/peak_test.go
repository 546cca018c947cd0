package sandbox

import (
	"context"
	"testing"
)

func TestBuiltInMeasuresMemory(t *testing.T) {
	for _, b := range []*builtin{{}, {withoutCgroups: true}} {
		outcome, err := b.Run(context.Background(), hostile(t, "exit", "0"), testLimits())
		if err != nil {
			t.Fatal(err)
		}
		if outcome.PeakMemory < 1<<20 || outcome.PeakMemory > testLimits().Memory {
			t.Errorf("without cgroups %v: a peak of %d bytes", b.withoutCgroups, outcome.PeakMemory)
		}
	}
}
