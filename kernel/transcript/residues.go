package transcript

import (
	"fmt"
	"strings"

	"github.com/erdos1056/erdos1056/kernel/plan"
)

// ResidueSchema names the text form of the transcript of single residues.
const ResidueSchema = "erdos1056.residue-transcript.v1"

// ResidueLine is the canonical line of a prime in a search of single residues: p and, for
// each residue, the number of its cuts and their sum. Most fibers have a cut that
// cannot be had without walking to it.
func ResidueLine(p uint32, fibers [][]uint32) string {
	var b strings.Builder
	fmt.Fprint(&b, p)
	for _, cuts := range fibers {
		sum := uint64(0)
		for _, t := range cuts {
			sum += uint64(t)
		}
		fmt.Fprintf(&b, " %d %d", len(cuts), sum)
	}
	b.WriteByte('\n')
	return b.String()
}

// Header is the first line of the text form: schema, range and, in a search of single
// residues, these.
func Header(r plan.Range, residues []int64) string {
	if len(residues) == 0 {
		return fmt.Sprintf("%s %s\n", Schema, r)
	}
	return fmt.Sprintf("%s %s %s\n", ResidueSchema, r, strings.Trim(fmt.Sprint(residues), "[]"))
}
