// Package residues generates t! mod p for the first half of the cuts of a prime.
//
// With h = (p-1)/2, Wilson's theorem gives t!·(p-1-t)! = (-1)^(t+1) mod p, so the
// cuts t < h determine the mirrored cuts p-1-t > h, and h is its own mirror. A
// Chain therefore generates only the h residues of t = 0 ... h-1.
//
// One factorial chain is a serial thing. To fill vector lanes and hide the
// latency of multiplication it is cut into lanes: lane j covers the cuts
// j·n < t <= (j+1)·n. A first pass multiplies each lane's factors; the prefix
// products of the lanes are their starting points; a second pass generates. That
// is two multiplications for a first-half cut, one for a cut.
//
// Residues come out signed (balanced, |s| <= h) or folded (|s|), as 32-bit
// integers in blocks. All values may carry a common unit factor c: a Chain yields
// c·t!, whose fibers are those of t! multiplied by c. Another c sends other data
// through every lane and every cell and must show the same fibers.
//
// Two free checks cover every multiplication: each lane must end where the next
// one starts, and the middle must satisfy Wilson: (h!)^2 = (-1)^(h+1). A lasting
// error anywhere multiplies all that follows by some e with e^2 != 1 or breaks
// the seam of two lanes.
//
// Implementations differ in arithmetic and lanes, never in the residues they
// yield; their order within a block is theirs, and Block.Cut tells the cut.
package residues
