// Package naive is the definition of a fiber as code: one loop, one map, the remainder
// operator. Tests hold the real kernels against it.
package naive

// Fibers returns, for the prime p, the cuts of every residue in ascending order.
func Fibers(p uint32) map[uint32][]uint32 {
	fibers := map[uint32][]uint32{}
	residue := uint64(1) % uint64(p)
	for t := uint32(0); ; {
		fibers[uint32(residue)] = append(fibers[uint32(residue)], t)
		if t++; t == p {
			return fibers
		}
		residue = residue * uint64(t) % uint64(p)
	}
}

// Fingerprint returns h! mod p, the number of classes {r, -r} that the cuts t < h =
// (p-1)/2 meet, and the sum of the squares of how often they meet each.
func Fingerprint(p uint32) (halfFactorial uint32, cells, squares uint64) {
	counts := map[uint64]uint64{}
	residue := uint64(1)
	for t := uint64(0); t < uint64(p-1)/2; {
		counts[min(residue, uint64(p)-residue)]++
		t++
		residue = residue * t % uint64(p)
	}
	for _, n := range counts {
		squares += n * n
	}
	return uint32(residue), uint64(len(counts)), squares
}

// LargeFibers is Fibers for the residues of at least m cuts only: two walks and one count for
// every residue, for primes that are too large for a map.
func LargeFibers(p uint32, m int) map[uint32][]uint32 {
	counts := make([]uint8, p)
	fibers := map[uint32][]uint32{}
	for walk := range 2 {
		residue := uint64(1) % uint64(p)
		for t := uint32(0); t < p; {
			switch {
			case walk == 0 && counts[residue] < 255:
				counts[residue]++
			case walk == 1 && int(counts[residue]) >= m:
				fibers[uint32(residue)] = append(fibers[uint32(residue)], t)
			}
			t++
			residue = residue * uint64(t) % uint64(p)
		}
	}
	return fibers
}
