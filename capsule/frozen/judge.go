package frozen

import (
	"context"
	"fmt"
	"slices"

	"github.com/erdos1056/erdos1056/kernel/artifact"
	"github.com/erdos1056/erdos1056/kernel/plan"
	"github.com/erdos1056/erdos1056/kernel/primes"
	"github.com/erdos1056/erdos1056/kernel/reference"
)

// A Mismatch says where an artifact is wrong.
type Mismatch struct{ Reason error }

func (m *Mismatch) Error() string {
	return "the artifact does not match the recomputed search: " + m.Reason.Error()
}

func (m *Mismatch) Unwrap() error { return m.Reason }

func mismatch(format string, args ...any) error {
	return &Mismatch{fmt.Errorf(format, args...)}
}

// Judge checks the text of an artifact against the claim, the cheapest checks
// first: the grammar, the claim, the fiber that the artifact names, and at last
// everything, recomputed from nothing. An error is a *Mismatch unless ctx ended
// or the computation contradicted itself.
func Judge(ctx context.Context, claim plan.Plan, text []byte) (artifact.Artifact, error) {
	found, err := artifact.Parse(text)
	if err != nil {
		return artifact.Artifact{}, &Mismatch{err}
	}
	if found.Plan != claim {
		return artifact.Artifact{}, mismatch("it answers range %v, k = %d; this verifier is frozen to range %v, k = %d",
			found.Range, found.K, claim.Range, claim.K)
	}
	var counter reference.Counter
	if err := checkFiber(ctx, &counter, found); err != nil {
		return artifact.Artifact{}, err
	}
	expected, err := recompute(ctx, &counter, claim)
	if err != nil {
		return artifact.Artifact{}, err
	}
	expected.Schema = found.Schema // the grammar allows only right ones
	if d := artifact.Diff(expected.Encode(), text); d != nil {
		return artifact.Artifact{}, &Mismatch{d}
	}
	return expected, nil
}

// checkFiber recomputes the one fiber that the artifact names.
func checkFiber(ctx context.Context, counter *reference.Counter, found artifact.Artifact) error {
	if found.PrimesTested == 0 {
		return nil
	}
	if p, ok := primes.New(found.BestP, found.BestP).Next(); !ok || p != found.BestP {
		return mismatch("line 9 (best_p): %d is not prime", found.BestP)
	}
	fiber, err := counter.Fiber(ctx, found.BestP, found.BestResidue)
	if err != nil {
		return err
	}
	if !slices.Equal(fiber.Cuts, found.Cuts) {
		return mismatch("line 11 (cuts): the cuts of p = %d with residue %d are %d: %v; found %d: %v", found.BestP, found.BestResidue,
			len(fiber.Cuts), head(fiber.Cuts), len(found.Cuts), head(found.Cuts))
	}
	return nil
}

// head keeps messages short: a fiber that is asked for can be large.
func head(cuts []uint32) []uint32 { return cuts[:min(len(cuts), 20)] }

// recompute does the whole search over again. The primes are listed by one
// method and counted by another.
func recompute(ctx context.Context, counter *reference.Counter, claim plan.Plan) (artifact.Artifact, error) {
	best := artifact.Artifact{Plan: claim}
	for sieve := primes.New(claim.Lo, claim.Hi); ; {
		p, ok := sieve.Next()
		if !ok {
			break
		}
		fiber, multiplicity, err := counter.Largest(ctx, p, len(best.Cuts)+1)
		if err != nil {
			return artifact.Artifact{}, err
		}
		best.PrimesTested++
		if multiplicity > len(best.Cuts) {
			best.BestP, best.BestResidue, best.Cuts = p, fiber.Residue, fiber.Cuts
		}
		if best.Witness() {
			return best, nil
		}
	}
	if n := primes.Count(claim.Lo, claim.Hi); n != best.PrimesTested {
		return artifact.Artifact{}, fmt.Errorf("the range %v has %d primes by one method and %d by another", claim.Range, n, best.PrimesTested)
	}
	return best, nil
}

// Success is the line that a verifier prints for an artifact that it verified,
// the same as the published capsule's.
func Success(a artifact.Artifact) string {
	status := "bounded-negative"
	if a.Witness() {
		status = "witness"
	}
	return fmt.Sprintf("verified erdos:1056 k=%d %s primes=%d max_multiplicity=%d", a.K, status, a.PrimesTested, len(a.Cuts))
}
