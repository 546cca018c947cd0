package campaign

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/kernel"
	"github.com/erdos1056/erdos1056/kernel/artifact"
	"github.com/erdos1056/erdos1056/kernel/plan"
)

// shards runs all shards of a campaign, each in its own folder.
func shards(t *testing.T, h Header, n int) []Source {
	t.Helper()
	var sources []Source
	for i := range n {
		part := h
		if n > 1 {
			part.Shard = plan.Shard{I: i + 1, N: n}.String()
		}
		sources = append(sources, Source{"shard " + fmt.Sprint(i+1), done(t, t.TempDir(), part)})
	}
	return sources
}

func mustMerge(t *testing.T, sources []Source) *Merged {
	t.Helper()
	m, err := Merge(sources, false)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// 1, 3 and 8 shards in any order give the same ledger and the same artifact, which is that
// of an uninterrupted search; also where a witness ends it in the middle.
func TestAnySharingOutGivesTheSameBytes(t *testing.T) {
	for _, h := range []Header{small(15), small(8), smallOfResidues(15), NewHeader(plan.Plan{Range: plan.Range{Lo: 590, Hi: 640}, K: 8}, nil, plan.Shard{})} {
		var want *Merged
		for _, n := range []int{1, 3, 8} {
			sources := shards(t, h, n)
			for range 3 {
				rand.Shuffle(len(sources), func(i, j int) { sources[i], sources[j] = sources[j], sources[i] })
				m := mustMerge(t, sources)
				if want == nil {
					want = m
				}
				if !bytes.Equal(m.Text, want.Text) || m.Root() != want.Root() {
					t.Errorf("%s of %s in %d shards: other bytes", h.Kind, h.Plan().Range, n)
				}
			}
		}
		if h.Kind == Residues {
			if want.Artifact != nil {
				t.Error("a campaign of residues has an artifact")
			}
			continue
		}
		r, err := kernel.Search(context.Background(), h.Plan(), kernel.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if d := artifact.Diff(r.Encode(), want.Artifact.Encode()); d != nil {
			t.Errorf("%s, k = %d: %v", h.Plan().Range, h.K, d)
		}
	}
}

func TestMergedLedgerReadsBackAndMergesAgain(t *testing.T) {
	m := mustMerge(t, shards(t, small(15), 3))
	l, err := Read(bytes.NewReader(m.Text))
	if err != nil {
		t.Fatal(err)
	}
	again := mustMerge(t, []Source{{"merged", l}})
	if !bytes.Equal(again.Text, m.Text) {
		t.Error("merging a merged ledger changes it")
	}
	if s := l.Summarize(); !s.Complete() || s.Fraction != 1 || s.Units != smallUnits {
		t.Errorf("%+v", s)
	}
}

func TestAdjoiningCampaignsMerge(t *testing.T) {
	header := func(lo, hi uint32) Header {
		return NewHeader(plan.Plan{Range: plan.Range{Lo: lo, Hi: hi}, K: 15}, nil, plan.Shard{})
	}
	m := mustMerge(t, []Source{{"b", done(t, t.TempDir(), header(560, 601))}, {"a", done(t, t.TempDir(), header(540, 559))}})
	want := mustMerge(t, shards(t, small(15), 1))
	if d := artifact.Diff(want.Artifact.Encode(), m.Artifact.Encode()); d != nil {
		t.Error(d)
	}
}

func TestUnitsDoneTwiceMustAgree(t *testing.T) {
	a, b := shards(t, small(15), 3), shards(t, small(15), 3)
	m := mustMerge(t, append(a, b...))
	if m.Twice != smallUnits {
		t.Errorf("%d units were found twice, want %d", m.Twice, smallUnits)
	}
	for what, change := range map[string]func(*Unit){
		"transcript": func(u *Unit) { u.Transcript = "sha256:0" },
		"shard 2":    func(u *Unit) { u.Counts.AtLeast[0]++ },
	} {
		c := slices.Clone(b)
		altered := *c[1].Ledger
		altered.Units = slices.Clone(altered.Units)
		change(&altered.Units[4])
		c[1].Ledger = &altered
		if _, err := Merge(append(a, c...), false); err == nil || !strings.Contains(err.Error(), what) || !strings.Contains(err.Error(), altered.Units[4].Range().String()) {
			t.Errorf("%v, want an error on %s", err, what)
		}
	}
}

func TestGapsOverlapsAndStrangersAreRefused(t *testing.T) {
	parts := shards(t, small(15), 3)
	altered := func(i int, change func(*Ledger)) []Source {
		c := slices.Clone(parts)
		l := *c[i].Ledger
		l.Units = slices.Clone(l.Units)
		change(&l)
		c[i].Ledger = &l
		return c
	}
	first, last := parts[0].Ledger.Units, parts[2].Ledger.Units
	for _, c := range []struct {
		what    string
		sources []Source
		want    string
	}{
		{"nothing", nil, "at least one ledger"},
		{"no first shard", parts[1:], "no unit covers 540.."},
		{"no last shard", parts[:2], "no unit covers " + fmt.Sprint(last[0].Lo) + "..601"},
		{"no middle shard", []Source{parts[2], parts[0]}, "no unit covers " + fmt.Sprint(first[len(first)-1].Hi+1) + ".."},
		{"a dropped unit", altered(1, func(l *Ledger) { l.Units = slices.Delete(l.Units, 3, 4) }), "gap: no unit covers"},
		{"a shifted range", altered(1, func(l *Ledger) { l.Units[3].Lo--; l.Units[3].Hi-- }), "one of them is wrong"},
		{"a longer unit", altered(1, func(l *Ledger) { l.Units[3].Hi++ }), "overlaps unit"},
		{"a wrong number of primes", altered(2, func(l *Ledger) { l.Units[len(l.Units)-1].Primes++ }), "an independent count 1"},
		{"another k", altered(0, func(l *Ledger) { l.Header.K = 14 }), "expected the same"},
		{"another kind", altered(0, func(l *Ledger) { l.Header.Kind, l.Header.Residues = Residues, []int64{1} }), "expected the same"},
	} {
		if _, err := Merge(c.sources, false); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", c.what, err, c.want)
		}
	}
}

func TestPartialMergeEndsAtTheFirstGap(t *testing.T) {
	parts := shards(t, small(15), 3)
	m, err := Merge([]Source{parts[2], parts[0]}, true)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := parts[0].Ledger.Covered()
	if covered, _ := m.Covered(); covered != want || m.Artifact.Range != want || m.LeftOut != len(parts[2].Ledger.Units) {
		t.Errorf("covered %s, artifact of %s, %d units left out; want %s", covered, m.Artifact.Range, m.LeftOut, want)
	}
	if s := m.Summarize(); s.Complete() || s.Fraction < 0.2 || s.Fraction > 0.5 {
		t.Errorf("a third of the work is summed up as %+v", s)
	}
	if whole := mustMerge(t, parts); !bytes.HasPrefix(whole.Text, m.Text) {
		t.Error("the partial ledger is not the beginning of the whole one")
	}
	if again, err := Merge([]Source{{"partial", m.Ledger}, parts[1], parts[2]}, false); err != nil || again.Artifact.Range != small(15).Plan().Range {
		t.Errorf("the partial ledger does not merge with the rest: %v", err)
	}
	var gap *GapError
	if _, err := Merge(parts[1:], true); !errors.As(err, &gap) || gap.Lo != 540 {
		t.Errorf("%v, want a gap at the start", err)
	}
}

func TestMergeArtifacts(t *testing.T) {
	part := func(lo, hi uint32, k int) NamedArtifact {
		r, err := kernel.Search(context.Background(), plan.Plan{Range: plan.Range{Lo: lo, Hi: hi}, K: k}, kernel.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return NamedArtifact{fmt.Sprintf("%d..%d", lo, hi), r.Artifact}
	}
	a, b, c := part(2, 500, 8), part(501, 598, 8), part(599, 2000, 8)
	whole := part(2, 2000, 8)
	all, err := MergeArtifacts([]NamedArtifact{c, a, b})
	if err != nil || !bytes.Equal(all.Encode(), whole.Encode()) {
		t.Errorf("%v\n%s", err, all.Encode())
	}
	wrong := b
	wrong.PrimesTested--
	for want, parts := range map[string][]NamedArtifact{
		"at least one":           nil,
		"no unit covers 501..5":  {a, c},
		"it overlaps":            {a, b, part(598, 700, 8)},
		"expected the same":      {a, part(501, 598, 9)},
		"an independent count":   {a, wrong},
		"lies behind the witnes": {a, b, c, part(2001, 2010, 8)},
	} {
		if _, err := MergeArtifacts(parts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}
