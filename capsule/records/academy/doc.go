// Package academy reads, checks, signs and writes run bundles: the run-bundle
// 1.0 format of OpenTakeoff Academy, in which one run over a suite of tasks
// travels as one signed object.
//
// The bundle hash is the SHA-256, in bare lower-case hexadecimal, of the
// ECMAScript canonical text (package canon) of the bundle with its integrity
// block replaced by one whose five fields are present and null but for hashAlg.
// Entrant and academy sign the 64 characters of that hash with Ed25519.
//
// The original checks schema, hash and, when both a signature and a key are in
// the bundle, the signature. It trusts any key it finds, never looks at the
// co-signature, and reads past everything that its canonical form loses.
// [Verify] gives its verdict and, beside it, findings about all of that.
package academy
