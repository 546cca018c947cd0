package fibers

import (
	"bytes"
	"reflect"
	"testing"
)

// Memory is zero whether it is new, used before, grown, or given back and taken again.
func TestMemoryIsCleared(t *testing.T) {
	var m memory
	for _, n := range []int{64, hugePage/4 - 1, hugePage / 4, hugePage + 1, 64, 3 * hugePage, 2 * hugePage} {
		b := m.cleared(n)
		if len(b) != n || bytes.ContainsFunc(b, func(r rune) bool { return r != 0 }) {
			t.Fatalf("%d bytes, %d asked for, or they are not zero", len(b), n)
		}
		for i := range b {
			b[i] = 0xFF
		}
		if room := m.room(n / 2); len(room) < n {
			t.Errorf("%d bytes of room after %d were in use", len(room), n)
		}
		if n == hugePage+1 {
			m.release()
			m.release()
			if m.bytes != nil || m.mapping != nil {
				t.Errorf("%d bytes left after the release", len(m.bytes))
			}
		}
	}
	m.release()
}

// The memory of p is mapped, whichever way it is counted.
func TestReleasedScannerWorksAgain(t *testing.T) {
	const p = 3_408_707
	for _, how := range Countings() {
		for _, workers := range []int{1, 3} {
			s := Scanner{Counting: how, Workers: workers}
			first, fs, err := s.Scan(ctx, p, 1, 12, 1)
			held := s.Bytes()
			s.Release()
			if free := s.Bytes(); free > held-p/8 {
				t.Errorf("counting=%s: %d bytes after the release, %d before", how, free, held)
			}
			again, gs, err2 := s.Scan(ctx, p, 1, 12, 1)
			if err != nil || err2 != nil || again != first || len(fs) == 0 || !reflect.DeepEqual(fs, gs) {
				t.Errorf("counting=%s: %v, %v (%v), then %v, %v (%v)", how, first, fs, err, again, gs, err2)
			}
		}
	}
}
