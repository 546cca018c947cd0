package fibers

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"
)

// mappedPages is the size of this process.
func mappedPages(t *testing.T) (pages int) {
	t.Helper()
	b, err := os.ReadFile("/proc/self/statm")
	if err == nil {
		_, err = fmt.Sscan(string(b), &pages)
	}
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// Memory that nobody released is given back once its owner is garbage; what was released is
// not given back a second time, when it may be somebody else's.
func TestMemoryOfGarbageIsGivenBack(t *testing.T) {
	const each, n = 8 * hugePage, 20
	runtime.GC()
	before := mappedPages(t)
	for range n {
		var lost, released memory
		lost.cleared(each)
		released.cleared(hugePage)
		released.release()
	}
	var kept memory
	used := kept.cleared(each)
	half := before + n*each/2/os.Getpagesize() // the runtime and the race detector take some, too
	deadline := time.Now().Add(20 * time.Second)
	for mappedPages(t) > half {
		if time.Now().After(deadline) {
			t.Fatalf("%d pages mapped, %d before; of %d tables of %d bytes one is in use", mappedPages(t), before, n+1, each)
		}
		runtime.GC()
	}
	clear(used) // faults if it was given back
	kept.release()
}

// What the system does not map comes from the heap: it maps no empty range.
func TestHeapStandsInForAMapping(t *testing.T) {
	if whole, mapped := allocate(0); len(whole) != 0 || mapped {
		t.Errorf("%d bytes, mapped: %t", len(whole), mapped)
	}
}
