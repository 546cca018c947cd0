// The verifier of the tests does what its artifact says.
package main

import (
	"fmt"
	"os"
	"strings"
	"time"
)

func main() {
	artifact, err := os.ReadFile(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(66)
	}
	switch strings.TrimSpace(string(artifact)) {
	case "verified":
		fmt.Println("verified")
	case "refused":
		fmt.Fprintln(os.Stderr, "the artifact differs")
		os.Exit(1)
	case "slow":
		time.Sleep(time.Hour)
	case "late":
		time.Sleep(1300 * time.Millisecond)
	case "hungry":
		var kept [][]byte
		for {
			block := make([]byte, 1<<20)
			for i := range block {
				block[i] = 1
			}
			kept = append(kept, block)
		}
	case "chatty":
		fmt.Print(strings.Repeat("x", 70))
	case "flooding":
		fmt.Print(strings.Repeat("x", 1<<20))
	case "fickle":
		fmt.Println(time.Now().UnixNano())
	case "crashing":
		os.Exit(70)
	}
}
