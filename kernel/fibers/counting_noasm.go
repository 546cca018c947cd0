//go:build purego || !amd64

package fibers

func machineBytes(string) byteFunctions { return byteFunctions{} }

func machineNibbles(string) *nibbleFunctions { return nil }

func machineBuckets(string) bucketFunctions { return bucketFunctions{} }

func machineFilter(string) filter { return filter{} }
