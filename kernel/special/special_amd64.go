//go:build !purego

package special

// machineOf returns the machine that goes with an implementation of package residues, which
// this machine can run.
func machineOf(implementation string) machine {
	switch implementation {
	case "avx512":
		return machine{64, func(c *chains, steps int) {
			if c.wide {
				advanceWideAVX512(&c.x[0], steps)
			} else {
				advanceAVX512(&c.x[0], steps)
			}
		}}
	case "avx2":
		return machine{32, func(c *chains, steps int) {
			if c.wide {
				advanceWideAVX2(&c.x[0], steps)
			} else {
				advanceAVX2(&c.x[0], steps)
			}
		}}
	}
	return generic
}
