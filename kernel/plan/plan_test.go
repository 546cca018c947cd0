package plan

import (
	"strings"
	"testing"
)

func TestParseNumber(t *testing.T) {
	for s, want := range map[string]uint64{
		"0": 0, "7": 7, "10428401": 10428401, "10_428_401": 10428401, "1e7": 10_000_000, "1E7": 10_000_000,
		"1.0428e7": 10_428_000, "2^24": 1 << 24, "2^0": 1, "12.0": 12, "1_0e1": 100, "9223372036854775807": 1<<63 - 1,
	} {
		if got, err := ParseNumber(s); err != nil || got != want {
			t.Errorf("ParseNumber(%q) = %d, %v; want %d", s, got, err, want)
		}
	}
}

func TestParseNumberRefuses(t *testing.T) {
	for s, want := range map[string]string{
		"": "found nothing", "-1": "negative", "abc": "not a number", "1__0": "not a number", "_1": "not a number",
		"1_": "not a number", "1.5": "not a whole number", "1.25e1": "not a whole number", "1.": "digits are missing",
		".5e1": "not a number", "1e": "not an exponent", "1e-3": "not an exponent", "1e25": "not an exponent",
		"2^64": "above 63", "2^": "not a power", "^2": "not a power", "10^30": "too large", "1e24": "too large",
		"9223372036854775808": "too large", " 1": "not a number", "0x10": "not a number", "١": "not a number",
		strings.Repeat("1", 100): "too long",
	} {
		if _, err := ParseNumber(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseNumber(%q): error %v, want one with %q", s, err, want)
		}
	}
}

func TestParseRange(t *testing.T) {
	for s, want := range map[string]Range{
		"10428401..10428600": {10428401, 10428600}, "1..1": {1, 1}, "1e7+200": {10_000_000, 10_000_200},
		"2^24..2^25": {1 << 24, 1 << 25}, "1.0428e7..5e7": {10_428_000, 50_000_000}, "2..2147483647": {2, 1<<31 - 1},
		"5+0": {5, 5},
	} {
		if got, err := ParseRange(s); err != nil || got != want {
			t.Errorf("ParseRange(%q) = %v, %v; want %v", s, got, err, want)
		}
	}
}

func TestParseRangeRefuses(t *testing.T) {
	for s, want := range map[string]string{
		"10428600..10428401": "the end lies before the start; write A..B with A <= B, for example 10428401..10428600",
		"0..5":               "the start must be at least 1", "1..2^31": "below 2^31", "5..1e12": "below 2^31",
		"": "is not a range", "5": "is not a range", "-5..7": "negative", "a..b": "not a number", "1...3": "not a number",
		"1..2..3": "not", "2^31+1": "below 2^31", "1+2^40": "not below 2^31", "..": "found nothing",
	} {
		if _, err := ParseRange(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseRange(%q): error %v, want one with %q", s, err, want)
		}
	}
}

func TestPlanBoundsK(t *testing.T) {
	for k, ok := range map[int]bool{0: false, 1: true, 15: true, 250: true, 251: false, -1: false} {
		if err := (Plan{Range{2, 100}, k}).Validate(); (err == nil) != ok {
			t.Errorf("k = %d: %v", k, err)
		}
	}
}

func FuzzParseRange(f *testing.F) {
	for _, s := range []string{"1..2", "1e7+200", "2^24..2^25", "1_0..2_0", "1.5e1..20", "9..", "-1..1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseRange(s)
		if err != nil {
			return
		}
		if again, err := ParseRange(r.String()); err != nil || again != r {
			t.Fatalf("%q reads as %v, which reads as %v, %v", s, r, again, err)
		}
		if err := r.Validate(); err != nil {
			t.Fatalf("%q: accepted, but %v", s, err)
		}
	})
}
