package record

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"syscall"
	"time"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/schema"
	"github.com/erdos1056/erdos1056/internal/digest"
	"github.com/erdos1056/erdos1056/internal/disk"
)

// Bounds of an activity log, in bytes.
const (
	maxLogBytes  = 64 << 20
	maxLineBytes = 1 << 20
)

// Event is one line of the activity log. Each event names the digest of the one
// before it, so that no line can be changed, moved or taken out unseen; that no
// line is missing at the end is what the signed tip says.
type Event struct {
	Schema      string      `json:"schema"`
	RunID       string      `json:"run_id"`
	Sequence    int64       `json:"sequence"` // from 0
	At          string      `json:"at"`       // UTC, milliseconds
	Type        string      `json:"type"`
	Previous    *string     `json:"previous"` // digest of the event before; null for the first
	Payload     canon.Value `json:"payload"`
	EventDigest string      `json:"event_digest"` // content digest of the other fields
}

// The types of events.
const (
	RunStarted           = "run.started"
	WorkspacePrepared    = "workspace.prepared"
	RootsVerified        = "roots.verified"
	TargetOffered        = "target.offered"
	WorkSkipped          = "work.skipped"
	WorkClaimed          = "work.claimed"
	EngineStarted        = "engine.started"
	EngineCompleted      = "engine.completed"
	ArtifactFrozen       = "artifact.frozen"
	ArtifactsPublished   = "artifacts.published"
	VerifierCompleted    = "verifier.completed"
	CandidateFinalized   = "candidate.finalized"
	ReceiptMapped        = "receipt.mapped"
	LandingObserved      = "landing.observed"
	LandingBound         = "landing.bound"
	LandingCompleted     = "landing.completed"
	WithdrawalRetained   = "withdrawal_capability.retained"
	ReproductionFinished = "reproduction.completed"
	ProjectionWritten    = "projection.written"
	RunCompleted         = "run.completed"
	RunFailed            = "run.failed"
)

var eventTypes = schema.Enum{RunStarted, WorkspacePrepared, RootsVerified, TargetOffered, WorkSkipped, WorkClaimed, EngineStarted,
	EngineCompleted, ArtifactFrozen, ArtifactsPublished, VerifierCompleted, CandidateFinalized, ReceiptMapped, LandingObserved,
	LandingBound, LandingCompleted, WithdrawalRetained, ReproductionFinished, ProjectionWritten, RunCompleted, RunFailed}

// timeLayout is that of ECMAScript's Date.toISOString.
const timeLayout = "2006-01-02T15:04:05.000Z"

var eventSpec = schema.Spec[Event]{
	Name: "event", ID: "canopus.activity.v0", Title: "Event of an activity log", Canonical: true,
	Limits: canon.Limits{Bytes: maxLineBytes, Depth: 32},
	Fields: schema.Object{
		schema.Required("schema", schema.Const("canopus.activity.v0")),
		schema.Required("run_id", schema.String{Min: 12, Max: 132, Pattern: regexp.MustCompile(`^run_[a-z0-9-]{8,128}$`), Form: "a run id (run_ and lower-case letters, digits, '-')"}),
		schema.Required("sequence", count),
		schema.Required("at", schema.String{Min: 24, Max: 24, Pattern: regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$`), Form: "a time YYYY-MM-DDTHH:MM:SS.mmmZ"}),
		schema.Required("type", eventTypes),
		schema.Required("previous", schema.Nullable{Type: schema.Digest}),
		schema.Required("payload", schema.AnyObject{}),
		schema.Required("event_digest", schema.Digest),
	},
	Rules: []schema.Rule[Event]{
		{Text: "at is a time of the calendar.", Check: func(e Event) error {
			if _, err := time.Parse(timeLayout, e.At); err != nil {
				return schema.Violation("at", "%s is no time of the calendar", e.At)
			}
			return nil
		}},
		{Text: "event_digest is the content digest of the event without it.", Check: func(e Event) error {
			if want, err := e.digest(); err != nil || string(want) != e.EventDigest {
				return schema.Violation("event_digest", "expected %s, the digest of the event, found %s", want, e.EventDigest)
			}
			return nil
		}},
	},
}

// EventSpec is the format of one line of an activity log.
var EventSpec schema.Document = eventSpec

func (e Event) digest() (digest.Digest, error) {
	v, err := canon.Of(e)
	if err != nil {
		return "", err
	}
	return canon.ContentDigest(v.Without("event_digest"))
}

// ParseLog reads an activity log and checks every line, its digest and the
// chain. An unfinished last line is an error; ParseOpenLog forgives one.
func ParseLog(data []byte) ([]Event, error) {
	events, rest, err := parseLog(data)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%s: line %d is not ended by a newline", ActivityFile, len(events)+1)
	}
	return events, err
}

// ParseOpenLog reads the log of a run that was stopped: the last line may be
// unfinished, and is then returned as rest.
func ParseOpenLog(data []byte) (events []Event, rest []byte, err error) {
	return parseLog(data)
}

func parseLog(data []byte) (events []Event, rest []byte, err error) {
	if len(data) > maxLogBytes {
		return nil, nil, fmt.Errorf("%s: log of %d bytes exceeds the limit of %d bytes", ActivityFile, len(data), maxLogBytes)
	}
	for len(data) > 0 {
		end := bytes.IndexByte(data, '\n')
		if end < 0 {
			return events, data, nil
		}
		event, err := eventSpec.Parse(data[:end+1])
		if err == nil {
			err = follows(events, event)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: line %d: %w", ActivityFile, len(events)+1, err)
		}
		events = append(events, event)
		data = data[end+1:]
	}
	return events, nil, nil
}

func follows(events []Event, e Event) error {
	if e.Sequence != int64(len(events)) {
		return schema.Violation("event.sequence", "expected %d, found %d", len(events), e.Sequence)
	}
	if len(events) == 0 {
		if e.Previous != nil {
			return schema.Violation("event.previous", "expected null for the first event, found %s", *e.Previous)
		}
		return nil
	}
	last := events[len(events)-1]
	if e.Previous == nil || *e.Previous != last.EventDigest {
		return schema.Violation("event.previous", "expected %s, the digest of the event before", last.EventDigest)
	}
	if e.RunID != last.RunID {
		return schema.Violation("event.run_id", "expected %s, found %s", last.RunID, e.RunID)
	}
	return nil
}

// Log is an activity log that is being written.
type Log struct {
	path  string
	runID string
	now   func() time.Time
	file  *os.File
	last  *Event
}

// CreateLog starts the log of a run as a new file.
func CreateLog(path, runID string, now func() time.Time) (*Log, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	return &Log{path: path, runID: runID, now: now, file: f}, nil
}

// Append adds an event and returns when it is on the disk.
func (l *Log) Append(eventType string, payload any) (Event, error) {
	value, err := canon.Of(payload)
	if err != nil {
		return Event{}, err
	}
	e := Event{Schema: "canopus.activity.v0", RunID: l.runID, At: l.now().UTC().Format(timeLayout), Type: eventType, Payload: value}
	if l.last != nil {
		e.Sequence, e.Previous = l.last.Sequence+1, &l.last.EventDigest
	}
	digest, err := e.digest()
	if err != nil {
		return Event{}, err
	}
	e.EventDigest = string(digest)
	line, err := eventSpec.Encode(e)
	if err != nil {
		return Event{}, err
	}
	if len(line) > maxLineBytes {
		return Event{}, fmt.Errorf("%s: event of %d bytes exceeds the limit of %d bytes", ActivityFile, len(line), maxLineBytes)
	}
	if _, err := l.file.Write(line); err != nil {
		return Event{}, err
	}
	if err := l.file.Sync(); err != nil {
		return Event{}, err
	}
	l.last = &e
	return e, nil
}

// Close ends writing.
func (l *Log) Close() error { return l.file.Close() }

// ReadLog reads and checks an activity log file.
func ReadLog(path string) ([]Event, []byte, error) {
	data, err := disk.Read(path, maxLogBytes, disk.RefuseLinks)
	if err != nil {
		return nil, nil, err
	}
	events, err := ParseLog(data)
	return events, data, err
}
