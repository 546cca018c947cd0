package record

import (
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"regexp"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/keys"
	"github.com/erdos1056/erdos1056/capsule/records/schema"
	"github.com/erdos1056/erdos1056/internal/digest"
)

// Tip is the file activity-tip.json: a signed statement of how long an activity
// log is and how it ends. A log that was cut off, or written anew as a whole,
// does not agree with its tip.
type Tip struct {
	Schema       string  `json:"schema"`
	RunID        string  `json:"run_id"`
	Events       int64   `json:"events"`
	EventDigest  string  `json:"event_digest"`  // of the last event
	LogSHA256    string  `json:"log_sha256"`    // of the log's bytes
	EvidenceRoot *string `json:"evidence_root"` // null for a failed run
	PublicKey    string  `json:"public_key"`    // Ed25519, 64 hexadecimal digits
	Signature    string  `json:"signature"`     // Ed25519, 128 hexadecimal digits
}

// tipDomain keeps a tip's signature from being valid for anything else.
const tipDomain = "erdos1056.activity-tip.v1\n"

func hexString(digits int) schema.String {
	return schema.String{Min: digits, Max: digits, Pattern: regexp.MustCompile(fmt.Sprintf(`^[0-9a-f]{%d}$`, digits)), Form: fmt.Sprintf("%d lower-case hexadecimal digits", digits)}
}

// TipSpec is the file activity-tip.json.
var TipSpec = schema.Spec[Tip]{
	Name: "tip", ID: "erdos1056.activity-tip.v1", Title: "Signed tip of an activity log", Canonical: true,
	Fields: schema.Object{
		schema.Required("schema", schema.Const("erdos1056.activity-tip.v1")),
		schema.Required("run_id", runID),
		schema.Required("events", schema.Integer{Min: 1, Max: canon.MaxSafeInteger}),
		schema.Required("event_digest", schema.Digest),
		schema.Required("log_sha256", schema.Digest),
		schema.Required("evidence_root", schema.Nullable{Type: schema.Digest}),
		schema.Required("public_key", hexString(2*ed25519.PublicKeySize)),
		schema.Required("signature", hexString(2*ed25519.SignatureSize)),
	},
	Rules: []schema.Rule[Tip]{{
		Text: "signature is the Ed25519 signature, by public_key, of the line erdos1056.activity-tip.v1 followed by the RFC 8785 text of the tip without signature.",
		Check: func(t Tip) error {
			message, err := t.message()
			if err != nil {
				return err
			}
			// The table has checked the form of both.
			key, _ := hex.DecodeString(t.PublicKey)
			signature, _ := hex.DecodeString(t.Signature)
			if !ed25519.Verify(key, message, signature) {
				return schema.Violation("signature", "the signature is not the public key's")
			}
			return nil
		},
	}},
}

func (t Tip) message() ([]byte, error) {
	v, err := canon.Of(t)
	if err != nil {
		return nil, err
	}
	text, err := canon.EncodeRFC8785(v.Without("signature"))
	return append([]byte(tipDomain), text...), err
}

// SignTip signs the tip of a finished log.
func SignTip(log []byte, evidenceRoot *string, key keys.Key) (Tip, error) {
	events, err := ParseLog(log)
	if err != nil {
		return Tip{}, err
	}
	if len(events) == 0 {
		return Tip{}, fmt.Errorf("%s: a log without events has no tip", ActivityFile)
	}
	last := events[len(events)-1]
	t := Tip{
		Schema: "erdos1056.activity-tip.v1", RunID: last.RunID, Events: int64(len(events)), EventDigest: last.EventDigest,
		LogSHA256: string(digest.Of(log)), EvidenceRoot: evidenceRoot,
		PublicKey: hex.EncodeToString(key.Public()),
	}
	message, err := t.message()
	t.Signature = hex.EncodeToString(key.Sign(message))
	return t, err
}

// CheckLog reports how a log differs from what the tip says of it.
func (t Tip) CheckLog(log []byte) error {
	events, err := ParseLog(log)
	if err != nil {
		return err
	}
	switch n := int64(len(events)); {
	case n < t.Events:
		return schema.Violation("tip.events", "the log was cut off: %d of %d events remain", n, t.Events)
	case n > t.Events:
		return schema.Violation("tip.events", "the log went on after its tip was signed: it has %d events, the tip says %d", n, t.Events)
	case events[n-1].RunID != t.RunID:
		return schema.Violation("tip.run_id", "the log is of run %s, the tip of run %s", events[n-1].RunID, t.RunID)
	case events[n-1].EventDigest != t.EventDigest || string(digest.Of(log)) != t.LogSHA256:
		return schema.Violation("tip.event_digest", "the log ends with %s, the tip says %s", events[n-1].EventDigest, t.EventDigest)
	}
	return nil
}
