package conformance

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/finding"
)

func parse(t testing.TB, text string) canon.Value {
	t.Helper()
	v, err := canon.ParseStrict([]byte(text), canon.DocumentLimits)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestReadRefusesWhatTheOriginalsReaderRefuses(t *testing.T) {
	text := string(readFile(t, reference))
	for _, tc := range []struct{ name, from, to, field string }{
		{"missing field", `"summary":`, `"summery":`, "summary"},
		{"missing field of the block", `"rollback_safe"`, `"rollback"`, "conformance.compatibility.rollback_safe"},
		{"fraction", `"max_tokens_per_call": 512`, `"max_tokens_per_call": 512.0`, "conformance.envelope.max_tokens_per_call"},
		{"exponent", `"max_tokens_per_call": 512`, `"max_tokens_per_call": 5e2`, "conformance.envelope.max_tokens_per_call"},
		{"negative", `"max_tokens_per_call": 512`, `"max_tokens_per_call": -1`, "conformance.envelope.max_tokens_per_call"},
		{"more than 32 bits", `"max_tokens_per_call": 512`, `"max_tokens_per_call": 4294967296`, "conformance.envelope.max_tokens_per_call"},
		{"text for a number", `"max_tokens_per_call": 512`, `"max_tokens_per_call": "512"`, "conformance.envelope.max_tokens_per_call"},
		{"number for a text", `"version": "0.2.0"`, `"version": 2`, "version"},
		{"number for a list", `"supersedes": [
        "0.1.0"
      ]`, `"supersedes": 1`, "conformance.compatibility.supersedes"},
		{"number for an object", `"undo": {`, `"undo": 1, "x": {`, "conformance.envelope.undo"},
		{"number for a boolean", `"rollback_safe": true`, `"rollback_safe": 1`, "conformance.compatibility.rollback_safe"},
		{"open enumeration", `"kind": "deterministic_replay"`, `"kind": "custom"`, "conformance.invariants[3].kind"},
		{"fact deletion", `"operation": "write"`, `"operation": "delete"`, "conformance.expected_mutations.facts[0].operation"},
		{"repeated field", `"version": "0.2.0"`, `"version": "0.2.0", "version": "0.2.0"`, "version"},
		{"repeated field of the block", `"rollback_safe": true`, `"rollback_safe": true, "rollback_safe": true`, "conformance.compatibility.rollback_safe"},
		{"lone surrogate", `"name": "Conformance`, `"name": "\ud800`, "line 4, column 12"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if !strings.Contains(text, tc.from) {
				t.Fatalf("the reference manifest has no %s", tc.from)
			}
			_, _, err := Read([]byte(strings.Replace(text, tc.from, tc.to, 1)))
			var refusal *finding.Refusal
			if !errors.As(err, &refusal) || refusal.Name != "Json" || refusal.Field != tc.field {
				t.Errorf("got %v, want Json at %s", err, tc.field)
			}
		})
	}
}

func TestRepeatedKeysOutsideTheFormatAreFindings(t *testing.T) {
	text := string(readFile(t, reference))
	for name, change := range map[string][2]string{
		"in arguments":      {`"topic": "conformance"`, `"topic": "x", "topic": "conformance"`},
		"in a tool schema":  {`"type": "object",`, `"type": "x", "type": "object",`},
		"of an unknown key": {`"version":`, `"note": 1, "note": 2, "version":`},
	} {
		t.Run(name, func(t *testing.T) {
			_, findings, err := Read([]byte(strings.Replace(text, change[0], change[1], 1)))
			if err != nil || !slices.ContainsFunc(findings, func(f finding.Finding) bool { return f.Name == finding.DuplicateKey }) {
				t.Errorf("error %v, findings %q; want a duplicate key", err, names(findings))
			}
		})
	}
}

func TestAbsentFieldsHaveTheOriginalsDefaults(t *testing.T) {
	m, _, err := Read([]byte(`{"schema":"crux.integration.v1","id":"a","name":"b","version":"1","publisher_passport_fpr":"c","summary":"","entry":{"kind":"mcp_config","path":"p"},"signature":null}`))
	if err != nil {
		t.Fatal(err)
	}
	payload, err := m.SigningPayload()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"schema":"crux.integration.v1","id":"a","name":"b","version":"1","publisher_passport_fpr":"c","summary":"","entry":{"kind":"mcp_config","path":"p"},"capabilities":[],"network":{"allowed_hosts":[],"requires_user_token":false},"data_access":{"tenant_scopes":["selected"],"content_preview":false,"private_facts":false},"safety":{"sandbox":"none","max_runtime_ms":0,"max_output_bytes":0}}`
	if string(payload) != want {
		t.Errorf("payload\n%s\nwant\n%s", payload, want)
	}
}

func TestArgumentsKeepTheirOrderAndHoldNoFractions(t *testing.T) {
	m := mustRead(t, reference)
	args := `{"b":[1,-2,18446744073709551615,null,true],"a":"é\u0001<&>"}`
	m.Conformance.ReplayCorpus.Cases[0].Args = parseLoose(t, args)
	payload, err := m.SigningPayload()
	if err != nil || !bytes.Contains(payload, []byte(`"args":`+args)) {
		t.Errorf("error %v, payload %s", err, payload)
	}
	for _, number := range []string{"1.5", "1e3", "-0", "18446744073709551616"} {
		m.Conformance.ReplayCorpus.Cases[0].Args = parseLoose(t, number)
		if _, err := m.SigningPayload(); err == nil {
			t.Errorf("arguments %s: signed data holds no such number", number)
		}
	}
}

func parseLoose(t testing.TB, text string) canon.Value {
	t.Helper()
	doc, err := canon.Parse([]byte(text), canon.DocumentLimits)
	if err != nil {
		t.Fatal(err)
	}
	return doc.Root
}

func FuzzVerify(f *testing.F) {
	for _, name := range []string{reference, studio, "derived/extra-field.manifest.json"} {
		f.Add(readFile(f, name), readFile(f, corpus))
	}
	registry := publishers(f)
	f.Fuzz(func(t *testing.T, manifest, corpus []byte) {
		r := Verify(manifest, registry, corpus)
		if r.Manifest == nil || r.Refusal != nil {
			return
		}
		// What is accepted must survive being written and read again.
		file, err := r.Manifest.Encode()
		if err != nil {
			t.Fatalf("accepted, but cannot be written: %v", err)
		}
		if again := Verify(file, registry, corpus); again.Refusal != nil || again.Hash != r.Hash {
			t.Fatalf("accepted, but after rewriting: %v", again.Refusal)
		}
	})
}
