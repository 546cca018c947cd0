package special

import (
	"context"
	"fmt"
	"slices"
)

// Fibers are the cuts of one prime P with residue 1 and with residue -1, ascending.
type Fibers struct {
	P           uint32
	Plus, Minus []uint32
}

// Scan returns the fibers of 1 and -1 for ascending odd primes p, 3 <= p <= residues.MaxPrime.
// It walks Lanes() of them at a time. The error is ctx's or a *residues.CheckError. Primality
// is the caller's promise.
func (w *Walker) Scan(ctx context.Context, primes []uint32) ([]Fibers, error) {
	chains := make([]Chain, len(primes))
	to := uint32(0)
	for i, p := range primes {
		if i > 0 && p <= primes[i-1] {
			return nil, fmt.Errorf("special: prime %d at place %d: expected ascending primes", p, i+1)
		}
		chains[i] = Start(p)
		to = chains[i].Middle()
	}
	hits := make([][]hit, len(primes))
	err := w.Walk(ctx, chains, to, func(i int, t uint32, sign int) { hits[i] = append(hits[i], hit{t, sign}) })
	if err != nil {
		return nil, err
	}
	all := make([]Fibers, len(primes))
	for i, c := range chains {
		all[i] = assemble(c, hits[i])
	}
	return all, nil
}

// A hit is a cut t with t! = sign mod p.
type hit struct {
	t    uint32
	sign int
}

// assemble puts the fibers of a chain that is done together from its hits.
func assemble(c Chain, hits []hit) Fibers {
	f := Fibers{P: c.P}
	f.add(hit{0, 1})
	for _, hit := range hits {
		f.add(hit)
	}
	slices.Sort(f.Plus)
	slices.Sort(f.Minus)
	return f
}

// add adds a cut of the first half, the middle h included, and its mirror p-1-t. h is its own
// mirror.
func (f *Fibers) add(hit hit) {
	own, mirrored := &f.Plus, &f.Minus
	if hit.sign < 0 {
		own, mirrored = mirrored, own
	}
	*own = append(*own, hit.t)
	mirror := f.P - 1 - hit.t
	if mirror == hit.t {
		return
	}
	if hit.t%2 == 1 {
		mirrored = own
	}
	*mirrored = append(*mirrored, mirror)
}
