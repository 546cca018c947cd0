//go:build !purego

package fibers

// The loops over single keys are assembly because a bounds check and a spilled register
// cost as much as the memory access they surround. An implementation of package residues
// that this machine can run brings the features that its counting needs.

// machineBytes, machineNibbles and machineBuckets return the functions that go with an
// implementation of package residues. Nibbles are nil where it has none.
func machineBytes(implementation string) byteFunctions {
	switch implementation {
	case "avx512":
		return byteFunctions{add: addBytes32, scan: scanBytesAVX512}
	case "avx2":
		return byteFunctions{add: addBytes32, scan: scanBytesAVX2}
	}
	return byteFunctions{}
}

func machineNibbles(implementation string) *nibbleFunctions {
	switch implementation {
	case "avx512":
		return &nibbleFunctions{add: addNibblesAVX512, width: 128, scan: scanNibblesAVX512}
	case "avx2":
		return &nibbleFunctions{add: addNibblesAVX2, width: 64, scan: scanNibblesAVX2}
	}
	return nil
}

func machineBuckets(implementation string) bucketFunctions {
	switch implementation {
	case "avx512":
		return bucketFunctions{partition: partitionKeys, partitionFar: partitionKeysFar, add: addBytes16, equal: countEqualAVX2, take: takeBytesAVX512}
	case "avx2":
		return bucketFunctions{partition: partitionKeys, partitionFar: partitionKeysFar, add: addBytes16, equal: countEqualAVX2, take: takeBytesAVX2}
	}
	return bucketFunctions{}
}

func machineFilters(implementation string) filters {
	switch implementation {
	case "avx512":
		return filters{[]filter{{filter2AVX512, []int{0, 10}, 32, 128}, {filter4AVX512, []int{0, 10, 5, 12}, 32, 512}}, filterBitmapAVX2}
	case "avx2":
		return filters{[]filter{{filterAVX2, []int{0, 8, 16}, 8, 32}}, filterBitmapAVX2}
	}
	return filters{}
}
