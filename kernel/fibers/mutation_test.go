package fibers

import (
	"testing"

	"github.com/erdos1056/erdos1056/kernel/internal/mutant"
	"github.com/erdos1056/erdos1056/kernel/residues"
)

// mutations by the name of the implementation whose counting they break.
var mutations = map[string][]mutant.Mutation{
	"avx512": {
		{What: "an odd class counts in the low half", File: "fibers_amd64.s", Function: "addNibblesAVX512", Old: "$0x00000010", New: "$0x00000001"},
		{What: "one byte key of eight is not counted", File: "fibers_amd64.s", Function: "addBytes32", Old: "INCB (AX)(BX*1)", New: "NOP"},
		{What: "the high halves are not summed up", File: "fibers_amd64.s", Function: "scanNibblesAVX512", Old: "VPADDB   Z9, Z8, Z10", New: "VPADDB   Z8, Z8, Z10"},
		{What: "the threshold is exceeded, not reached", File: "fibers_amd64.s", Function: "scanBytesAVX512", Old: "VPCMPUB    $0x05", New: "VPCMPUB    $0x06"},
		{What: "a head does not move on", File: "fibers_amd64.s", Function: "partitionKeys", Old: "INCQ DI", New: "NOP"},
		{What: "half of the equal keys are not added up", File: "fibers_amd64.s", Function: "countEqualAVX2", Old: "$0x4e", New: "$0xe4"},
		{What: "the filter turns a word the wrong way", File: "fibers_amd64.s", Function: "filter2AVX512", Old: "VPRORVD", New: "VPROLVD"},
		{What: "the fourth hash takes other bits than the marks have", File: "fibers_amd64.s", Function: "filter4AVX512", Old: "VPSRLD    $0x0c", New: "VPSRLD    $0x0d"},
	},
	"avx2": {
		{What: "an odd class counts in the low half", File: "fibers_amd64.s", Function: "addNibblesAVX2", Old: "VPSLLD  $0x04", New: "VPSLLD  $0x00"},
		{What: "the squares of the upper cells are lost", File: "fibers_amd64.s", Function: "takeBytesAVX2", Old: "VPSRLQ       $0x20", New: "VPSRLQ       $0x3f"},
		{What: "the upper half of a group is listed first", File: "fibers_amd64.s", Function: "scanNibblesAVX2", Old: "SHLQ      $0x20", New: "SHLQ      $0x1f"},
		{What: "the classes past a multiple of 32 are looked up one word early", File: "fibers_amd64.s", Function: "filterBitmapAVX2", Old: "VPSRLD  $0x05", New: "VPSRLD  $0x06"},
		{What: "the second eight keys of the filter lie elsewhere", File: "fibers_amd64.s", Function: "filterAVX2", Old: "SHLL      $0x08", New: "SHLL      $0x07"},
	},
	"generic": {
		{What: "a cell of the threshold is not found", File: "swar.go", Function: "atLeast", Old: "cellLimit-j", New: "cellLimit-j-1"},
		{What: "the squares of threes are short", File: "swar.go", Function: "sumUp", Old: "5*n3", New: "4*n3"},
		{What: "a bucket's keys count twice", File: "buckets.go", Function: "addKeys", Old: "t.cells[k]++", New: "t.cells[k] += 2"},
		{What: "the classes of later buckets are taken for those of the first", File: "buckets.go", Function: "takeCells", Old: "uint32(b) << bucketBits", New: "0"},
	},
}

// A wrong instruction or constant in the counting makes the tests of this package fail; the
// same build without one passes.
func TestMutationsAreCaught(t *testing.T) {
	var wrong []mutant.Mutation
	for _, impl := range residues.All() {
		if impl.Available() {
			wrong = append(wrong, mutations[impl.Name]...)
		}
	}
	mutant.Test(t, wrong, "Tables|Filters|Primes")
}
