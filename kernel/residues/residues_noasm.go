//go:build purego || (!amd64 && !arm64)

package residues

func vectorImplementations() []*Implementation { return nil }
