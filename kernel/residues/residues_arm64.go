//go:build !purego

package residues

func vectorImplementations() []*Implementation { return []*Implementation{neon} }

// neon keeps to the Advanced SIMD that every arm64 processor has.
var neon = newFloat("neon", "Advanced SIMD, as every arm64 processor has it",
	func() bool { return true },
	floatFunctions{
		lanes:    16,
		products: productsNEON, productsWide: productsWideNEON,
		generate: generateNEON, generateWide: generateWideNEON,
	})
