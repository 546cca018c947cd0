// Package declaration says under a signature what a capsule does, and measures
// whether it does it.
//
// A declaration is a folder that travels as a whole:
//
//	manifest.json        crux.integration.v1 with a pack.conformance.v1 block, signed
//	replay-corpus.json   erdos1056.replay-corpus.v1, named by digest in the block
//	tools.json           the description of the one tool
//	artifacts/*          what the tool is to judge
//	verifiers/*/verifier the frozen verifier, one for each platform
//
// The corpus names every other file by digest, the bounds that the block has
// no field for, and the digest of the manifest's unsigned fields, so that the
// publisher's signature covers the whole folder.
//
// [Declared.Replay] runs every case twice in the sandbox and returns evidence:
// what was observed, nothing else. [Declared.Judge] compares evidence with the
// declaration and gives a verdict whose every line says bound, observed, and
// whether it holds. Evidence and verdict are separate files; anyone can judge
// the evidence again.
package declaration
