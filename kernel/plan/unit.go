package plan

import (
	"fmt"
	"strings"
)

// A campaign is done in units: contiguous parts of its range of equal cost, which are the
// steps between two checkpoints and what shards are made of.
const (
	// MinUnits is the least number of units (where the range has as many integers),
	// so that small campaigns too can be shared among many workers.
	MinUnits = 240
	// MaxUnits bounds the number of units and of the pieces of Cut.
	MaxUnits = 1 << 16
)

// Units cuts r into units of at most about the given cost in cuts. They tile r and are a
// pure function of r and cost, so that all shards of a campaign agree on them.
func Units(r Range, cost uint64) []Range {
	n := r.Cost()/max(cost, 1) + 1
	return r.Cut(int(min(max(n, MinUnits), MaxUnits)))
}

// A Shard is the part I of N, 1 <= I <= N, that one worker takes of a campaign. The zero
// Shard stands for the whole, as does 1/1.
type Shard struct{ I, N int }

func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.I, s.N) }

// ParseShard reads "i/n".
func ParseShard(text string) (Shard, error) {
	first, second, ok := strings.Cut(text, "/")
	i, err1 := ParseNumber(first)
	n, err2 := ParseNumber(second)
	if !ok || err1 != nil || err2 != nil || i < 1 || i > n || n > MaxUnits {
		return Shard{}, fmt.Errorf("%q is not a shard; write i/n with 1 <= i <= n <= %d, for example 3/8", text, MaxUnits)
	}
	return Shard{int(i), int(n)}, nil
}

// Of returns the shard's share of the units: contiguous, of equal number within one, empty
// where there are fewer units than shards.
func (s Shard) Of(units []Range) []Range {
	if s.N <= 1 {
		return units
	}
	return units[len(units)*(s.I-1)/s.N : len(units)*s.I/s.N]
}
