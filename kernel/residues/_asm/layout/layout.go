// Package layout says where the generated code of package residues finds the fields of a
// floatLanes: offsets in bytes, all fields being doubles. A test of package residues holds
// them against the struct.
package layout

const (
	MaxLanes = 64 // elements of the arrays

	X       = 0
	Offset  = X + 8*MaxLanes
	P       = Offset + 8*MaxLanes
	Inverse = P + 8
	Index   = Inverse + 8
	Odd     = Index + 8
	Square  = Odd + 8
	Size    = Square + 8*MaxLanes
)
