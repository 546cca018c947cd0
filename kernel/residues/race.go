//go:build race

package residues

import (
	"runtime"
	"unsafe"
)

// raceWrite tells the race detector of a slice that assembly is about to write.
func raceWrite(keys []int32) {
	runtime.RaceWriteRange(unsafe.Pointer(&keys[0]), 4*len(keys))
}
