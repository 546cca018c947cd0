package record

import (
	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/mission"
	"github.com/erdos1056/erdos1056/capsule/records/schema"
	"github.com/erdos1056/erdos1056/internal/digest"
)

// LandingCommand is the file landing-command.json: the call that landed a
// candidate, as it was observed.
type LandingCommand struct {
	Schema       string   `json:"schema"`
	Authority    string   `json:"authority"`
	Argv         []string `json:"argv"`
	ExitCode     int      `json:"exit_code"`
	Stdout       string   `json:"stdout"`
	Stderr       string   `json:"stderr"`
	StdoutDigest string   `json:"stdout_digest"`
	StderrDigest string   `json:"stderr_digest"`
}

// MaxLandingOutput bounds each output stream of a landing command, in bytes.
const MaxLandingOutput = 2 << 20

var landingCommandFields = schema.Object{
	schema.Required("schema", schema.Const("canopus.landing-command.v0")),
	schema.Required("authority", schema.Const("observed_process_effect")),
	schema.Required("argv", schema.Array{Min: 1, Max: 256, Items: schema.String{Max: 65536}}),
	schema.Required("exit_code", schema.Integer{Min: -1, Max: 255}),
	schema.Required("stdout", schema.String{Max: MaxLandingOutput}),
	schema.Required("stderr", schema.String{Max: MaxLandingOutput}),
	schema.Required("stdout_digest", schema.Digest),
	schema.Required("stderr_digest", schema.Digest),
}

// LandingCommandSpec is the file landing-command.json.
var LandingCommandSpec = schema.Spec[LandingCommand]{
	Name: "landing_command", ID: "canopus.landing-command.v0", Title: "Observed landing command", Canonical: true,
	Fields: landingCommandFields,
	Rules: []schema.Rule[LandingCommand]{{Text: "Both digests are those of the texts.", Check: func(c LandingCommand) error {
		for _, stream := range []struct{ field, text, digest string }{{"stdout", c.Stdout, c.StdoutDigest}, {"stderr", c.Stderr, c.StderrDigest}} {
			if found := digest.Of([]byte(stream.text)); string(found) != stream.digest {
				return schema.Violation(stream.field+"_digest", "expected %s, the digest of %s, found %s", found, stream.field, stream.digest)
			}
		}
		return nil
	}}},
}

// LandingObservation is the file landing-observation.json: the reply of the
// landing command.
type LandingObservation struct {
	Schema    string      `json:"schema"`
	Authority string      `json:"authority"`
	RawDigest string      `json:"raw_digest"`
	Raw       canon.Value `json:"raw"`
}

// LandingObservationSpec is the file landing-observation.json.
var LandingObservationSpec = schema.Spec[LandingObservation]{
	Name: "landing_observation", ID: "canopus.landing-observation.v0", Title: "Observed landing", Canonical: true,
	Fields: schema.Object{
		schema.Required("schema", schema.Const("canopus.landing-observation.v0")),
		schema.Required("authority", schema.Const("observed_vela_effect")),
		schema.Required("raw_digest", schema.Digest),
		schema.Required("raw", schema.AnyObject{}),
	},
	Rules: []schema.Rule[LandingObservation]{{Text: "raw_digest is the content digest of raw.", Check: func(o LandingObservation) error {
		if found, err := canon.ContentDigest(o.Raw); err != nil || string(found) != o.RawDigest {
			return schema.Violation("raw_digest", "expected %s, the content digest of raw, found %s", found, o.RawDigest)
		}
		return nil
	}}},
}

// NewLandingObservation records a reply.
func NewLandingObservation(raw canon.Value) (LandingObservation, error) {
	digest, err := canon.ContentDigest(raw)
	return LandingObservation{"canopus.landing-observation.v0", "observed_vela_effect", string(digest), raw}, err
}

// LandingRecovery is the file landing-recovery.json: everything that is known
// of a landing that was begun and whose run failed.
type LandingRecovery struct {
	Schema          string          `json:"schema"`
	Authority       string          `json:"authority"`
	Phase           string          `json:"phase"`
	Command         *LandingCommand `json:"command"`
	RawDigest       *string         `json:"raw_digest"`
	Raw             *canon.Value    `json:"raw"`
	Parsed          *RunLanding     `json:"parsed"`
	ObservedRoots   *Roots          `json:"observed_roots"`
	InspectionError *string         `json:"inspection_error"`
}

// LandingRecoverySpec is the file landing-recovery.json.
var LandingRecoverySpec = schema.Spec[LandingRecovery]{
	Name: "landing_recovery", ID: "canopus.landing-recovery.v0", Title: "What is known of a landing whose run failed", Canonical: true,
	Fields: schema.Object{
		schema.Required("schema", schema.Const("canopus.landing-recovery.v0")),
		schema.Required("authority", schema.Const(NonAuthoritative)),
		schema.Required("phase", phase),
		schema.Required("command", schema.Nullable{Type: landingCommandFields}),
		schema.Required("raw_digest", schema.Nullable{Type: schema.Digest}),
		schema.Required("raw", schema.Nullable{Type: schema.AnyObject{}}),
		schema.Required("parsed", schema.Nullable{Type: landingFields}),
		schema.Required("observed_roots", schema.Nullable{Type: mission.RootsType}),
		schema.Required("inspection_error", schema.Nullable{Type: schema.String{Min: 1, Max: maxFailureErrorUnits}}),
	},
}

// LandingReply is the reply of a landing command: what Vela answers to land,
// and the roots of the frontier afterwards, if the command reports them.
type LandingReply struct {
	OK                       bool        `json:"ok"`
	Command                  string      `json:"command"`
	OperationID              string      `json:"operation_id"`
	ReceiptRoot              string      `json:"receipt_root"`
	RecordID                 string      `json:"record_id"`
	ProposalID               string      `json:"proposal_id"`
	FindingID                string      `json:"finding_id"`
	Route                    string      `json:"route"` // policy_admitted, deferred or exact_retry
	OriginalRoute            *string     `json:"original_route"`
	Detail                   string      `json:"detail"`
	AcceptedEventCountBefore *int64      `json:"accepted_event_count_before"`
	AcceptedEventCountAfter  *int64      `json:"accepted_event_count_after"`
	AcceptedEventDelta       *int64      `json:"accepted_event_delta"`
	Publication              Publication `json:"publication"`
	FinalRoots               *Roots      `json:"final_roots,omitempty"`
}

// Publication says how far the landing was carried.
type Publication struct {
	State  string `json:"state"` // committed_local, pushed or unchanged
	Commit string `json:"commit,omitempty"`
}

// LandingReplySpec is the text that a landing command prints.
var LandingReplySpec = schema.Spec[LandingReply]{
	Name: "landing_reply", ID: "vela.land-reply", Title: "Reply of a landing command",
	Limits: canon.Limits{Bytes: MaxLandingOutput, Depth: 32},
	Fields: schema.Open{
		schema.Required("ok", schema.Truth(true)),
		schema.Required("command", schema.Const("land")),
		schema.Required("operation_id", schema.String{Min: 1, Max: 256}),
		schema.Required("receipt_root", schema.Digest),
		schema.Required("record_id", schema.String{Min: 1, Max: 256}),
		schema.Required("proposal_id", schema.String{Min: 1, Max: 256}),
		schema.Required("finding_id", schema.String{Min: 1, Max: 256}),
		schema.Required("route", schema.Enum{"policy_admitted", "deferred", "exact_retry"}),
		schema.Required("original_route", schema.Nullable{Type: schema.Enum{"policy_admitted", "deferred"}}),
		schema.Required("detail", schema.String{Max: 16384}),
		schema.Required("accepted_event_count_before", schema.Nullable{Type: count}),
		schema.Required("accepted_event_count_after", schema.Nullable{Type: count}),
		schema.Required("accepted_event_delta", schema.Nullable{Type: count}),
		schema.Required("publication", schema.Open{
			schema.Required("state", schema.Enum{"committed_local", "pushed", "unchanged"}),
			schema.Optional("commit", schema.GitObject),
		}),
		schema.Optional("final_roots", mission.RootsType),
	},
	Rules: []schema.Rule[LandingReply]{{Text: "The counts differ by accepted_event_delta.", Check: func(r LandingReply) error {
		if r.AcceptedEventDelta == nil || r.AcceptedEventCountBefore == nil || r.AcceptedEventCountAfter == nil {
			return nil
		}
		if *r.AcceptedEventCountAfter-*r.AcceptedEventCountBefore != *r.AcceptedEventDelta {
			return schema.Violation("accepted_event_delta", "the counts %d and %d differ by another number than %d", *r.AcceptedEventCountBefore, *r.AcceptedEventCountAfter, *r.AcceptedEventDelta)
		}
		return nil
	}}},
}

var routes = map[string]string{"policy_admitted": "permit", "deferred": "defer", ExactRetry: ExactRetry}

// Landing returns the reply in the words of a run record.
func (r LandingReply) Landing() (RunLanding, error) {
	l := RunLanding{r.OperationID, r.ReceiptRoot, r.ProposalID, routes[r.Route], nil, r.AcceptedEventDelta, r.Publication.State}
	if r.OriginalRoute != nil {
		original := routes[*r.OriginalRoute]
		l.OriginalRoute = &original
	}
	_, err := l.Effect()
	return l, err
}
