// Package freeze makes frozen verifiers: it takes the unfrozen verifier of a
// platform and writes the claim into its slot. The unfrozen verifiers are part
// of a release, so that this needs no Go toolchain; with a toolchain they can be
// built from source, to the same bytes.
package freeze

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/erdos1056/erdos1056/capsule/formal"
	"github.com/erdos1056/erdos1056/capsule/frozen"
	"github.com/erdos1056/erdos1056/kernel/plan"
)

// A slot is where a program has its claim: behind a mark.
type slot struct {
	mark string
	size int // of mark and claim, in bytes
}

// The slots of both kinds of verifiers (see packages frozen and formal).
var (
	rangeSlot  = slot{"\x7ferdos1056 frozen claim slot v1\n", frozen.SlotSize}
	formalSlot = slot{"\x7ferdos1056 formal claim slot v1\n", formal.SlotSize}
)

// Freeze returns a copy of the unfrozen verifier with the claim in it.
func Freeze(unfrozen []byte, claim plan.Plan) ([]byte, error) {
	encoded, err := frozen.EncodeClaim(claim)
	if err != nil {
		return nil, fmt.Errorf("freeze: %w", err)
	}
	return rangeSlot.fill(unfrozen, encoded)
}

// FreezeFormal returns a copy of the unfrozen formal verifier with the claim in
// it.
func FreezeFormal(unfrozen []byte, claim formal.Claim) ([]byte, error) {
	encoded, err := claim.Encode()
	if err != nil {
		return nil, fmt.Errorf("freeze: %w", err)
	}
	return formalSlot.fill(unfrozen, encoded)
}

// ReadClaim returns the claim of a frozen verifier.
func ReadClaim(verifier []byte) (plan.Plan, error) {
	content, err := rangeSlot.find(verifier)
	if err != nil {
		return plan.Plan{}, err
	}
	claim, err := frozen.DecodeClaim(content)
	if err != nil {
		return plan.Plan{}, fmt.Errorf("freeze: %w", err)
	}
	return claim, nil
}

// ReadFormalClaim returns the claim of a frozen formal verifier. The challenge
// shares memory with the verifier.
func ReadFormalClaim(verifier []byte) (formal.Claim, error) {
	content, err := formalSlot.find(verifier)
	if err != nil {
		return formal.Claim{}, err
	}
	claim, err := formal.Decode(content)
	if err != nil {
		return formal.Claim{}, fmt.Errorf("freeze: %w", err)
	}
	return claim, nil
}

// IsFormal reports whether a verifier is a formal one, frozen or not.
func IsFormal(verifier []byte) bool { return bytes.Contains(verifier, []byte(formalSlot.mark)) }

// fill returns a copy of the program with a claim in its slot, which must be
// empty.
func (s slot) fill(unfrozen, encoded []byte) ([]byte, error) {
	out := bytes.Clone(unfrozen)
	content, err := s.find(out)
	if err != nil {
		return nil, err
	}
	if len(bytes.Trim(content, "\x00")) > 0 {
		return nil, errors.New("freeze: this verifier has a claim already; take an unfrozen one")
	}
	copy(content, encoded)
	// A claim that holds the mark itself could not be read again.
	if _, err := s.find(out); err != nil {
		return nil, err
	}
	return out, nil
}

// find returns the slot's content, behind the mark.
func (s slot) find(verifier []byte) ([]byte, error) {
	at := bytes.Index(verifier, []byte(s.mark))
	if at < 0 {
		return nil, errors.New("freeze: this is no verifier of this project and kind: it has no slot for a claim")
	}
	if bytes.LastIndex(verifier, []byte(s.mark)) != at {
		return nil, errors.New("freeze: this verifier has more than one slot for a claim")
	}
	if len(verifier)-at < s.size {
		return nil, errors.New("freeze: this verifier is cut off within its slot for a claim")
	}
	return verifier[at+len(s.mark) : at+s.size], nil
}
