package campaign

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/erdos1056/erdos1056/kernel/plan"
)

// A difference is the first field of a unit that is not as expected.
type difference struct {
	field           string
	expected, found string
}

// contradicts compares what a unit states with what was expected, field by field, without its run. A
// unit is held to what it states: optional fields that its ledger's time did not have
// are not expected of it.
func (u Unit) contradicts(expected Unit) (difference, bool) {
	u.Run, expected.Run = nil, nil
	other := make(map[string]json.RawMessage)
	if err := json.Unmarshal(marshal(expected), &other); err != nil {
		panic("campaign: " + err.Error())
	}
	fields := json.NewDecoder(bytes.NewReader(marshal(u)))
	fields.Token() // the opening brace
	for fields.More() {
		key, err := fields.Token()
		var value json.RawMessage
		if err == nil {
			err = fields.Decode(&value)
		}
		if err != nil {
			panic("campaign: " + err.Error())
		}
		if name := key.(string); !bytes.Equal(value, other[name]) {
			return difference{name, stated(other[name]), stated(value)}, true
		}
	}
	return difference{}, false
}

// stated is the text of a value; a field that is not there is told as such.
func stated(value json.RawMessage) string {
	if value == nil {
		return "nothing"
	}
	return string(value)
}

// statesRecords reports whether the unit lists its records, or has no prime to list.
func (u Unit) statesRecords() bool { return len(u.Records) > 0 || u.Primes == 0 }

// An Unknown is a run of multiplicities whose least primes are not known, since the units that hold
// them do not list their records; they are at most AtMost.
type Unknown struct {
	From   int    `json:"from"` // cuts
	To     int    `json:"to"`
	AtMost uint32 `json:"at_most"`
}

func (u Unknown) String() string {
	cuts := fmt.Sprint(u.From)
	if u.To > u.From {
		cuts = fmt.Sprintf("%d to %d", u.From, u.To)
	}
	return fmt.Sprintf("%s unknown before %d", cuts, uint64(u.AtMost)+1)
}

// addRecords adds a unit's records to the summary. A unit without a list still has its largest fiber, that
// of the first prime which reaches it: an exact record, behind others that are unknown.
func (s *Summary) addRecords(u Unit) {
	greatest := 0
	if n := len(s.Records); n > 0 {
		greatest = s.Records[n-1].Multiplicity
	}
	records := u.Records
	if !u.statesRecords() && u.Best != nil {
		m := len(u.Best.Cuts)
		records = []Record{{u.Best.P, u.Best.Residue, m}}
		if first := max(greatest, 1) + 1; first < m {
			s.RecordsUnknown = append(s.RecordsUnknown, Unknown{first, m - 1, u.Best.P - 1})
		}
	}
	for _, r := range records {
		if r.Multiplicity > greatest {
			s.Records = append(s.Records, r)
			greatest = r.Multiplicity
		}
	}
}

// claimedIn says where in a ledger a unit stands, for messages.
func claimedIn(r plan.Range, d difference) string {
	return fmt.Sprintf("unit %s, field %q", r, d.field)
}
