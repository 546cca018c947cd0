package residues

// floatLanes is the state of the vector implementations.
type floatLanes struct{}
