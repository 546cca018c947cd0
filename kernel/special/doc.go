// Package special finds the fibers of the residues 1 and -1 of many primes, without a table.
//
// By reflection (package residues) t! (p-1-t)! = (-1)^(t+1) mod p, so both residues mirror
// into themselves and into each other: with h = (p-1)/2, the cuts t < h with t! = 1 or -1 decide
// both fibers. The fiber of 1 consists of the t with t! = 1, the mirrors p-1-t of the
// odd t with t! = 1 and of the even t with t! = -1, and h where h! = 1; that of -1 of
// the t with t! = -1, the mirrors of the odd t with t! = -1 and of the even t with
// t! = 1, and h where h! = -1. The cuts 0, 1 and p-2 always have residue 1, and odd
// hits come in pairs: these fibers have a much heavier tail than others.
//
// The chains of many primes run side by side, one prime to a lane, all at the same cut.
// That takes one multiplication for a first-half cut, half of what lanes within one prime
// take, and needs no memory. There are no seams between lanes: a chain runs through to
// the middle, where Wilson's theorem, (h!)^2 = (-1)^(h+1), catches every lasting error of it.
package special

//go:generate go -C _asm run . -out ../special_amd64.s -stubs ../special_stubs_amd64.go -pkg special
