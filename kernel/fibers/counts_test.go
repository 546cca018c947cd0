package fibers

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/erdos1056/erdos1056/kernel/residues"
)

// tables returns every table in every implementation that this machine can run, the
// portable code of each included.
func tables() map[string]counts {
	all := map[string]counts{}
	for _, impl := range residues.All() {
		if !impl.Available() {
			continue
		}
		all[impl.Name+"/bytes"] = &byteTable{functions: machineBytes(impl.Name)}
		all[impl.Name+"/buckets"] = &bucketTable{functions: machineBuckets(impl.Name)}
		far := machineBuckets(impl.Name)
		far.partition = far.partitionFar
		all[impl.Name+"/many buckets"] = &bucketTable{functions: far}
		f := machineNibbles(impl.Name)
		if f == nil {
			f = &nibbleFunctions{}
		}
		all[impl.Name+"/nibbles"] = &nibbleTable{functions: *f}
	}
	return all
}

// A tableCase is what a table is to hold: the classes of p, in batches of odd lengths.
type tableCase struct {
	p       uint32
	batches [][]int32
	counts  []uint32
}

// newTableCase draws h keys, evenly or crowded at a few classes up to count 15.
func newTableCase(p uint32) tableCase {
	h := int(p-1) / 2
	c := tableCase{p: p, counts: make([]uint32, h+1)}
	var batch []int32
	for range h {
		key := 1 + rand.IntN(h)
		if rand.IntN(4) == 0 {
			key = 1 + rand.IntN(min(h, 3)) // crowd the first cells
		}
		if rand.IntN(16) == 0 {
			key = h - rand.IntN(min(h, 3)) // and the last ones
		}
		if c.counts[key] == maxThreshold {
			continue
		}
		c.counts[key]++
		if batch = append(batch, int32(key)); len(batch) >= 1+rand.IntN(residues.BlockSize) {
			c.batches, batch = append(c.batches, batch), nil
		}
	}
	if len(batch) > 0 {
		c.batches = append(c.batches, batch)
	}
	return c
}

func (c tableCase) sums() (s sums) {
	for _, n := range c.counts {
		s.total += uint64(n)
		s.squares += uint64(n) * uint64(n)
		if n > 0 {
			s.cells++
		}
	}
	return s
}

func (c tableCase) reaching(threshold int) (found []cell) {
	for a, n := range c.counts {
		if int(n) >= threshold {
			found = append(found, cell{uint32(a), n})
		}
	}
	return found
}

func byClass(a, b cell) int { return int(a.class) - int(b.class) }

// Every table counts the same keys to the same sums, the same large cells and the same
// looked-up cells, and can be used again.
func TestTablesCountAlike(t *testing.T) {
	all := tables()
	for _, p := range []uint32{3, 5, 7, 31, 127, 131, 257, 1021, 4099, 65_537, 131_101, 262_147, 400_009} {
		for range 2 {
			c := newTableCase(p)
			var everything []cell
			for a := range c.counts {
				everything = append(everything, cell{class: uint32(a)})
			}
			rand.Shuffle(len(everything), func(i, j int) { everything[i], everything[j] = everything[j], everything[i] })
			for name, table := range all {
				table.reset(p)
				for _, batch := range c.batches {
					table.add(batch)
				}
				for _, threshold := range []int{maxThreshold, 1 + rand.IntN(maxThreshold)} {
					sums, found, err := table.scan(threshold, nil)
					slices.SortFunc(found, byClass)
					if err != nil || sums != c.sums() || !slices.Equal(found, c.reaching(threshold)) {
						t.Fatalf("%s: p = %d, threshold %d: %+v, %d cells, %v; want %+v, %d cells", name, p, threshold, sums, len(found), err, c.sums(), len(c.reaching(threshold)))
					}
				}
				for _, some := range [][]cell{everything, everything[:min(3, len(everything))]} {
					cells := slices.Clone(some)
					for i := range cells {
						cells[i].count = rand.Uint32N(maxThreshold) // the least that matters
					}
					needed := slices.Clone(cells)
					table.lookup(cells)
					for i, got := range cells {
						want := c.counts[got.class]
						missed := got.count == 0 && want < needed[i].count
						if got.class != some[i].class || got.count != want && !missed {
							t.Fatalf("%s: p = %d: looked up %v, want count %d of class %d, if it is %d or more", name, p, got, want, some[i].class, needed[i].count)
						}
					}
				}
			}
		}
	}
}

// A counter that wraps around, one that reaches the limit, a bucket that overflows: none goes
// unnoticed, by the table's own error or by its total.
func TestOverflowIsNoticed(t *testing.T) {
	const p = 400_009
	for name, table := range tables() {
		for _, n := range []int{16, 17, 32, 128, 129, 256, 257, 512, 100_000} {
			table.reset(p)
			keys := make([]int32, 1<<11)
			for i := range keys {
				keys[i] = 70_001
			}
			added := 0
			for added < n {
				batch := keys[:min(len(keys), n-added)]
				table.add(batch)
				added += len(batch)
			}
			sums, _, err := table.scan(1, nil)
			if exact := sums.total == uint64(n) && sums.cells == 1 && sums.squares == uint64(n)*uint64(n); err == nil && sums.total == uint64(n) && !exact {
				t.Errorf("%s: %d equal keys: wrong sums %+v with the right total", name, n, sums)
			}
		}
	}
}

func TestScanFunctionsWriteWithinTheirList(t *testing.T) {
	for _, impl := range residues.All() {
		if !impl.Available() {
			continue
		}
		scans := map[int][]scanFunction{64: {machineBytes(impl.Name).scan, machineBuckets(impl.Name).take}} // by cells in a group
		if f := machineNibbles(impl.Name); f != nil {
			scans[128] = []scanFunction{f.scan}
		}
		for perGroup, fs := range scans {
			for i, f := range fs {
				if f != nil {
					testListOfScan(t, fmt.Sprintf("impl=%s/cells=%d/%d", impl.Name, perGroup, i), f, perGroup)
				}
			}
		}
	}
}

func testListOfScan(t *testing.T, name string, f scanFunction, perGroup int) {
	table := make([]byte, 64*100)
	for i := range table {
		table[i] = 0x11 * byte(1+i%7) // every cell is listed
	}
	list := make([]cell, 3*perGroup+8)
	guard := cell{^uint32(0), ^uint32(0)}
	for i := range list[3*perGroup:] {
		list[3*perGroup+i] = guard
	}
	sums, large, found := f.run(table, perGroup, 1, list[:3*perGroup], nil)
	if len(found) != perGroup*100 || large || sums.cells != uint64(perGroup*100) {
		t.Errorf("%s: %d cells listed, %+v, want %d", name, len(found), sums, perGroup*100)
	}
	for _, c := range list[3*perGroup:] {
		if c != guard {
			t.Errorf("%s: wrote behind the list", name)
		}
	}
}

func TestLayoutIsThatOfTheGenerator(t *testing.T) {
	var s scanState
	for what, got := range map[string][2]uintptr{
		"total": {unsafe.Offsetof(s.total), 0}, "cells": {unsafe.Offsetof(s.cells), 8}, "squares": {unsafe.Offsetof(s.squares), 16},
		"large": {unsafe.Offsetof(s.large), 24}, "threshold": {unsafe.Offsetof(s.threshold), 32},
		"out": {unsafe.Offsetof(s.out), 40}, "room": {unsafe.Offsetof(s.room), 48}, "a cell": {unsafe.Sizeof(cell{}), 8},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: %d, the generator has %d", what, got[0], got[1])
		}
	}
}

// The filter lets no wanted class pass unseen, however few or many are wanted.
func TestFiltersFindEveryWantedKey(t *testing.T) {
	for _, impl := range residues.All() {
		if !impl.Available() {
			continue
		}
		set := &classSet{machine: machineFilters(impl.Name)}
		for _, n := range []int{1, 2, 15, 16, 17, 31, 32, 33, 1000, residues.BlockSize} {
			for _, classes := range []int{1, 8, 30, 100, 200, 400, 2000} {
				testFilter(t, set, impl.Name, n, classes)
			}
		}
	}
}

// testFilter looks for so many classes, about half of them among n keys.
func testFilter(t *testing.T, set *classSet, name string, n, count int) {
	keys := make([]int32, n)
	for i := range keys {
		keys[i] = rand.Int32N(1<<22) - 1<<21
	}
	var classes []uint32
	for range count {
		if rand.IntN(2) == 0 {
			classes = append(classes, rand.Uint32N(1<<21))
		} else {
			classes = append(classes, classOf(keys[rand.IntN(n)]))
		}
	}
	slices.Sort(classes)
	classes = slices.Compact(classes)
	set.reset(classes, 1<<23)
	places := set.filter(keys)
	for i, k := range keys {
		wanted, found := slices.Contains(classes, classOf(k)), slices.Contains(places, uint32(i))
		if wanted && !found || wanted != set.has(k) {
			t.Fatalf("impl=%s: %d keys, %d classes: key %d at place %d: wanted %t, found %t, has %t", name, n, len(classes), k, i, wanted, found, set.has(k))
		}
	}
	if !slices.IsSorted(places) {
		t.Fatalf("impl=%s: places %v do not ascend", name, places)
	}
}

func TestChoiceOfCounting(t *testing.T) {
	for _, impl := range residues.All() {
		if !impl.Available() {
			continue
		}
		s := Scanner{Implementation: impl}
		if how := s.choose(100_003); how != Bytes {
			t.Errorf("impl=%s: p = 100003: %s, want bytes: the table fits every cache", impl.Name, how)
		}
		if how := s.choose(1<<31 - 1); how != Buckets {
			t.Errorf("impl=%s: p = 2^31-1: %s, want buckets", impl.Name, how)
		}
		s.Counting = Nibbles
		if how := s.choose(1<<31 - 1); how != Nibbles {
			t.Errorf("impl=%s: forced to nibbles: %s", impl.Name, how)
		}
	}
}

func BenchmarkCounting(b *testing.B) {
	best := residues.Best()
	for _, p := range []uint32{100_003, 1_000_003, 10_428_581, 50_000_017} {
		for _, how := range Countings() {
			b.Run(fmt.Sprintf("impl=%s/counting=%s/p=%d", best.Name, how, p), func(b *testing.B) {
				s := Scanner{Implementation: best, Counting: how}
				for b.Loop() {
					if _, _, err := s.Scan(ctx, p, 1, 16, 16); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(p), "ns/cut")
			})
		}
	}
}
