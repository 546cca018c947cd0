package conformance

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/erdos1056/erdos1056/capsule/records/finding"
)

func pointer(s string) *string { return &s }

// TestEveryRule breaks one rule at a time in the reference manifest.
func TestEveryRule(t *testing.T) {
	asWasm := func(m *Manifest) {
		m.Entry.Kind, m.Endpoint = Wasm, nil
		m.WasmModulePath, m.WasmModuleSHA256 = pointer("m.wasm"), pointer(strings.Repeat("a", 64))
	}
	withoutWrites := func(m *Manifest) {
		d := m.Conformance
		d.ExpectedMutations.Facts = nil
		d.Envelope.MaxFactWritesPerCall, d.Envelope.Undo.MaxOperationsPerCall, d.Envelope.Decay.MinHalfLifeSeconds = 0, 0, 0
	}
	for _, tc := range []struct {
		rule, field string
		change      func(m *Manifest, d *Declaration)
	}{
		{"", "", func(*Manifest, *Declaration) {}},
		{"", "", func(m *Manifest, d *Declaration) { asWasm(m) }},
		{"", "", func(m *Manifest, d *Declaration) { withoutWrites(m) }},
		{"", "", func(m *Manifest, d *Declaration) {
			d.ClaimedCapabilities = []string{"facts:write", "facts:read", "facts:read"}
		}},

		{"InvalidSchema", "schema", func(m *Manifest, d *Declaration) { m.Schema = "crux.integration.v2" }},
		{"MissingField", "id", func(m *Manifest, d *Declaration) { m.ID = "" }},
		{"MissingField", "name", func(m *Manifest, d *Declaration) { m.Name = "\u00a0" }},
		{"MissingField", "version", func(m *Manifest, d *Declaration) { m.Version = " " }},
		{"MissingField", "publisher_passport_fpr", func(m *Manifest, d *Declaration) { m.PublisherFPR = "" }},
		{"InvalidIdentifier", "id", func(m *Manifest, d *Declaration) { m.ID = "a/b" }},
		{"MissingField", "entry.path", func(m *Manifest, d *Declaration) { m.Entry.Path = "" }},
		{"UnknownCapability", "capabilities", func(m *Manifest, d *Declaration) { m.Capabilities = []string{"facts:delete"} }},
		{"ExternalHelperDisabled", "entry.kind", func(m *Manifest, d *Declaration) { m.Entry.Kind = externalHelper }},

		{"MissingField", "external_tool_endpoint", func(m *Manifest, d *Declaration) { m.Endpoint = nil }},
		{"MissingField", "external_tool_endpoint", func(m *Manifest, d *Declaration) { m.Endpoint = pointer(" ") }},
		{"InvalidIdentifier", "external_tool_endpoint", func(m *Manifest, d *Declaration) { m.Endpoint = pointer("ftp://x") }},
		{"MissingField", "tools", func(m *Manifest, d *Declaration) { m.Tools = nil }},
		{"MissingField", "tools[].name", func(m *Manifest, d *Declaration) { m.Tools[0].Name = "" }},
		{"MissingField", "tools[].description", func(m *Manifest, d *Declaration) { m.Tools[1].Description = "" }},
		{"InvalidIdentifier", "wasm_module_*", func(m *Manifest, d *Declaration) { m.WasmModulePath = pointer("m.wasm") }},
		{"InvalidIdentifier", "entry.kind", func(m *Manifest, d *Declaration) { m.Entry.Kind = "mcp_config" }},

		{"InvalidIdentifier", "external_tool_endpoint", func(m *Manifest, d *Declaration) { asWasm(m); m.Endpoint = pointer("https://x") }},
		{"InvalidIdentifier", "tools[].auth_shared_secret_id", func(m *Manifest, d *Declaration) { asWasm(m); m.Tools[0].AuthSharedSecretID = pointer("s") }},
		{"MissingField", "wasm_module_sha256", func(m *Manifest, d *Declaration) { asWasm(m); m.WasmModuleSHA256 = nil }},
		{"InvalidIdentifier", "wasm_module_sha256", func(m *Manifest, d *Declaration) { asWasm(m); m.WasmModuleSHA256 = pointer("AB") }},
		{"MissingField", "wasm_module_path or wasm_module_url", func(m *Manifest, d *Declaration) { asWasm(m); m.WasmModulePath = nil }},
		{"InvalidIdentifier", "wasm_module_path", func(m *Manifest, d *Declaration) { asWasm(m); m.WasmModuleURL = pointer("https://x") }},
		{"MissingField", "wasm_module_path", func(m *Manifest, d *Declaration) { asWasm(m); m.WasmModulePath = pointer("") }},
		{"InvalidIdentifier", "wasm_module_path", func(m *Manifest, d *Declaration) { asWasm(m); m.WasmModulePath = pointer("/m.wasm") }},
		{"InvalidIdentifier", "wasm_module_path", func(m *Manifest, d *Declaration) { asWasm(m); m.WasmModulePath = pointer("a/../m.wasm") }},
		{"InvalidIdentifier", "wasm_module_url", func(m *Manifest, d *Declaration) {
			asWasm(m)
			m.WasmModulePath, m.WasmModuleURL = nil, pointer("http://x")
		}},

		{"InvalidSchema", "conformance.schema", func(m *Manifest, d *Declaration) { d.Schema = "pack.conformance.v2" }},
		{"NonExecutingKind", "entry.kind", func(m *Manifest, d *Declaration) {
			m.Entry.Kind, m.Endpoint, m.Tools = "mcp_config", nil, nil
		}},
		{"CapabilityMismatch", "conformance.claimed_capabilities", func(m *Manifest, d *Declaration) { d.ClaimedCapabilities = []string{"facts:read"} }},

		{"MissingField", "replay_corpus.corpus_id", func(m *Manifest, d *Declaration) { d.ReplayCorpus.CorpusID = "" }},
		{"MissingField", "replay_corpus.path", func(m *Manifest, d *Declaration) { d.ReplayCorpus.Path = "" }},
		{"InvalidCorpusPath", "replay_corpus.path", func(m *Manifest, d *Declaration) { d.ReplayCorpus.Path = "/corpus.json" }},
		{"InvalidCorpusPath", "replay_corpus.path", func(m *Manifest, d *Declaration) { d.ReplayCorpus.Path = "a/../corpus.json" }},
		{"InvalidCorpusDigest", "replay_corpus.sha256", func(m *Manifest, d *Declaration) { d.ReplayCorpus.SHA256 = strings.Repeat("A", 64) }},
		{"MissingField", "replay_corpus.cases", func(m *Manifest, d *Declaration) { d.ReplayCorpus.Cases = nil }},
		{"TooManyCases", "replay_corpus.cases", func(m *Manifest, d *Declaration) {
			k := d.ReplayCorpus.Cases[0]
			for i := range MaxCases {
				k.CaseID = fmt.Sprint(i)
				d.ReplayCorpus.Cases = append(d.ReplayCorpus.Cases, k)
			}
		}},
		{"MissingField", "replay_corpus.cases[].case_id", func(m *Manifest, d *Declaration) { d.ReplayCorpus.Cases[0].CaseID = "" }},
		{"DuplicateCaseId", "replay_corpus.cases", func(m *Manifest, d *Declaration) { d.ReplayCorpus.Cases[1].CaseID = "recall-default" }},
		{"UnknownCaseTool", "replay_corpus.cases", func(m *Manifest, d *Declaration) { d.ReplayCorpus.Cases[0].ToolName = "other" }},

		{"MissingField", "invariants", func(m *Manifest, d *Declaration) { d.Invariants = nil }},
		{"MissingField", "invariants[].id", func(m *Manifest, d *Declaration) { d.Invariants[0].ID = "" }},
		{"MissingField", "invariants[].description", func(m *Manifest, d *Declaration) { d.Invariants[0].Description = "" }},
		{"DuplicateInvariantId", "invariants", func(m *Manifest, d *Declaration) { d.Invariants[0].ID = d.Invariants[1].ID }},
		{"UnknownInvariantCase", "invariants", func(m *Manifest, d *Declaration) { d.Invariants[0].AppliesToCases = []string{"none"} }},

		{"BoundTooLow", "envelope.max_tokens_per_call", func(m *Manifest, d *Declaration) { d.Envelope.MaxTokensPerCall = 0 }},
		{"BoundTooLow", "envelope.max_latency_ms_per_call", func(m *Manifest, d *Declaration) { d.Envelope.MaxLatencyMSPerCall = 0 }},
		{"BoundTooLow", "envelope.max_response_bytes_per_call", func(m *Manifest, d *Declaration) { d.Envelope.MaxResponseBytesPerCall = 0 }},
		{"RunBoundBelowCallBound", "envelope.max_tokens_per_run", func(m *Manifest, d *Declaration) { d.Envelope.MaxTokensPerRun = 511 }},
		{"RunBoundBelowCallBound", "envelope.max_latency_ms_per_run", func(m *Manifest, d *Declaration) { d.Envelope.MaxLatencyMSPerRun = 1999 }},
		{"BoundTooHigh", "envelope.max_contradiction_rate_ppm", func(m *Manifest, d *Declaration) { d.Envelope.MaxContradictionRatePPM = PPM + 1 }},

		{"MissingField", "expected_mutations.facts[].entity_prefix", func(m *Manifest, d *Declaration) { d.ExpectedMutations.Facts[0].EntityPrefix = "" }},
		{"MissingField", "expected_mutations.facts[].keys[]", func(m *Manifest, d *Declaration) { d.ExpectedMutations.Facts[0].Keys = []string{""} }},
		{"BoundTooLow", "expected_mutations.facts[].max_per_call", func(m *Manifest, d *Declaration) { d.ExpectedMutations.Facts[0].MaxPerCall = 0 }},
		{"PrivateWriteWithoutAccess", "expected_mutations.facts", func(m *Manifest, d *Declaration) { d.ExpectedMutations.Facts[0].Private = true }},
		{"DuplicateReceiptKind", "expected_mutations.receipts", func(m *Manifest, d *Declaration) { d.ExpectedMutations.Receipts[1].ReceiptKind = Dispatch }},
		{"BoundTooLow", "expected_mutations.receipts[].max_per_call", func(m *Manifest, d *Declaration) { d.ExpectedMutations.Receipts[1].MaxPerCall = 0 }},
		{"WritesWithoutCapability", "expected_mutations.facts", func(m *Manifest, d *Declaration) {
			m.Capabilities, d.ClaimedCapabilities = []string{"facts:read"}, []string{"facts:read"}
		}},
		{"WriteBudgetExceeded", "envelope.max_fact_writes_per_call", func(m *Manifest, d *Declaration) { d.ExpectedMutations.Facts[0].MaxPerCall = 2 }},
		{"InconsistentWithWrites", "envelope.decay.min_half_life_seconds", func(m *Manifest, d *Declaration) { d.Envelope.Decay.MinHalfLifeSeconds = 0 }},
		{"InconsistentWithWrites", "envelope.undo.max_operations_per_call", func(m *Manifest, d *Declaration) { d.Envelope.Undo.MaxOperationsPerCall = 0 }},
		{"InconsistentWithWrites", "envelope.decay.min_half_life_seconds", func(m *Manifest, d *Declaration) { withoutWrites(m); d.Envelope.Decay.MinHalfLifeSeconds = 1 }},
		{"InconsistentWithWrites", "envelope.undo.max_operations_per_call", func(m *Manifest, d *Declaration) { withoutWrites(m); d.Envelope.Undo.MaxOperationsPerCall = 1 }},
		{"InconsistentWithWrites", "envelope.max_fact_writes_per_call", func(m *Manifest, d *Declaration) { withoutWrites(m); d.Envelope.MaxFactWritesPerCall = 1 }},

		{"ManifestSchemaMismatch", "compatibility.manifest_schema", func(m *Manifest, d *Declaration) { d.Compatibility.ManifestSchema = "crux.integration.v2" }},
		{"InvalidDaemonVersion", "compatibility.min_daemon_version", func(m *Manifest, d *Declaration) { d.Compatibility.MinDaemonVersion = "0.5.x" }},
		{"InvalidDaemonVersion", "compatibility.min_daemon_version", func(m *Manifest, d *Declaration) { d.Compatibility.MinDaemonVersion = "0..1" }},
		{"MissingField", "compatibility.supersedes[]", func(m *Manifest, d *Declaration) { d.Compatibility.Supersedes[0] = "" }},
		{"SupersedesSelf", "compatibility.supersedes", func(m *Manifest, d *Declaration) { d.Compatibility.Supersedes[0] = "0.2.0" }},
		{"MissingField", "compatibility.migrations[].description", func(m *Manifest, d *Declaration) { d.Compatibility.Migrations[0].Description = "" }},
		{"MigrationTargetMismatch", "compatibility.migrations", func(m *Manifest, d *Declaration) { d.Compatibility.Migrations[0].ToVersion = "0.3.0" }},
		{"MigrationSourceNotSuperseded", "compatibility.migrations", func(m *Manifest, d *Declaration) { d.Compatibility.Migrations[0].FromVersion = "0.0.9" }},
	} {
		t.Run(tc.rule+" "+tc.field, func(t *testing.T) {
			m := mustRead(t, reference)
			tc.change(m, m.Conformance)
			err := m.Validate()
			if tc.rule == "" {
				if err != nil {
					t.Fatalf("got %v, want acceptance", err)
				}
				return
			}
			var refusal *finding.Refusal
			if !errors.As(err, &refusal) || refusal.Name != tc.rule || refusal.Field != tc.field {
				t.Errorf("got %v, want %s at %s", err, tc.rule, tc.field)
			}
			if err := m.Sign(exampleKey(t)); err == nil && tc.field != "publisher_passport_fpr" {
				t.Error("a manifest that breaks a rule was signed")
			}
		})
	}
}
