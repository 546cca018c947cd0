package transcript

import (
	"crypto/sha256"
	"encoding/hex"
)

// A Merkle accumulates lines into the root of their Merkle tree as RFC 6962 section 2.1
// defines it: leaves are hashed with the prefix 0, nodes with the prefix 1, and the
// left subtree is the largest full one. The zero value is an empty tree.
type Merkle struct {
	full  [][sha256.Size]byte // roots of the full subtrees, largest first
	count uint64
}

// Add appends one line.
func (m *Merkle) Add(line string) {
	h := sha256.Sum256(append([]byte{0}, line...))
	for n := m.count; n&1 == 1; n >>= 1 {
		h = node(m.full[len(m.full)-1], h)
		m.full = m.full[:len(m.full)-1]
	}
	m.full = append(m.full, h)
	m.count++
}

// Root is "sha256:" and the hexadecimal root of the lines so far; that of no lines is the
// hash of nothing.
func (m *Merkle) Root() string {
	if m.count == 0 {
		h := sha256.Sum256(nil)
		return "sha256:" + hex.EncodeToString(h[:])
	}
	root := m.full[len(m.full)-1]
	for i := len(m.full) - 2; i >= 0; i-- {
		root = node(m.full[i], root)
	}
	return "sha256:" + hex.EncodeToString(root[:])
}

func node(left, right [sha256.Size]byte) [sha256.Size]byte {
	return sha256.Sum256(append(append([]byte{1}, left[:]...), right[:]...))
}
