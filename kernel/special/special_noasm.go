//go:build purego || !amd64

package special

func machineOf(string) machine { return generic }
