// Package freeze makes frozen verifiers: it takes the unfrozen verifier of a
// platform and writes the claim into its slot. The unfrozen verifiers are part
// of a release, so that this needs no Go toolchain; with a toolchain they can be
// built from source, to the same bytes.
package freeze

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/erdos1056/erdos1056/capsule/frozen"
	"github.com/erdos1056/erdos1056/kernel/plan"
)

// mark is how the slot begins (see package frozen).
const mark = "\x7ferdos1056 frozen claim slot v1\n"

// Freeze returns a copy of the unfrozen verifier with the claim in it.
func Freeze(unfrozen []byte, claim plan.Plan) ([]byte, error) {
	at, err := findSlot(unfrozen)
	if err != nil {
		return nil, err
	}
	if _, err := frozen.DecodeClaim(unfrozen[at : at+frozen.SlotSize-frozen.MarkSize]); !errors.Is(err, frozen.ErrUnfrozen) {
		return nil, errors.New("freeze: this verifier has a claim already; take an unfrozen one")
	}
	encoded, err := frozen.EncodeClaim(claim)
	if err != nil {
		return nil, fmt.Errorf("freeze: %w", err)
	}
	out := bytes.Clone(unfrozen)
	copy(out[at:], encoded)
	return out, nil
}

// ReadClaim returns the claim of a frozen verifier.
func ReadClaim(verifier []byte) (plan.Plan, error) {
	at, err := findSlot(verifier)
	if err != nil {
		return plan.Plan{}, err
	}
	claim, err := frozen.DecodeClaim(verifier[at : at+frozen.SlotSize-frozen.MarkSize])
	if err != nil {
		return plan.Plan{}, fmt.Errorf("freeze: %w", err)
	}
	return claim, nil
}

// findSlot returns where the slot's content begins, behind the mark.
func findSlot(verifier []byte) (int, error) {
	at := bytes.Index(verifier, []byte(mark))
	if at < 0 {
		return 0, errors.New("freeze: this is no verifier of this project: it has no slot for a claim")
	}
	if bytes.LastIndex(verifier, []byte(mark)) != at {
		return 0, errors.New("freeze: this verifier has more than one slot for a claim")
	}
	if len(verifier)-at < frozen.SlotSize {
		return 0, errors.New("freeze: this verifier is cut off within its slot for a claim")
	}
	return at + frozen.MarkSize, nil
}
