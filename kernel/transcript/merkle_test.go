package transcript

import (
	"encoding/hex"
	"fmt"
	"testing"
)

// The published vectors of RFC 6962 trees, as certificate transparency logs test them.
func TestMerkleRootsOfPublishedVectors(t *testing.T) {
	leaves := []string{"", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"}
	roots := map[int]string{
		0: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		1: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
		2: "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
		3: "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
		8: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
	}
	var m Merkle
	for n := 0; ; n++ {
		if want, ok := roots[n]; ok && m.Root() != "sha256:"+want {
			t.Errorf("root of %d leaves is %s, want %s", n, m.Root(), want)
		}
		if n == len(leaves) {
			break
		}
		leaf, err := hex.DecodeString(leaves[n])
		if err != nil {
			t.Fatal(err)
		}
		m.Add(string(leaf))
	}
}

func TestEveryLineCountsForTheRoot(t *testing.T) {
	root := func(skip, alter int) string {
		var m Merkle
		for i := range 13 {
			line := fmt.Sprintf("%d\n", i)
			if i == alter {
				line = "altered\n"
			}
			if i != skip {
				m.Add(line)
			}
		}
		return m.Root()
	}
	seen := map[string]bool{root(-1, -1): true}
	for i := range 13 {
		for _, r := range []string{root(i, -1), root(-1, i)} {
			if seen[r] {
				t.Errorf("line %d: the root %s comes again", i, r)
			}
			seen[r] = true
		}
	}
}
