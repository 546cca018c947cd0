package residues

import (
	"testing"

	"github.com/erdos1056/erdos1056/kernel/internal/mutant"
)

// mutations by the name of the implementation that they break.
var mutations = map[string][]mutant.Mutation{
	"avx512": {
		{What: "the remainder is h + q·p in one vector", File: "residues_amd64.s", Function: "generateAVX512", Old: "VFNMADD231PD", New: "VFMADD231PD"},
		{What: "M is 2^52", File: "residues_amd64.s", Function: "", Old: "$0x4338000000000000", New: "$0x4330000000000000"},
		{What: "eight lanes take the factors of the eight before", File: "residues_amd64.s", Function: "productsAVX512", Old: "VADDPD       960(AX)", New: "VADDPD       896(AX)"},
		{What: "the error of h is not subtracted from x·t", File: "residues_amd64.s", Function: "generateWideAVX512", Old: "VFMSUB213PD", New: "VFMADD213PD"},
		{What: "the second quotient keeps M", File: "residues_amd64.s", Function: "productsWideAVX512", Old: "VSUBPD", New: "VADDPD"},
		{What: "the sign mask is not applied to one vector", File: "residues_amd64.s", Function: "generateAVX512", Old: "VPANDQ", New: "VPORQ"},
		{What: "the distances double instead of growing by one", File: "residues_amd64.s", Function: "pairsAVX512", Old: "VADDPD       Z13, Z12, Z12", New: "VADDPD       Z12, Z12, Z12"},
		{What: "the last key of two steps counts in the cell of the one before", File: "residues_amd64.s", Function: "countNibblesAVX512", Old: "MOVL         508(SP)", New: "MOVL         504(SP)"},
		{What: "an odd key counts in the low half", File: "residues_amd64.s", Function: "countNibblesAVX512", Old: "VPBLENDMB    X16, X15", New: "VPBLENDMB    X15, X15"},
	},
	"avx2": {
		{What: "the remainder is h + q·p in one vector", File: "residues_amd64.s", Function: "generateAVX2", Old: "VFNMADD231PD", New: "VFMADD231PD"},
		{What: "M is 2^52", File: "residues_amd64.s", Function: "", Old: "$0x4338000000000000", New: "$0x4330000000000000"},
		{What: "four lanes take the factors of the four before", File: "residues_amd64.s", Function: "productsAVX2", Old: "VADDPD       736(AX)", New: "VADDPD       704(AX)"},
		{What: "the error of h is not subtracted from x·t", File: "residues_amd64.s", Function: "generateWideAVX2", Old: "VFMSUB213PD", New: "VFMADD213PD"},
		{What: "the second quotient keeps M", File: "residues_amd64.s", Function: "productsWideAVX2", Old: "VSUBPD", New: "VADDPD"},
		{What: "the sign mask is not applied to one vector", File: "residues_amd64.s", Function: "generateAVX2", Old: "VANDPD", New: "VORPD"},
	},
	"neon": {
		{What: "the remainder is h + q·p in one vector", File: "residues_arm64.s", Function: "generateNEON", Old: "VFMLS", New: "VFMLA"},
		{What: "M is 2^52", File: "residues_arm64.s", Function: "generateNEON", Old: "$0x4338000000000000", New: "$0x4330000000000000"},
		{What: "two lanes take the factors of the two before", File: "residues_arm64.s", Function: "productsNEON", Old: "$0x4E72D5FD", New: "$0x4E72D5DD"},
		{What: "x + d instead of x - d", File: "residues_arm64.s", Function: "generateWideNEON", Old: "$0x4EF9D6E7", New: "$0x4E79D6E7"},
		{What: "the second quotient keeps M", File: "residues_arm64.s", Function: "productsWideNEON", Old: "$0x4EF3D77B", New: "$0x4E73D77B"},
		{What: "the sign mask is not applied to one vector", File: "residues_arm64.s", Function: "generateNEON", Old: "VAND", New: "VORR"},
	},
	"generic": {
		{What: "folding leaves the upper half", File: "residues_generic.go", Function: "fold", Old: "min(d, int32(p)-d)", New: "d"},
		{What: "the lanes start one factor late", File: "residues_generic.go", Function: "genericProducts", Old: "t := uint64(c.low) + 1", New: "t := uint64(c.low) + 2"},
		{What: "two lanes take the same factors", File: "residues_generic.go", Function: "generateSigned", Old: "(3*n+t)", New: "(2*n+t)"},
		{What: "the middle residue gets the wrong sign", File: "residues_generic.go", Function: "signed", Old: "(int32(p/2) - int32(x))", New: "(int32(p/2) - int32(x) - 1)"},
	},
}

// A wrong instruction or constant in the best implementation makes the tests of this
// package fail; the same build without one passes.
func TestMutationsAreCaught(t *testing.T) {
	mutant.Test(t, mutations[Best().Name], "Residues|Products|FirstPasses")
}
