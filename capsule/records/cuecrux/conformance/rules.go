package conformance

import (
	"slices"
	"strings"

	"github.com/erdos1056/erdos1056/capsule/records/finding"
)

// Validate checks every rule of the manifest and of its conformance block, in
// the original's order, and returns the first [finding.Refusal]. It checks no hash and
// no signature.
func (m *Manifest) Validate() error {
	if m.Schema != ManifestSchema {
		return finding.Refuse("InvalidSchema", "schema", "expected %q, found %q", ManifestSchema, m.Schema)
	}
	for _, f := range []struct{ field, value string }{
		{"id", m.ID}, {"name", m.Name}, {"version", m.Version}, {"publisher_passport_fpr", m.PublisherFPR},
	} {
		if blank(f.value) {
			return missing(f.field)
		}
	}
	if strings.Trim(m.ID, identifierCharacters) != "" {
		return finding.Refuse("InvalidIdentifier", "id", "expected only letters, digits, '.', '_' and '-', found %q", m.ID)
	}
	if blank(m.Entry.Path) {
		return missing("entry.path")
	}
	for _, c := range m.Capabilities {
		if !slices.Contains(capabilities, c) {
			return finding.Refuse("UnknownCapability", "capabilities", "%q is not a capability", c)
		}
	}
	if err := m.validateKind(); err != nil {
		return err
	}
	if m.Conformance == nil {
		return nil
	}
	return m.Conformance.validate(m)
}

const identifierCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"

func missing(field string) error {
	return finding.Refuse("MissingField", field, "required and must not be blank")
}

// blank tells whether a text has nothing but white space.
func blank(s string) bool { return strings.TrimSpace(s) == "" }

func (m *Manifest) validateKind() error {
	switch m.Entry.Kind {
	case externalHelper:
		return finding.Refuse("ExternalHelperDisabled", "entry.kind", "external helpers are off by policy")
	case ExternalTool:
		return m.validateExternalTool()
	case Wasm:
		return m.validateWasm()
	}
	if m.Endpoint != nil || len(m.Tools) > 0 || m.hasWasmFields() {
		return finding.Refuse("InvalidIdentifier", "entry.kind", "external_tool_endpoint, tools and wasm_module_* need the kind external_tool or wasm, found %q", m.Entry.Kind)
	}
	return nil
}

func (m *Manifest) hasWasmFields() bool {
	return m.WasmModulePath != nil || m.WasmModuleURL != nil || m.WasmModuleSHA256 != nil
}

func (m *Manifest) validateExternalTool() error {
	if m.Endpoint == nil || blank(*m.Endpoint) {
		return missing("external_tool_endpoint")
	}
	if !strings.HasPrefix(*m.Endpoint, "https://") && !strings.HasPrefix(*m.Endpoint, "http://") {
		return finding.Refuse("InvalidIdentifier", "external_tool_endpoint", "expected an http or https URL, found %q", *m.Endpoint)
	}
	if err := m.validateTools(); err != nil {
		return err
	}
	if m.hasWasmFields() {
		return finding.Refuse("InvalidIdentifier", "wasm_module_*", "only the kind wasm has these fields")
	}
	return nil
}

func (m *Manifest) validateTools() error {
	if len(m.Tools) == 0 {
		return missing("tools")
	}
	for _, t := range m.Tools {
		if blank(t.Name) {
			return missing("tools[].name")
		}
		if blank(t.Description) {
			return missing("tools[].description")
		}
		if m.Entry.Kind == Wasm && t.AuthSharedSecretID != nil {
			return finding.Refuse("InvalidIdentifier", "tools[].auth_shared_secret_id", "a wasm tool has no shared secret")
		}
	}
	return nil
}

func (m *Manifest) validateWasm() error {
	if err := m.validateTools(); err != nil {
		return err
	}
	if m.Endpoint != nil {
		return finding.Refuse("InvalidIdentifier", "external_tool_endpoint", "must be absent for the kind wasm")
	}
	if m.WasmModuleSHA256 == nil {
		return missing("wasm_module_sha256")
	}
	if !isHex64(*m.WasmModuleSHA256) {
		return finding.Refuse("InvalidIdentifier", "wasm_module_sha256", "expected 64 lower-case hexadecimal digits, found %q", *m.WasmModuleSHA256)
	}
	path, url := m.WasmModulePath, m.WasmModuleURL
	switch {
	case path == nil && url == nil:
		return missing("wasm_module_path or wasm_module_url")
	case path != nil && url != nil:
		return finding.Refuse("InvalidIdentifier", "wasm_module_path", "excludes wasm_module_url; give one of them")
	case path == nil && !strings.HasPrefix(*url, "https://"):
		return finding.Refuse("InvalidIdentifier", "wasm_module_url", "expected an https URL, found %q", *url)
	case path != nil && blank(*path):
		return missing("wasm_module_path")
	case path != nil && (strings.HasPrefix(*path, "/") || strings.Contains(*path, "..")):
		return finding.Refuse("InvalidIdentifier", "wasm_module_path", "expected a relative path without '..', found %q", *path)
	}
	return nil
}

func isHex64(s string) bool {
	return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == ""
}

func (d *Declaration) validate(m *Manifest) error {
	if d.Schema != DeclarationSchema {
		return finding.Refuse("InvalidSchema", "conformance.schema", "expected %q, found %q", DeclarationSchema, d.Schema)
	}
	if m.Entry.Kind != ExternalTool && m.Entry.Kind != Wasm {
		return finding.Refuse("NonExecutingKind", "entry.kind", "a conformance block needs the kind external_tool or wasm, found %q", m.Entry.Kind)
	}
	claimed, declared := set(d.ClaimedCapabilities), set(m.Capabilities)
	if !slices.Equal(claimed, declared) {
		return finding.Refuse("CapabilityMismatch", "conformance.claimed_capabilities", "claimed %q, but the manifest declares %q", claimed, declared)
	}
	for _, check := range []func(*Manifest) error{
		d.validateCorpus, d.validateInvariants, d.validateEnvelope, d.validateMutations, d.validateCompatibility,
	} {
		if err := check(m); err != nil {
			return err
		}
	}
	return nil
}

func set(values []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(values)))
}

func (d *Declaration) validateCorpus(m *Manifest) error {
	c := d.ReplayCorpus
	if blank(c.CorpusID) {
		return missing("replay_corpus.corpus_id")
	}
	if blank(c.Path) {
		return missing("replay_corpus.path")
	}
	if strings.HasPrefix(c.Path, "/") || slices.Contains(strings.Split(c.Path, "/"), "..") {
		return finding.Refuse("InvalidCorpusPath", "replay_corpus.path", "expected a relative path without '..', found %q", c.Path)
	}
	if !isHex64(c.SHA256) {
		return finding.Refuse("InvalidCorpusDigest", "replay_corpus.sha256", "expected 64 lower-case hexadecimal digits, found %q", c.SHA256)
	}
	if len(c.Cases) == 0 {
		return missing("replay_corpus.cases")
	}
	if len(c.Cases) > MaxCases {
		return finding.Refuse("TooManyCases", "replay_corpus.cases", "expected at most %d cases, found %d", MaxCases, len(c.Cases))
	}
	seen := map[string]bool{}
	for _, k := range c.Cases {
		if blank(k.CaseID) {
			return missing("replay_corpus.cases[].case_id")
		}
		if seen[k.CaseID] {
			return finding.Refuse("DuplicateCaseId", "replay_corpus.cases", "two cases are named %q", k.CaseID)
		}
		seen[k.CaseID] = true
		if !slices.ContainsFunc(m.Tools, func(t Tool) bool { return t.Name == k.ToolName }) {
			return finding.Refuse("UnknownCaseTool", "replay_corpus.cases", "case %q calls the tool %q, which the manifest does not have", k.CaseID, k.ToolName)
		}
	}
	return nil
}

func (d *Declaration) validateInvariants(*Manifest) error {
	if len(d.Invariants) == 0 {
		return missing("invariants")
	}
	seen := map[string]bool{}
	for _, i := range d.Invariants {
		if blank(i.ID) {
			return missing("invariants[].id")
		}
		if blank(i.Description) {
			return missing("invariants[].description")
		}
		if seen[i.ID] {
			return finding.Refuse("DuplicateInvariantId", "invariants", "two invariants are named %q", i.ID)
		}
		seen[i.ID] = true
		for _, id := range i.AppliesToCases {
			if !slices.ContainsFunc(d.ReplayCorpus.Cases, func(k DeclaredCase) bool { return k.CaseID == id }) {
				return finding.Refuse("UnknownInvariantCase", "invariants", "invariant %q applies to the case %q, which is not declared", i.ID, id)
			}
		}
	}
	return nil
}

func (d *Declaration) validateEnvelope(*Manifest) error {
	e := d.Envelope
	for _, bound := range []struct {
		field string
		value uint32
	}{
		{"envelope.max_tokens_per_call", e.MaxTokensPerCall},
		{"envelope.max_latency_ms_per_call", e.MaxLatencyMSPerCall},
		{"envelope.max_response_bytes_per_call", e.MaxResponseBytesPerCall},
	} {
		if bound.value == 0 {
			return tooLow(bound.field)
		}
	}
	for _, pair := range []struct {
		field     string
		run, call uint32
	}{
		{"envelope.max_tokens_per_run", e.MaxTokensPerRun, e.MaxTokensPerCall},
		{"envelope.max_latency_ms_per_run", e.MaxLatencyMSPerRun, e.MaxLatencyMSPerCall},
	} {
		if pair.run < pair.call {
			return finding.Refuse("RunBoundBelowCallBound", pair.field, "a run has at least one call, but its bound %d is below the bound %d of a call", pair.run, pair.call)
		}
	}
	if e.MaxContradictionRatePPM > PPM {
		return finding.Refuse("BoundTooHigh", "envelope.max_contradiction_rate_ppm", "expected at most %d, found %d", PPM, e.MaxContradictionRatePPM)
	}
	return nil
}

func tooLow(field string) error {
	return finding.Refuse("BoundTooLow", field, "expected at least 1, found 0")
}

func (d *Declaration) validateMutations(m *Manifest) error {
	facts, receipts := d.ExpectedMutations.Facts, d.ExpectedMutations.Receipts
	var writes uint64
	for _, f := range facts {
		if blank(f.EntityPrefix) {
			return missing("expected_mutations.facts[].entity_prefix")
		}
		if slices.ContainsFunc(f.Keys, blank) {
			return missing("expected_mutations.facts[].keys[]")
		}
		if f.MaxPerCall == 0 {
			return tooLow("expected_mutations.facts[].max_per_call")
		}
		if f.Private && !m.DataAccess.PrivateFacts {
			return finding.Refuse("PrivateWriteWithoutAccess", "expected_mutations.facts", "a private write needs data_access.private_facts")
		}
		writes += uint64(f.MaxPerCall)
	}
	seen := map[ReceiptKind]bool{}
	for _, r := range receipts {
		if seen[r.ReceiptKind] {
			return finding.Refuse("DuplicateReceiptKind", "expected_mutations.receipts", "two bounds for the kind %q", r.ReceiptKind)
		}
		seen[r.ReceiptKind] = true
		if r.MaxPerCall == 0 {
			return tooLow("expected_mutations.receipts[].max_per_call")
		}
	}
	if len(facts) > 0 && !slices.Contains(m.Capabilities, "facts:write") {
		return finding.Refuse("WritesWithoutCapability", "expected_mutations.facts", "writing facts needs the capability facts:write")
	}
	if writes > uint64(d.Envelope.MaxFactWritesPerCall) {
		return finding.Refuse("WriteBudgetExceeded", "envelope.max_fact_writes_per_call", "the declared writes total %d, above the bound %d", writes, d.Envelope.MaxFactWritesPerCall)
	}
	return d.validateWriteBounds(len(facts) > 0)
}

// validateWriteBounds makes "writes nothing" a claim that a replay can refute:
// the three bounds of writing are zero exactly when nothing is written.
func (d *Declaration) validateWriteBounds(writes bool) error {
	for _, bound := range []struct {
		field string
		value uint64
	}{
		{"envelope.decay.min_half_life_seconds", d.Envelope.Decay.MinHalfLifeSeconds},
		{"envelope.undo.max_operations_per_call", uint64(d.Envelope.Undo.MaxOperationsPerCall)},
		{"envelope.max_fact_writes_per_call", uint64(d.Envelope.MaxFactWritesPerCall)},
	} {
		if writes && bound.value == 0 {
			return finding.Refuse("InconsistentWithWrites", bound.field, "must not be zero when facts are written")
		}
		if !writes && bound.value != 0 {
			return finding.Refuse("InconsistentWithWrites", bound.field, "must be zero when no facts are written, found %d", bound.value)
		}
	}
	return nil
}

func (d *Declaration) validateCompatibility(m *Manifest) error {
	c := d.Compatibility
	if c.ManifestSchema != m.Schema {
		return finding.Refuse("ManifestSchemaMismatch", "compatibility.manifest_schema", "expected %q, found %q", m.Schema, c.ManifestSchema)
	}
	if !isDottedTriple(c.MinDaemonVersion) {
		return finding.Refuse("InvalidDaemonVersion", "compatibility.min_daemon_version", "expected MAJOR.MINOR.PATCH, found %q", c.MinDaemonVersion)
	}
	for _, v := range c.Supersedes {
		if blank(v) {
			return missing("compatibility.supersedes[]")
		}
		if v == m.Version {
			return finding.Refuse("SupersedesSelf", "compatibility.supersedes", "%q is this pack's own version", v)
		}
	}
	for _, step := range c.Migrations {
		if blank(step.Description) {
			return missing("compatibility.migrations[].description")
		}
		if step.ToVersion != m.Version {
			return finding.Refuse("MigrationTargetMismatch", "compatibility.migrations", "expected to_version %q, found %q", m.Version, step.ToVersion)
		}
		if !slices.Contains(c.Supersedes, step.FromVersion) {
			return finding.Refuse("MigrationSourceNotSuperseded", "compatibility.migrations", "from_version %q is not listed in supersedes", step.FromVersion)
		}
	}
	return nil
}

func isDottedTriple(s string) bool {
	parts := strings.Split(s, ".")
	return len(parts) == 3 && !slices.ContainsFunc(parts, func(p string) bool {
		return p == "" || strings.Trim(p, "0123456789") != ""
	})
}
