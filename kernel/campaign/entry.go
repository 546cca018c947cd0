package campaign

import (
	"fmt"
	"slices"

	"github.com/erdos1056/erdos1056/kernel"
	"github.com/erdos1056/erdos1056/kernel/plan"
)

// Schema names the format of a ledger in its first line.
const Schema = "erdos1056.ledger.v1"

// Kinds of campaigns.
const (
	Complete = "complete" // every fiber of every prime
	Residues = "residues" // the fibers of single residues
)

// Types of lines.
const (
	typeCampaign = "campaign"
	typeUnit     = "unit"
	typePositive = "positive"
	typeFailure  = "failure"
)

// A Header is the first line of a ledger: what the campaign is asked to do.
type Header struct {
	Type     string  `json:"type"` // "campaign"
	Schema   string  `json:"schema"`
	Kind     string  `json:"kind"` // Complete or Residues
	K        int     `json:"k"`
	Lo       uint32  `json:"range_start"`
	Hi       uint32  `json:"range_end"`
	Residues []int64 `json:"residues,omitempty"`  // of the kind Residues: taken mod p
	UnitCost uint64  `json:"unit_cost,omitempty"` // cuts of a unit at most, about; 0 in a merged ledger
	Shard    string  `json:"shard,omitempty"`     // "i/n" in the ledger of a shard
}

// Costs of a unit in cuts: about a minute of two cores with vector instructions.
const (
	completeUnitCost = 1 << 36
	residuesUnitCost = 1 << 40
)

// NewHeader states a campaign. Residues make it one of single residues.
func NewHeader(pl plan.Plan, residues []int64, shard plan.Shard) Header {
	h := Header{Type: typeCampaign, Schema: Schema, Kind: Complete, K: pl.K, Lo: pl.Lo, Hi: pl.Hi, UnitCost: completeUnitCost}
	if len(residues) > 0 {
		h.Kind, h.Residues, h.UnitCost = Residues, residues, residuesUnitCost
	}
	if shard.N > 1 {
		h.Shard = shard.String()
	}
	return h
}

// Plan is the range and k of the whole campaign.
func (h Header) Plan() plan.Plan { return plan.Plan{Range: plan.Range{Lo: h.Lo, Hi: h.Hi}, K: h.K} }

// Units are the units that a ledger with this header is to hold.
func (h Header) Units() []plan.Range {
	units := plan.Units(h.Plan().Range, h.UnitCost)
	if h.Shard == "" {
		return units
	}
	shard, err := plan.ParseShard(h.Shard)
	if err != nil {
		return nil // refused by check
	}
	return shard.Of(units)
}

// maxResidues bounds the residues of a campaign.
const maxResidues = 16

func (h Header) check() error {
	if h.Type != typeCampaign || h.Schema != Schema {
		return fmt.Errorf("expected type %q and schema %q, found %q and %q", typeCampaign, Schema, h.Type, h.Schema)
	}
	if err := h.Plan().Validate(); err != nil {
		return err
	}
	if h.Shard != "" {
		if s, err := plan.ParseShard(h.Shard); err != nil || s.String() != h.Shard {
			return fmt.Errorf("shard %q: expected i/n", h.Shard)
		}
	}
	switch {
	case h.Kind == Complete && len(h.Residues) == 0:
	case h.Kind == Residues && len(h.Residues) > 0 && len(h.Residues) <= maxResidues:
	default:
		return fmt.Errorf("kind %q with residues %v: expected %q without residues, or %q with 1 to %d", h.Kind, h.Residues, Complete, Residues, maxResidues)
	}
	for i, r := range h.Residues {
		if r <= -plan.Limit || r >= plan.Limit || r == 0 || slices.Contains(h.Residues[:i], r) {
			return fmt.Errorf("residue %d: expected different residues, not 0, between -2^31 and 2^31", r)
		}
	}
	return nil
}

// A Fiber is a fiber of one prime, as package fibers defines it.
type Fiber struct {
	P       uint32   `json:"p"`
	Residue uint32   `json:"residue"`
	Cuts    []uint32 `json:"cuts"`
}

func (f Fiber) check(r plan.Range, least int) error {
	if f.P < r.Lo || f.P > r.Hi || f.Residue >= f.P || len(f.Cuts) < least {
		return fmt.Errorf("fiber of p = %d, residue %d, %d cuts: expected a prime of %s and at least %d cuts", f.P, f.Residue, len(f.Cuts), r, least)
	}
	for i, t := range f.Cuts {
		if t >= f.P || i > 0 && t <= f.Cuts[i-1] {
			return fmt.Errorf("fiber of p = %d: expected ascending cuts below p, found %d", f.P, t)
		}
	}
	return nil
}

// A Unit is a finished unit. All of it but Run is the same whoever does the unit.
type Unit struct {
	Type       string   `json:"type"` // "unit"
	Lo         uint32   `json:"range_start"`
	Hi         uint32   `json:"range_end"` // the witness's prime in the unit that has one
	Primes     uint64   `json:"primes"`
	Cuts       uint64   `json:"cuts"` // covered: the sum of the primes
	Best       *Fiber   `json:"best"` // largest fiber, the earliest prime's, then the smallest residue's; null without primes
	Records    []Record `json:"records,omitempty"`
	NearMisses []Fiber  `json:"near_misses"` // fibers of at least k cuts, see nearMiss
	Counts     Counts   `json:"counts"`
	Transcript string   `json:"transcript"` // digest of the fingerprints, package transcript
	Root       string   `json:"root"`       // their Merkle root
	Run        *Run     `json:"run,omitempty"`
}

// A Record is a prime of a unit whose largest fiber has more cuts than those of all primes before
// it in the unit. The first unit that has a record of at least m cuts thus names the least
// prime with a fiber of m cuts. The first ledgers lack the records.
type Record struct {
	P            uint32 `json:"p"`
	Residue      uint32 `json:"residue"`
	Multiplicity int    `json:"multiplicity"`
}

// Range is the part of the campaign that the unit covers.
func (u Unit) Range() plan.Range { return plan.Range{Lo: u.Lo, Hi: u.Hi} }

// FirstCounted is the least multiplicity that Counts counts.
const FirstCounted = 12

// Counts holds the number of fibers of at least 12, 13, 14 and 15 cuts: in a complete campaign
// among the primes of a fixed sample (kernel.InSample, one in sixteen), since looking
// for them costs time; in one of residues among all primes.
type Counts struct {
	Primes  uint64    `json:"primes"` // of the sample
	Cuts    uint64    `json:"cuts"`   // sum of those primes
	AtLeast [4]uint64 `json:"at_least"`
}

// sample is the fraction of the primes whose fibers a complete campaign counts.
const sample = 1.0 / 16

func (c *Counts) add(p uint32, fs []Fiber) {
	c.Primes++
	c.Cuts += uint64(p)
	for _, f := range fs {
		for i := range c.AtLeast {
			if len(f.Cuts) >= FirstCounted+i {
				c.AtLeast[i]++
			}
		}
	}
}

// A Run says how a unit was done.
type Run struct {
	Kernel       string `json:"kernel"`
	Threads      int    `json:"threads"`
	Milliseconds int64  `json:"milliseconds"`
	Ended        string `json:"ended"` // RFC 3339
	Program      string `json:"program"`
	Checks       Checks `json:"checks"`
}

// Checks counts the checks that passed in a unit; one that fails stops the run and has a
// line of its own.
type Checks struct {
	LaneChain uint64 `json:"lane_chain"`
	Wilson    uint64 `json:"wilson"`
	TableSum  uint64 `json:"table_sum"`
	SecondRun uint64 `json:"second_run"`
	Coverage  uint64 `json:"coverage"`
}

// A Positive is the outcome of searching a prime whose large fiber is known, before and
// after every run.
type Positive struct {
	Type     string `json:"type"` // "positive"
	When     string `json:"when"` // Before or After
	P        uint32 `json:"p"`
	Residue  int64  `json:"residue"`
	Expected int    `json:"expected"` // cuts
	Found    int    `json:"found"`
	Error    string `json:"error,omitempty"` // of a search that did not end
	Kernel   string `json:"kernel"`
	Ended    string `json:"ended"`
	Program  string `json:"program"`
}

// When a positive was searched.
const (
	Before = "before"
	After  = "after"
)

// A Failure is a check that failed, and what the reference kernel found at that prime.
type Failure struct {
	Type      string `json:"type"` // "failure"
	P         uint32 `json:"p"`
	Check     string `json:"check"`
	Detail    string `json:"detail"`
	Reference string `json:"reference"`
	Kernel    string `json:"kernel"`
	Ended     string `json:"ended"`
	Program   string `json:"program"`
}

// fibersOf puts fibers into the form of the ledger.
func fibersOf(fs []kernel.Fiber) []Fiber {
	all := make([]Fiber, len(fs))
	for i, f := range fs {
		all[i] = Fiber(f)
	}
	return all
}
