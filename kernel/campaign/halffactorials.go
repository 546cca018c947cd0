package campaign

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/erdos1056/erdos1056/kernel/halffactorial"
)

// forest is the number of primes whose half factorials are computed at once: with more the memory
// grows, with fewer the numbers below the first of them are multiplied more often.
const forest = 1 << 21

// A chainEnd is what a ledger says of the middle of the chain of one prime.
type chainEnd struct {
	p, halfFactorial uint32
}

// checkHalfFactorials compares h! mod p of every prime whose fingerprint is at hand with an
// accumulating remainder tree, and counts them. Units that have neither a side file nor were computed
// again for a draw are left out.
func (a *audit) checkHalfFactorials(ctx context.Context) error {
	var batch []chainEnd
	for i, u := range a.ledger.Units {
		lines := a.again[i]
		if lines == nil {
			var err error
			if lines, err = readFingerprints(a.options.Fingerprints, u, a.ledger.Header.Residues); err == errNoSideFile {
				continue
			} else if err != nil {
				return err
			}
		}
		for _, line := range lines.lines {
			end, err := parseChainEnd(line)
			if err != nil {
				return err
			}
			if end.p == 2 { // has no middle
				a.halfFactorials++
				continue
			}
			if batch = append(batch, end); len(batch) == forest {
				if err := a.compareHalfFactorials(ctx, batch); err != nil {
					return err
				}
				batch = batch[:0]
			}
		}
	}
	return a.compareHalfFactorials(ctx, batch)
}

// parseChainEnd reads the first two columns of a fingerprint.
func parseChainEnd(line string) (chainEnd, error) {
	columns := strings.SplitN(line, " ", 3)
	if len(columns) == 3 {
		p, errP := strconv.ParseUint(columns[0], 10, 32)
		h, errH := strconv.ParseUint(columns[1], 10, 32)
		if errP == nil && errH == nil {
			return chainEnd{uint32(p), uint32(h)}, nil
		}
	}
	return chainEnd{}, fmt.Errorf("fingerprint: expected a prime, its h! and more columns, found %q", line)
}

func (a *audit) compareHalfFactorials(ctx context.Context, ends []chainEnd) error {
	ps := make([]uint32, len(ends))
	for i, end := range ends {
		ps[i] = end.p
	}
	all, err := halffactorial.All(ctx, ps, a.options.Threads)
	if err != nil {
		return err
	}
	for i, end := range ends {
		if all[i] != end.halfFactorial {
			return &AuditError{fmt.Sprintf("h! mod %d", end.p), fmt.Sprint(all[i]), fmt.Sprint(end.halfFactorial)}
		}
	}
	a.halfFactorials += uint64(len(ends))
	return nil
}
