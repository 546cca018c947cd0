package witness

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const testdata = "../../testdata/erdos-frontier"

func TestPublishedWitnessesVerify(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(testdata, "witnesses/*.json"))
	if len(files) != 13 {
		t.Fatalf("%d witnesses, want 13", len(files))
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		w, err := Parse(b)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if err := w.Check(context.Background()); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if !bytes.Equal(w.Encode(), b) {
			t.Errorf("%s: written back as\n%s", file, w.Encode())
		}
	}
}

func TestVariants(t *testing.T) {
	want := map[string]string{
		"good":                   "",
		"problem-field-wrong":    "field problem: expected 1056",
		"extra-field":            "unknown field",
		"equal-cuts":             "cuts must be strictly increasing",
		"descending":             "cuts must be strictly increasing",
		"product-not-one":        "interval (2, 5] has product 5 mod 11",
		"fewer-intervals-than-k": "field k: expected the number of intervals, 1",
		"beyond-p":               "does not lie below p",
		"missing-p":              "field p: expected a prime below 2^31, found nothing",
	}
	files, _ := filepath.Glob(filepath.Join(testdata, "derived/witness-variants/*.json"))
	if len(files) != len(want) {
		t.Fatalf("%d variants, want %d", len(files), len(want))
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".witness.json")
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		w, err := Parse(b)
		if err == nil {
			err = w.Check(context.Background())
		}
		if message, ok := want[name]; !ok || (err == nil) != (message == "") || err != nil && !strings.Contains(err.Error(), message) {
			t.Errorf("%s: %v, want %q", name, err, message)
		}
	}
}

func TestBadFilesAreRefused(t *testing.T) {
	for _, s := range []string{"", "[]", "null", "{}", `{"kind":1}`, `{"kind":"interval_product","problem":1056,"k":1,"p":-7,"cuts":[1,2]}`,
		`{"kind":"interval_product","problem":1056,"k":1,"p":7,"cuts":[1]}`, `{"kind":"interval_product","problem":1056,"k":1,"p":7,"cuts":[1,5]}{}`,
		`{"kind":"interval_product","problem":1056,"k":1,"p":2147483648,"cuts":[1,2]}`, strings.Repeat(" ", MaxSize+1)} {
		if w, err := Parse([]byte(s)); err == nil {
			t.Errorf("%.40q was read as %v", s, w)
		}
	}
}

func TestCompositeModulusIsRefused(t *testing.T) {
	if err := (Witness{1, 9, []uint32{0, 1}}).Check(context.Background()); err == nil || !strings.Contains(err.Error(), "not prime") {
		t.Errorf("p = 9: %v", err)
	}
}

func TestCheckFiber(t *testing.T) {
	ctx := context.Background()
	if err := CheckFiber(ctx, 17, 1, []uint32{0, 1, 5, 11, 15}); err != nil {
		t.Error(err)
	}
	for _, bad := range []struct {
		p, residue uint32
		cuts       []uint32
	}{{17, 1, []uint32{0, 1, 6}}, {17, 2, []uint32{0}}, {18, 1, []uint32{0}}, {17, 1, []uint32{1, 0}}, {17, 1, []uint32{0, 17}}} {
		if CheckFiber(ctx, bad.p, bad.residue, bad.cuts) == nil {
			t.Errorf("%v was accepted", bad)
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if err := CheckFiber(cancelled, 10428581, 5141590, []uint32{9885964}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"kind":"interval_product","problem":1056,"k":1,"p":7,"cuts":[1,5]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		w, err := Parse(b)
		if err != nil {
			return
		}
		if again, err := Parse(w.Encode()); err != nil || again.P != w.P || len(again.Cuts) != len(w.Cuts) {
			t.Fatalf("%q: %v, %v", b, again, err)
		}
	})
}
