package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/mission"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/record"
	"github.com/erdos1056/erdos1056/internal/digest"
	"github.com/erdos1056/erdos1056/internal/disk"
)

// Landing is how a candidate enters a frontier: a command that is called as
// `vela land` is, in a folder that holds the artifacts under their paths. Unlike
// an engine it runs outside the sandbox: it is the frontier's own program.
type Landing struct {
	Command  []string // to which "land" and its options are added
	Frontier string   // folder of the frontier, where the receipt must lie afterwards
	Timeout  time.Duration
}

// landingState is what is known of a landing, for the recovery record.
type landingState struct {
	begun   bool
	command *record.LandingCommand
	raw     *canon.Value
	parsed  *record.RunLanding
	roots   *record.Roots
	problem error
}

// land calls the landing command. From the moment it starts, any failure leaves
// a recovery record.
func (r *run) land(ctx context.Context, candidate record.Candidate, digest digest.Digest, verdict judgement) (*record.RunLanding, record.Roots, error) {
	m := r.bundle.Mission
	if r.order.Landing == nil {
		return nil, m.Roots, nil
	}
	if err := r.layOut(candidate); err != nil {
		return nil, m.Roots, err
	}
	evidence, counter := evidenceOf(candidate, verdict.VerifierOutcome)
	if err := r.append(record.ReceiptMapped, object{"candidate_digest": digest, "evidence": evidence, "counterevidence": counter}); err != nil {
		return nil, m.Roots, err
	}
	r.landed.begun = true
	reply, err := r.callLanding(ctx, candidate, evidence, counter)
	if err != nil {
		return nil, m.Roots, err
	}
	landing, err := r.checkReply(reply)
	if err != nil {
		r.landed.problem = err
		return nil, m.Roots, failedIn(record.PhaseLandingCheck, err)
	}
	if err := r.bindReceipt(candidate, landing); err != nil {
		r.landed.problem = err
		return nil, m.Roots, failedIn(record.PhaseReceiptBinding, err)
	}
	if err := r.append(record.LandingCompleted, landedPayload(landing)); err != nil {
		return nil, m.Roots, err
	}
	r.order.Report("landed", fmt.Sprintf("%s, proposal %s", landing.Route, landing.ProposalID))
	return &landing, *reply.FinalRoots, nil
}

// landedPayload is the payload of landing.completed.
func landedPayload(l record.RunLanding) object {
	return object{"receipt_root": l.ReceiptRoot, "proposal_id": l.ProposalID, "route": l.Route,
		"original_route": l.OriginalRoute, "accepted_event_delta": l.AcceptedEventDelta, "publication_state": l.PublicationState}
}

// layOut puts copies of the artifacts under their paths into landing/.
func (r *run) layOut(candidate record.Candidate) error {
	for _, a := range candidate.Artifacts {
		data, err := r.store.Bytes(a.Digest)
		if err != nil {
			return err
		}
		if err := disk.CreateBelow(r.folder.Record("landing"), a.Path, data, 0o444); err != nil {
			return err
		}
	}
	return nil
}

// evidenceOf lists what a receipt rests on.
func evidenceOf(candidate record.Candidate, outcome record.VerifierOutcome) (evidence, counter []string) {
	for _, a := range candidate.Artifacts {
		evidence = append(evidence, "artifact:"+a.Digest)
	}
	evidence = append(evidence, "verifier_executable:"+outcome.Record.ExecutableDigest,
		"verifier_stdout:"+outcome.Record.StdoutDigest, "verifier_stderr:"+outcome.Record.StderrDigest)
	counter = []string{}
	if outcome.Status != record.Passed {
		counter = append(counter, "verifier_outcome:"+outcome.Status)
	}
	return evidence, counter
}

// landingArguments are those of `vela land`.
func landingArguments(m mission.Mission, frontier string, c record.Candidate, evidence, counter []string) []string {
	args := []string{"land", "--frontier", frontier, "--claim", c.Claim, "--type", m.ClaimType, "--replayability", m.Replayability}
	for _, a := range c.Artifacts {
		args = append(args, "--artifact", a.Path+":"+a.Kind)
	}
	for _, caveat := range c.Caveats {
		args = append(args, "--caveat", caveat)
	}
	if m.ScientificChain.NotApplicable {
		args = append(args, "--not-applicable")
	} else {
		args = append(args, "--predicted-observable", m.ScientificChain.PredictedObservable)
	}
	args = append(args, "--performed-test", m.ScientificChain.PerformedTest, "--result", "The declared verifier exited zero on the frozen artifact set.")
	for _, e := range evidence {
		args = append(args, "--evidence", e)
	}
	for _, e := range counter {
		args = append(args, "--counterevidence", e)
	}
	if b := m.ExecutionBinding; b != nil {
		args = append(args, "--packet-root", b.PacketRoot, "--profile-root", b.ProfileRoot,
			"--verifier-capsule-root", b.VerifierCapsuleRoot, "--result-contract-root", b.ResultContractRoot)
	}
	return append(args, "--as", m.Actor, "--json")
}

// callLanding runs the command, records it before anything is made of its
// reply, and reads the reply.
func (r *run) callLanding(ctx context.Context, candidate record.Candidate, evidence, counter []string) (record.LandingReply, error) {
	l := r.order.Landing
	argv := slices.Concat(l.Command, landingArguments(r.bundle.Mission, l.Frontier, candidate, evidence, counter))
	observed, failure := execute(ctx, argv, r.folder.Record("landing"), l.Timeout)
	data, err := record.LandingCommandSpec.Encode(observed)
	if err != nil {
		r.landed.problem = err
		return record.LandingReply{}, failedIn(record.PhaseLandingCommand, err)
	}
	r.landed.command = &observed
	if err := r.write(record.LandingCommandFile, data); err != nil {
		return record.LandingReply{}, err
	}
	if failure == nil && observed.ExitCode != 0 {
		failure = fmt.Errorf("the landing command exited with status %d", observed.ExitCode)
	}
	if failure != nil {
		r.landed.problem = failure
		return record.LandingReply{}, failedIn(record.PhaseLandingCommand, failure)
	}
	raw, err := canon.ParseStrict([]byte(observed.Stdout), canon.RecordLimits)
	if err == nil {
		err = r.recordReply(raw)
	}
	if err != nil {
		r.landed.problem = err
		return record.LandingReply{}, failedIn(record.PhaseLandingCheck, err)
	}
	reply, err := record.LandingReplySpec.FromValue(raw)
	if err != nil {
		r.landed.problem = err
		return reply, failedIn(record.PhaseLandingCheck, err)
	}
	return reply, nil
}

func (r *run) recordReply(raw canon.Value) error {
	observation, err := record.NewLandingObservation(raw)
	if err != nil {
		return err
	}
	data, err := record.LandingObservationSpec.Encode(observation)
	if err != nil {
		return err
	}
	r.landed.raw = &raw
	if err := r.write(record.LandingObservationFile, data); err != nil {
		return err
	}
	return r.append(record.LandingObserved, object{"raw_digest": observation.RawDigest, "observation": record.LandingObservationFile})
}

func (r *run) checkReply(reply record.LandingReply) (record.RunLanding, error) {
	landing, err := reply.Landing()
	if err != nil {
		return landing, err
	}
	r.landed.parsed, r.landed.roots = &landing, reply.FinalRoots
	effective := landing.Route
	if landing.OriginalRoute != nil {
		effective = *landing.OriginalRoute
	}
	if want := r.bundle.Mission.Landing.Route(); effective != want {
		return landing, fmt.Errorf("landing_reply.route: the mission expects %s, the command took %s", want, effective)
	}
	if reply.FinalRoots == nil {
		return landing, errors.New("landing_reply.final_roots: the command must report the roots of the frontier after landing")
	}
	return landing, nil
}

// bindReceipt checks that the receipt lies in the frontier under its digest and
// speaks of the candidate.
func (r *run) bindReceipt(candidate record.Candidate, landing record.RunLanding) error {
	name := filepath.Join(r.order.Landing.Frontier, "records", "receipts", "sha256", digest.Digest(landing.ReceiptRoot).Hex()+".json")
	data, err := disk.Read(name, maxFileBytes, disk.RefuseLinks)
	if err != nil {
		return err
	}
	receipt, err := canon.ParseStrict(data, canon.RecordLimits)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	text, err := canon.Encode(receipt)
	if err != nil {
		return err
	}
	if !bytes.Equal(text, data) || string(digest.Of(data)) != landing.ReceiptRoot {
		return fmt.Errorf("%s: expected canonical text of digest %s, found %s", name, landing.ReceiptRoot, digest.Of(data))
	}
	if err := checkReceipt(receipt, candidate); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	raw, err := canon.ContentDigest(*r.landed.raw)
	if err != nil {
		return err
	}
	return r.append(record.LandingBound, object{"receipt_root": landing.ReceiptRoot, "raw_digest": raw})
}

func checkReceipt(receipt canon.Value, candidate record.Candidate) error {
	listed, ok := receipt.Lookup("artifacts")
	if !ok || len(listed.Elements()) != len(candidate.Artifacts) {
		return fmt.Errorf("receipt.artifacts: expected the %d artifacts of the candidate, found %d", len(candidate.Artifacts), len(listed.Elements()))
	}
	for i, a := range candidate.Artifacts {
		for key, want := range map[string]string{"path": a.Path, "kind": a.Kind, "sha256": digest.Digest(a.Digest).Hex()} {
			if found, _ := listed.Elements()[i].Lookup(key); found.Text() != want {
				return fmt.Errorf("receipt.artifacts[%d].%s: expected %q, found %q", i, key, want, found.Text())
			}
		}
	}
	return nil
}

// execute runs a program of the frontier with a bare environment, as the leader
// of a process group that ends with it.
func execute(ctx context.Context, argv []string, folder string, timeout time.Duration) (record.LandingCommand, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = folder
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + folder, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_TERMINAL_PROMPT=0", "VELA_NO_KEY_ACCESS=1", "NO_PROXY=*", "no_proxy=*", "LANG=C.UTF-8", "LC_ALL=C.UTF-8"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	stdout, stderr := &bounded{max: record.MaxLandingOutput}, &bounded{max: record.MaxLandingOutput}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	err := cmd.Run()
	if cmd.Process != nil {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	observed := record.LandingCommand{Schema: "canopus.landing-command.v0", Authority: "observed_process_effect", Argv: argv, ExitCode: -1,
		Stdout: stdout.text(), Stderr: stderr.text()}
	observed.StdoutDigest, observed.StderrDigest = string(digest.Of([]byte(observed.Stdout))), string(digest.Of([]byte(observed.Stderr)))
	if cmd.ProcessState != nil {
		observed.ExitCode = cmd.ProcessState.ExitCode()
	}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return observed, fmt.Errorf("the landing command did not end within %s", timeout)
	case stdout.over || stderr.over:
		return observed, fmt.Errorf("the landing command wrote more than %d bytes", record.MaxLandingOutput)
	case errors.As(err, &exit):
		return observed, nil
	}
	return observed, err
}

// bounded keeps the first max bytes of a stream.
type bounded struct {
	max  int
	data []byte
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	room := min(len(p), b.max-len(b.data))
	b.data = append(b.data, p[:room]...)
	b.over = b.over || room < len(p)
	return len(p), nil
}

// text is the stream as a record can hold it.
func (b *bounded) text() string { return string(bytes.ToValidUTF8(b.data, []byte("\ufffd"))) }

// writeRecovery writes what is known of a landing that was begun, and reports
// whether one was.
func (r *run) writeRecovery(phase string) (observed bool, err error) {
	s := r.landed
	if !s.begun {
		return false, nil
	}
	recovery := record.LandingRecovery{Schema: "canopus.landing-recovery.v0", Authority: record.NonAuthoritative, Phase: phase,
		Command: s.command, Raw: s.raw, Parsed: s.parsed, ObservedRoots: s.roots}
	if s.raw != nil {
		digest, err := canon.ContentDigest(*s.raw)
		if err != nil {
			return true, err
		}
		text := string(digest)
		recovery.RawDigest = &text
	}
	if s.problem != nil {
		text := s.problem.Error()
		recovery.InspectionError = &text
	}
	data, err := record.LandingRecoverySpec.Encode(recovery)
	if err != nil {
		return true, err
	}
	return true, r.write(record.LandingRecoveryFile, data)
}
