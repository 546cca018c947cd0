//go:build purego || !amd64

package fibers

func machineBytes(string) byteFunctions { return byteFunctions{} }

func machineNibbles(string) *nibbleFunctions { return nil }

func machineBuckets(string) bucketFunctions { return bucketFunctions{} }

func machineFilters(string) filters { return filters{} }
