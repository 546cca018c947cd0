package main

// tailSize bounds what is kept of a program's messages.
const tailSize = 2048

// A tail is a writer that keeps the end of what is written to it.
type tail []byte

func (t *tail) Write(p []byte) (int, error) {
	*t = append(*t, p[max(0, len(p)-tailSize):]...)
	*t = (*t)[max(0, len(*t)-tailSize):]
	return len(p), nil
}

func (t tail) String() string { return string(t) }
