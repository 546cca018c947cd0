// Package attestation makes and checks signed statements about images: how one
// was built, what is in it, and that its verifier said yes to an artifact.
//
// A statement (in-toto Statement v1) is signed as it stands in a DSSE envelope,
// and the envelope travels in a sigstore bundle v0.3, which sigstore's own tools
// verify offline with the public key. Signatures are ECDSA P-256 over SHA-256 or
// Ed25519. [Verify] returns the very bytes whose signature it checked, and
// nothing else is to be believed.
//
// Formats: https://in-toto.io/Statement/v1, DSSE 1.0, sigstore bundle v0.3,
// https://slsa.dev/provenance/v1, https://in-toto.io/attestation/svr/v0.1,
// SPDX 2.3. No number in a statement has a fraction.
package attestation
