package campaign

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/erdos1056/erdos1056/kernel/plan"
	"github.com/erdos1056/erdos1056/kernel/transcript"
)

// maxLine bounds a line of a ledger in bytes.
const maxLine = 1 << 20

// A Ledger is what a campaign, or a shard of one, has done.
type Ledger struct {
	Header    Header
	Units     []Unit // contiguous, ascending
	Positives []Positive
	Failures  []Failure

	chain string // of the last line
	size  int64  // of the lines in bytes
	lines int
}

// A Damage says which line of a ledger could not be adopted. Size is that of the good lines
// before it.
type Damage struct {
	Line int
	Size int64
	Err  error
}

func (d *Damage) Error() string { return fmt.Sprintf("ledger line %d: %v", d.Line, d.Err) }
func (d *Damage) Unwrap() error { return d.Err }

// Read reads a ledger. Where a line is damaged the error is a *Damage and the ledger holds
// all lines before it; it is nil if there are none.
func Read(in io.Reader) (*Ledger, error) {
	l := &Ledger{}
	s := bufio.NewScanner(in)
	s.Buffer(make([]byte, 0, 4096), maxLine)
	s.Split(wholeLines)
	for s.Scan() {
		if err := l.adopt(s.Bytes()); err != nil {
			return l.damaged(err)
		}
	}
	switch err := s.Err(); {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return l.damaged(errors.New("the line has no end: it was being written, or is damaged"))
	case errors.Is(err, bufio.ErrTooLong):
		return l.damaged(fmt.Errorf("expected at most %d bytes in a line", maxLine))
	case err != nil:
		return nil, err
	case l.lines == 0:
		return l.damaged(errors.New("expected the campaign, found nothing"))
	}
	return l, nil
}

// damaged returns the lines adopted so far and the damage of the next one.
func (l *Ledger) damaged(err error) (*Ledger, error) {
	damage := &Damage{Line: l.lines + 1, Size: l.size, Err: err}
	if l.lines == 0 {
		return nil, damage
	}
	return l, damage
}

// wholeLines keeps the newline and refuses a last line without one.
func wholeLines(data []byte, atEOF bool) (int, []byte, error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i+1], nil
	}
	if atEOF && len(data) > 0 {
		return 0, nil, io.ErrUnexpectedEOF
	}
	return 0, nil, nil
}

// adopt adds one line if its chain, its form and its place are right.
func (l *Ledger) adopt(line []byte) error {
	body, err := unchain(line, l.chain)
	if err != nil {
		return err
	}
	entry, err := decode(body)
	if err != nil {
		return err
	}
	if canonical, chain := encode(entry, l.chain); bytes.Equal(canonical, line) {
		return l.add(entry, chain, len(line))
	}
	return errors.New("the line is not in canonical form")
}

// add adds an entry that has been encoded to n bytes.
func (l *Ledger) add(entry any, chain string, n int) error {
	if err := l.check(entry); err != nil {
		return err
	}
	switch e := entry.(type) {
	case Header:
		l.Header = e
	case Unit:
		l.Units = append(l.Units, e)
	case Positive:
		l.Positives = append(l.Positives, e)
	case Failure:
		l.Failures = append(l.Failures, e)
	}
	l.chain, l.size, l.lines = chain, l.size+int64(n), l.lines+1
	return nil
}

// check reports whether the entry may follow the lines of the ledger.
func (l *Ledger) check(entry any) error {
	header, first := entry.(Header)
	if first != (l.lines == 0) {
		return errors.New("expected the campaign in the first line, and nowhere else")
	}
	if first {
		return header.check()
	}
	if u, ok := entry.(Unit); ok {
		return l.checkUnit(u)
	}
	return nil
}

func (l *Ledger) checkUnit(u Unit) error {
	r, k := u.Range(), l.Header.K
	if n := len(l.Units); n > 0 {
		last := l.Units[n-1]
		if last.witness(k) != nil {
			return fmt.Errorf("unit %s follows the witness at p = %d", r, last.Hi)
		}
		if u.Lo != last.Hi+1 {
			return fmt.Errorf("unit %s follows unit %s: expected one from %d on", r, last.Range(), last.Hi+1)
		}
	}
	if u.Lo < l.Header.Lo || u.Hi > l.Header.Hi || u.Lo > u.Hi {
		return fmt.Errorf("unit %s: expected a part of %s", r, l.Header.Plan().Range)
	}
	if (u.Best == nil) != (u.Primes == 0) || u.Counts.Primes > u.Primes || u.Counts.Cuts > u.Cuts {
		return fmt.Errorf("unit %s: its numbers of primes contradict each other", r)
	}
	if u.Best != nil {
		if err := u.Best.check(r, 0); err != nil {
			return fmt.Errorf("unit %s: %w", r, err)
		}
		if u.witness(k) != nil && u.Best.P != u.Hi {
			return fmt.Errorf("unit %s: the witness at p = %d must end it", r, u.Best.P)
		}
	}
	for i, r := range u.Records {
		if i > 0 && (r.P <= u.Records[i-1].P || r.Multiplicity <= u.Records[i-1].Multiplicity) || u.Best == nil || r.P > u.Best.P || r.Multiplicity > len(u.Best.Cuts) {
			return fmt.Errorf("unit %s: record of %d cuts at p = %d: expected ascending primes and numbers of cuts up to the best", u.Range(), r.Multiplicity, r.P)
		}
	}
	for i, f := range u.NearMisses {
		if err := f.check(r, k); err != nil {
			return fmt.Errorf("unit %s: %w", r, err)
		}
		if u.Best == nil || len(f.Cuts) > len(u.Best.Cuts) || i > 0 && f.P < u.NearMisses[i-1].P {
			return fmt.Errorf("unit %s: near miss at p = %d: expected ascending primes and no more cuts than the best", r, f.P)
		}
		if len(f.Cuts) > k && f.P != u.Hi {
			return fmt.Errorf("unit %s: the witness at p = %d is not the first: it must end the unit", r, f.P)
		}
	}
	return nil
}

// witness returns the unit's largest fiber if it has k+1 cuts or more.
func (u Unit) witness(k int) *Fiber {
	if u.Best != nil && len(u.Best.Cuts) > k {
		return u.Best
	}
	return nil
}

// Witness returns the fiber of k+1 cuts that ended the campaign, or nil.
func (l *Ledger) Witness() *Fiber {
	if len(l.Units) == 0 {
		return nil
	}
	return l.Units[len(l.Units)-1].witness(l.Header.K)
}

// Covered is the range of the units done; ok is false if there are none.
func (l *Ledger) Covered() (r plan.Range, ok bool) {
	if len(l.Units) == 0 {
		return plan.Range{}, false
	}
	return plan.Range{Lo: l.Units[0].Lo, Hi: l.Units[len(l.Units)-1].Hi}, true
}

// Root is the Merkle root of the units' lines without run and chain: what every ledger of
// the same units has in common.
func (l *Ledger) Root() string {
	var tree transcript.Merkle
	for _, u := range l.Units {
		u.Run = nil
		tree.Add(string(marshal(u)) + "\n")
	}
	return tree.Root()
}

// encode returns the line of an entry, newline included, and its chain.
func encode(entry any, previous string) (line []byte, chain string) {
	body := marshal(entry)
	chain = link(previous, body)
	line = append(body[:len(body)-1], `,"chain":"`...)
	return append(append(line, chain...), "\"}\n"...), chain
}

func link(previous string, body []byte) string {
	h := sha256.New()
	io.WriteString(h, previous+"\n")
	h.Write(body)
	return hex.EncodeToString(h.Sum(nil))
}

// marshal writes one of the types of this file, which always have a JSON form.
func marshal(entry any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(entry); err != nil {
		panic("campaign: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// unchain checks the chain of a line and returns the line without it.
func unchain(line []byte, previous string) ([]byte, error) {
	const tail = len(`,"chain":"`) + 2*sha256.Size + len("\"}\n")
	if len(line) < tail+2 {
		return nil, errors.New("the line is too short")
	}
	body := append(bytes.Clone(line[:len(line)-tail]), '}')
	if chain := link(previous, body); string(line[len(line)-tail:]) != `,"chain":"`+chain+"\"}\n" {
		return nil, errors.New("the chain is broken: this line, or one before it, was altered, dropped or damaged")
	}
	return body, nil
}

func decode(body []byte) (any, error) {
	var kind struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(body, &kind); err != nil {
		return nil, err
	}
	switch kind.Type {
	case typeCampaign:
		return decodeAs[Header](body)
	case typeUnit:
		return decodeAs[Unit](body)
	case typePositive:
		return decodeAs[Positive](body)
	case typeFailure:
		return decodeAs[Failure](body)
	}
	return nil, fmt.Errorf("type %q: expected %s, %s, %s or %s", kind.Type, typeCampaign, typeUnit, typePositive, typeFailure)
}

func decodeAs[T any](body []byte) (any, error) {
	var e T
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return nil, err
	}
	return e, nil
}
