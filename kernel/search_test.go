package kernel

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/erdos1056/erdos1056/kernel/artifact"
	"github.com/erdos1056/erdos1056/kernel/fibers"
	"github.com/erdos1056/erdos1056/kernel/internal/naive"
	"github.com/erdos1056/erdos1056/kernel/plan"
	"github.com/erdos1056/erdos1056/kernel/residues"
	"github.com/erdos1056/erdos1056/kernel/transcript"
)

const testdata = "../testdata/erdos-frontier/"

// kernels names all kernels that this machine can run.
func kernels() []string {
	names := []string{Reference}
	for _, impl := range residues.All() {
		if impl.Available() {
			names = append(names, impl.Name)
		}
	}
	return names
}

func mustSearch(t *testing.T, pl plan.Plan, o Options) Result {
	t.Helper()
	r, err := Search(context.Background(), pl, o)
	if err != nil {
		t.Fatalf("%v with %+v: %v", pl, o, err)
	}
	return r
}

func golden(t *testing.T, pattern string) map[string][]byte {
	files, _ := filepath.Glob(testdata + pattern)
	if len(files) == 0 {
		t.Fatalf("no files %s", pattern)
	}
	all := map[string][]byte{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all[file] = b
	}
	return all
}

// Every golden artifact comes out byte for byte, from every kernel, for 1, 2 and 7
// threads. The ranges of about 15 primes near 1e7 take the reference kernel a second
// each, so it computes them with 2 threads only.
func TestGoldenArtifacts(t *testing.T) {
	for _, pattern := range []string{"artifacts/*", "derived/ranges/*.txt", "derived/edge-ranges/*", "derived/witness-generalised/*"} {
		for file, want := range golden(t, pattern) {
			if testing.Short() && strings.HasPrefix(filepath.Base(file), "104") {
				continue // the ranges near 1e7
			}
			a, err := artifact.Parse(want)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range kernels() {
				for _, threads := range []int{1, 2, 7} {
					large := a.Hi > 1e6
					if large && name == Reference && (threads != 2 || pattern == "artifacts/*") {
						continue
					}
					r := mustSearch(t, a.Plan, Options{Kernel: name, Threads: threads})
					r.Schema = a.Schema
					if d := artifact.Diff(want, r.Encode()); d != nil {
						t.Errorf("%s: kernel %s, %d threads: %v", filepath.Base(file), name, threads, d)
					}
				}
			}
		}
	}
}

func TestLeastPrimesOfEachMultiplicity(t *testing.T) {
	least := map[int]uint32{}
	err := Fibers(context.Background(), plan.Range{Lo: 2, Hi: 3100}, Selection{AtLeast: 2}, Options{}, func(p uint32, fs []Fiber) error {
		for m := range len(fibers.Largest(fs).Cuts) + 1 {
			if _, ok := least[m]; !ok {
				least[m] = p
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for m, want := range map[int]uint32{2: 2, 3: 5, 4: 17, 5: 17, 6: 23, 7: 71, 8: 599, 9: 599, 10: 3011, 11: 3011} {
		if least[m] != want {
			t.Errorf("the least prime with a fiber of %d cuts is %d, want %d", m, least[m], want)
		}
	}
}

func TestPlantedPositives(t *testing.T) {
	for _, c := range []struct{ p, residue uint32 }{{3_408_707, 1}, {10_428_007, 8_978_998}} {
		for _, name := range kernels() {
			r := mustSearch(t, plan.Plan{Range: plan.Range{Lo: c.p, Hi: c.p}, K: 15}, Options{Kernel: name})
			if len(r.Artifact.Cuts) != 15 || r.BestResidue != c.residue {
				t.Errorf("kernel %s: p = %d: %d cuts of residue %d, want 15 of %d", name, c.p, len(r.Artifact.Cuts), r.BestResidue, c.residue)
			}
		}
	}
}

// leastPrimes returns, for n = 1, 2, ..., the least prime below limit at which at least n
// cuts k >= 1 have one of the given residues.
func leastPrimes(t *testing.T, limit uint32, residues ...int64) []uint32 {
	t.Helper()
	counts := map[uint32]int{}
	for _, r := range residues {
		sel := Selection{AtLeast: 1, Residues: []int64{r}}
		err := Fibers(context.Background(), plan.Range{Lo: 2, Hi: limit}, sel, Options{}, func(p uint32, fs []Fiber) error {
			for _, f := range fs {
				for _, k := range f.Cuts {
					if k >= 1 {
						counts[p]++
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	var least []uint32
	for _, p := range naive.Primes(2, limit) {
		for len(least) < counts[p] {
			least = append(least, p)
		}
	}
	return least
}

// OEIS A230315: a(n) is the smallest prime dividing n numbers of the form k!+1 (k >= 1).
func TestFibersOfMinusOneFollowOEIS(t *testing.T) {
	want := []uint32{2, 7, 23, 59, 71, 71, 71, 3643, 62_939}
	if got := leastPrimes(t, 63_000, -1); !slices.Equal(got, want) {
		t.Errorf("least primes %v, want %v", got, want)
	}
}

// OEIS A071710: a(n) is the least prime p for which exactly n of the k in [0, p) have k! = 1 or
// -1 mod p; the terms below 4000, by the definition.
func TestFibersOfOneAndMinusOneFollowOEIS(t *testing.T) {
	want := map[int]uint32{2: 2, 3: 3, 4: 5, 5: 7, 6: 17, 7: 67, 8: 137, 9: 23, 10: 61, 11: 71, 12: 401, 13: 1907, 14: 661}
	counts := map[uint32]int{2: -2} // 1 and -1 are the same residue mod 2
	for _, residue := range []int64{1, -1} {
		sel := Selection{AtLeast: 1, Residues: []int64{residue}}
		err := Fibers(context.Background(), plan.Range{Lo: 2, Hi: 4000}, sel, Options{}, func(p uint32, fs []Fiber) error {
			for _, f := range fs {
				counts[p] += len(f.Cuts)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	got := map[int]uint32{}
	for _, p := range naive.Primes(2, 4000) {
		if _, ok := got[counts[p]]; !ok {
			got[counts[p]] = p
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("least primes %v, want %v", got, want)
	}
}

func TestPerPrimeTableBelow3000(t *testing.T) {
	checkPerPrime(t, "derived/perprime-below-3000.csv", Options{})
	checkPerPrime(t, "derived/perprime-below-3000.csv", Options{Kernel: Reference})
}

func TestPerPrimeTableNear1e7(t *testing.T) {
	checkPerPrime(t, "derived/perprime-10428001-10430800.csv", Options{})
}

func checkPerPrime(t *testing.T, file string, o Options) {
	t.Helper()
	f, err := os.Open(testdata + file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) < 100 {
		t.Fatalf("%s: %d rows, %v", file, len(rows), err)
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	crew, err := newCrew(o, plan.Range{Lo: 2, Hi: 3}, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		number := func(i int) int {
			n, err := strconv.Atoi(row[i])
			if err != nil {
				t.Fatalf("%s: row %v: %v", file, row, err)
			}
			return n
		}
		p := uint32(number(0))
		_, fs, err := crew.probers[0].scan(context.Background(), p, fibers.ExpectedLargest(p), 1)
		if err != nil {
			t.Fatal(err)
		}
		if best := fibers.Largest(fs); len(best.Cuts) != number(1) || best.Residue != uint32(number(2)) {
			t.Errorf("p = %d: %d cuts of residue %d, want %v", p, len(best.Cuts), best.Residue, row)
		}
	}
}

// Fast, reference and the definition agree fiber for fiber.
func TestKernelsAgreeFiberForFiber(t *testing.T) {
	ps := naive.Primes(2, 400)
	for range 6 {
		ps = append(ps, naive.NextPrime(rand.Uint32N(1<<20)))
	}
	for _, p := range ps {
		definition := naive.Fibers(p)
		for _, name := range kernels() {
			count := 0
			err := Fibers(context.Background(), plan.Range{Lo: p, Hi: p}, Selection{AtLeast: 2}, Options{Kernel: name}, func(_ uint32, fs []Fiber) error {
				count = len(fs)
				for _, f := range fs {
					if fmt.Sprint(f.Cuts) != fmt.Sprint(definition[f.Residue]) {
						t.Errorf("kernel %s: p = %d, residue %d: %v, want %v", name, p, f.Residue, f.Cuts, definition[f.Residue])
					}
				}
				return nil
			})
			want := 0
			for _, cuts := range definition {
				if len(cuts) >= 2 {
					want++
				}
			}
			if err != nil || count != want {
				t.Errorf("kernel %s: p = %d: %d fibers of 2 cuts, want %d; %v", name, p, count, want, err)
			}
		}
	}
}

// 200 primes below 2^26, sizes spread evenly on a logarithmic scale: the fast kernel and the
// reference and the definition find the same large fibers, cut for cut.
func TestRandomLargePrimesAgreeFiberForFiber(t *testing.T) {
	fast, err := newCrew(Options{}, plan.Range{Lo: 2, Hi: 3}, true)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := newCrew(Options{Kernel: Reference}, plan.Range{Lo: 2, Hi: 3}, true)
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for i := range 200 {
		p := naive.NextPrime(rand.Uint32N(1 << (10 + 16*uint(i)/199)))
		m := max(2, fibers.ExpectedLargest(p)-2)
		_, fs, err := fast.probers[0].scan(context.Background(), p, m, m)
		if err != nil {
			t.Fatal(err)
		}
		_, gs, err := plain.probers[0].scan(context.Background(), p, m, m)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(fs, gs, equalFibers) {
			t.Errorf("p = %d: of at least %d cuts the fast kernel has %v, the reference %v", p, m, fs, gs)
		}
		compared += len(fs)
		definition := naive.LargeFibers(p, m)
		if len(fs) != len(definition) {
			t.Errorf("p = %d: %d fibers of at least %d cuts, the definition has %d", p, len(fs), m, len(definition))
		}
		for _, f := range fs {
			if !slices.Equal(f.Cuts, definition[f.Residue]) {
				t.Errorf("p = %d: %v, want the cuts %v", p, f, definition[f.Residue])
			}
		}
	}
	if compared < 1000 {
		t.Errorf("only %d fibers were compared", compared)
	}
}

func TestTranscriptsOfAllKernelsAgree(t *testing.T) {
	pl := plan.Plan{Range: plan.Range{Lo: 2, Hi: 5000}, K: 15}
	var want string
	for _, name := range kernels() {
		var b bytes.Buffer
		r := mustSearch(t, pl, Options{Kernel: name, Transcript: &b, Threads: 2})
		if _, fs, err := transcript.Read(bytes.NewReader(b.Bytes())); err != nil || uint64(len(fs)) != r.PrimesTested {
			t.Errorf("kernel %s: transcript of %d primes, %v; want %d", name, len(fs), err, r.PrimesTested)
		}
		if want == "" {
			want = b.String()
		}
		if b.String() != want || r.Transcript == "" || !strings.Contains(want, r.Transcript) {
			t.Errorf("kernel %s: another transcript, digest %s", name, r.Transcript)
		}
	}
}

func TestDoubleCheckPassesAndIsCounted(t *testing.T) {
	r := mustSearch(t, plan.Plan{Range: plan.Range{Lo: 3, Hi: 3000}, K: 15}, Options{DoubleCheck: 1})
	if r.Checks.DoubleCheck != r.PrimesTested || r.Checks.Wilson != r.PrimesTested {
		t.Errorf("checks %+v of %d primes", r.Checks, r.PrimesTested)
	}
}

func TestDoubleCheckOfAFraction(t *testing.T) {
	r := mustSearch(t, plan.Plan{Range: plan.Range{Lo: 2, Hi: 30_000}, K: 15}, Options{DoubleCheck: 0.25})
	if share := float64(r.Checks.DoubleCheck) / float64(r.PrimesTested); math.Abs(share-0.25) > 0.02 {
		t.Errorf("%.3f of the primes had a second run, want 0.25", share)
	}
}

func TestPlantedFaultStopsTheSearch(t *testing.T) {
	for _, fault := range []fibers.Fault{fibers.WrongLaneStart, fibers.DroppedBlock, fibers.FlippedCell} {
		_, err := Search(context.Background(), plan.Plan{Range: plan.Range{Lo: 100_000, Hi: 100_100}, K: 15}, Options{Threads: 1, Plant: fault})
		var internal *InternalError
		if !errors.As(err, &internal) || internal.P != 100_003 || !strings.Contains(internal.Reference, "cuts at residue") {
			t.Errorf("fault %d: error %v, want an internal error at 100003 with the reference's outcome", fault, err)
		}
	}
}

// Threads that work on one prime together find what one thread finds.
func TestThreadsTogetherOnOnePrime(t *testing.T) {
	for _, r := range []plan.Range{{Lo: 1_000_003, Hi: 1_000_003}, {Lo: 3_408_707, Hi: 3_408_720}, {Lo: 10_428_401, Hi: 10_428_480}} {
		alone := mustSearch(t, plan.Plan{Range: r, K: 15}, Options{Threads: 1})
		for _, threads := range []int{2, 3, 4, 5} {
			got := mustSearch(t, plan.Plan{Range: r, K: 15}, Options{Threads: threads, DoubleCheck: 1})
			if !bytes.Equal(got.Encode(), alone.Encode()) || got.Transcript != alone.Transcript {
				t.Errorf("%v with %d threads: %s and %s, alone %s and %s", r, threads, got.Encode(), got.Transcript, alone.Encode(), alone.Transcript)
			}
		}
	}
}

func TestWhichPrimesThreadsDoTogether(t *testing.T) {
	few := plan.Range{Lo: 10_428_401, Hi: 10_428_600} // 15 primes
	large := plan.Range{Lo: 1 << 27, Hi: 1<<27 + 10_000}
	for _, c := range []struct {
		r        plan.Range
		threads  int
		tables   bool
		probers  int
		together uint64
		team     bool
	}{
		{few, 1, true, 1, 0, false},
		{few, 2, true, 2, 1, true},
		{few, 4, true, 4, 3, true},
		{few, 5, true, 5, 0, false},
		{few, 15, true, 15, 0, false},
		{few, 16, true, 1, 0, false},
		{few, 4, false, 4, 0, false},
		{few, 8, false, 1, 0, false},
		{plan.Range{Lo: 1_000_003, Hi: 1_010_000}, 4, true, 4, 0, false},
		{plan.Range{Lo: 2, Hi: 100}, 8, true, 8, 0, false},
		{large, 2, true, 1, 0, false},
		{large, 1, true, 1, 0, false},
		{large, 2, false, 2, 0, false},
	} {
		crew, err := newCrew(Options{Threads: c.threads}, c.r, c.tables)
		if err != nil {
			t.Fatal(err)
		}
		if len(crew.probers) != c.probers || crew.together != c.together || (crew.team != nil) != c.team {
			t.Errorf("%v, %d threads, tables %t: %d probers, the first %d primes by all, a team: %t; want %d, %d, %t",
				c.r, c.threads, c.tables, len(crew.probers), crew.together, crew.team != nil, c.probers, c.together, c.team)
		}
	}
}

func TestEmptyRangeIsANegative(t *testing.T) {
	r := mustSearch(t, plan.Plan{Range: plan.Range{Lo: 14, Hi: 16}, K: 15}, Options{})
	if r.Witness() || r.PrimesTested != 0 || r.BestP != 0 {
		t.Errorf("%+v", r)
	}
}

func TestBadPlansAndOptionsAreRefused(t *testing.T) {
	good := plan.Plan{Range: plan.Range{Lo: 2, Hi: 10}, K: 15}
	for _, c := range []struct {
		pl plan.Plan
		o  Options
	}{
		{plan.Plan{Range: plan.Range{Lo: 0, Hi: 10}, K: 15}, Options{}}, {plan.Plan{Range: plan.Range{Lo: 10, Hi: 2}, K: 15}, Options{}},
		{plan.Plan{Range: good.Range, K: 0}, Options{}}, {good, Options{Threads: -1}}, {good, Options{Threads: 5000}}, {good, Options{Kernel: "abacus"}},
		{good, Options{DoubleCheck: 1.5}}, {good, Options{DoubleCheck: -0.1}}, {good, Options{DoubleCheck: math.NaN()}},
	} {
		if _, err := Search(context.Background(), c.pl, c.o); err == nil {
			t.Errorf("%+v was accepted", c)
		}
	}
}

func TestFullDiskForTheTranscriptIsReported(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	if _, err := Search(context.Background(), plan.Plan{Range: plan.Range{Lo: 2, Hi: 100}, K: 15}, Options{Transcript: full}); err == nil {
		t.Error("a transcript to a full disk was reported as written")
	}
}

// Cancellation in the middle of long work comes back long before the work would end. The
// bound is generous: it separates "stops at the next block" from "finishes first".
func TestCancellationStopsWithinBlocks(t *testing.T) {
	for _, name := range []string{Auto, Reference} {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() {
			_, err := Search(ctx, plan.Plan{Range: plan.Range{Lo: 2_000_000_000, Hi: 2_000_100_000}, K: 15}, Options{Kernel: name, Threads: 1})
			done <- err
		}()
		time.Sleep(50 * time.Millisecond)
		cancel()
		select {
		case err := <-done:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("kernel %s: %v, want %v", name, err, context.Canceled)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("kernel %s does not stop", name)
		}
	}
}

func TestMemoryStaysBelowTheBound(t *testing.T) {
	const p = 10_428_581
	r := mustSearch(t, plan.Plan{Range: plan.Range{Lo: p, Hi: p}, K: 15}, Options{Threads: 1})
	if r.WorkerBytes > p*65/100 {
		t.Errorf("a worker holds %d bytes, want at most 0.65 p", r.WorkerBytes)
	}
}
