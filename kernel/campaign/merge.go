package campaign

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/erdos1056/erdos1056/kernel/artifact"
	"github.com/erdos1056/erdos1056/kernel/plan"
	"github.com/erdos1056/erdos1056/kernel/primes"
)

// A Source is a ledger and the name it was read from, for messages.
type Source struct {
	Name   string
	Ledger *Ledger
}

// Merged is one ledger made of several. Its bytes depend on what the units found, not on how
// they were shared out and done.
type Merged struct {
	*Ledger
	Text []byte // of the ledger
	// Artifact is the answer for the range that is covered; nil in a campaign of residues,
	// which does not answer the question of artifacts.
	Artifact *artifact.Artifact
	// Twice is the number of units that two sources hold, in agreement; LeftOut that of units
	// behind the first witness or, in a partial merge, behind the first gap.
	Twice, LeftOut int
}

// Merge puts the ledgers of shards, or of campaigns whose ranges adjoin, together. Different
// kinds, k or residues, gaps, overlaps, units on which two sources disagree, and
// numbers of primes that an independent count does not confirm are refused. Unless
// partial is set, everything that the sources set out to cover must be done; with it,
// the result ends at the first gap, and grows at its end as more gets done.
func Merge(sources []Source, partial bool) (*Merged, error) {
	if len(sources) == 0 {
		return nil, errors.New("nothing to merge: expected at least one ledger")
	}
	head := Header{Type: typeCampaign, Schema: Schema}
	for i, s := range sources {
		h := s.Ledger.Header
		if i == 0 {
			head.Kind, head.K, head.Residues, head.Lo, head.Hi = h.Kind, h.K, h.Residues, h.Lo, h.Hi
		}
		if h.Kind != head.Kind || h.K != head.K || !slices.Equal(h.Residues, head.Residues) {
			return nil, fmt.Errorf("%s is of kind %s, k = %d, residues %v; %s of kind %s, k = %d, residues %v: expected the same",
				sources[0].Name, head.Kind, head.K, head.Residues, s.Name, h.Kind, h.K, h.Residues)
		}
		head.Lo, head.Hi = min(head.Lo, h.Lo), max(head.Hi, h.Hi)
	}
	units, twice, err := collect(sources)
	if err != nil {
		return nil, err
	}
	tiled, err := tile(head, units, partial)
	if err != nil {
		return nil, err
	}
	m, err := build(head, tiled)
	if err != nil {
		return nil, err
	}
	m.Twice, m.LeftOut = twice, len(units)-len(tiled)
	return m, nil
}

// A sourced unit knows where it comes from.
type sourced struct {
	Unit
	name string
}

// collect returns all units without their runs, in ascending order, each once.
func collect(sources []Source) (units []sourced, twice int, err error) {
	for _, s := range sources {
		for _, u := range s.Ledger.Units {
			u.Run = nil
			units = append(units, sourced{u, s.Name})
		}
	}
	slices.SortStableFunc(units, func(a, b sourced) int { return cmp.Or(cmp.Compare(a.Lo, b.Lo), cmp.Compare(a.Hi, b.Hi)) })
	once := units[:0]
	for _, u := range units {
		if n := len(once); n > 0 && once[n-1].Range() == u.Range() {
			if err := agree(once[n-1], u); err != nil {
				return nil, 0, err
			}
			if !once[n-1].statesRecords() {
				once[n-1] = u // the one that states more
			}
			twice++
			continue
		}
		once = append(once, u)
	}
	return once, twice, nil
}

// agree reports how two records of the same unit differ in what both of them state.
func agree(a, b sourced) error {
	if !a.statesRecords() || !b.statesRecords() {
		a.Records, b.Records = nil, nil
	}
	if d, differs := a.contradicts(b.Unit); differs {
		return fmt.Errorf("unit %s, field %q: %s says %s, %s says %s; recompute the unit: one of them is wrong", a.Range(), d.field, a.name, d.found, b.name, d.expected)
	}
	return nil
}

// tile returns the units that cover the range of head without gap or overlap, up to the first
// witness or, if partial is set, the first gap.
func tile(head Header, units []sourced, partial bool) ([]Unit, error) {
	next, previous := head.Lo, "the start"
	var tiled []Unit
	for _, u := range units {
		if u.Lo > next && partial {
			break
		}
		if u.Lo > next {
			return nil, &GapError{plan.Range{Lo: next, Hi: u.Lo - 1}}
		}
		if u.Lo < next {
			return nil, fmt.Errorf("unit %s of %s overlaps %s: expected one from %d on", u.Range(), u.name, previous, next)
		}
		tiled = append(tiled, u.Unit)
		if u.witness(head.K) != nil {
			return tiled, nil
		}
		next, previous = u.Hi+1, fmt.Sprintf("unit %s of %s", u.Range(), u.name)
	}
	if next <= head.Hi && (!partial || len(tiled) == 0) {
		return nil, &GapError{plan.Range{Lo: next, Hi: head.Hi}}
	}
	return tiled, nil
}

// A GapError says what no source covers.
type GapError struct{ plan.Range }

func (e *GapError) Error() string {
	return fmt.Sprintf("gap: no unit covers %s; add the ledger that does, or finish its shard", e.Range)
}

// build writes the merged ledger, counts its primes again, and draws the answer from it.
func build(head Header, units []Unit) (*Merged, error) {
	m := &Merged{Ledger: &Ledger{}}
	entries := []any{head}
	for _, u := range units {
		if n := primes.Count(u.Lo, u.Hi); n != u.Primes {
			return nil, fmt.Errorf("unit %s: the ledger says %d primes, an independent count %d", u.Range(), u.Primes, n)
		}
		entries = append(entries, u)
	}
	for _, e := range entries {
		line, chain := encode(e, m.chain)
		if err := m.add(e, chain, len(line)); err != nil {
			return nil, err
		}
		m.Text = append(m.Text, line...)
	}
	if head.Kind == Complete {
		m.Artifact = m.artifact()
	}
	return m, nil
}

// artifact is the answer of a merged ledger of a complete campaign: for its range or, where
// there is work left, for what is covered.
func (m *Merged) artifact() *artifact.Artifact {
	s := m.Summarize()
	a := &artifact.Artifact{Plan: m.Header.Plan(), PrimesTested: s.Primes}
	if !s.Complete() {
		a.Hi = s.Covered.Hi
	}
	if s.Best != nil {
		a.BestP, a.BestResidue, a.Cuts = s.Best.P, s.Best.Residue, s.Best.Cuts
	}
	return a
}

// A NamedArtifact is an artifact and the name it was read from, for messages.
type NamedArtifact struct {
	Name string
	artifact.Artifact
}

// MergeArtifacts puts together artifacts of adjoining ranges. Different k, gaps, overlaps and
// numbers of primes that an independent count does not confirm are refused, and so is
// everything behind a witness, which ends its range.
func MergeArtifacts(parts []NamedArtifact) (artifact.Artifact, error) {
	if len(parts) == 0 {
		return artifact.Artifact{}, errors.New("nothing to merge: expected at least one artifact")
	}
	slices.SortStableFunc(parts, func(a, b NamedArtifact) int { return cmp.Compare(a.Lo, b.Lo) })
	all := parts[0].Artifact
	all.PrimesTested, all.BestP, all.BestResidue, all.Cuts = 0, 0, 0, nil
	for i, part := range parts {
		last := part.Hi
		switch {
		case part.K != all.K || part.Schema != all.Schema:
			return all, fmt.Errorf("%s has k = %d, %s has k = %d: expected the same", parts[0].Name, all.K, part.Name, part.K)
		case i > 0 && part.Lo <= all.Hi:
			return all, fmt.Errorf("%s begins at %d: it overlaps %s, which ends at %d", part.Name, part.Lo, parts[i-1].Name, all.Hi)
		case i > 0 && part.Lo > all.Hi+1:
			return all, &GapError{plan.Range{Lo: all.Hi + 1, Hi: part.Lo - 1}}
		case all.Witness():
			return all, fmt.Errorf("%s lies behind the witness at p = %d of %s, which is the answer", part.Name, all.BestP, parts[i-1].Name)
		case part.Witness():
			last = part.BestP
		}
		if n := primes.Count(part.Lo, last); n != part.PrimesTested {
			return all, fmt.Errorf("%s: primes_tested is %d, an independent count of %d..%d says %d", part.Name, part.PrimesTested, part.Lo, last, n)
		}
		if all.Hi = part.Hi; len(part.Cuts) > len(all.Cuts) {
			all.BestP, all.BestResidue, all.Cuts = part.BestP, part.BestResidue, part.Cuts
		}
		all.PrimesTested += part.PrimesTested
	}
	return all, nil
}
