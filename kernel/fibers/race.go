//go:build race

package fibers

import (
	"runtime"
	"unsafe"
)

// raceRead tells the race detector of keys that assembly is about to read.
func raceRead(keys []int32) {
	runtime.RaceReadRange(unsafe.Pointer(&keys[0]), 4*len(keys))
}
