package disk

import "io"

// A Lock is held until it is closed or the process ends, however it ends.
type Lock struct {
	io.Closer
	path string
}
