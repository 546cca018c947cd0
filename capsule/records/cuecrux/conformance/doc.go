// Package conformance reads, checks, signs and writes the declaration of what
// a capsule does: the crux.integration.v1 manifest and the pack.conformance.v1
// block inside it, two public formats of CueCrux Ltd.
//
// A manifest names a tool, its publisher and the capabilities it holds. The
// block adds six declarations, all integers and closed enumerations: the
// capabilities claimed, the mutations expected, the corpus to replay, the
// invariants that must hold, the envelope of bounds, and compatibility.
//
// What is signed is not the file but a re-serialisation of it: the fields of
// [SigningPayload], in declared order, compact, without a final newline. The
// manifest hash is BLAKE3-256 of those bytes and the signature is Ed25519 over
// the bytes themselves. A manifest without the block has the same payload as
// before the block existed.
//
// The formats leave holes: the tools and the endpoint are outside the
// signature, unknown keys are dropped without a word, and a trusted key may
// sign for any publisher. [Verify] therefore gives two answers (see package
// verdict): the original's verdict, and findings about what the original passes
// over in silence. A strict caller treats a finding as a failure.
package conformance
