package campaign

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/kernel"
	"github.com/erdos1056/erdos1056/kernel/plan"
)

func auditOf(l *Ledger, dir string, draws int, seed string) (AuditReport, error) {
	return l.Audit(context.Background(), AuditOptions{Draws: draws, Seed: seed, Fingerprints: []string{filepath.Join(dir, fingerprintsName)},
		Options: kernel.Options{Threads: 1}})
}

func TestAuditPassesWhatIsRight(t *testing.T) {
	for _, h := range []Header{from2(15), from2(15, 1, -1)} {
		dir := t.TempDir()
		l := done(t, dir, h)
		r, err := auditOf(l, dir, 459, "")
		if err != nil {
			t.Fatal(err)
		}
		if r.Primes != 430 || r.Draws != 459 || r.Recomputed != 0 || math.Abs(r.Wrong-0.00998) > 1e-4 || r.Root != l.Root() {
			t.Errorf("%+v", r)
		}
	}
}

// Without side files whole units are computed again.
func TestAuditRecomputesUnitsWithoutSideFiles(t *testing.T) {
	for _, h := range []Header{small(8), smallOfResidues(15)} {
		dir := t.TempDir()
		l := done(t, dir, h)
		m := mustMerge(t, []Source{{"all", l}})
		last, total := 0, 0
		r, err := m.Audit(context.Background(), AuditOptions{Draws: 60, Report: func(n, of int) { last, total = n, of }})
		if err != nil || r.Recomputed < 5 || r.Recomputed > smallUnits || last != 60+r.Recomputed || total != last {
			t.Errorf("%v, %+v, %d of %d steps", err, r, last, total)
		}
		if r.NearMisses == 0 && h.K == 8 {
			t.Error("no near miss was checked")
		}
		for _, u := range m.Units {
			if u.Hi == 599 {
				u.Best.Residue ^= 1
			}
		}
		if _, err := m.Audit(context.Background(), AuditOptions{Draws: 60}); err == nil {
			t.Errorf("%s: an altered best fiber was not noticed", h.Kind)
		}
	}
}

// tampered returns the ledger and folder with one cell more in the fingerprints of some primes.
func tampered(t *testing.T, l *Ledger, dir string, alter func(p uint32) bool) *Ledger {
	return rewritten(t, l, dir, func(p uint32, columns []uint32) {
		if alter(p) {
			columns[2]++
		}
	})
}

// rewritten returns the ledger and folder with the columns of the fingerprints changed - p, h!, cells
// and squares - in a way that all digests and roots fit again.
func rewritten(t *testing.T, l *Ledger, dir string, change func(p uint32, columns []uint32)) *Ledger {
	t.Helper()
	out := *l
	out.Units = nil
	for _, u := range l.Units {
		f, err := readFingerprints([]string{filepath.Join(dir, fingerprintsName)}, u, l.Header.Residues)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range f.lines {
			c := make([]uint32, 4)
			fmt.Sscan(line, &c[0], &c[1], &c[2], &c[3])
			change(c[0], c)
			f.lines[i] = fmt.Sprintf("%d %d %d %d\n", c[0], c[1], c[2], c[3])
		}
		u.Transcript, u.Root = f.digest(), f.root()
		writeFile(t, sideFile(filepath.Join(dir, fingerprintsName), u), f.text(u.Range(), l.Header.Residues))
		out.Units = append(out.Units, u)
	}
	return &out
}

// With a fraction f of wrong records, n draws find one with the chance 1-(1-f)^n.
func TestDetectionRateFollowsTheFormula(t *testing.T) {
	dir := t.TempDir()
	bad, primes := 0, 0
	l := tampered(t, done(t, dir, from2(15)), dir, func(p uint32) bool {
		primes++
		wrong := kernel.InSample(p*7, 0.05)
		if wrong {
			bad++
		}
		return wrong
	})
	const draws, audits = 10, 200
	caught := 0
	for seed := range audits {
		_, err := auditOf(l, dir, draws, fmt.Sprint(seed))
		var wrong *AuditError
		if errors.As(err, &wrong) {
			caught++
		} else if err != nil {
			t.Fatal(err)
		}
	}
	f := float64(bad) / float64(primes)
	want := 1 - math.Pow(1-f, draws)
	sigma := math.Sqrt(want * (1 - want) / audits)
	if got := float64(caught) / audits; math.Abs(got-want) > 4*sigma {
		t.Errorf("%d of %d records are wrong: %.3f of the audits found it, the formula says %.3f", bad, primes, got, want)
	}
	t.Logf("%d of %d records wrong: found by %d of %d audits of %d draws; the formula says %.1f", bad, primes, caught, audits, draws, want*audits)
}

func TestOneAlteredFingerprintIsFoundWhenDrawn(t *testing.T) {
	dir := t.TempDir()
	l := tampered(t, done(t, dir, small(15)), dir, func(p uint32) bool { return p == 599 })
	_, err := auditOf(l, dir, 459, "")
	if err == nil || !strings.Contains(err.Error(), "audit: fingerprint of p = 599: expected \"599 ") {
		t.Errorf("%v", err)
	}
}

func TestAuditNamesWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	l := done(t, dir, small(8))
	last := len(l.Units) - 1
	alter := func(change func(u *Unit)) *Ledger {
		out := *l
		out.Units = append([]Unit{}, l.Units...)
		u := &out.Units[last]
		best := *u.Best
		u.Best, u.NearMisses = &best, append([]Fiber{}, u.NearMisses...)
		change(u)
		return &out
	}
	for want, bad := range map[string]*Ledger{
		"expected 1 primes":           alter(func(u *Unit) { u.Primes++ }),
		"cuts of residue 175 mod 599": alter(func(u *Unit) { u.NearMisses[0].Cuts = []uint32{1, 2, 3, 4, 5, 6, 7, 8} }),
		"cuts of residue 176 mod 599": alter(func(u *Unit) { u.Best.Residue = 176 }),
		"the ledger says sha256:00":   alter(func(u *Unit) { u.Root = "sha256:00" }),
	} {
		if _, err := auditOf(bad, dir, 459, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}

// Every flipped bit and every cut of a side file is detected, and the file named.
func TestDamagedSideFilesAreNamed(t *testing.T) {
	dir := t.TempDir()
	l := done(t, dir, tiny())
	side := filepath.Join(dir, fingerprintsName)
	u := l.Units[3] // 599
	name := sideFile(side, u)
	text := readFile(t, name)
	check := func(bad []byte) {
		t.Helper()
		writeFile(t, name, bad)
		if _, err := readFingerprints([]string{side}, u, nil); err == nil || !strings.Contains(err.Error(), name) {
			t.Fatalf("%q: %v", bad, err)
		}
	}
	for at := range text {
		for bit := range 8 {
			bad := bytes.Clone(text)
			bad[at] ^= 1 << bit
			check(bad)
		}
		check(text[:at])
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(name, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := readFingerprints([]string{side}, u, nil); err == nil || errors.Is(err, errNoSideFile) {
		t.Errorf("a folder was read as fingerprints: %v", err)
	}
}

func TestSideFileMustHoldThePrimesOfItsUnit(t *testing.T) {
	dir := t.TempDir()
	l := done(t, dir, NewHeader(from2(15).Plan(), nil, plan.Shard{I: 1, N: 80}))
	u := l.Units[0]
	f, err := readFingerprints([]string{filepath.Join(dir, fingerprintsName)}, u, nil)
	if err != nil || len(f.lines) < 2 {
		t.Fatal(err, len(f.lines))
	}
	for what, lines := range map[string][]string{"a prime left out": f.lines[1:], "one too many": append(f.lines, "9 1 1 1\n"), "none": nil} {
		bad := fingerprints{lines}
		v := u
		v.Transcript, v.Root = bad.digest(), bad.root()
		if _, err := parseFingerprints(bad.text(v.Range(), nil), v, nil); err == nil || !strings.Contains(err.Error(), "expected the fingerprint of prime") && !strings.Contains(err.Error(), "prime 0") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestDrawsComeFromRootAndSeedAndFallEvenly(t *testing.T) {
	l := done(t, t.TempDir(), from2(15))
	picks := func(l *Ledger, seed string) []pick {
		a := &audit{ledger: l, options: AuditOptions{Draws: 4300, Seed: seed}}
		if err := a.checkCounts(); err != nil {
			t.Fatal(err)
		}
		return a.draw()
	}
	if a, b := picks(l, ""), picks(l, ""); fmt.Sprint(a) != fmt.Sprint(b) {
		t.Error("the same root and seed draw different primes")
	}
	if a, b := picks(l, ""), picks(l, "x"); fmt.Sprint(a) == fmt.Sprint(b) {
		t.Error("the seed changes nothing")
	}
	other := *l
	other.Units = append([]Unit{}, l.Units...)
	other.Units[7].Root = "sha256:00"
	if a, b := picks(l, ""), picks(&other, ""); fmt.Sprint(a) == fmt.Sprint(b) {
		t.Error("the root changes nothing")
	}
	counts := map[pick]int{}
	for _, x := range picks(l, "") {
		counts[x]++
	}
	chi := 0.0
	for unit, u := range l.Units {
		for place := range u.Primes {
			d := float64(counts[pick{unit, place}] - 10)
			chi += d * d / 10
		}
	}
	if chi < 300 || chi > 580 { // 429 degrees of freedom, more than four sigma off
		t.Errorf("chi squared %.0f of 430 primes drawn ten times on average", chi)
	}
}

func TestExcludedFractions(t *testing.T) {
	for draws, want := range map[int]float64{459: 0.01, 4603: 0.001, 0: 1} {
		if got := Excluded(draws, 0.99); math.Abs(got-want) > want/100 {
			t.Errorf("%d draws exclude %.5f, want %.5f", draws, got, want)
		}
	}
}

// A wrong h! is found at whatever prime it stands, though no prime is drawn there.
func TestAuditOfAllHalfFactorials(t *testing.T) {
	dir := t.TempDir()
	l := done(t, dir, from2(15))
	all := func(l *Ledger) (AuditReport, error) {
		return l.Audit(context.Background(), AuditOptions{Draws: 1, HalfFactorials: true, Fingerprints: []string{filepath.Join(dir, fingerprintsName)},
			Options: kernel.Options{Threads: 1}})
	}
	if r, err := all(l); err != nil || r.HalfFactorials != 430 {
		t.Fatalf("%d half factorials, %v", r.HalfFactorials, err)
	}
	for _, altered := range []uint32{3, 5, 1009, 2999} {
		bad := rewritten(t, l, dir, func(p uint32, columns []uint32) {
			if p == altered {
				columns[1] = p - columns[1] // the other root of Wilson's congruence
			}
		})
		var wrong *AuditError
		if _, err := all(bad); !errors.As(err, &wrong) || wrong.Where != fmt.Sprintf("h! mod %d", altered) {
			t.Errorf("p = %d: %v", altered, err)
		}
	}
}

// Units without fingerprints are counted as not compared.
func TestAuditOfHalfFactorialsCountsWhatItCouldCompare(t *testing.T) {
	l := mustMerge(t, []Source{{"all", done(t, t.TempDir(), small(8))}})
	r, err := l.Audit(context.Background(), AuditOptions{Draws: 1, HalfFactorials: true})
	if err != nil || r.Recomputed != 1 || r.HalfFactorials == 0 || r.HalfFactorials >= r.Primes {
		t.Errorf("%d of %d primes, %d units recomputed, %v", r.HalfFactorials, r.Primes, r.Recomputed, err)
	}
	residues := done(t, t.TempDir(), from2(15, 1, -1))
	if _, err := residues.Audit(context.Background(), AuditOptions{Draws: 1, HalfFactorials: true}); err == nil || !strings.Contains(err.Error(), "complete searches only") {
		t.Errorf("single residues: %v", err)
	}
}

// withoutRecords is the ledger as the first programs wrote it, some or all units without records.
func withoutRecords(l *Ledger, which func(i int) bool) *Ledger {
	old := *l
	old.Units = append([]Unit{}, l.Units...)
	for i := range old.Units {
		if which(i) {
			old.Units[i].Records = nil
		}
	}
	return &old
}

// A ledger is held to what it states: units that were written before there were records pass, those that
// state wrong ones do not, and the difference names the field.
func TestAuditHoldsAUnitToWhatItStates(t *testing.T) {
	for _, h := range []Header{small(8), smallOfResidues(15)} {
		l := mustMerge(t, []Source{{"all", done(t, t.TempDir(), h)}}).Ledger
		old := withoutRecords(l, func(i int) bool { return i%2 == 0 })
		if _, err := old.Audit(context.Background(), AuditOptions{Draws: 40}); err != nil {
			t.Errorf("%s: %v", h.Kind, err)
		}
		for field, alter := range map[string]func(*Unit){
			"records":     func(u *Unit) { u.Records = []Record{{u.Best.P, u.Best.Residue ^ 1, len(u.Best.Cuts)}} },
			"near_misses": func(u *Unit) { u.NearMisses = []Fiber{} },
			"counts":      func(u *Unit) { u.Counts.Primes++ },
		} {
			bad := withoutRecords(l, func(int) bool { return false })
			altered := 0
			for i := range bad.Units {
				if u := &bad.Units[i]; u.Best != nil && (field != "near_misses" || len(u.NearMisses) > 0) {
					alter(u)
					altered++
				}
			}
			var wrong *AuditError
			_, err := bad.Audit(context.Background(), AuditOptions{Draws: 200})
			if altered > 0 && (!errors.As(err, &wrong) || !strings.Contains(wrong.Where, fmt.Sprintf("field %q", field))) {
				t.Errorf("%s: %s altered: %v", h.Kind, field, err)
			}
		}
	}
}

// The unit that lists its records supplements the one that does not; two that both list them must agree.
func TestMergeTakesTheUnitThatStatesMore(t *testing.T) {
	l := done(t, t.TempDir(), from2(15))
	old := withoutRecords(l, func(i int) bool { return i%3 > 0 })
	for _, sources := range [][]Source{{{"old", old}, {"new", l}}, {{"new", l}, {"old", old}}} {
		if m := mustMerge(t, sources); m.Root() != l.Root() {
			t.Errorf("%s first: root %s, expected %s", sources[0].Name, m.Root(), l.Root())
		}
	}
	wrong := withoutRecords(l, func(int) bool { return false })
	u := &wrong.Units[0]
	u.Records = append([]Record{}, u.Records...)
	u.Records[0].Residue++
	if _, err := Merge([]Source{{"a", l}, {"b", wrong}}, false); err == nil || !strings.Contains(err.Error(), `field "records"`) {
		t.Errorf("%v", err)
	}
}
