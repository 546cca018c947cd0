package term

import (
	"fmt"
	"sync/atomic"
)

// LimitError reports that a bound on memory, depth or work was reached. It says
// nothing about the proof.
type LimitError struct{ What string }

func (e *LimitError) Error() string { return "limit reached: " + e.What }

// A Budget counts the bytes held by stores and tables that share it. The zero
// value and nil have no bound. It is safe for concurrent use.
type Budget struct {
	max  int64
	used atomic.Int64
}

// NewBudget returns a budget of max bytes; max <= 0 means no bound.
func NewBudget(max int64) *Budget { return &Budget{max: max} }

// Used returns the bytes accounted for at present.
func (b *Budget) Used() int64 {
	if b == nil {
		return 0
	}
	return b.used.Load()
}

// Take accounts for n bytes; a negative n gives bytes back. It panics with a
// *LimitError when the bound is passed, before the caller allocates.
func (b *Budget) Take(n int64) {
	if b == nil {
		return
	}
	used := b.used.Add(n)
	if n > 0 && b.max > 0 && used > b.max {
		b.used.Add(-n)
		panic(&LimitError{fmt.Sprintf("the memory for terms, %d MiB, is used up", b.max>>20)})
	}
}
