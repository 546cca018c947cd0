package runner

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/erdos1056/erdos1056/capsule/records/canopus/mission"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/record"
	"github.com/erdos1056/erdos1056/capsule/records/keys"
	"github.com/erdos1056/erdos1056/capsule/sandbox"
	"github.com/erdos1056/erdos1056/internal/digest"
	"github.com/erdos1056/erdos1056/internal/disk"
)

// Order says which mission to run, how, and where to leave the records.
type Order struct {
	Mission mission.Mission
	Parts   mission.Parts
	Output  string // the folder of the run; it must not exist
	Engine  Engine
	Runtime sandbox.Runtime
	// Landing is nil for a diagnostic run.
	Landing *Landing
	// Key signs the tip of the activity log; nil means a key made for this run
	// and forgotten with it.
	Key *keys.Key
	// Report is told of every stage, for a person. It may be nil.
	Report func(stage, text string)
}

// Summary is what a finished run came to.
type Summary struct {
	Folder       Folder
	Run          *record.Run     // of a completed run
	Failure      *record.Failure // of a failed run
	EvidenceRoot digest.Digest   // of a completed run
	TipKey       string          // public key of the log's tip, 64 hexadecimal digits
}

// Run carries out a mission. A run that failed in a stage is recorded like any
// other and is no error; an error means that nothing was recorded under the
// order's output.
func Run(ctx context.Context, order Order) (Summary, error) {
	if order.Report == nil {
		order.Report = func(string, string) {}
	}
	folder, lock, err := claim(order.Output)
	if err != nil {
		return Summary{}, err
	}
	defer lock.Close()
	if err := mission.WriteBundle(folder.Mission(), order.Mission, order.Parts); err != nil {
		return Summary{}, errors.Join(err, os.RemoveAll(string(folder)))
	}
	bundle, err := mission.OpenBundle(folder.Mission())
	if err != nil {
		return Summary{}, err
	}
	order.Report("prepared", fmt.Sprintf("mission %s", bundle.Digest))
	r, err := begin(order, folder, bundle)
	if err != nil {
		return Summary{}, err
	}
	defer r.log.Close()
	err = r.stages(ctx)
	if ctx.Err() != nil {
		return Summary{}, context.Cause(ctx)
	}
	var stage *stageError
	switch {
	case err == nil:
	case errors.As(err, &stage):
		if err := r.fail(stage); err != nil {
			return Summary{}, err
		}
	default:
		return Summary{}, err
	}
	r.summary.Folder, err = folder.finish(order.Output)
	return r.summary, err
}

// run is a run under way.
type run struct {
	order   Order
	folder  Folder
	bundle  mission.Bundle
	id      string
	log     *record.Log
	budget  *budget
	store   *record.Store
	key     keys.Key
	landed  landingState
	summary Summary
}

// stageError says in which phase a run failed.
type stageError struct {
	phase string
	err   error
}

func (e *stageError) Error() string { return e.err.Error() }

func (e *stageError) Unwrap() error { return e.err }

// failedIn names the phase in which an error ended the run.
func failedIn(phase string, err error) error { return &stageError{phase, err} }

func begin(order Order, folder Folder, bundle mission.Bundle) (*run, error) {
	r := &run{order: order, folder: folder, bundle: bundle}
	var err error
	if order.Key != nil {
		r.key = *order.Key
	} else if r.key, err = keys.Generate(); err != nil {
		return nil, err
	}
	if r.id, err = newRunID(); err != nil {
		return nil, err
	}
	for _, name := range []string{"input", "landing", "output"} {
		if err := os.MkdirAll(folder.Record(name), 0o700); err != nil {
			return nil, err
		}
	}
	if r.store, err = record.OpenStore(folder.Record(record.ArtifactFolder), bundle.Mission.Budgets.MaxArtifactBytes); err != nil {
		return nil, err
	}
	r.log, err = record.CreateLog(folder.Record(record.ActivityFile), r.id, time.Now)
	return r, err
}

// newRunID returns run_ and a random UUID (RFC 9562, version 4).
func newRunID() (string, error) {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", err
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("run_%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), nil
}

// object is the payload of an event.
type object = map[string]any

func (r *run) append(eventType string, payload object) error {
	_, err := r.log.Append(eventType, payload)
	return err
}

func (r *run) write(name string, data []byte) error {
	return disk.Create(r.folder.Record(name), data, 0o600)
}

func (r *run) stages(ctx context.Context) error {
	m := r.bundle.Mission
	if err := r.append(record.RunStarted, object{"mission_id": m.ID, "mission_digest": r.bundle.Digest}); err != nil {
		return err
	}
	if err := r.append(record.WorkspacePrepared, object{"input": "input", "landing": "landing", "output": "output", "artifacts": record.ArtifactFolder}); err != nil {
		return err
	}
	if r.order.Landing == nil {
		skipped := object{"target": m.Target, "mode": "no_land", "reason": "diagnostic run has no landing edge"}
		if err := r.append(record.WorkSkipped, skipped); err != nil {
			return err
		}
	}
	r.budget = newBudget(m.Budgets, time.Now)
	result, err := r.research(ctx)
	if err != nil {
		return err
	}
	artifacts, err := r.freeze(result)
	if err != nil {
		return err
	}
	verdict, err := r.verify(ctx, artifacts)
	if err != nil {
		return err
	}
	candidate, digest, err := r.propose(result, artifacts, verdict)
	if err != nil {
		return err
	}
	landing, roots, err := r.land(ctx, candidate, digest, verdict)
	if err != nil {
		return err
	}
	again, err := r.reproduce(ctx, artifacts, verdict)
	if err != nil {
		return err
	}
	return r.complete(candidate, digest, verdict, again, landing, roots)
}
