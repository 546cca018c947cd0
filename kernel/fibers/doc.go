// Package fibers finds the large fibers of t -> t! mod p, fast.
//
// Of the first-half residues only the class {r, -r} is counted: D[a] is the number of
// cuts t < h = (p-1)/2 with t! = a or -a, for 1 <= a <= h. The table is indexed by
// a itself, so there is no probing and no key is stored; its mean cell is 1.
//
// By reflection (package residues) the fiber of r consists of
//
//	the cuts t < h with t! = r,
//	the mirrors p-1-t of the odd t < h with t! = 1/r and of the even t < h with t! = -1/r,
//	and h itself where h! = r,
//
// so its multiplicity is at most D[|r|] + D[|1/r|], and one more for the class of h!, which
// is its own inverse: h!² = ±1. In any other class a fiber of at least m cuts needs
// a cell of at least ceil(m/2), here or at the inverse. A Scanner looks for those cells,
// adds those of the inverses and of h!, and generates the residues once more for
// the few classes that are left, to get their exact cuts.
//
// With the unit c of package residues every t! above reads c·t!, and 1/r reads c²/r.
//
// Two free checks beside those of package residues: the sum of D must be h, and
// no cell may have reached half of its counter.
package fibers

//go:generate go -C _asm run . -out ../fibers_amd64.s -stubs ../fibers_stubs_amd64.go -pkg fibers
