// Package runner carries out missions: it lets an engine do the research,
// freezes the artifacts, has the frozen verifier judge them in a sandbox, and
// leaves the records of package record. It also repeats a verdict ([Replay])
// and re-derives every claim of a run from what lies on the disk ([Verify]).
//
// The folder of a run holds mission/, the bundle, and run/, the records. While
// a run is under way the folder is called by its name with ".new" added; the
// plain name appears only when every record is complete and on the disk. So a
// run that was killed at any instant is either complete or named as incomplete.
package runner
