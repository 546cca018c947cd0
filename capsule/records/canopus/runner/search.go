package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime/debug"
	"strconv"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/mission"
	"github.com/erdos1056/erdos1056/capsule/records/canopus/record"
	"github.com/erdos1056/erdos1056/internal/digest"
	"github.com/erdos1056/erdos1056/internal/disk"
	"github.com/erdos1056/erdos1056/kernel"
	"github.com/erdos1056/erdos1056/kernel/plan"
)

// Search is the engine of this project: it searches the mission's range in
// this process.
type Search struct {
	Kernel  string // as in kernel.Options
	Threads int    // as in kernel.Options
}

var rangeArtifact = regexp.MustCompile(`^(?:[^/]+/)*erdos1056-k([0-9]{1,3})-range-([0-9]{1,10})-([0-9]{1,10})\.txt$`)

// PlanOf returns the search that a mission asks for. It stands in the name of
// its one allowed path, erdos1056-k<k>-range-<first>-<last>.txt.
func PlanOf(allowedPaths []string) (plan.Plan, error) {
	if len(allowedPaths) != 1 {
		return plan.Plan{}, fmt.Errorf("allowed_paths: a search has one artifact, the mission allows %d", len(allowedPaths))
	}
	found := rangeArtifact.FindStringSubmatch(allowedPaths[0])
	if found == nil {
		return plan.Plan{}, fmt.Errorf("allowed_paths[0]: expected …/erdos1056-k<k>-range-<first>-<last>.txt, found %q", allowedPaths[0])
	}
	k, _ := strconv.Atoi(found[1])
	lo, errLo := strconv.ParseUint(found[2], 10, 32)
	hi, errHi := strconv.ParseUint(found[3], 10, 32)
	if errLo != nil || errHi != nil {
		return plan.Plan{}, fmt.Errorf("allowed_paths[0]: the range %s..%s is above 2^32", found[2], found[3])
	}
	p := plan.Plan{Range: plan.Range{Lo: uint32(lo), Hi: uint32(hi)}, K: k}
	if err := p.Validate(); err != nil {
		return plan.Plan{}, fmt.Errorf("allowed_paths[0]: %w", err)
	}
	return p, nil
}

// Identity names this program by the digest of its executable.
func (s *Search) Identity(m mission.Mission) (record.Engine, error) {
	p, err := PlanOf(m.AllowedPaths)
	if err != nil {
		return record.Engine{}, err
	}
	path, err := os.Executable()
	if err != nil {
		return record.Engine{}, err
	}
	program, err := disk.Read(path, maxExecutableBytes, disk.RefuseLinks)
	if err != nil {
		return record.Engine{}, err
	}
	binary := string(digest.Of(program))
	configuration, err := canon.Marshal(struct {
		Kernel     string `json:"kernel"`
		K          int    `json:"k"`
		RangeStart uint32 `json:"range_start"`
		RangeEnd   uint32 `json:"range_end"`
	}{s.Kernel, p.K, p.Lo, p.Hi})
	if err != nil {
		return record.Engine{}, err
	}
	return record.Engine{Name: "erdos1056", Version: version(), BinarySHA256: &binary, ConfigurationSHA256: string(digest.Of(configuration))}, nil
}

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// Work searches the range.
func (s *Search) Work(ctx context.Context, a Assignment) (Handover, error) {
	m := a.Bundle.Mission
	p, err := PlanOf(m.AllowedPaths)
	if err != nil {
		return Handover{}, err
	}
	if err := checkPacketRange(a.Bundle.Packet, p); err != nil {
		return Handover{}, err
	}
	if err := a.Trace.Add("search.started", integer("k", int64(p.K)), integer("range_start", int64(p.Lo)), integer("range_end", int64(p.Hi))); err != nil {
		return Handover{}, err
	}
	inTime, cancel := context.WithTimeout(ctx, a.Time)
	defer cancel()
	result, err := kernel.Search(inTime, p, kernel.Options{Kernel: s.Kernel, Threads: s.Threads})
	if errors.Is(err, context.DeadlineExceeded) {
		return Handover{}, &BudgetError{"wall_time_ms", m.Budgets.MaxResearchWallTimeMs + 1, m.Budgets.MaxResearchWallTimeMs}
	}
	if err != nil {
		return Handover{}, err
	}
	if err := a.Trace.Add("search.completed", word("kernel", result.Kernel), word("status", result.Status()),
		integer("primes", int64(result.PrimesTested)), integer("cuts", int64(result.Covered)), word("transcript", result.Transcript)); err != nil {
		return Handover{}, err
	}
	output := record.EngineOutput{
		Schema: record.EngineOutputSpec.ID, Status: "success", Claim: claimOf(result),
		Artifacts:    []record.EngineArtifact{{Path: m.AllowedPaths[0], Kind: "text/plain", Encoding: "utf8", Content: string(result.Artifact.Encode())}},
		Observations: []string{fmt.Sprintf("Kernel %s covered %d cuts of %d primes and passed its checks at every prime.", result.Kernel, result.Covered, result.PrimesTested)},
		Caveats:      []string{},
	}
	transcript, err := record.EngineOutputSpec.Encode(output)
	if err != nil {
		return Handover{}, err
	}
	return Handover{Output: output, Transcript: transcript, Stderr: []byte{}, OutputBytes: int64(len(transcript)), Processes: 1}, checkOutput(output, m)
}

func integer(key string, n int64) canon.Member {
	return canon.Member{Key: key, Value: canon.NewInteger(n)}
}
func word(key, text string) canon.Member {
	return canon.Member{Key: key, Value: canon.NewString(text)}
}

// checkPacketRange compares the search with a packet that names a range.
func checkPacketRange(packet mission.Packet, p plan.Plan) error {
	if packet.Schema != mission.RangeWorkSchema {
		return nil
	}
	for field, want := range map[string]int64{"k": int64(p.K), "range_start": int64(p.Lo), "range_end": int64(p.Hi)} {
		found, _ := packet.Value.Lookup(field)
		if n, _ := found.Integer(); n != want {
			return fmt.Errorf("packet.%s: expected %d, which the mission's allowed path names, found %d", field, want, n)
		}
	}
	return nil
}

// claimOf says what the search showed.
func claimOf(r kernel.Result) string {
	p := r.Plan
	switch {
	case r.Witness():
		return fmt.Sprintf("The prime p=%d has %d cuts with the residue %d, hence %d consecutive intervals of product 1; it is the first prime of %d..%d with at least %d such cuts.",
			r.BestP, len(r.Cuts), r.BestResidue, len(r.Cuts)-1, p.Lo, p.Hi, p.Threshold())
	case r.PrimesTested == 0:
		return fmt.Sprintf("The range %d..%d holds no prime, and so no prime with %d cuts of one residue.", p.Lo, p.Hi, p.Threshold())
	}
	return fmt.Sprintf("None of the %d primes of %d..%d has %d cuts with one residue; the most is %d, at p=%d with the residue %d.",
		r.PrimesTested, p.Lo, p.Hi, p.Threshold(), len(r.Cuts), r.BestP, r.BestResidue)
}
