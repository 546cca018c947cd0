//go:build race

package residues

import (
	"runtime"
	"unsafe"
)

// raceWrite tells the race detector of a slice that assembly is about to write.
func raceWrite[T any](s []T) {
	runtime.RaceWriteRange(unsafe.Pointer(&s[0]), len(s)*int(unsafe.Sizeof(s[0])))
}
