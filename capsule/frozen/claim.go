// Package frozen is what a frozen verifier is made of: the claim that it was
// frozen to, and the judgement of an artifact against that claim.
//
// The claim is not an argument and not in the environment: it lies in a slot of
// fixed size within the executable, which package freeze fills after linking.
// So the executable's digest names the claim and the program together.
package frozen

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"github.com/erdos1056/erdos1056/kernel/plan"
)

// Kernel names the method that judges: package kernel/reference, which shares
// no instruction with the search.
const Kernel = "reference"

// Layout of the slot, in bytes.
const (
	MarkSize = 32  // how package freeze finds the slot
	textSize = 192 // the claim as a text, padded with zeros
	SlotSize = MarkSize + textSize + sha256.Size
)

// slot begins with the mark; an unfrozen verifier has zeros behind it. It is an
// array of bytes, not a string, so that the mark is in the executable only once
// and the compiler cannot know what it will hold.
var slot = [SlotSize]byte{
	0x7f, 'e', 'r', 'd', 'o', 's', '1', '0', '5', '6', ' ', 'f', 'r', 'o', 'z', 'e',
	'n', ' ', 'c', 'l', 'a', 'i', 'm', ' ', 's', 'l', 'o', 't', ' ', 'v', '1', '\n',
}

// ErrUnfrozen is the error of a verifier without a claim.
var ErrUnfrozen = errors.New("this verifier is not frozen to a claim; make one with: capsule build --range A..B")

// Claim returns what this executable is frozen to.
func Claim() (plan.Plan, error) {
	return DecodeClaim(slot[MarkSize:])
}

// EncodeClaim returns the part of the slot behind the mark: the claim's text
// padded with zeros, and the text's SHA-256.
func EncodeClaim(p plan.Plan) ([]byte, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	out := make([]byte, SlotSize-MarkSize)
	copy(out, claimText(p))
	sum := sha256.Sum256(out[:textSize])
	copy(out[textSize:], sum[:])
	return out, nil
}

func claimText(p plan.Plan) string {
	return fmt.Sprintf("problem=1056 k=%d range=%v kernel=%s", p.K, p.Range, Kernel)
}

// DecodeClaim reads what EncodeClaim wrote, and nothing else.
func DecodeClaim(b []byte) (p plan.Plan, err error) {
	if len(b) != SlotSize-MarkSize {
		return p, fmt.Errorf("claim of %d bytes; want %d", len(b), SlotSize-MarkSize)
	}
	if len(bytes.Trim(b, "\x00")) == 0 {
		return p, ErrUnfrozen
	}
	if sum := sha256.Sum256(b[:textSize]); !bytes.Equal(sum[:], b[textSize:]) {
		return p, errors.New("the frozen claim is damaged: its checksum does not match")
	}
	text := strings.TrimRight(string(b[:textSize]), "\x00")
	if _, err := fmt.Sscanf(text, "problem=1056 k=%d range=%d..%d kernel="+Kernel, &p.K, &p.Lo, &p.Hi); err != nil || claimText(p) != text {
		return plan.Plan{}, fmt.Errorf("the frozen claim %q is not understood by this program", text)
	}
	return p, p.Validate()
}
