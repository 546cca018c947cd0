package export

import "io"

// aheadReader reads, and decompresses, on a goroutine of its own while what came
// before is being parsed.
type aheadReader struct {
	full  chan chunk
	empty chan []byte
	quit  chan struct{}
	now   chunk
	rest  []byte
}

type chunk struct {
	data []byte
	err  error
}

const (
	aheadChunks    = 4
	aheadChunkSize = 1 << 18
)

func readAhead(r io.Reader) *aheadReader {
	a := &aheadReader{full: make(chan chunk, aheadChunks), empty: make(chan []byte, aheadChunks), quit: make(chan struct{})}
	for range aheadChunks {
		a.empty <- make([]byte, aheadChunkSize)
	}
	go func() {
		for {
			var buf []byte
			select {
			case buf = <-a.empty:
			case <-a.quit:
				return
			}
			n, err := 0, error(nil)
			for n < aheadChunkSize && err == nil {
				var k int
				k, err = r.Read(buf[n:aheadChunkSize])
				n += k
			}
			a.full <- chunk{buf[:n], err} // there is room for all chunks
			if err != nil {
				return
			}
		}
	}()
	return a
}

// Read returns what was read ahead. An error comes after all data before it.
func (a *aheadReader) Read(p []byte) (int, error) {
	for len(a.rest) == 0 {
		if a.now.err != nil {
			return 0, a.now.err
		}
		if a.now.data != nil {
			a.empty <- a.now.data // there is room for all chunks
		}
		a.now = <-a.full
		a.rest = a.now.data
	}
	n := copy(p, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}

// stop ends the goroutine after the read it is in. At the end of the data it has
// ended already.
func (a *aheadReader) stop() { close(a.quit) }
