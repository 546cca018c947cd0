package transcript

import (
	"testing"

	"github.com/erdos1056/erdos1056/kernel/plan"
)

func TestResidueLine(t *testing.T) {
	if got, want := ResidueLine(23, [][]uint32{{0, 1, 4, 8, 11, 21}, nil}), "23 6 45 0 0\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestHeadersTellSearchesApart(t *testing.T) {
	r := plan.Range{Lo: 2, Hi: 10}
	if got := Header(r, nil); got != "erdos1056.transcript.v1 2..10\n" {
		t.Errorf("%q", got)
	}
	if got := Header(r, []int64{1, -1}); got != "erdos1056.residue-transcript.v1 2..10 1 -1\n" {
		t.Errorf("%q", got)
	}
}
