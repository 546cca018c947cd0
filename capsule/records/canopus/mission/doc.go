// Package mission holds what a run is asked to do and within which bounds: the
// draft that a person writes, the prepared mission that fixes every digest, the
// result contract, the target packet, and the bundle of files that carries them
// to a run.
//
// Formats: canopus.mission.v0 and v1, canopus.mission-bundle.v1,
// canopus.result-contract.v1, vela.execution-binding.v1,
// erdos-frontier.problem-work.v1, formal-conjectures.lean-proof-work.v1, and
// erdos1056.range-work.v1 of this project. docs/formats.md describes them.
package mission
