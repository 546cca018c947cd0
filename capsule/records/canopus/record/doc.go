// Package record holds what a run leaves behind: the activity log with its
// signed tip, the frozen artifacts, the candidate, the engine's and verifier's
// results, the completed, diagnostic or failed run, the projections of them, the
// evidence manifest and the publication.
//
// Every record is canonical JSON with one final newline; a reader refuses any
// other spelling, so that a record and its digest determine each other.
// docs/formats.md describes the formats and lists where this reader is stricter
// than the original program.
package record
