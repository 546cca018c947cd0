// Package canon reads JSON strictly and writes it canonically.
//
// Two canonical forms are in use. [Encode] writes the ECMAScript form: what a
// JavaScript program prints that sorts the keys of every object, inserts them
// into a fresh object in that order, and calls JSON.stringify. It differs from
// RFC 8785 in two places, both consequences of that insertion: keys that are
// array indices come first in numeric order, and a key "__proto__" is lost.
// [EncodeRFC8785] writes the standard form.
//
// [Parse] understands a text exactly as ECMAScript's JSON.parse does and
// reports every [Irregularity]: whatever two readers could understand
// differently. [ParseStrict] refuses a text that has any.
//
// Digests are SHA-256, written "sha256:" and 64 lower-case hexadecimal digits.
// A content digest covers the canonical text and one final newline, so that it
// equals the digest of the file that holds it; a protocol digest covers the
// canonical text alone.
package canon
