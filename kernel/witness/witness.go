// Package witness checks a claimed answer the cheap way: from its cuts alone, by one walk
// of at most p multiplications with the plain remainder operator. It shares no
// arithmetic with the searching kernels.
package witness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/big"

	"github.com/erdos1056/erdos1056/kernel/plan"
)

// MaxSize bounds a witness file in bytes.
const MaxSize = 1 << 20

// A Witness claims that the K intervals (c[i-1], c[i]] between consecutive cuts all have
// a product of 1 mod P. It is the interval_product file of the erdos-frontier project.
type Witness struct {
	K    int
	P    uint32
	Cuts []uint32
}

// file is the JSON form. Pointers tell an absent key from a zero.
type file struct {
	Kind    *string   `json:"kind"`
	Problem *int      `json:"problem"`
	K       *int      `json:"k"`
	P       *uint64   `json:"p"`
	Cuts    *[]uint64 `json:"cuts"`
}

// Parse reads an interval_product file. It is stricter than the published checker, which
// reads p and cuts alone: kind and problem must be right, k must be the number of
// intervals, cuts must lie below p, and there must be no other keys.
func Parse(b []byte) (Witness, error) {
	if len(b) > MaxSize {
		return Witness{}, fmt.Errorf("witness: expected at most %d bytes, found %d", MaxSize, len(b))
	}
	var f file
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return Witness{}, fmt.Errorf("witness: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return Witness{}, fmt.Errorf("witness: expected the end of the file after the object, at byte %d", d.InputOffset())
	}
	switch {
	case f.Kind == nil || *f.Kind != "interval_product":
		return Witness{}, fmt.Errorf(`witness: field kind: expected "interval_product", found %s`, show(f.Kind))
	case f.Problem == nil || *f.Problem != 1056:
		return Witness{}, fmt.Errorf("witness: field problem: expected 1056, found %s", show(f.Problem))
	case f.P == nil || *f.P < 2 || *f.P >= plan.Limit:
		return Witness{}, fmt.Errorf("witness: field p: expected a prime below 2^31, found %s", show(f.P))
	case f.Cuts == nil || len(*f.Cuts) < 2:
		return Witness{}, fmt.Errorf("witness: field cuts: expected two cuts or more, found %s", show(f.Cuts))
	case f.K == nil || *f.K != len(*f.Cuts)-1:
		return Witness{}, fmt.Errorf("witness: field k: expected the number of intervals, %d, found %s", len(*f.Cuts)-1, show(f.K))
	}
	w := Witness{K: *f.K, P: uint32(*f.P), Cuts: make([]uint32, len(*f.Cuts))}
	for i, t := range *f.Cuts {
		if i > 0 && t <= (*f.Cuts)[i-1] {
			return Witness{}, fmt.Errorf("witness: cuts must be strictly increasing: %d follows %d", t, (*f.Cuts)[i-1])
		}
		if t >= *f.P {
			return Witness{}, fmt.Errorf("witness: cut %d does not lie below p = %d", t, *f.P)
		}
		w.Cuts[i] = uint32(t)
	}
	return w, nil
}

func show[T any](v *T) string {
	if v == nil {
		return "nothing"
	}
	b, _ := json.Marshal(*v)
	if len(b) > 60 {
		return string(b[:60]) + "..."
	}
	return string(b)
}

// Encode returns the JSON form as the published files have it: one blank of indent and no
// final newline.
func (w Witness) Encode() []byte {
	kind, problem, p := "interval_product", 1056, uint64(w.P)
	cuts := make([]uint64, len(w.Cuts))
	for i, t := range w.Cuts {
		cuts[i] = uint64(t)
	}
	b, _ := json.MarshalIndent(file{&kind, &problem, &w.K, &p, &cuts}, "", " ")
	return b
}

// Check verifies the claim: P is prime and every interval's product is 1 mod P. The error
// names the first interval that fails, or is ctx's.
func (w Witness) Check(ctx context.Context) error {
	if !isPrime(w.P) {
		return fmt.Errorf("witness: p = %d is not prime", w.P)
	}
	p := uint64(w.P)
	for i := 1; i < len(w.Cuts); i++ {
		product := uint64(1)
		for m := uint64(w.Cuts[i-1]) + 1; m <= uint64(w.Cuts[i]); m++ {
			product = product * m % p
			if m&(1<<20-1) == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
		if product != 1 {
			return fmt.Errorf("witness: interval (%d, %d] has product %d mod %d, expected 1", w.Cuts[i-1], w.Cuts[i], product, p)
		}
	}
	return nil
}

// CheckFiber verifies that p is prime and that t! = residue mod p for every given cut. Cuts
// must ascend and lie below p. It does not know whether the fiber has more cuts.
func CheckFiber(ctx context.Context, p, residue uint32, cuts []uint32) error {
	if !isPrime(p) {
		return fmt.Errorf("p = %d is not prime", p)
	}
	factorial, t := uint64(1), uint64(0)
	for _, cut := range cuts {
		if uint64(cut) < t || cut >= p {
			return fmt.Errorf("cut %d: expected ascending cuts below p = %d", cut, p)
		}
		for t < uint64(cut) {
			t++
			factorial = factorial * t % uint64(p)
			if t&(1<<20-1) == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
		if factorial != uint64(residue) {
			return fmt.Errorf("cut %d of p = %d has residue %d, expected %d", cut, p, factorial, residue)
		}
	}
	return nil
}

func isPrime(p uint32) bool {
	return new(big.Int).SetUint64(uint64(p)).ProbablyPrime(0) // exact below 2^64
}
