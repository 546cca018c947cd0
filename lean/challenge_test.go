package lean

import (
	"bytes"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/lean/source/sourcetest"
)

func TestStatementIsWhatTheChallengeGives(t *testing.T) {
	const challenge = `
axiom own : ∀ (p : Prop), p → p
def d : Prop → Prop := fun (p : Prop) => p
axiom open.theorem : ∀ (p : Prop), d p → p
theorem proved : ∀ (p : Prop), d p → p := fun (p : Prop) (h : p) => h`
	for _, target := range []string{"open.theorem", "proved"} {
		got, err := Statement(bytes.NewReader(sourcetest.Export(t, challenge)), target, []string{"propext", "own"})
		if err != nil || got != "∀ (p : Prop), d p → p" {
			t.Errorf("%s: %q, %v", target, got, err)
		}
	}
	for _, c := range []struct {
		target string
		permit []string
		want   string
	}{
		{"theorem", nil, `declares no constant named "theorem"`},
		{"", nil, `declares no constant named ""`},
		{"«", nil, `declares no constant named "«"`},
		{"d", nil, "as definition"},
		{"proved", []string{"d"}, `permitted axiom "d"`},
		{"proved", []string{"Classical.em"}, `permitted axiom "Classical.em"`},
	} {
		if _, err := Statement(bytes.NewReader(sourcetest.Export(t, challenge)), c.target, c.permit); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q %v: %v; want %q", c.target, c.permit, err, c.want)
		}
	}
	if _, err := Statement(strings.NewReader("no export"), "t", nil); err == nil || !strings.Contains(err.Error(), "reading the challenge: line 1") {
		t.Errorf("no export: %v", err)
	}
}

// TestTextsOfEqualJudgementsAreEqual: no time is in them unless it is given.
func TestTextsOfEqualJudgementsAreEqual(t *testing.T) {
	data := sourcetest.Export(t, "theorem t : ∀ (p : Prop), p → p := fun (p : Prop) (h : p) => h")
	r := judge(t, data, Options{Target: "t"})
	const want = "accepted: 1 constants (1 theorems) from format 3.1.0; t rests on none\n" +
		"  statement: ∀ (p : Prop), p → p\n  the statement was not compared; --challenge FILE does that\n"
	if got := r.Text(0); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := r.Text(1500e6); got != strings.Replace(want, "none\n", "none; 1.5 s\n", 1) {
		t.Errorf("got %q", got)
	}
}

func TestProblemsOfAnAuditAreListed(t *testing.T) {
	challenge := sourcetest.Export(t, "axiom t : ∀ (p : Prop), p → p")
	data := sourcetest.Export(t, "axiom a : ∀ (p q : Prop), p → q → p\ntheorem t : ∀ (p q : Prop), p → q → p := a")
	const want = "rejected: target t: a: the target rests on an axiom that is not permitted\n  found:    ∀ (p : Prop), ∀ (q : Prop), p → q → p\n" +
		"  t: the type differs from the challenge's\n    expected: #0 → #0\n    found:    ∀ (q : Prop), #0 → q → #0\n"
	if got := judge(t, data, Options{Target: "t", Challenge: bytes.NewReader(challenge)}).Text(0); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
