package finding

import (
	"fmt"

	"github.com/erdos1056/erdos1056/capsule/records/canon"
)

// The findings about a text whose readers can disagree.
const (
	DuplicateKey   = "DuplicateKey"
	PrototypeKey   = "PrototypeKey"
	LoneSurrogate  = "LoneSurrogate"
	NumberSpelling = "NumberSpelling"
)

// Of names an irregularity of a text as a finding.
func Of(i canon.Irregularity) Finding {
	names := map[canon.IrregularityKind]string{
		canon.DuplicateKey:   DuplicateKey,
		canon.PrototypeKey:   PrototypeKey,
		canon.LoneSurrogate:  LoneSurrogate,
		canon.NumberSpelling: NumberSpelling,
	}
	return Finding{names[i.Kind], fmt.Sprintf("line %d, column %d", i.Line, i.Column), i.Problem}
}
