// Package kernel searches Erdős problem 1056: primes p and k consecutive intervals of
// integers whose products are all 1 mod p. Two intervals (a, b] and (b, c] have
// product 1 just when a! = b! = c! mod p, so the question is for k+1 numbers with
// the same factorial mod p.
//
// The words used everywhere:
//
//	cut           an integer t with 0 <= t < p
//	residue       t! mod p
//	fiber of r    all cuts whose residue is r
//	multiplicity  the number of cuts of a fiber
//	witness       for k: a fiber of at least k+1 cuts
//	negative      a completed range without a witness
//	shard         a contiguous part of a range given to one worker
//
// and the way of the data:
//
//	range -> primes -> residues -> fibers -> best -> artifact
//
// Search gives the exact answer for a range: over all its primes the fiber with the
// greatest multiplicity, ties going to the earliest prime, then to the smallest
// residue; and it stops at the first prime that has a witness. The answer never
// depends on threads, kernel, processor or time: later primes that other workers
// have already finished are dropped.
//
// There are two kernels. The fast one (packages residues and fibers) counts half the
// cuts in a direct table and checks itself at every prime; it comes in several
// implementations. The reference kernel (package reference) does the plain thing and
// shares nothing with it. A check that fails stops the search with an *InternalError
// that also says what the reference kernel found at that prime.
package kernel
