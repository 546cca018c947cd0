package declaration

import (
	"fmt"
	"strconv"

	"github.com/erdos1056/erdos1056/capsule/records/cuecrux/conformance"
	"github.com/erdos1056/erdos1056/capsule/sandbox"
)

// Line is one comparison of a verdict.
type Line struct {
	Subject  string `json:"subject"` // the field of the declaration
	Bound    string `json:"bound"`
	Observed string `json:"observed"`
	Holds    bool   `json:"holds"`
}

// Judge compares evidence with the declaration: one line for each bound, each
// invariant and the verdict of each case. Evidence of another declaration, or
// that is not complete, is an error.
func (d *Declared) Judge(e Evidence) ([]Line, error) {
	if err := d.checkComplete(e); err != nil {
		return nil, err
	}
	envelope, bounds := d.Manifest.Conformance.Envelope, d.Corpus.Bounds
	var response, latency, latencySum, tokenSum int64
	for _, c := range e.Calls {
		bytes := c.StdoutBytes + c.StderrBytes
		response, latency = max(response, bytes), max(latency, c.LatencyMS)
		latencySum += c.LatencyMS
		tokenSum += tokens(bytes)
	}
	lines := append(d.expectations(e),
		atMost("envelope.max_tokens_per_call", envelope.MaxTokensPerCall, tokens(response)),
		atMost("envelope.max_tokens_per_run", envelope.MaxTokensPerRun, tokenSum),
		atMost("envelope.max_latency_ms_per_call", envelope.MaxLatencyMSPerCall, latency),
		atMost("envelope.max_latency_ms_per_run", envelope.MaxLatencyMSPerRun, latencySum),
		atMost("envelope.max_response_bytes_per_call", envelope.MaxResponseBytesPerCall, response),
		memory(bounds.MaxMemoryBytesPerCall, e.Calls),
		processes(bounds.MaxProcessesPerCall),
	)
	lines = append(lines, d.mutations()...)
	for _, i := range d.Manifest.Conformance.Invariants {
		lines = append(lines, decide(i, e))
	}
	return lines, nil
}

// checkComplete requires the evidence to be that of all cases of this
// declaration, in order.
func (d *Declared) checkComplete(e Evidence) error {
	v, err := d.Corpus.verifier(e.Platform)
	switch {
	case err != nil:
		return err
	case e.ManifestHash != d.Hash:
		return fmt.Errorf("the evidence is about the manifest %s, not %s", e.ManifestHash, d.Hash)
	case e.CorpusSHA256 != "sha256:"+d.Manifest.Conformance.ReplayCorpus.SHA256:
		return fmt.Errorf("the evidence is about another corpus, %s", e.CorpusSHA256)
	case e.VerifierSHA256 != v.SHA256:
		return fmt.Errorf("the evidence is about the verifier %s, not %s", e.VerifierSHA256, v.SHA256)
	case len(e.Calls) != repetitions*len(d.Corpus.Cases):
		return fmt.Errorf("expected %d calls of %d cases, found %d", repetitions*len(d.Corpus.Cases), len(d.Corpus.Cases), len(e.Calls))
	}
	for i, c := range e.Calls {
		if want := d.Corpus.Cases[i/repetitions].CaseID; c.CaseID != want {
			return fmt.Errorf("call %d: expected the case %s, found %s", i, want, c.CaseID)
		}
	}
	return nil
}

// expectations returns a line for the verdict of each case.
func (d *Declared) expectations(e Evidence) []Line {
	var lines []Line
	for i, k := range d.Corpus.Cases {
		observed := e.Calls[i*repetitions].verdict()
		for _, c := range e.Calls[i*repetitions+1 : (i+1)*repetitions] {
			if again := c.verdict(); again != observed {
				observed += ", then " + again
			}
		}
		lines = append(lines, Line{"cases." + k.CaseID + ".expected", string(k.Expected), observed, observed == string(k.Expected)})
	}
	return lines
}

// verdict returns what the verifier said, or how it was kept from saying it.
func (c Call) verdict() string {
	switch {
	case c.End != string(sandbox.Exited):
		return "none: " + c.End
	case c.ExitCode == 0:
		return string(Verified)
	case c.ExitCode == 1:
		return string(Refused)
	}
	return fmt.Sprintf("none: exit code %d", c.ExitCode)
}

func atMost(subject string, bound uint32, observed int64) Line {
	return Line{subject, strconv.FormatUint(uint64(bound), 10), strconv.FormatInt(observed, 10), observed <= int64(bound)}
}

// memory decides the bound of memory, at which the sandbox stops a call.
func memory(bound int64, calls []Call) Line {
	line := Line{"bounds.max_memory_bytes_per_call", strconv.FormatInt(bound, 10), "no call was stopped at the bound", true}
	var peak int64
	for _, c := range calls {
		peak = max(peak, c.PeakMemory)
		if c.End == string(sandbox.MemoryLimit) {
			line.Observed, line.Holds = "more: case "+c.CaseID+" was stopped at the bound", false
			return line
		}
	}
	if peak > 0 {
		line.Observed, line.Holds = strconv.FormatInt(peak, 10), peak <= bound
	}
	return line
}

// processes states the bound of processes, beyond which the sandbox lets no
// process begin; a verifier that needs more gives no verdict.
func processes(bound int64) Line {
	return Line{"bounds.max_processes_per_call", strconv.FormatInt(bound, 10), "no more were let begin", true}
}

// mutations returns a line for each bound on what a call changes. A verifier
// in the sandbox has no store to change, and each call is one dispatch.
func (d *Declared) mutations() []Line {
	envelope := d.Manifest.Conformance.Envelope
	lines := []Line{
		atMost("envelope.max_fact_writes_per_call", envelope.MaxFactWritesPerCall, 0),
		atMost("envelope.decay.max_refreshes_per_call", envelope.Decay.MaxRefreshesPerCall, 0),
		atMost("envelope.max_contradiction_rate_ppm", envelope.MaxContradictionRatePPM, 0),
		atMost("envelope.undo.max_operations_per_call", envelope.Undo.MaxOperationsPerCall, 0),
		atMost("envelope.undo.max_latency_ms", envelope.Undo.MaxLatencyMS, 0),
	}
	dispatches := uint32(0)
	for _, r := range d.Manifest.Conformance.ExpectedMutations.Receipts {
		if r.ReceiptKind == conformance.Dispatch {
			dispatches = r.MaxPerCall
		}
	}
	return append(lines, atMost("expected_mutations.receipts.dispatch", dispatches, 1))
}

// decide decides one invariant.
func decide(i conformance.InvariantTest, e Evidence) Line {
	line := Line{Subject: "invariants." + i.ID, Bound: string(i.Kind), Observed: "shut in by the sandbox " + e.Sandbox, Holds: true}
	if i.Kind != conformance.DeterministicReplay {
		return line
	}
	line.Observed = "the same exit code and output each time"
	for n := 0; n < len(e.Calls); n += repetitions {
		first, second := e.Calls[n], e.Calls[n+1]
		if first.ExitCode != second.ExitCode || first.StdoutSHA256 != second.StdoutSHA256 || first.StderrSHA256 != second.StderrSHA256 {
			line.Observed, line.Holds = "case "+first.CaseID+" ended or answered differently the second time", false
			break
		}
	}
	return line
}
