package formal

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
)

var standard = []string{"Classical.choice", "Quot.sound", "propext"}

func newClaim(t testing.TB, target string, permit []string, challenge string) Claim {
	t.Helper()
	c, err := New(target, permit, []byte(challenge))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func encode(t testing.TB, c Claim) []byte {
	t.Helper()
	b, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestClaimIsReadBack(t *testing.T) {
	for _, c := range []Claim{
		newClaim(t, "Erdos505.test", standard, "an export"),
		newClaim(t, "«odd \"name\" <&>»", nil, "ends in zeros\x00\x00"),
		newClaim(t, "t", []string{"a"}, strings.Repeat("x", MaxChallenge)),
	} {
		if got, err := Decode(encode(t, c)); err != nil || !reflect.DeepEqual(got, c) {
			t.Errorf("%s: got %.80v, %v", c.Target, got, err)
		}
	}
}

func TestOrderOfAxiomsIsNoPartOfTheClaim(t *testing.T) {
	turned := slices.Clone(standard)
	slices.Reverse(turned)
	a, b := newClaim(t, "t", standard, "x"), newClaim(t, "t", append(turned, "propext"), "x")
	if !bytes.Equal(encode(t, a), encode(t, b)) || a.Name() != b.Name() {
		t.Errorf("%v and %v differ", a, b)
	}
}

func TestNameIsOfTheWholeClaim(t *testing.T) {
	c := newClaim(t, "Erdos505.erdos_505.«test» Dim", standard, "x")
	if !strings.HasPrefix(c.Name(), "formal-erdos505-erdos-505-test-dim-") || len(c.Name()) != len("formal-erdos505-erdos-505-test-dim-")+12 {
		t.Errorf("the name is %s", c.Name())
	}
	for _, other := range []Claim{
		newClaim(t, "Erdos505.erdos_505.test.dim", standard, "x"),
		newClaim(t, c.Target, nil, "x"),
		newClaim(t, c.Target, standard, "y"),
	} {
		if other.Name() == c.Name() {
			t.Errorf("%v has the name of another claim", other)
		}
	}
	if long := newClaim(t, strings.Repeat("Long.", 100), nil, "x").Name(); len(long) > 90 {
		t.Errorf("a name of %d bytes", len(long))
	}
}

func TestClaimsThatDoNotFitAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		target    string
		permit    []string
		challenge []byte
		want      string
	}{
		"no target":              {"", nil, []byte("x"), "no target"},
		"target that is no text": {"\xff", nil, []byte("x"), "is no name"},
		"zero in a name":         {"a\x00", nil, []byte("x"), "is no name"},
		"axiom without a name":   {"t", []string{""}, []byte("x"), "is no name"},
		"no challenge":           {"t", nil, nil, "want 1 to"},
		"large challenge":        {"t", nil, make([]byte, MaxChallenge+1), "want 1 to"},
	} {
		if _, err := New(c.target, c.permit, c.challenge); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	long := newClaim(t, strings.Repeat("a", headerSize), nil, "x")
	if _, err := long.Encode(); err == nil || !strings.Contains(err.Error(), "the limit is 4096") {
		t.Errorf("long target: got %v", err)
	}
}

func TestDamagedClaimsAreRefused(t *testing.T) {
	good := encode(t, newClaim(t, "t", standard, "an export"))
	for _, i := range []int{0, 5, headerSize - 1, headerSize, headerSize + 8, headerSize + 9, headerSize + MaxChallenge - 1, len(good) - 1} {
		b := bytes.Clone(good)
		b[i] ^= 1
		if _, err := Decode(b); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("byte %d changed: got %v", i, err)
		}
	}
	if _, err := Decode(make([]byte, len(good))); !errors.Is(err, ErrUnfrozen) {
		t.Errorf("an empty slot gave %v", err)
	}
	if _, err := Decode(good[1:]); err == nil {
		t.Error("a short slot was read")
	}
	if _, err := Frozen(); !errors.Is(err, ErrUnfrozen) {
		t.Errorf("this test program has a claim: %v", err)
	}
}

func FuzzHeader(f *testing.F) {
	f.Add([]byte(`{"target":"t","permit":[],"challenge_bytes":1}`))
	f.Add([]byte(`{"target":"t","permit":["b","a"],"challenge_bytes":1}`))
	f.Add([]byte(`{"target":"t","permit":null,"challenge_bytes":-1,"x":1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > headerSize {
			return
		}
		b := make([]byte, SlotSize-MarkSize)
		copy(b, text)
		b[headerSize] = 'x'
		seal(b)
		c, err := Decode(b)
		if err != nil {
			return
		}
		if again := encode(t, c); !bytes.Equal(again, b) {
			t.Errorf("%q is written otherwise than it was read", text)
		}
	})
}
