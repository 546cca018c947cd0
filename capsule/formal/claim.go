// Package formal is the claim of a formal verifier: the theorem that a proof
// must prove, as a trusted export states it, and the axioms that it may rest on.
//
// As with the verifiers of package frozen, the claim is neither an argument nor
// in the environment. It lies in a slot within the executable, which package
// freeze fills after linking.
package formal

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxChallenge bounds a challenge, in bytes as they are frozen. The slot has room
// for it in every formal verifier, and an image has at most 8 MB.
const MaxChallenge = 7 << 19

// Layout of the slot, in bytes.
const (
	MarkSize   = 32   // how package freeze finds the slot
	headerSize = 4096 // JSON, padded with zeros
	SlotSize   = MarkSize + headerSize + MaxChallenge + sha256.Size
)

// slot begins with the mark; an unfrozen verifier has zeros behind it. It is an
// array of bytes, not a string, so that the mark is in the executable only once
// and the compiler cannot know what it will hold.
var slot = [SlotSize]byte{
	0x7f, 'e', 'r', 'd', 'o', 's', '1', '0', '5', '6', ' ', 'f', 'o', 'r', 'm', 'a',
	'l', ' ', 'c', 'l', 'a', 'i', 'm', ' ', 's', 'l', 'o', 't', ' ', 'v', '1', '\n',
}

// ErrUnfrozen is the error of a formal verifier without a claim.
var ErrUnfrozen = errors.New("this formal verifier is not frozen to a claim; make one with: capsule build --lean --challenge FILE --target NAME")

// A Claim is what a formal verifier is frozen to.
type Claim struct {
	Target    string   // name of the theorem, as people write it
	Permit    []string // names of the axioms that its proof may rest on
	Challenge []byte   // export that states the theorem, plain or gzip
}

// header is what stands before the challenge. The challenge's length is there
// because its bytes may end in zeros.
type header struct {
	Target         string   `json:"target"`
	Permit         []string `json:"permit"` // sorted
	ChallengeBytes int      `json:"challenge_bytes"`
}

// New returns a claim whose parts fit the slot. Names that are permitted twice
// count once.
func New(target string, permit []string, challenge []byte) (Claim, error) {
	permit = slices.Compact(slices.Sorted(slices.Values(permit)))
	c := Claim{target, append([]string{}, permit...), challenge}
	return c, c.validate()
}

func (c Claim) validate() error {
	if c.Target == "" {
		return errors.New("the claim names no target")
	}
	for _, name := range append([]string{c.Target}, c.Permit...) {
		if name == "" || !utf8.ValidString(name) || strings.ContainsRune(name, 0) {
			return fmt.Errorf("%q is no name: want UTF-8 text that is not empty", name)
		}
	}
	if len(c.Challenge) == 0 || len(c.Challenge) > MaxChallenge {
		return fmt.Errorf("a challenge of %d bytes: want 1 to %d, which a gzip of it may have", len(c.Challenge), MaxChallenge)
	}
	return nil
}

func (c Claim) header() ([]byte, error) {
	text, err := json.Marshal(header{c.Target, c.Permit, len(c.Challenge)})
	if err == nil && len(text) > headerSize {
		err = fmt.Errorf("the names of target and axioms take %d bytes; the limit is %d", len(text), headerSize)
	}
	return text, err
}

// Name names the claim, and so its capsule, for files and images: the target in
// lower case and the beginning of a digest of everything in the claim, as in
// "formal-erdos-505-test-dim-one-0a1b2c3d4e5f".
func (c Claim) Name() string {
	sum := sha256.New()
	text, _ := c.header() // a name that is too long is refused by Encode
	sum.Write(text)
	sum.Write(c.Challenge)
	words := strings.FieldsFunc(strings.ToLower(c.Target), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	slug := strings.Join(words, "-")
	if len(slug) > 64 {
		slug = strings.TrimRight(slug[:64], "-")
	}
	return fmt.Sprintf("formal-%s-%x", slug, sum.Sum(nil)[:6])
}

// Frozen returns what this executable is frozen to. The challenge must not be
// written to.
func Frozen() (Claim, error) { return Decode(slot[MarkSize:]) }

// Encode returns the part of the slot behind the mark: the header padded with
// zeros, the challenge padded with zeros, and the SHA-256 of both.
func (c Claim) Encode() ([]byte, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	text, err := c.header()
	if err != nil {
		return nil, err
	}
	out := make([]byte, SlotSize-MarkSize)
	copy(out, text)
	copy(out[headerSize:], c.Challenge)
	seal(out)
	return out, nil
}

// seal writes the checksum.
func seal(b []byte) {
	body := b[:headerSize+MaxChallenge]
	sum := sha256.Sum256(body)
	copy(b[len(body):], sum[:])
}

// Decode reads what Encode wrote, and nothing else. The challenge shares memory
// with b.
func Decode(b []byte) (Claim, error) {
	if len(b) != SlotSize-MarkSize {
		return Claim{}, fmt.Errorf("claim of %d bytes; want %d", len(b), SlotSize-MarkSize)
	}
	body := b[:headerSize+MaxChallenge]
	if isZero(b) {
		return Claim{}, ErrUnfrozen
	}
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:], b[len(body):]) {
		return Claim{}, errors.New("the frozen claim is damaged: its checksum does not match")
	}
	text := bytes.TrimRight(body[:headerSize], "\x00")
	var h header
	if err := json.Unmarshal(text, &h); err != nil {
		return Claim{}, fmt.Errorf("the frozen claim %.200q is not understood by this program: %w", text, err)
	}
	if h.ChallengeBytes < 0 || h.ChallengeBytes > MaxChallenge || !isZero(body[headerSize+h.ChallengeBytes:]) {
		return Claim{}, fmt.Errorf("the frozen claim is not understood by this program: a challenge of %d bytes", h.ChallengeBytes)
	}
	c, err := New(h.Target, h.Permit, body[headerSize:headerSize+h.ChallengeBytes])
	if err != nil {
		return Claim{}, err
	}
	if again, err := c.header(); err != nil || !bytes.Equal(again, text) {
		return Claim{}, fmt.Errorf("the frozen claim %.200q is not understood by this program", text)
	}
	return c, nil
}

func isZero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}
