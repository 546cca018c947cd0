package runner

import (
	"context"
	"fmt"
	"time"

	"github.com/erdos1056/erdos1056/capsule/records/canopus/mission"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/record"
	"github.com/erdos1056/erdos1056/capsule/sandbox"
	"github.com/erdos1056/erdos1056/internal/disk"
)

// ReplayResult is what a replay prints, in this order of fields.
type ReplayResult struct {
	Schema         string `json:"schema"`
	OK             bool   `json:"ok"`
	RunID          string `json:"run_id"`
	MissionRoot    string `json:"mission_root"`
	VerifierStatus string `json:"verifier_status"`
	StdoutDigest   string `json:"stdout_digest"`
	StderrDigest   string `json:"stderr_digest"`
	Matched        bool   `json:"matched"`
}

// Replay has the frozen verifier judge the frozen artifacts of a completed run
// again, from copies in a clean folder, and compares the status and both output
// streams with the record.
func Replay(ctx context.Context, f Folder, runtime sandbox.Runtime) (ReplayResult, error) {
	run, err := f.Run()
	if err != nil {
		return ReplayResult{}, err
	}
	bundle, err := mission.OpenBundle(f.Mission())
	if err != nil {
		return ReplayResult{}, err
	}
	if string(bundle.Digest) != run.Mission.Digest {
		return ReplayResult{}, fmt.Errorf("run.mission.digest: expected %s, the digest of the mission beside the run, found %s", bundle.Digest, run.Mission.Digest)
	}
	j, err := replay(ctx, f, run, &bundle, runtime)
	if err != nil {
		return ReplayResult{}, err
	}
	matched := sameVerdict(run.Verifier, j.VerifierOutcome)
	return ReplayResult{"canopus.replay.v1", matched, run.RunID, run.Mission.Digest, j.Status, j.Record.StdoutDigest, j.Record.StderrDigest, matched}, nil
}

func replay(ctx context.Context, f Folder, run record.Run, bundle *mission.Bundle, runtime sandbox.Runtime) (judgement, error) {
	folder, err := disk.NewScratch(disk.Replay)
	if err != nil {
		return judgement{}, err
	}
	defer folder.Remove()
	clean, err := cleanCopy(folder.Path, f.store(), run.Candidate.Artifacts)
	if err != nil {
		return judgement{}, err
	}
	m := bundle.Mission
	return judge(ctx, runtime, bundle, clean, run.Candidate.Artifacts, time.Duration(m.Verifier.TimeoutMs)*time.Millisecond, m.Verifier.MaxOutputBytes)
}
