// Package campaign does searches that take hours or months: in units that survive any
// interruption, shared among machines, with a record that a stranger can audit.
//
// A campaign is a range of primes with a k, of one of two kinds. A complete campaign asks
// every prime for its largest fiber; a campaign of residues only looks at the
// fibers of a few residues, usually 1 and -1, which is many times cheaper. Its range
// is cut into units (package plan), which are done in ascending order; shard i of n is a
// contiguous share of the units. A campaign ends with its range or at the first prime
// that has a witness.
//
// The folder of a campaign, or of a shard of one, holds
//
//	ledger.jsonl           what was done, one synced line for each unit
//	fingerprints/DIGEST    the fingerprint of every prime of a unit, named by its digest
//	lock, lock.holder      held by the process that works here, and which one that is
//	ledger.jsonl.bad       what was cut off from a damaged ledger, if that ever happened
//
// # Ledger
//
// Each line is a JSON object with a type; the first is the campaign (Header), the others
// are units, planted positives and failed checks. The last member of a line, chain, is
// the hexadecimal SHA-256 of the chain of the line before (nothing for the first), a
// newline, and the line itself without that member. So a line that was altered,
// dropped or put elsewhere breaks the chain; and as a line is only adopted in the
// canonical form in which it would be written, there is one text for one ledger.
//
// A unit's line says what was found, which is the same whoever does the unit, and in its
// member run how it was done. A merged ledger leaves out shards, runs, positives and
// failures: merging the same units gives the same bytes, however they were shared out.
//
// # Audit
//
// The transcript of a unit is the SHA-256 of its fingerprint lines, its root their Merkle
// root (package transcript). The root of a ledger is the Merkle root of its units'
// lines without run and chain. An audit draws primes by that root, so that who made
// the ledger could not know which would be asked for, and compares their fingerprints
// with those of the reference kernel.
package campaign
