package certificate

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/lean"
)

// Witnesses of the erdos-frontier collection.
var witnesses = map[int]Witness{
	2: {2, 11, []uint64{2, 4, 7}},
	3: {3, 17, []uint64{1, 5, 11, 15}},
	6: {6, 71, []uint64{7, 9, 19, 51, 61, 63, 70}},
	9: {9, 27901, []uint64{2451, 2867, 4768, 10383, 18707, 19589, 19965, 22981, 24673, 26322}},
}

func write(t *testing.T, w Witness) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, w); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func judge(t *testing.T, data []byte, challenge io.Reader) *lean.Report {
	t.Helper()
	r, err := lean.Judge(context.Background(), bytes.NewReader(data), lean.Options{Target: Theorem, Challenge: challenge})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCertificatesAreAcceptedWithoutAxioms(t *testing.T) {
	for k, w := range witnesses {
		r := judge(t, write(t, w), nil)
		if r.Verdict != "accept" || len(r.Audit.Axioms) != 0 {
			t.Errorf("k = %d: %s, axioms %v: %s", k, r.Verdict, r.Audit.Axioms, r.Reason)
		}
	}
}

func TestCertificatesAreReproducible(t *testing.T) {
	if !bytes.Equal(write(t, witnesses[6]), write(t, witnesses[6])) {
		t.Error("two certificates of one witness differ")
	}
}

func TestFalseWitnessesAreRefused(t *testing.T) {
	for want, w := range map[string]Witness{
		"needs 3 cuts":        {2, 11, []uint64{2, 4}},
		"no prime":            {2, 12, []uint64{2, 4, 7}},
		"is no prime":         {2, 1, []uint64{0, 0, 0}},
		"not below the prime": {2, 11, []uint64{2, 4, 11}},
		"increasing":          {2, 11, []uint64{2, 2, 7}},
		"product of 3 to 5":   {2, 11, []uint64{2, 5, 7}},
		"below 2^32":          {2, 1<<32 + 15, []uint64{2, 4, 7}},
	} {
		var b bytes.Buffer
		if err := Write(&b, w); err == nil || !strings.Contains(err.Error(), want) || b.Len() > 0 {
			t.Errorf("%+v: error %v, %d bytes written; expected %q and none", w, err, b.Len(), want)
		}
	}
}

// The proof is judged by the checker, not by Write: certificates of other
// numbers than the witness's are rejected.
func TestForgedCertificatesAreRejected(t *testing.T) {
	good := string(write(t, witnesses[2]))
	for name, change := range map[string][2]string{
		"another prime": {`"natVal":"11"`, `"natVal":"13"`},
		"another cut":   {`"natVal":"7"`, `"natVal":"8"`},
		"a larger k":    {`"natVal":"3"`, `"natVal":"4"`},
	} {
		forged := strings.ReplaceAll(good, change[0], change[1])
		if forged == good {
			t.Fatalf("%s: nothing to change", name)
		}
		if r := judge(t, []byte(forged), nil); r.Verdict != "reject" {
			t.Errorf("%s: %s", name, r.Verdict)
		}
	}
}

// The statement can be compared with that of another certificate, as a judge
// does who wants a given k, prime and cuts.
func TestStatementsOfCertificatesAreCompared(t *testing.T) {
	data := write(t, witnesses[3])
	if r := judge(t, data, bytes.NewReader(data)); r.Verdict != "accept" {
		t.Errorf("compared with itself: %s: %s", r.Verdict, r.Reason)
	}
	if r := judge(t, data, bytes.NewReader(write(t, witnesses[2]))); r.Verdict != "reject" {
		t.Errorf("compared with another: %s", r.Verdict)
	}
}

func TestSplitCoversTheInterval(t *testing.T) {
	for _, n := range []uint64{1, 31, 32, 33, 1000, 1 << 20, 2493632} {
		r, fs := split(n)
		sum := r
		for _, f := range fs {
			sum += 32 << f
		}
		if sum != n || r >= 32 || !slices.IsSortedFunc(fs, func(a, b uint64) int { return int(b) - int(a) }) {
			t.Errorf("%d is split into %d and blocks %v", n, r, fs)
		}
	}
}

func TestLeanSourceStatesTheWitness(t *testing.T) {
	var b strings.Builder
	if err := WriteLean(&b, witnesses[2]); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Nat.Prime 11", "AllModProdEqualsOne 11 (![3, 5, 8] : Fin (2 + 1) → ℕ)", "⟨11, witness_k2_prime, ![3, 5, 8],",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the source lacks %q:\n%s", want, b.String())
		}
	}
	if err := WriteLean(io.Discard, Witness{2, 11, []uint64{2, 5, 7}}); err == nil {
		t.Error("a false witness was written")
	}
}
