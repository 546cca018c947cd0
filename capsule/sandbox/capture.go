package sandbox

import (
	"bytes"
	"sync"
)

// A budget is the number of output bytes that the streams of one run may still
// write together.
type budget struct {
	mu       sync.Mutex
	left     int64
	exceeded bool
	stop     func() // called once, when the budget is first exceeded
}

// overrun reports whether the program wrote more than it was allowed.
func (b *budget) overrun() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.exceeded
}

// A capture keeps what one stream wrote, as far as the budget reaches. What
// comes after is dropped, so that a writer never blocks. The buffer is not
// embedded: io.Copy would find its ReadFrom and pass the budget by.
type capture struct {
	budget *budget
	kept   bytes.Buffer
}

func (c *capture) Write(p []byte) (int, error) {
	b := c.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	keep := min(int64(len(p)), b.left)
	c.kept.Write(p[:keep])
	b.left -= keep
	if keep < int64(len(p)) && !b.exceeded {
		b.exceeded = true
		b.stop()
	}
	return len(p), nil
}
