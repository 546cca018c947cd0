// Command capsule makes frozen verifiers, packs them into images that anyone can
// rebuild to the same digest, and runs them sandboxed.
package main

import (
	"os"
	"strconv"
	"time"

	"github.com/erdos1056/erdos1056/capsule/sandbox"
	"github.com/erdos1056/erdos1056/internal/cli"
)

var command = cli.Command{
	Name:    "capsule",
	About:   "makes frozen verifiers of Erdős problem 1056 and of theorems, packs and runs them.",
	Example: "capsule replay --image oci:dist/oci@sha256:... --artifact artifact.txt",
	Groups: []cli.Group{
		{Title: "Check a result", Verbs: []cli.Verb{replayVerb, verifyAttestation, verifyManifest, bundleVerify, elaborateVerb}},
		{Title: "Make a capsule", Verbs: []cli.Verb{build, image, attest}},
		{Title: "Run a mission", Verbs: []cli.Verb{missionPrepare, missionValidate, runVerb, inspect, verify, publishRun,
			profileList, profileShow, profileValidate, profileNew, profilePack}},
		{Title: "Sign", Verbs: []cli.Verb{keygen, trust, declare, conform, bundleExport, bundleSign, bundleCosign}},
		{Title: "This machine", Verbs: []cli.Verb{doctor, schemaVerb}},
	},
	Notes: "Of elaborate also 2, declined.\n",
}

func main() {
	sandbox.RunInit()
	command.Main()
}

// sourceDateEpoch reads SOURCE_DATE_EPOCH, the only clock of reproducible
// results; without it they are dated 1970.
func sourceDateEpoch() (seconds int64, set bool, err error) {
	text, set := os.LookupEnv("SOURCE_DATE_EPOCH")
	if !set {
		return 0, false, nil
	}
	seconds, err = strconv.ParseInt(text, 10, 64)
	if err != nil || seconds < 0 || seconds > 253402300799 {
		return 0, true, cli.Usagef("SOURCE_DATE_EPOCH=%s: expected seconds since 1970 in decimal, at most 253402300799", cli.Quote(text))
	}
	return seconds, true, nil
}

// now is the time of a statement: SOURCE_DATE_EPOCH, else the clock.
func now() (time.Time, error) {
	seconds, set, err := sourceDateEpoch()
	if err != nil || set {
		return time.Unix(seconds, 0), err
	}
	return time.Now(), nil
}
